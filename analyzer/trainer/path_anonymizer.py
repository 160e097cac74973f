"""Replaces paths of this machine by paths of a generic container."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.trainer.jobs.interpreter import Interpreter
    from analyzer.trainer.jobs.sandbox.workspace import Workspace


@dataclass(frozen=True)
class PathAnonymizer:
    """Replaces each key of `paths` by its value; the longest matching path wins."""

    paths: dict[str, str]

    @classmethod
    def of(
        cls,
        workspace: Workspace,
        interpreters: Sequence[Interpreter],
        home: str = "/workspace",
        environment: str = "/opt/venv",
    ) -> PathAnonymizer:
        """Return an anonymizer that replaces workers' folders by `home`, and Pythons by `environment`."""
        paths: dict[str, str] = {}
        for one in interpreters:
            packages = f"{environment}/lib/python{one.minor}/site-packages"
            own, base = one.prefixes
            paths |= {base: "/usr", own: environment, one.stdlib: f"/usr/lib/python{one.minor}"}
            paths |= dict.fromkeys(one.site_packages, packages)
        for index in range(workspace.scenario.workers):
            paths[str(workspace.folder(index))] = home
        paths[str(workspace.root / "recordings")] = "/shared/run"
        return cls({path: stand_in for path, stand_in in paths.items() if path != stand_in})

    def text(self, content: bytes) -> bytes:
        """Return a text with all paths replaced."""
        names = sorted(self.paths, key=len, reverse=True)
        # a path ends where its last name ends: `/usr` is no part of `/usrlocal`
        pattern = "|".join(re.escape(name) for name in names)
        return re.sub(
            rf"(?:{pattern})(?![\w-])".encode(),
            lambda found: self.paths[found[0].decode()].encode(),
            content,
        )

    def check(self, content: bytes) -> str | None:
        """Return a path of this machine that occurs in a binary file, or None."""
        return next(
            (path for path in self.paths if len(path) > len("/usr") and path.encode() in content), None
        )
