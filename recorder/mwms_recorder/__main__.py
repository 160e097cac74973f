"""`python -m mwms_recorder` is `mwms-recorder`."""

from mwms_recorder.cli import main

if __name__ == "__main__":
    main()
