"""What an author of rules uses: cases, drafts, and the pages that describe the rules."""
