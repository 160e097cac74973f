"""Readers of what mwms-recorder leaves: `recording.jsonl`, `samples.jsonl` and `process-PID.jsonl`."""
