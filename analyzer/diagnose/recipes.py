"""Describes how to collect each kind of source: what it shows and the commands.

The only place for these commands: the diagnosis includes those that a rule lacked, and `docs/collect.md` is
generated from here. Words in capitals are placeholders for the reader.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

PLACES = ("Kubernetes", "Slurm", "Docker compose", "Bare hosts")
"""Where jobs run; a command whose place is none of these goes into the training script."""


class File(NamedTuple):
    """A file that a command produces: its name in the run, its kind, what it shows."""

    name: str
    read_as: str
    tells: str


class Command(NamedTuple):
    """A command to type or code to add to the script."""

    where: str
    text: str
    files: tuple[File, ...] = ()

    @property
    def language(self) -> str:
        """Return the language of the command, for syntax highlighting."""
        return "sh" if self.where in PLACES else "python"


class Recipe(NamedTuple):
    """How to collect one kind of source."""

    what: str
    """What is collected, as it follows on "how to collect"."""
    tells: str
    how: str
    """In a sentence, for who sees nothing else."""
    commands: tuple[Command, ...]

    @property
    def title(self) -> str:
        """Return the heading of the recipe's section in `docs/collect.md`."""
        return self.what[0].upper() + self.what[1:]

    @property
    def docs(self) -> str:
        """Return the link to that section."""
        return "docs/collect.md#" + re.sub(r"[^\w-]", "", self.title.lower().replace(" ", "-"))


_WORKER = Command(
    "Bare hosts",
    'python SCRIPT.py > "run/worker-$INDEX.log" 2>&1; echo "worker-$INDEX $?" >> run/exit_codes.txt',
    (
        File("worker-1.log", "log of worker:1", "everything it printed"),
        File("exit_codes.txt", "exit_codes", "how each process ended"),
    ),
)
_TASKS = Command(
    "Slurm",
    "srun --label --output=run/slurm-%j.out bash -c 'python SCRIPT.py; code=$?; "
    'echo "worker-$SLURM_PROCID $code" >> run/exit_codes.txt; exit $code\'',
    (
        File("slurm-48213.out", "log", "all tasks, told apart by the label before each line"),
        File("exit_codes.txt", "exit_codes", "how each process ended"),
    ),
)
_PODS = Command(
    "Kubernetes",
    "kubectl get pods -l job-name=JOB -o json > run/pods.json\nkubectl get events -o json > run/events.json",
    (
        File("pods.json", "pods", "exit codes, OOMKilled, hosts"),
        File("events.json", "pods", "evictions, images that could not be pulled"),
    ),
)
_SACCT = Command(
    "Slurm",
    'sacct -j "$SLURM_JOB_ID" --format=JobID,State%40,ExitCode,MaxRSS,NodeList > run/sacct.txt',
    (File("sacct.txt", "sacct", "states, exit codes and memory of the job and its steps"),),
)
_LOGDIRS = (
    Command(
        "Kubernetes",
        "for pod in $(kubectl get pods -l job-name=JOB -o name); do\n"
        '  kubectl cp "${pod#pod/}:LOGDIR" "run/tb/${pod#pod/}"\n'
        "done",
    ),
    Command("Slurm", "cp -r LOGDIR run/tb"),
    Command("Docker compose", 'docker compose cp "SERVICE:LOGDIR" run/tb/SERVICE'),
    Command(
        "Bare hosts",
        'scp -r "HOST:LOGDIR" "run/tb/worker-$INDEX"',
        (
            File(
                "tb/worker-1/events.out.tfevents.1795229994.node-3.7326.0.v2",
                "event_file of worker:1",
                "losses, also of a worker whose log is lost",
            ),
            File(
                "tb/worker-1/plugins/profile/2026_11_21/node-3.xplane.pb",
                "trace of worker:1",
                "who waits for whom at each step",
            ),
        ),
    ),
)
"""Event files and traces lie in one directory, and are fetched together."""


def _on_each_platform(text: str, *files: File) -> tuple[Command, ...]:
    """Return one command per kind of place, run on a worker's machine or in its container."""
    return tuple(Command(where, text, files) for where in PLACES)


