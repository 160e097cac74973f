"""What may not travel does not, in any output; all else does."""

from __future__ import annotations

import copy
import hashlib
import json
import re
import time
from collections.abc import Callable, Mapping
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import analyzer.redact
from analyzer.cli.analyze import main
from analyzer.model.options import AnalysisOptions, Redaction
from analyzer.pipeline import analyze
from analyzer.redact import redact
from analyzer.render import FORMATS, render
from analyzer.render.text import terminal
from tests.recordings import ROOT

MakeRun = Callable[[Mapping[str, str]], Path]


def letters(
    seed: str, length: int, alphabet: str = "abcdefghkmnpqrstuvwxyzABCDEFGHKLMNPQRSTUVWXYZ23456789"
) -> str:
    """Characters that look like chance, the same at each call; no scanner finds a secret in this file."""
    made = hashlib.shake_256(seed.encode()).digest(length)
    return "".join(alphabet[byte % len(alphabet)] for byte in made)


def hexa(seed: str, length: int) -> str:
    """The same in hexadecimal digits."""
    return hashlib.shake_256(seed.encode()).hexdigest(length)[:length]


_KEY_BODY = [letters(f"pem{n}", 64) for n in range(4)]
_PEM = "\n".join(["-----BEGIN RSA " + "PRIVATE KEY-----", *_KEY_BODY, "-----END RSA " + "PRIVATE KEY-----"])
_JWT = f"eyJhbGciOiJIUzI1NiJ9.{letters('claims', 40)}.{letters('sign', 43)}"

PLANTED: Mapping[str, tuple[str, str]] = {
    name: (line.replace("@@", secret), secret)
    for name, (line, secret) in {
        "aws key id": ("using access key @@ for s3", "AKIA" + letters("a", 16, "ABCDEFGH234567")),
        "aws secret in the environment": ("AWS_SECRET_ACCESS_KEY=@@", letters("aws", 39) + "/"),
        "aws secret in a file of credentials": ("aws_secret_access_key = @@", letters("aws2", 20) + "+" + letters("x", 19)),
        "github": ("git clone failed with @@", "ghp_" + letters("gh", 36)),
        "github, fine-grained": ("fatal: could not read from remote (@@)", "github_pat_" + letters("ghf", 70)),
        "gitlab": ("pip install --index-url with glpat: @@", "glpat-" + letters("gl", 20)),
        "slack": ("notify: @@ rejected", f"xoxb-1234567890-{letters('sl', 24)}"),
        "google api key": ("maps client key=@@", "AIza" + letters("goo", 35)),
        "google oauth": ("access ya: @@", "ya29." + letters("oauth", 60)),
        "hugging face": ("HF login with @@ failed", "hf_" + letters("hf", 34)),
        "openai": ("Incorrect API key provided: @@", "sk-proj-" + letters("oa", 48)),
        "anthropic": ("anthropic client @@", "sk-ant-api03-" + letters("an", 80)),
        "wandb": ("environ WANDB_API_KEY=@@", hexa("wandb", 40)),
        "npm": ("//registry.example.org/:_authToken=@@", "npm_" + letters("npm", 36)),
        "pypi": ("uploading with @@", "pypi-AgEIcHlwaS5vcmc" + letters("pypi", 60)),
        "jwt": ("id: @@", _JWT),
        "stripe": ("charge failed: @@", "sk_" + "live_" + letters("st", 24)),
        "password on a command line": ("python train.py --db-password @@ --epochs 3", "hunter2-of-doom"),
        "password in JSON": ('config: {"user": "ml", "password": "@@", "port": 5432}', "corr3ct horse"),
        "password in escaped JSON": (r'body "{\"passwd\": \"@@\"}"', "esc4ped"),
        "password in YAML": ("    password: @@", "battery-staple"),
        "password in a repr": ("Config(user='ml', password='@@', port=5432)", "r3pr;x"),
        "password in an environment of Python": ("environ({'DB_PASSWORD': '@@', 'HOME': '/root'})", "p@ss, word"),
        "secret of Kubernetes": ("- name: CLIENT_SECRET\n  value: @@", "kube-s3cret"),
        "password in a URL": ("connect postgres://ml:@@@db.example/train", "p4ss:w@rd"),
        "signed url of AWS": ("GET https://b.s3.amazonaws.com/x?X-Amz-Expires=60&X-Amz-Signature=@@&x=1", hexa("amz", 64)),
        "signed url of Google": ("GET https://storage.googleapis.com/b/o?X-Goog-Signature=@@", hexa("goog", 128)),
        "signed url of Azure": ("GET https://a.blob.core.windows.net/c/b?sv=2022-11-02&sp=r&sig=@@", letters("az", 43) + "%3D"),
        "bearer": ("> Authorization: Bearer @@", letters("bearer", 32)),
        "basic": ("'Authorization': 'Basic @@'", letters("basic", 24) + "=="),
        "cookie": ("Set-Cookie: session=@@", letters("cookie", 26)),
        "private key": ("loaded\n@@\nend of key", _PEM),
        "private key in JSON": ('{"private_key": "@@", "type": "service_account"}', _PEM.replace("\n", "\\n")),
        "e-mail": ("job of @@ was queued", "ada.lovelace@analytical-engines.example.org"),
        "token in a query": ("http://127.0.0.1:8888/?token=@@", hexa("jupyter", 48)),
        "password in a sentence": ("login refused with password @@ for ml", "s3ntenced"),
        "option in a list": ("['train.py', '--api-key', '@@', '--lr', '0.1']", "lis7ed-value"),
        "header of curl": ("curl -H 'X-Api-Key: @@' https://ml.example/x", letters("curl", 12)),
        "user of curl": ("curl -u ml:@@ https://ml.example/x", "curl3d-it"),
        "webhook": ("POST https://hooks.slack.com/services/@@ 404", "T00000000/B00000000/" + letters("hook", 24)),
        "pair of a tuple": ("[('API_TOKEN', '@@'), ('PATH', '/bin')]", "tuple-t0ken"),
    }.items()
}  # fmt: skip

