"""Environments, as a shell or the kernel gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from analyzer.model.run import Tables

TablesOf = Callable[[Mapping[str, str]], Tables]
LOGS = {f"worker-{index}.log": "step 1 loss 0.5\n" for index in range(3)}
CONFIG = '{"cluster": {"worker": ["h:1", "h:2", "h:3"]}, "task": {"type": "worker", "index": 1}}'
ENV = f"""\
SHELL=/bin/bash
HOSTNAME=node-7
TF_CONFIG={CONFIG}
NCCL_SOCKET_IFNAME=eth0
HTTPS_PROXY=http://me:s3cret@proxy.example:3128
DB_PASSWORD=s3cret
SLURM_JWT=s3cret
TF_API_TOKEN=s3cret
BASH_FUNC_module%%=() {{  eval `/usr/bin/modulecmd bash $*`
}}
CUDA_VISIBLE_DEVICES=
_=/usr/bin/env
"""
DECLARED = ENV.replace("BASH_FUNC_module%%=() {  eval `/usr/bin/modulecmd bash $*`\n}\n", "")


def declare(text: str, opening: str) -> str:
    """The variables as `export -p` prints them."""
    lines = [line.partition("=") for line in text.splitlines()]
    quoted = [(name, value.replace("\\", "\\\\").replace('"', '\\"')) for name, _, value in lines]
    return "declare -x OLDPWD\n" + "".join(f'{opening}{name}="{value}"\n' for name, value in quoted)


def told(tables: Tables, name: str) -> dict[str, str]:
    """Key and value of each fact of a file, all of them of its worker."""
    own = tables["facts"].filter(tables["facts"]["source"] == name)
    assert set(own["worker"].to_list()) <= {"worker:1"}
    return dict(own.select("key", "value").iter_rows())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("env-1.txt", ENV),
        ("worker-1/environ", ENV.replace("\n", "\0")),
        ("worker-1.env", declare(DECLARED, "declare -x ")),
        ("worker-1/printenv.log", declare(DECLARED, "export ")),
        ("tf_config-1.env", ENV),
    ],
)
def test_what_bears_on_the_training(name: str, text: str, tables_of: TablesOf) -> None:
    """Is taken up, and nothing else; no password is."""
    tables = tables_of({**LOGS, name: text})
    found = told(tables, name)
    assert found.pop("cluster_spec") == '{"worker": ["h:1", "h:2", "h:3"]}'
    assert found == {
        "tf_config": CONFIG,
        "task": "worker:1",
        "host": "node-7",
        "env:NCCL_SOCKET_IFNAME": "eth0",
        "env:HTTPS_PROXY": "http://proxy.example:3128",
        "env:CUDA_VISIBLE_DEVICES": "",
    }
    assert tables["damage"].height == 0


def test_each_fact_has_its_line(tables_of: TablesOf) -> None:
    """Also behind a value of several lines."""
    facts = tables_of({**LOGS, "env-1.txt": ENV})["facts"]
    lines = dict(facts.filter(facts["source"] == "env-1.txt").select("key", "line").rows())
    assert (lines["task"], lines["env:CUDA_VISIBLE_DEVICES"]) == (3, 11)


def test_a_broken_config_is_said_where_it_stands(tables_of: TablesOf) -> None:
    """Its value may have several lines."""
    text = 'A=1\nTF_CONFIG={\n  "cluster": {"worker": ["h:1",]},\n  "task": {}\n}\nB=2\n'
    facts = tables_of({**LOGS, "env-1.txt": text})["facts"]
    error = facts.filter(facts["key"] == "tf_config_error")
    assert error.select("worker", "line", "value").rows() == [
        ("worker:1", 3, '  "cluster": {"worker": ["h:1",]},')
    ]


def test_a_variable_of_one_worker_shows_up(tables_of: TablesOf) -> None:
    """One that only it has, and one that it has otherwise."""
    base = "PATH=/bin\nNCCL_SOCKET_IFNAME=eth0\nSLURM_PROCID={0}\nTF_CPP_MIN_LOG_LEVEL=1\n"
    files = {f"env-{index}.txt": base.format(index) for index in range(3)}
    files["env-2.txt"] += "NCCL_P2P_DISABLE=1\n"
    files["env-1.txt"] = files["env-1.txt"].replace("eth0", "ib0")
    cluster = tables_of({**LOGS, **files})["cluster"]
    odd = cluster.filter(cluster["odd"] & cluster["key"].str.starts_with("env:"))
    assert odd.select("key", "worker", "value", "majority").rows() == [
        ("env:NCCL_P2P_DISABLE", "worker:2", "1", "not set"),
        ("env:NCCL_SOCKET_IFNAME", "worker:1", "ib0", "eth0"),
    ]


@pytest.mark.parametrize("text", ["nothing here\n", "\x00\x01\x02", "=" * 10_000, "-" * 50_000])
def test_what_is_no_environment_is_damage(text: str, tables_of: TablesOf) -> None:
    """With its first line."""
    tables = tables_of({**LOGS, "env-1.txt": text})
    assert tables["damage"].height == 1
    assert "reader failed" not in "".join(tables["sources"]["reason"].to_list())


def test_a_file_of_another_name_is_known_by_its_first_lines(tables_of: TablesOf) -> None:
    """Where its name tells nothing."""
    tables = tables_of({**LOGS, "worker-1.vars": ENV, "worker-2.settings": "a = 1\nb = 2\nc = 3\n"})
    kinds = dict(tables["sources"].select("source", "kind").rows())
    assert (kinds["worker-1.vars"], kinds["worker-2.settings"]) == ("environment", "other")
