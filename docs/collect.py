"""Writes `docs/collect.md`: how to collect a run, from the recipes that reports show."""

from collections.abc import Iterable, Iterator

from analyzer.diagnose.advice.recipes import ON_WORKER, PLATFORMS, WORKER, Command, Recipe, recipes

_OPENING = """\
# Collect a run

The more files of a run are in one directory, the less has to be guessed.
What matters most, in this order: **every** worker's complete output, how each process ended, TF_CONFIG,
event files and traces.

Generated from `analyzer/diagnose/advice/recipes.yaml` by `python docs/generate.py`;
a report contains the recipes for what its run lacks.
Replace words in capitals with your own names.

## After the job has ended

`mwms-collect` asks your platform for what it still has of the job, with your own tools and permissions,
stores it in a directory under names that the analyzer knows, and runs `mwms-analyze` on it.
It only reads; `--no-analyze` stops before the diagnosis.
`--dry-run` stores nothing: it runs only the commands that list what there is,
and prints the others with the mark `(dry run)`.
It reports failures in the tool's own words, and continues with the rest;
logs that it could not get are listed in `not_collected.txt`, and the diagnosis names them.
Your own account is shown on the terminal, and masked in files:
equal secrets have equal tokens in all that one command stores as JSON.
`collected_at.txt` says when it began and ended, `2026-11-26T07:41:31+00:00/2026-11-26T07:41:40+00:00`:
a worker that was still running had been silent from its last line until then.
Five minutes of silence, and three times the longest pause before it, show a hang.
The times are from your machine; if they do not match those of the logs, a note says so,
and they do not count. Nor do they count where a time zone may explain the silence: it is
about a whole number of half hours, twelve hours at most, and the logs do not state their zone.
`collected_from.txt` names the hosts, clouds or Docker projects, which no other file does,
so that no command for another platform is proposed, and the host of each directory.
Secrets in the environments of containers are masked before anything is stored; logs are stored as they are.
Run it soon: clusters delete pods and forget jobs.

On Kubernetes, `tfjob/JOB`, `jobset/JOB` or `statefulset/JOB` is another kind of job; `-l LABELS` names pods.
Of a pod with several containers, the one that trains counts: the one that gets TF_CONFIG, else the one that
the annotation `kubectl.kubernetes.io/default-container` names, else one whose name tells it, such as
`tensorflow` or `trainer`, else the first that is no known sidecar, such as `istio-proxy`.
The log of another container is stored in a directory of its name, and only if that container failed.
`get-job-JOB.json` describes the job itself, and `nodes.json` its machines.
`kubectl get nodes` is forbidden to many users: that is harmless, the rest is collected without it.
Of pods that are gone, the events are kept, and their logs are listed as lost: which pods there should be
follows from the job's description, or from the addresses in TF_CONFIG.
On Slurm, `--logs PATTERN` adds log files that Slurm does not list
and whose names do not contain the job's number.

"""
_MORE = """\
### Vertex AI and SageMaker

```sh
mwms-collect vertex JOBNUMBER --region REGION -o run
mwms-collect sagemaker JOBNAME --region REGION -o run
```

Without `mwms-collect`, the output of your tools is read as well:
`kubectl logs --prefix --timestamps`, `kubectl get pods -o json`, `docker compose logs`, `sacct`,
exports of Cloud Logging, CloudWatch, Loki, Datadog and Splunk as JSON or CSV.
File names show which worker a file belongs to: a role and an index anywhere in the path
(`worker-0.log`, `chief/stderr.txt`, `rank3.out`, `mnist-worker-1.log`).
Names that count from 1 (`worker-1` to `worker-4`, `node01` to `node04`) belong to tasks 0 to 3
if the logs contradict the names. A name that has only a host's number (`node1/out.log`) is a guess,
and what the logs say takes precedence; next to training logs, one that shows no training, such as that of a
package manager in the directory of a host, does not count as another worker.
The report says which file it assigns to which worker, and why.
Logs are files that end in `.log`, `.out`, `.err`, `.txt` or `.jsonl`,
also rotated (`.log.1`, `.log-20261121`, `.log.bak`), `stdout`, `stderr`, `train.o48213`, `48213_1`,
and `worker-1` without a suffix; under other names,
files that begin like a log of TensorFlow or Python, and a text that is given alone.
Compressed and rotated files, archives, and one file with a prefix before each line are read as they are.
So is a text with the logs of several workers below titles (`### worker 1`, `==> worker-1.log <==`)
or commands (`$ kubectl logs job-worker-1`, `$ kubectl describe pod job-worker-1`);
[formats.md](formats.md) has all that is known.
Logs that were joined without titles (`cat worker-0.log worker-1.log > all.log`) are told apart where
the times of TensorFlow's lines show that their processes ran at once, and called `all.log#part-a` and
`all.log#part-b`; name such a file after no worker.
With a label selector `kubectl logs` gives ten lines a pod, unless it is told `--tail=-1`.

## While the job runs

A container's own files are gone with it, so what nobody else keeps goes into a directory that outlives it:
`run` stands for a directory on a volume that all workers share.
This starts a worker, in its batch script or as its container's command, and keeps everything.
Where TF_CONFIG is not set, as with `SlurmClusterResolver`, name the worker yourself:
`WORKER=worker-$SLURM_PROCID`.
Where a machine has no `nvidia-smi`, no cgroup v2 or no right to read the kernel log, the command says so
on standard error and leaves an empty file or directory: that is harmless, the analysis takes what is there.

"""
_BEFORE = ("tf_config", "environment", "packages", "nvidia_smi")
_AFTER = ("cgroup", "disks", "kernel_log")
"""Kinds of sources that a worker keeps before it starts and after it ended."""
_EXIT = "\nexit $code"


