"""What collectors put around the lines of a log: prefixes, timestamps, JSON entries, headings."""
