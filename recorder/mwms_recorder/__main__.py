"""Runs `mwms-recorder` as `python -m mwms_recorder`."""

from mwms_recorder.cli import main

if __name__ == "__main__":
    main()
