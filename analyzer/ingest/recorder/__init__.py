"""Readers of the files of mwms-recorder: `recording.jsonl`, `samples.jsonl` and `process-PID.jsonl`."""