LOOK_ALIKES = """
git commit 272a4ea91b0e3f6d5c4b3a291807f6e5d4c3b2a1
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
incarnation 13718312370812904242
CoordinationServiceAgent incarnation: 7743299304112233445
step_id=8842197233114
[Op:CollectiveReduceV2] group_key=1 instance_key=17
Tensor("loss:0", shape=(128, 224, 224, 3), dtype=float32)
fingerprint 104eceb3f6b197ba
550e8400-e29b-41d4-a716-446655440000
StatefulPartitionedCall/model/dense_17/MatMul/ReadVariableOp_1
node {{node while/body/_1/CollectiveReduceV2_42}}
tokenizer=bert-base
max_tokens=512
token_type_ids
num_tokens: 128
pad_token='[PAD]', eos_token='</s>', bos_token=<s>
time_per_token: 0.0031
Unexpected token: LBRACE at line 3
%token.5 = token[] after-all()
invalid token
password: authentication failed for the user
Password:
password=None
api_key=os.environ["API_KEY"]
def login(user: str, password: str, token: Optional[str] = None)
client = Client(token=self.token, secret=args.secret)
GOOGLE_APPLICATION_CREDENTIALS=/var/run/secrets/sa.json
/usr/lib/python3.11/site-packages/keras/src/engine/training_v1.py
tensorflow-2.21.0-cp311-cp311-manylinux_2_17_x86_64.whl
libcudart.so.12@GLIBC_2.2.5
grpc://10.0.0.5:2222
/job:worker/replica:0/task:1/device:GPU:0
https://github.com/tensorflow/tensorflow/issues/12345?page=2
git@github.com:tensorflow/tensorflow.git
@tf.function(jit_compile=True)
PWD=/srv/train
password: ******
GITHUB_TOKEN=${{ secrets.GITHUB_TOKEN }}
std::__detail::_Hash_node<std::pair<int, absl::string_view>>
hf_model_name bert_base
reading tokens and 2 passwords from 4 secret places
password is required
WARNING: token 17 of 128 out of vocabulary
TF_CONFIG={"cluster": {"worker": ["10.0.0.5:2222", "10.0.0.6:2222"]}, "task": {"type": "worker", "index": 1}}
sk-learn-pipeline-with-steps
""".strip().splitlines()


