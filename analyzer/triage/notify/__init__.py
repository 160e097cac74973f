"""Reports events, such as a new group of failures, to webhooks, Slack, e-mail and commands."""
