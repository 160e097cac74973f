"""The nouns that stages hand to one another: sources, tables' columns, findings, diagnosis, errors."""