def traceback_with(lines: str) -> str:
    """A log of a worker that died of an exception whose message quotes the lines."""
    return (
        "2026-01-01 10:00:00.000000: I tensorflow/core/platform/cpu_feature_guard.cc:210] started\n"
        "step 1 loss 0.5\n"
        f"2026-01-01 10:00:05.000000: E tensorflow/core/x.cc:1] {lines}\n"
        'Traceback (most recent call last):\n  File "/srv/train.py", line 12, in <module>\n    main()\n'
        f"ValueError: {lines}\n"
    )


def document_with(*excerpts: str, name: str = "job") -> dict[str, Any]:
    """A diagnosis that quotes some texts, each in evidence of its own."""
    document: dict[str, Any] = json.loads(
        (ROOT / "tests/render/diagnoses/r101.json").read_text(encoding="utf-8")
    )
    like = copy.deepcopy(document["findings"][0]["evidence"][0])
    document["findings"][0]["evidence"] = [
        {**like, "excerpt": text, "marks": [], "context": []} for text in excerpts
    ]
    document["run"]["name"] = name
    return document


def excerpts(document: Mapping[str, Any]) -> list[str]:
    """What the first finding quotes."""
    return [evidence["excerpt"] for evidence in document["findings"][0]["evidence"]]


def outputs(document: Mapping[str, Any]) -> dict[str, str]:
    """The document in every format and in the terminal."""
    made = {name: render(document, name) for name in FORMATS}
    return {**made, "terminal": terminal(document, colour=True, width=100)}


def unescaped(text: str) -> str:
    """What a reader, or a program, gets to see of an output: without the escapes of its format."""
    plain = re.sub(r"\\u00([0-9a-f]{2})", lambda m: chr(int(m[1], 16)), unquote(unescape(text)))
    return re.sub(r"\\(?=[`*_{}\[\]#|~!])", "", plain).replace("＠", "@")


def parts(secret: str) -> list[str]:
    """The secret, or the lines of it that are more than a frame."""
    return [part for line in secret.split("\n") for part in line.split("\\n") if not part.startswith("-----")]


@pytest.mark.parametrize("name", PLANTED)
def test_each_planted_secret_is_masked(name: str) -> None:
    """Whatever the dialect; the words around it stay."""
    line, secret = PLANTED[name]
    (masked,) = excerpts(redact(document_with(line)))
    assert "[secret:" in masked
    for part in parts(secret):
        assert part not in masked
    before, _, after = line.partition(secret)
    assert masked.startswith(before[:4])
    assert masked.endswith(after[-4:])


def test_no_planted_secret_is_in_any_output_of_a_run(make_run: MakeRun, tmp_path: Path) -> None:
    """Logs, TF_CONFIG and the name of a file: no format holds one of them, nor does the terminal."""
    lines = [line for line, _ in PLANTED.values()]
    config = {
        "cluster": {"worker": ["ml:" + PLANTED["github"][1] + "@a:1", "b:1"]},
        "task": {"type": "worker", "index": 0},
    }
    files = {f"worker-{n}.log": traceback_with(line) for n, line in enumerate(lines)}
    files["worker-0-" + PLANTED["hugging face"][1] + ".log"] = "step 1 loss 0.5\nstep 2 loss nan\n"
    files["tf_config-0.json"] = json.dumps(config)
    files["exit_codes.txt"] = "".join(f"worker-{n} 1\n" for n in range(len(lines)))
    document = analyze([make_run(files)]).document
    assert int(document["made_with"]["options"]["masked"]) > 10
    for output, text in outputs(document).items():
        plain = unescaped(text)
        left = [n for n, (_, secret) in PLANTED.items() if any(part in plain for part in parts(secret))]
        assert left == [], output


def test_there_are_enough_planted_and_look_alikes() -> None:
    """At least thirty secrets of fifteen kinds, and as many that only look like one."""
    kinds = {
        token.split(":")[1]
        for line, _ in PLANTED.values()
        for text in excerpts(redact(document_with(line)))
        for token in re.findall(r"\[secret:[a-z-]+:", text)
    }
    assert len(PLANTED) >= 30
    assert len(kinds) >= 15
    assert len(LOOK_ALIKES) >= 30


