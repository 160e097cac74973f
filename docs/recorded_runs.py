"""Compares answers on scenarios that ran with and without mwms-recorder, for `scoreboard.md`."""

from collections.abc import Sequence

from analyzer.trainer.catalogue import SAMPLE_RUNS
from analyzer.trainer.scoring import holdout_results
from analyzer.trainer.scoring.recorder_scores import RECORDED, recorder_table
from analyzer.trainer.scoring.scoreboard import Score, score_all

RECORDER = """\

## With the flight recorder

Scenarios that ran a second time under [mwms-recorder](recorder.md), most with two workers.
The run directory is what the recorder left, and nothing else.
`mwms-train record SCENARIO --recorder -o sample_runs/recorded` made them.
No rule was made for a scenario between its first recording and its first answer;
`sample_runs/recorded/first_tries.csv` keeps these.
The two runs with a label out of range were recorded again once the recorder noted input files,
and a rule was made for them.
`nan-under-fit` was recorded again once the recorder read each worker's own loss, and a rule was made for it.
`old-weights` was recorded again once the recorder checked the weights at saves, and a rule was made for it.
`checkpoints-not-writable` and `data-not-readable`, whose worker runs as another user, were recorded again
once the recorder no longer printed tracebacks of its own there.
In `tf-config-index-twice` an innocent worker was accused at first:
its two recordings of one task were taken for a restart.
In one more, `sigterm-dies`, nothing broke: TensorFlow 2.21 catches SIGTERM and trains on.
A first recording of `variable-outside-scope` began with equal values, because the program sets a seed,
and was called `numeric.replicas_diverged`, which it was; the scenario was mended.
A first recording of `firewall` had its recorders outside the workers' networks, so that they met no firewall.
*Without the recorder* is the answer on the first sample run of the same scenario; empty where it has none.
In `batch-size` with two workers nobody is the odd one; in a run of `truncated-file` TensorFlow crashed in
its profiler before it met the damage. Neither was kept.
The faults of `open-files-grow`, `replicas-drift` and `variable-outside-scope` leave no line in a log.

"""


def recorded_runs(usual: Sequence[Score]) -> str:
    """Return the section of the scoreboard; `usual` are the answers on the sample runs."""
    home = SAMPLE_RUNS / RECORDED
    tries = holdout_results.load(home / holdout_results.NAME)
    return RECORDER + recorder_table(SAMPLE_RUNS, usual, score_all(home), tries)
