"""Rule packs of installed packages: directories of rule files, named by entry points; they run no code."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from analyzer.engine.loading.rule_cache import load_cached
from analyzer.engine.rule_types import Pack, RulePack
from analyzer.model.errors import RuleError
from analyzer.storage.extensions import RULES, Extension, extensions, package_folder

_HINT = "--no-packs leaves installed packages out"


def installed_packs() -> dict[Path, Extension]:
    """Return the directory of each installed rule pack, with its entry point.

    Raises:
        RuleError: an entry point names no package with rule files.
    """
    return {_folder(each): each for each in extensions(RULES)}


def _folder(extension: Extension) -> Path:
    folder = package_folder(extension.value)
    if folder is None or not any(folder.rglob("*.yaml")):
        fault = "holds no rule (*.yaml)" if folder else "no such package"
        raise RuleError(f"{extension.title}: rule pack {extension.value}: {fault}; {_HINT}")
    return folder.resolve()


def load_with_packs(directories: Sequence[Path], installed: Mapping[Path, Extension]) -> RulePack:
    """Return the rules of directories and of installed packs, from the disk cache if no file has changed.

    Raises:
        RuleError: a rule file is wrong; the message names the installed package that it belongs to.
    """
    folders = [path.resolve() for path in directories]
    try:
        pack = load_cached(list(dict.fromkeys([*folders[:1], *installed, *folders[1:]])))
    except RuleError as error:
        files = {fault.partition("/")[0] for fault in str(error).splitlines()}
        wrong = sorted(each.title for folder, each in installed.items() if folder.name in files)
        named = f"\ninstalled with {', '.join(wrong)}; {_HINT}" if wrong else ""
        raise RuleError(f"{error}{named}") from error
    named_by = {folder.name: each for folder, each in installed.items()}
    packs = tuple(_described(each, named_by) for each in pack.packs)
    return pack._replace(packs=packs, installed=tuple(named_by))


def _described(pack: Pack, installed: Mapping[str, Extension]) -> Pack:
    """Return a pack with name and version of its distribution where it has no `pack.yaml`."""
    known = installed.get(pack.name) if pack.version is None else None
    return pack._replace(name=known.distribution, version=known.version) if known else pack
