"""Redacted for topology, a diagnosis names no host, address, user or directory."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.cli.analyze import main
from analyzer.model.options import AnalysisOptions
from analyzer.pipeline import analyze, load_rules
from analyzer.redact import redact
from tests.redact.planted import (
    document_with,
    excerpts,
    outputs,
    traceback_with,
    unescaped,
)

MakeRun = Callable[[Mapping[str, str]], Path]


def test_the_host_of_a_url_is_no_e_mail() -> None:
    """Nor is its user a secret; the password is one, and an e-mail address beside it stays one."""
    url = "postgres://ann:pw123@db.acme.internal:5432/x by ann@acme.com"
    plain, masked = (excerpts(redact(document_with(url), mode))[0] for mode in ("secrets", "topology"))
    assert re.sub(r":[0-9a-f]{4}\]", "]", plain) == (
        "postgres://ann:[secret:url-password]@db.acme.internal:5432/x by [secret:email]"
    )
    assert re.sub(r":[0-9a-f]{4}\]", "]", masked) == (
        "postgres://user-1:[secret:url-password]@host-5:5432/x by [secret:email]"
    )


def test_topology_gives_hosts_addresses_and_users_stable_names(make_run: MakeRun) -> None:
    """The same host everywhere the same name, long or short; nothing of them is left, and loopback stays."""
    document = document_with(
        "connect to gpu-17.corp.example.com:2222 (10.1.2.3) failed, not 127.0.0.1",
        'File "/home/grace/train.py", line 3; /Users/grace/x; fe80::1ff:fe23:4567:890a%eth0',
        "gpu-17 says 10.1.2.3 and 10.1.2.4 are down; user=grace",
    )
    document["workers"][0]["host"] = "gpu-17.corp.example.com"
    document["next"] = [{"text": "Look.", "command": "ssh gpu-17 dmesg"}]
    made = redact(document, "topology")
    assert excerpts(made) == [
        "connect to host-1:2222 (address-1) failed, not 127.0.0.1",
        'File "/home/user-1/train.py", line 3; /Users/user-1/x; address-2%eth0',
        "host-1 says address-1 and address-3 are down; user=user-1",
    ]
    assert made["workers"][0]["host"] == "host-1"
    assert made["next"][0]["command"] == "ssh host-1 dmesg"
    assert made["made_with"]["options"]["redact"] == "topology"


def test_a_person_is_named_by_a_number_too() -> None:
    """Slurm and `id` write it; other numbers stay, also where they are equal."""
    made = redact(
        document_with(
            "_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId=731205 uid 10412",
            "Slurm's accounting reports that user 10412 cancelled it",
            "731205|bert|CANCELLED by 10412|0:0",
            "UserId=grace(10412) GroupId=vision(20007) uid=10412(grace) gid=20007(vision)",
            "step 10412 loss 0.5; cancelled by peer; uid=0(root); user 3 of 8; guid 12345",
        ),
        "topology",
    )
    assert excerpts(made) == [
        "_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId=731205 uid user-1",
        "Slurm's accounting reports that user user-1 cancelled it",
        "731205|bert|CANCELLED by user-1|0:0",
        "UserId=user-2(user-1) GroupId=group-1(group-2) uid=user-1(user-2) gid=group-2(group-1)",
        "step 10412 loss 0.5; cancelled by peer; uid=0(root); user 3 of 8; guid 12345",
    ]


def test_references_of_our_rules_stay() -> None:
    """They are public pages, and a reader without them has to guess."""
    pages = sorted({page for rule in load_rules(packs=False).rules for page in rule.references})
    assert any("schedmd" in page for page in pages)
    document = redact({"run": {"name": "r"}, "findings": [{"references": pages}]}, "topology")
    assert document["findings"][0]["references"] == pages


def test_topology_names_hosts_that_are_plain_words() -> None:
    """Where the document declares them, and only where a host stands: `gandalf` may be a word as well."""
    document = document_with(
        "connect to gandalf:2222 failed",
        'cluster {"worker": ["gandalf:2222", "frodo:2222", "localhost:2222"]}',
        "ssh gandalf; hostname=frodo; 'gandalf'",
        "the model gandalf-xl met frodo.py, and gandalf said step:100",
    )
    document["workers"][0]["host"] = "gandalf"
    document["facts"] = [
        {"key": "cluster_spec", "values": {"worker:0": '{"worker": ["gandalf:2222", "frodo:2222"]}'}},
        {"key": "communication", "values": {"worker:0": "ring:100"}},
    ]
    document["action"] = {"exclude": ["gandalf"]}
    made = redact(document, "topology")
    assert excerpts(made) == [
        "connect to host-1:2222 failed",
        'cluster {"worker": ["host-1:2222", "host-5:2222", "localhost:2222"]}',
        "ssh host-1; hostname=host-5; 'host-1'",
        "the model gandalf-xl met frodo.py, and gandalf said step:100",
    ]
    assert made["workers"][0]["host"] == "host-1"
    assert made["action"]["exclude"] == ["host-1"]
    assert made["facts"][0]["values"]["worker:0"] == '{"worker": ["host-1:2222", "host-5:2222"]}'


def test_topology_leaves_versions_workers_and_scopes() -> None:
    """Names that tell nobody anything."""
    lines = [
        "TensorFlow version 2.21.0.1",
        "worker-0 lost worker-1",
        "std::vector<int>",
        "at 12:34:56",
        "localhost:2222 0.0.0.0",
    ]
    assert excerpts(redact(document_with(*lines), "topology")) == lines


def test_a_package_named_like_a_user_keeps_its_name() -> None:
    """In the name of a module or class; a host, a file and a person of that name are renamed all the same."""
    lines = {
        "user=torben": "user=user-1",
        "torben.exceptions.JobError: torben gave up": "torben.exceptions.JobError: user-1 gave up",
        'File "/usr/lib/python3.10/site-packages/torben/pod.py", line 3': None,
        "    from torben.models import Model": None,
        "No module named 'torben.models'": None,
        "saved to torben.log by torben. Then torben@gpu-17": "saved to user-1.log by user-1. Then user-1@host-5",
    }
    made = excerpts(redact(document_with(*lines), "topology"))
    assert made == [named or line for line, named in lines.items()]


@pytest.mark.parametrize("account", ["airflow", "spark", "jovyan", "ec2-user"])
def test_the_account_of_a_service_is_nobodys(account: str) -> None:
    """The programs of that name are named in many texts."""
    lines = [f"user={account}", f"/home/{account}/x.py", f"{account} ended the task"]
    assert excerpts(redact(document_with(*lines), "topology")) == lines


def test_topology_names_directories() -> None:
    """The same one alike everywhere; what every machine has, libraries, devices and the names of files stay."""
    lines = {
        'File "/mnt/acme/fraud/train.py", line 3': 'File "/mnt/dir-1/dir-2/train.py", line 3',
        "saved to gs://acme/fraud/runs/ckpt-20": "saved to gs://dir-1/dir-2/dir-3/ckpt-20",
        "open:/scratch/acme/ failed; /acme/fraud": "open:/dir-4/dir-1/ failed; /dir-1/dir-2",
        "/usr/lib/python3.11/site-packages/keras/src/engine/training.py": None,
        "/job:worker/replica:0/task:1/device:GPU:0 and /tensorflow.WorkerService/RecvBuf": None,
        "https://github.com/tensorflow/tensorflow and 20/20 [====] and tensorflow/core/x.cc": None,
        "/dev/shm, /proc/self/fd, /home/root/x.py, /tmp/x1": None,
    }
    made = redact(document_with(*lines), "topology")
    assert excerpts(made) == [named or line for line, named in lines.items()]
    assert redact(made, "topology") == made


@pytest.mark.runs
def test_no_place_is_left_in_any_output(make_run: MakeRun) -> None:
    """Neither host, address, user nor directory, whatever the format."""
    told = "open /lustre/acme/fraud/x.py on gpu-17.corp.internal (10.9.8.7), user=grace, /home/grace/x.py"
    document = analyze(
        [make_run({"worker-0.log": traceback_with(told)})], AnalysisOptions(redaction="topology")
    ).document
    assert "dir-1" in json.dumps(document)
    for output, text in outputs(document).items():
        plain = unescaped(text)
        assert not [w for w in ("acme", "fraud", "gpu-17", "10.9.8.7", "grace") if w in plain], output


@pytest.mark.runs
def test_the_command_takes_topology(make_run: MakeRun, tmp_path: Path) -> None:
    """And `secrets`, which is the default."""
    run = make_run({"worker-0.log": traceback_with("no route to 10.9.8.7 for password=hunter2hunter2")})
    texts = {}
    for name in ("secrets", "topology"):
        main([str(run), "--redact", name, "-o", str(tmp_path / f"{name}.json")])
        texts[name] = (tmp_path / f"{name}.json").read_text()
    assert not any("hunter2" in text for text in texts.values())
    assert "10.9.8.7" in texts["secrets"]
    assert "10.9.8.7" not in texts["topology"]


def test_topology_takes_no_name_from_our_own_words() -> None:
    """Nor the one who does something for a user: `cancelled by peer` is no name, `cancelled by grace` is one."""
    document = document_with("Connection reset by peer; cancelled by the scheduler, not cancelled by grace")
    document["tried"] = [{"outcome": "quiet", "reason": "not seen: cancelled by connection"}]
    made = redact(document, "topology")
    assert excerpts(made) == ["Connection reset by peer; cancelled by the scheduler, not cancelled by user-1"]