RECIPES: Mapping[str, Recipe] = {
    "log": Recipe(
        "logs of every worker",
        "What a worker printed to its last line: its traceback, whom it lost, its steps and losses. "
        "Of a worker without a log, only what the others say of it is known.",
        "keep stdout and stderr of every worker, whole, in a file that names it, as worker-0.log; "
        "start workers with PYTHONUNBUFFERED=1",
        (
            Command(
                "Kubernetes",
                "for pod in $(kubectl get pods -l job-name=JOB -o name); do\n"
                '  name="run/${pod#pod/}"\n'
                '  kubectl logs "$pod" --timestamps > "$name.log"\n'
                '  kubectl logs "$pod" --timestamps --previous > "$name-attempt-1.log" 2>/dev/null'
                ' || rm -f "$name-attempt-1.log"\n'
                "done",
                (
                    File("mnist-worker-1.log", "log of worker:1", "everything it printed"),
                    File("mnist-worker-1-attempt-1.log", "log of worker:1", "its life before a restart"),
                ),
            ),
            _TASKS,
            Command(
                "Docker compose",
                "docker compose logs --no-color --timestamps > run/docker-compose.log",
                (File("docker-compose.log", "log", "all services, told apart by the name before each line"),),
            ),
            _WORKER,
        ),
    ),
    "exit_codes": Recipe(
        "exit codes",
        "How each process ended: by itself, with an error, or by which signal. "
        "They tell a worker that was killed from one that failed.",
        "keep the exit code of every worker in exit_codes.txt, a line each: worker-0 1",
        (
            _PODS,
            _TASKS,
            Command(
                "Docker compose",
                "docker compose ps -a --format '{{.Service}} {{.ExitCode}}' > run/exit_codes.txt",
                (File("exit_codes.txt", "exit_codes", "how each process ended"),),
            ),
            _WORKER,
        ),
    ),
    "tf_config": Recipe(
        "TF_CONFIG of every worker",
        "What each worker was told about the cluster: its own task, and everybody's address. "
        "Most jobs that never start differ here.",
        "write TF_CONFIG of every worker into a file that names it, as tf_config-0.json",
        (
            Command(
                "Kubernetes",
                "for pod in $(kubectl get pods -l job-name=JOB -o name); do\n"
                '  kubectl get "$pod" -o jsonpath=\'{.spec.containers[0].env[?(@.name=="TF_CONFIG")].value}\''
                ' > "run/tf_config-${pod#pod/}.json"\n'
                "done",
                (File("tf_config-mnist-worker-1.json", "tf_config of worker:1", "its place in the cluster"),),
            ),
            Command(
                "Slurm",
                'srun bash -c \'echo "$TF_CONFIG" > "run/tf_config-$SLURM_PROCID.json"\'',
                (File("tf_config-1.json", "tf_config of worker:1", "what it was told about the cluster"),),
            ),
            Command(
                "Docker compose",
                "for service in $(docker compose ps -a --services); do\n"
                '  docker inspect "$(docker compose ps -aq "$service")"'
                " --format '{{range .Config.Env}}{{println .}}{{end}}'"
                " | sed -n 's/^TF_CONFIG=//p' > \"run/tf_config-$service.json\"\n"
                "done",
                (File("tf_config-worker-1.json", "tf_config of worker:1", "its place in the cluster"),),
            ),
            Command(
                "Bare hosts",
                'echo "$TF_CONFIG" > "run/tf_config-$INDEX.json"',
                (File("tf_config-1.json", "tf_config of worker:1", "what it was told about the cluster"),),
            ),
            Command("In the script", 'print("TF_CONFIG:", os.environ.get("TF_CONFIG"), flush=True)'),
        ),
    ),
    "event_file": Recipe(
        "event files",
        "Losses and metrics at every step, with times; also of a worker whose log is lost.",
        "write TensorBoard summaries, each worker into a directory of its own, and copy these into the run",
        (
            Command(
                "In the script",
                'tf.keras.callbacks.TensorBoard(f"LOGDIR/worker-{index}", update_freq=10)  # for fit\n'
                'writer = tf.summary.create_file_writer(f"LOGDIR/worker-{index}")  # for a loop of your own',
            ),
            *_LOGDIRS,
        ),
    ),
    "trace": Recipe(
        "traces",
        "What each worker does within a step: how long it computes, reads its input, and waits for the "
        "others. Only they tell which worker the others wait for.",
        "profile ten steps on every worker, as with TensorBoard(logdir, profile_batch=(10, 20)), and copy "
        "the directories plugins/profile into the run",
        (
            Command(
                "In the script",
                'tf.keras.callbacks.TensorBoard(f"LOGDIR/worker-{index}", profile_batch=(10, 20))  # fit\n'
                'tf.profiler.experimental.start(f"LOGDIR/worker-{index}")  # a loop of your own, at step 10\n'
                "tf.profiler.experimental.stop()  # and at step 20",
            ),
            *_LOGDIRS,
        ),
    ),
    "pods": Recipe(
        "pods and events",
        "Why a pod was ended from outside: evicted, out of memory, its node gone; and what never started.",
        "keep what Kubernetes knows of the job: kubectl get pods and kubectl get events, as JSON",
        (_PODS,),
    ),
    "sacct": Recipe(
        "what Slurm says",
        "Why a task was ended from outside: over its time, out of memory, cancelled, its node gone.",
        "keep what sacct prints of the job in sacct.txt",
        (_SACCT,),
    ),
    "nvidia_smi": Recipe(
        "readings of the GPUs",
        "How busy each GPU was and how much of its memory was in use, up to the end; driver and model.",
        "start nvidia-smi beside the training, its output into a file that names the worker",
        _on_each_platform(
            "nvidia-smi --query-gpu=timestamp,index,name,driver_version,utilization.gpu,memory.used,"
            "temperature.gpu \\\n"
            '  --format=csv -l 10 > "run/nvidia-smi-worker-$INDEX.csv" &',
            File("nvidia-smi-worker-1.csv", "nvidia_smi of worker:1", "load and memory of each GPU"),
        ),
    ),
    "packages": Recipe(
        "installed packages",
        "Versions of TensorFlow and of all that it rests on; a worker whose versions differ stands out.",
        "keep pip freeze of every worker in a file that names it",
        _on_each_platform(
            'python -m pip freeze > "run/pip-freeze-worker-$INDEX.txt"',
            File("pip-freeze-worker-1.txt", "packages of worker:1", "versions"),
        ),
    ),
    "environment": Recipe(
        "environment of every worker",
        "TF_CONFIG, and the variables of TensorFlow, NCCL, CUDA and Slurm. Nothing else is taken up of it.",
        "keep the output of env of every worker in a file that names it",
        _on_each_platform(
            'env > "run/env-$INDEX.txt"',
            File("env-1.txt", "environment of worker:1", "variables that bear on a training"),
        ),
    ),
    "cgroup": Recipe(
        "memory of the containers",
        "Whether a container ran out of memory, how much it used, and how much it may use.",
        "copy memory.current, memory.max and memory.events of every worker into a directory that names it",
        _on_each_platform(
            'mkdir -p "run/worker-$INDEX"\n'
            "cp /sys/fs/cgroup/memory.current /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory.events "
            '"run/worker-$INDEX/"',
            File("worker-1/memory.events", "cgroup of worker:1", "whether its container ran out of memory"),
        ),
    ),
    "disks": Recipe(
        "space on the disks",
        "How full the file systems of each worker are: a host whose own disk is full, or a volume that is "
        "full for all.",
        "keep what df prints on every worker, of where it writes, in a file that names it",
        _on_each_platform(
            'df -h . CHECKPOINTS > "run/df-worker-$INDEX.txt"',
            File("df-worker-1.txt", "disks of worker:1", "how full its file systems are"),
        ),
    ),
    "stacks": Recipe(
        "stacks of a job that hangs",
        "Where the main thread of every worker stands, in a collective or not, and what its input waits for.",
        "while it hangs, keep what py-spy dump prints of every worker in a file that names it",
        _on_each_platform(
            'py-spy dump --pid "$(pgrep -f SCRIPT.py | head -1)" > "run/py-spy-worker-$INDEX.txt"',
            File("py-spy-worker-1.txt", "stacks of worker:1", "where its main thread stands"),
        ),
    ),
    "checkpoint": Recipe(
        "list of checkpoints",
        "Which checkpoint is the latest, and whether it is whole: where a restart begins.",
        "copy the file checkpoint and the small *.index files; the large files of data are not needed",
        _on_each_platform(
            "mkdir -p run/checkpoints\ncp CHECKPOINTS/checkpoint CHECKPOINTS/*.index run/checkpoints/",
            File("checkpoints/checkpoint", "checkpoint", "which checkpoint is the latest"),
            File("checkpoints/ckpt-12.index", "checkpoint", "that it is there, and whole"),
        ),
    ),
    "kernel_log": Recipe(
        "the kernel log of every host",
        "Processes that were killed for memory, faults of GPUs, disks and network cards.",
        "keep the last lines of dmesg -T of every host in kernel.log",
        (
            Command(
                "Kubernetes",
                "kubectl debug node/NODE -i --image=busybox -- chroot /host dmesg -T"
                " | tail -n 200 >> run/kernel.log",
                (File("kernel.log", "log", "kills for memory, GPU faults"),),
            ),
            Command("Slurm", "srun --ntasks-per-node=1 dmesg -T | tail -n 200 > run/kernel.log"),
            Command(
                "Docker compose",
                "dmesg -T | tail -n 200 > run/kernel.log",
                (File("kernel.log", "log", "kills for memory, GPU faults"),),
            ),
            Command(
                "Bare hosts",
                "dmesg -T | tail -n 200 > run/kernel.log",
                (File("kernel.log", "log", "kills for memory, GPU faults"),),
            ),
        ),
    ),
}
"""Kind of source → how to collect it. Every kind that a rule of ours requires is here."""
