"""What people paste into tickets and forums: logs between prose, code and marks of Markdown."""
