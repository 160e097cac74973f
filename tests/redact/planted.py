"""Secrets that are planted in documents and runs, look-alikes, and where either may come out."""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Mapping
from html import unescape
from typing import Any
from urllib.parse import unquote

from analyzer.render import FORMATS, render
from analyzer.render.text import terminal
from tests.recordings import ROOT


def letters(
    seed: str, length: int, alphabet: str = "abcdefghkmnpqrstuvwxyzABCDEFGHKLMNPQRSTUVWXYZ23456789"
) -> str:
    """Characters that look like chance, the same at each call; no scanner finds a secret in this file."""
    made = hashlib.shake_256(seed.encode()).digest(length)
    return "".join(alphabet[byte % len(alphabet)] for byte in made)


def hexa(seed: str, length: int) -> str:
    """The same in hexadecimal digits."""
    return hashlib.shake_256(seed.encode()).hexdigest(length)[:length]


KEY_BODY = [letters(f"pem{n}", 64) for n in range(4)]
PEM = "\n".join(["-----BEGIN RSA " + "PRIVATE KEY-----", *KEY_BODY, "-----END RSA " + "PRIVATE KEY-----"])
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
        "private key": ("loaded\n@@\nend of key", PEM),
        "private key in JSON": ('{"private_key": "@@", "type": "service_account"}', PEM.replace("\n", "\\n")),
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
using token embeddings of 128 dimensions
with token embedding_layer_12_attention
using token bert-base-uncased
max token length 512, with token type ids
using token 30522 of 30522
the token is 1012 2003 1996
stopped with token EndOfSequence
kaggle key metric val_loss
mlflow key train_accuracy_top5_epoch
comet key encoder.layer.11.attention.self.query
cache key 272a4ea91b0e3f6d5c4b3a291807f6e5d4c3b2a1
group key is 272a4ea91b0e3f6d
wandb run 272a4ea91b0e3f6d5c4b3a291807f6e5d4c3b2a1
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
