"""Tools for rule authors: cases, drafts, and the pages that describe the rules."""
