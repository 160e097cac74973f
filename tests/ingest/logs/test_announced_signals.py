"""That a script caught SIGTERM, in its own words, and how launchers say that a process ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from analyzer.model.run import Tables

TablesOf = Callable[[Mapping[str, str]], Tables]


@pytest.mark.parametrize(
    ("line", "caught"),
    [
        ("received SIGTERM, node is being reclaimed; leaving", True),
        ("Got signal 15, saving a checkpoint", True),
        ("SIGTERM received: stopping after this step", True),
        ("Caught signal SIGTERM", True),
        ("will save a checkpoint if SIGTERM is received", False),
        ("when received SIGTERM the worker saves first", False),
        ("worker 1: received SIGTERM", True),
        ("worker 1 received SIGTERM, waiting for it to save", False),
        ("SIGTERM received by rank 3", False),
        ("sending SIGTERM to worker 2", False),
        ("received SIGTERM from worker 2", False),
        ("Received SIGTERM death signal, shutting down workers", False),
        ("sinal 15 recebido, encerrando esta tarefa", True),
        ("Señal SIGTERM recibida: se guarda el modelo", True),
        ("SIGTERM empfangen, Zustand wird gesichert", True),
        ("signal 15 reçu, arrêt", True),
        ("получен сигнал SIGTERM, завершаю", True),
        ("[WARNING] 收到 SIGTERM，保存后退出", True),
        ("[WARNING] SIGTERM を受信しました", True),
        ("sinal 15 enviado ao worker 2", False),
        ("sinal recebido do sensor 15", False),
        ("el nivel de señal 15 es bajo", False),
        ("signal 1500 reçu", False),
    ],
)
def test_only_who_was_told_to_go_says_so(line: str, caught: bool, tables_of: TablesOf) -> None:
    """Not who sends the signal, waits for it or tells of another process."""
    facts = tables_of({"worker-0.log": f"step 1 loss 0.5\n{line}\n"})["facts"]
    assert (facts["key"] == "sigterm").any() is caught


@pytest.mark.parametrize(
    ("line", "ended"),
    [
        ("make: *** [Makefile:6: worker-1] Error 137", ("worker:1", "-9")),
        ("make[1]: *** [Makefile:6: chief-0] Killed", ("chief:0", "-9")),
        ("make: *** [Makefile:6: all] Error 2", None),
        (
            "2026-11-20 10:10:01 INFO  ApplicationMaster:17 - Container c_3 for task ps:1 finished with exitStatus: 137",
            ("ps:1", "-9"),
        ),
        (
            "2026-11-20 10:10:01 INFO  ApplicationMaster:17 - Container c_3 for task ps:1 finished with success",
            None,
        ),
        (
            "go.sh: line 9: 17480 Killed                  ( ./w.sh ps:0 ) > >(sed -u 's/^/ps-0| /') 2>&1",
            ("ps:0", "-9"),
        ),
        (
            "go.sh: line 9: 17480 Killed                  python train.py --hosts worker-0:22,worker-1:22",
            None,
        ),
        ("go.sh: line 9: 17480 Killed                  python train.py", None),
        ("worker-1 finished, status 137", ("worker:1", "-9")),
        ("worker-1 finished, status 0", None),
        ("worker-1 finished, status of shard 3", None),
        ("worker1.1 stopped (rc=-9)", ("worker:1", "-9")),
        ("worker.2 stopped (rc=137)", ("worker:2", "-9")),
        ("feeder1.1 stopped (rc=-9)", None),
    ],
)
def test_a_launcher_says_how_a_task_ended(
    line: str, ended: tuple[str, str] | None, tables_of: TablesOf
) -> None:
    """If it names one task; a zero that a shell prints may be the status of another command."""
    facts = tables_of({"launch.log": f"starting\n{line}\n"})["facts"].filter(key="exit_code")
    assert facts.select("worker", "value").rows() == ([ended] if ended else [])


@pytest.mark.parametrize(("code", "ended"), [("139", [("worker:1", "-11")]), ("0", [])])
def test_a_typescript_ends_with_the_exit_code_of_its_process(
    code: str, ended: list[tuple[str, str]], tables_of: TablesOf
) -> None:
    """As `script` of util-linux records it; it writes a zero if it is itself told to end."""
    ending = f'Script done on 2026-11-20 10:10:01+00:00 [COMMAND_EXIT_CODE="{code}"]\n'
    facts = tables_of({"worker-1.typescript": f"step 1 loss 0.5\n\n{ending}"})["facts"].filter(
        key="exit_code"
    )
    assert facts.select("worker", "value").rows() == ended