def collect() -> str:
    """How to collect a run, by where it ran and by what is collected."""
    parts = [line for place in PLATFORMS for line in _place(place)]
    parts += [_MORE.rstrip("\n"), "", *_worker()]
    parts += ["## What each thing tells, and how to get it", ""]
    return _OPENING + "\n".join([*parts, *(line for each in recipes().values() for line in _recipe(each))])


def _place(place: str) -> Iterator[str]:
    """What collects a job of one place, and the files that it gives."""
    (command,) = {
        each.text: each
        for recipe in recipes().values()
        for each in recipe.commands
        if each.where == place and each.text.startswith("mwms-collect")
    }.values()
    yield from (f"### {place}", "", "```sh", command.text, "```", "", *_files([command]))


def _files(commands: Iterable[Command]) -> Iterator[str]:
    """The files that commands give, as a table."""
    yield from ("| file | read as | tells |", "|---|---|---|")
    files = dict.fromkeys(file for each in commands for file in each.files)
    yield from (f"| `{file.name}` | {file.read_as} | {file.tells} |" for file in files)
    yield ""


def _worker() -> Iterator[str]:
    """Yield the script that starts a worker and saves its output, and a table of the files that it saves."""
    before, start, after = _on_worker(*_BEFORE), _on_worker("log"), _on_worker(*_AFTER)
    commands = [*before, *start, *after]
    texts = (each.text.removeprefix(f"{WORKER}\n").replace(_EXIT, "") for each in commands)
    yield from ("```sh", "export PYTHONUNBUFFERED=1 PYTHONFAULTHANDLER=1", "mkdir -p run", WORKER)
    yield from (*texts, _EXIT.strip(), "```", "", *_files(commands))


def _on_worker(*kinds: str) -> list[Command]:
    return [each for kind in kinds for each in recipes()[kind].commands if each.where == ON_WORKER]


def _recipe(recipe: Recipe) -> Iterator[str]:
    yield from (f"### {recipe.title}", "", f"{recipe.tells}", f"In short: {recipe.how}.", "")
    for command in recipe.commands:
        yield from _command(command)


def _command(command: Command) -> Iterator[str]:
    yield from (f"{command.where}:", "", f"```{command.language}", command.text, "```", "")
