"""Checksums and norms of the weights in progress lines."""

from __future__ import annotations

import pytest

from analyzer.ingest.logs.fingerprints import fingerprints


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("step 20: local_loss=0.5 |theta|=8.28164011 (3 steps/s)", [("|theta|", "8.28164011")]),
        ("step 20 ||w|| = 12.53100", [("||w||", "12.53100")]),
        ("epoch 2/8 loss=0.3 weights sha1=72FB1A475BD1", [("weights sha1", "72fb1a475bd1")]),
        ('{"step": 3, "param_hash": "9f86d081884c7d65"}', [("param_hash", "9f86d081884c7d65")]),
        ("step 7 checksum of the weights: 0x1f2e3d4c", [("checksum of the weights", "0x1f2e3d4c")]),
        ("step=8 model_norm: 81.66234", [("model_norm", "81.66234")]),
        ("Epoche 1/8 Verlust=2.4 Gewichte sha1=72fb1a475bd1", [("Gewichte sha1", "72fb1a475bd1")]),
        ("step 7 grad_norm=1.23456 loss=0.4", []),
        ("step 7 gradient norm 1.23456 loss=0.4", []),
        ("step 7 weight norm 1.2 loss=0.4", []),
        ("step 7 loss=0.4 data_hash=9f86d081884c7d65", []),
        ("step 7 weights loaded, norm of layer 3", []),
        ("| step | loss |", []),
    ],
)
def test_a_fingerprint_of_the_weights(text: str, told: list[tuple[str, str]]) -> None:
    """With its name and its value; gradients, data and rounded norms are none."""
    assert list(fingerprints(text)) == told
