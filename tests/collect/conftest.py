"""What tests of `mwms-collect` share: an empty home, and a recorded cluster behind a real `kubectl`."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.collect.recorded_cluster import RecordedCluster, trained_by_tfjob
from tests.recordings import sample_run_named


def needs(*tools: str) -> pytest.MarkDecorator:
    """Skip a test where a tool is not installed; `.ci/run` installs those that Debian has."""
    lacking = [tool for tool in tools if shutil.which(tool) is None]
    return pytest.mark.skipif(bool(lacking), reason=f"needs {', '.join(lacking)}")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty home directory, which is the current one."""
    for name in ("KUBECONFIG", "DOCKER_HOST", "SLURM_CONF"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def serve_cluster(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[RecordedCluster], None]]:
    """Return a function that points `kubectl` at a recorded cluster."""
    served: list[RecordedCluster] = []

    def serve(cluster: RecordedCluster) -> None:
        served.append(cluster)
        monkeypatch.setenv("KUBECONFIG", str(cluster.kubeconfig(home)))

    yield serve
    for cluster in served:
        cluster.server.close()


@pytest.fixture
def cluster(serve_cluster: Callable[[RecordedCluster], None]) -> RecordedCluster:
    """Return the cluster on which the TFJob `bert` left the sample run worker-killed."""
    made = trained_by_tfjob(sample_run_named("worker-killed"))
    serve_cluster(made)
    return made