def test_look_alikes_reach_every_output_unmasked() -> None:
    """Whatever a format does to them, it does not mask them."""
    for output, text in outputs(document_with(*LOOK_ALIKES)).items():
        assert "[secret:" not in text, output


def test_the_planted_are_quoted_without_the_mask(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """So the test above tests something: unmasked, most of them would have been in the document."""
    monkeypatch.setattr(analyzer.redact, "redact", lambda document, *_: document)
    files = {f"worker-{n}.log": traceback_with(line) for n, (line, _) in enumerate(PLANTED.values())}
    text = json.dumps(analyze([make_run(files)]).document, ensure_ascii=False)
    quoted = [name for name, (_, secret) in PLANTED.items() if json.dumps(parts(secret)[-1])[1:-1] in text]
    assert len(quoted) >= 30


@pytest.mark.parametrize("line", LOOK_ALIKES)
def test_look_alikes_stay(line: str) -> None:
    """Hashes, ids, shapes, names, places, and words that only speak of tokens and passwords."""
    document = document_with(line, f"2026-01-01 10:00:05 E x.cc:1] {line}", f"  {line}")
    assert redact(document) == document


def test_the_sample_runs_are_as_they_were(sample_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No recorded run holds a secret, so none is changed; and it takes next to no time."""
    monkeypatch.setattr(analyzer.redact, "redact", lambda document, *_: document)
    document = analyze([sample_run / "run"]).document
    assert redact(document) == document
    started = time.perf_counter()
    redact(document)
    assert time.perf_counter() - started < 0.1


def test_equal_secrets_become_equal_tokens() -> None:
    """Whatever gave them away, and also where nothing does; others become others."""
    secret, other = letters("same", 24), letters("other", 24)
    made = excerpts(
        redact(
            document_with(
                f"DB_PASSWORD={secret}",
                f"postgres://ml:{secret}@db/x",
                f"tried {secret} thrice",
                f"DB_PASSWORD={other}",
            )
        )
    )
    tokens = [text[text.index("[secret:") : text.index("]") + 1] for text in made]
    assert tokens[0] == tokens[1] == tokens[2] != tokens[3]
    assert made[2] == f"tried {tokens[0]} thrice"


def test_what_was_masked_is_counted_and_shown() -> None:
    """Different secrets, in the document, on the page and in the text."""
    document = redact(document_with("password=abc123", "password=abc123", "--token xyz-789-abc"))
    assert document["made_with"]["options"]["masked"] == "2"
    made = outputs(document)
    assert "masked=2" in made["html"]
    assert "Secrets masked: 2" in made["text"]


def test_tokens_mean_nothing_outside_their_document() -> None:
    """The same secret in another document gets another token; in the same, always the same bytes."""
    one, other = (document_with("password=hunter2hunter2", name=name) for name in ("one", "other"))
    assert json.dumps(redact(one)) == json.dumps(redact(copy.deepcopy(one)))
    assert excerpts(redact(one)) != excerpts(redact(other))


def test_nothing_is_masked_twice() -> None:
    """A redacted document is left as it is."""
    document = redact(document_with(*(line for line, _ in PLANTED.values())))
    assert redact(document) == document


def test_redaction_changes_nothing_that_it_was_given() -> None:
    """It is a function."""
    document = document_with(*(line for line, _ in PLANTED.values()))
    before = copy.deepcopy(document)
    redact(document, "topology")
    assert document == before


@pytest.mark.parametrize("whole", [_PEM[: len(_PEM) // 2], _PEM[len(_PEM) // 2 :], "\n".join(_KEY_BODY[1:3]),
                                   _PEM[:90] + " … 900 characters cut … "])  # fmt: skip
def test_a_private_key_that_was_cut_is_masked(whole: str) -> None:
    """At either end, or at both."""
    (made,) = excerpts(redact(document_with(f"key:\n{whole}")))
    assert not [
        line for line in whole.splitlines()[1:] if len(line) > 8 and "-----" not in line and line in made
    ]


def test_a_private_key_that_spans_context_and_excerpt_is_masked() -> None:
    """The context is the lines before the excerpt."""
    document = document_with("x")
    *context, excerpt = _PEM.splitlines()
    document["findings"][0]["evidence"][0].update(
        context=[[n, line] for n, line in enumerate(["loaded", *context], 7)],
        excerpt=f"{excerpt}\nValueError",
    )
    made = redact(document)["findings"][0]["evidence"][0]
    assert made["context"][0] == [7, "loaded"]
    assert made["excerpt"].endswith("ValueError")
    assert len(made["context"]) == len(context) + 1
    assert not any(line in json.dumps(made) for line in _KEY_BODY)


def test_last_words_are_masked_too(make_run: MakeRun) -> None:
    """Of a run that no rule explains, lines are quoted that no rule chose."""
    log = "step 1 loss 0.5\nodd: password=hunter2hunter2\nbye\n"
    made = analyze([make_run({"worker-0.log": log, "exit_codes.txt": "worker-0 7\n"})]).document
    assert [each["excerpt"] for each in made["last_words"]] == ["bye"]
    assert "hunter2" not in json.dumps(made)
    assert [number for number, _ in made["last_words"][0]["context"]] == [2]


def test_marks_still_mark_the_same_words() -> None:
    """Those that a mask shifted, and those around it; words that are masked are no longer marked."""
    text = "Cancelled: login with password=hunter2hunter2 to worker:1 was refused"
    document = document_with(text)
    words = ("Cancelled", "hunter2", "worker:1", "refused")
    marks = [[text.index(word), text.index(word) + len(word)] for word in words]
    whole = [0, len(text)]
    document["findings"][0]["evidence"][0]["marks"] = [*marks, whole]
    made = redact(document)["findings"][0]["evidence"][0]
    shown = [made["excerpt"][start:end] for start, end in made["marks"]]
    assert shown == ["Cancelled", "worker:1", "refused", made["excerpt"]]


_REDACTIONS: st.SearchStrategy[Redaction] = st.sampled_from(["secrets", "topology"])
_KEYS = st.sampled_from(["excerpt", "context", "marks", "host", "workers", "made_with", "options"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS | st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
_PIECES = ["password", "=", ":", " ", '"', "'", "\\", "\n", "token", "ghp_", "-----BEGIN PRIVATE KEY-----", "://", "@",
           "a1B2c3D4e5F6g7H8i9J0", "eyJ", ".", "example.com", "/home/", "10.0.0.1", "sig", "Cookie", "Bearer", "(", ",", "…"]  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(_KEYS | st.text(max_size=9), JSON, max_size=4), _REDACTIONS)
def test_it_takes_every_document(document: dict[str, Any], redaction: Redaction) -> None:
    """Also one that keeps no contract."""
    redact(document, redaction)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(_PIECES) | st.text(), max_size=30).map("".join), _REDACTIONS)
def test_no_text_grows_without_bound(text: str, redaction: Redaction) -> None:
    """A token is short, whatever it stands for; and marks stay within the text."""
    document = {
        "findings": [{"excerpt": text, "context": [], "marks": [[0, len(text)], [len(text) // 2, len(text)]]}]
    }
    (made,) = redact(document, redaction)["findings"]
    assert len(made["excerpt"]) <= 16 * len(text)
    assert all(0 <= start <= end <= len(made["excerpt"]) for start, end in made["marks"])


@pytest.mark.parametrize("piece", [*_PIECES, "A" * 40, "password=", "-----BEGIN PRIVATE KEY-----\n", "a@", "http://a:", "key: '", "eyJ-.", "curl "])  # fmt: skip
def test_time_grows_with_the_text_only(piece: str) -> None:
    """No pattern goes back over what it has read."""
    document = {"why": [piece * (40_000 // len(piece)) + " password"]}
    started = time.perf_counter()
    redact(document, "topology")
    assert time.perf_counter() - started < 2


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
        'cluster {"worker": ["host-1:2222", "host-2:2222", "localhost:2222"]}',
        "ssh host-1; hostname=host-2; 'host-1'",
        "the model gandalf-xl met frodo.py, and gandalf said step:100",
    ]
    assert made["workers"][0]["host"] == "host-1"
    assert made["action"]["exclude"] == ["host-1"]
    assert made["facts"][0]["values"]["worker:0"] == '{"worker": ["host-1:2222", "host-2:2222"]}'


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
