"""Lists, checks, tests and drafts rules."""

import argparse
import difflib
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from analyzer.cli.inputs import rule_directory
from analyzer.cli.options.configuration import Setting, add_configuration_options, configured, naming_origins
from analyzer.cli.options.printing import as_toml
from analyzer.cli.options.standard import add_command, add_standard_options, command_parser, examples
from analyzer.cli.terminal.entrypoint import run_command, write_stdout
from analyzer.discover import discover, installed_readers
from analyzer.engine import RulePack, with_given_paths
from analyzer.engine.authoring import cases, pages
from analyzer.engine.authoring.cases import Trial, run_case
from analyzer.engine.authoring.draft import draft
from analyzer.engine.evaluate import match
from analyzer.engine.loading.rule_cache import load_checked
from analyzer.engine.loading.schemas import file_schema
from analyzer.model.errors import RuleError, UsageError, UserError
from analyzer.model.findings import Outcome
from analyzer.model.run import Tables
from analyzer.pipeline import diagnose_tables, load_rules, load_tables
from analyzer.render.formatting import plural
from analyzer.storage.package_files import resource

Command = Callable[[argparse.Namespace], int]

_EXAMPLES = (
    "mwms-rules list --rules my-rules",
    "mwms-rules show worker-killed",
    "mwms-rules lint my-rules",
    "mwms-rules test my-rules",
    "mwms-rules coverage --runs ./runs",
    "mwms-rules schema",
    "mwms-rules new --from ./run_dir --id lease-revoked",
    "mwms-rules causes",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return 1 if a case fails or a cause has no rule, 2 if a rule or the usage is wrong."""
    return run_command("mwms-rules", lambda: _run(*configured(_parser(), argv, ("run", "runs"))))


def _run(arguments: argparse.Namespace, settings: Mapping[str, Setting]) -> int:
    if arguments.print_config:
        write_stdout(as_toml("rules", settings))
        return 0
    if folders := getattr(arguments, "folder", []):
        called = settings["rules"].origin == "command line"
        arguments.rules = [*folders, *(arguments.rules if called else ())]
    with naming_origins(settings):
        status: int = arguments.command(arguments)
    return status


_WITHOUT_RUNS = ": their recorded runs are in a checkout of mwms-analyze only (--verbose lists them)"


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("mwms-rules", f"{__doc__} docs/write-a-rule.md shows how.", examples(*_EXAMPLES))
    add_standard_options(parser)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, work: Command, text: str) -> argparse.ArgumentParser:
        made = add_command(commands, name, work, text, _EXAMPLES)
        add_configuration_options(made)
        return made

    listing = command("list", _list, "list all rules")
    listing.add_argument("--json", action="store_true", help="for programs")
    show = command("show", _show, "print one rule as a page")
    show.add_argument("id", metavar="ID", help="the rule's id")
    lint = command("lint", _lint, "report every fault of every rule file")
    test = command("test", _test, "run every case of every rule")
    test.add_argument("--verbose", action="store_true", help="also list the cases that pass")
    covered = command("coverage", _coverage, "show causes and rules without tests or recordings")
    runs = "a directory of runs to evaluate the rules on"
    covered.add_argument("--runs", metavar="DIR", type=Path, help=runs)
    command("schema", _schema, "print the JSON Schema of a rule file")
    new = command("new", _new, "draft a rule for a run that no rule explains")
    new.add_argument("--from", dest="run", metavar="RUN", type=Path, required=True, help="the run")
    new.add_argument("--id", metavar="ID", help="ID of the rule (default: the name of the run)")
    causes = command("causes", _causes, "list all causes with their meaning")
    for each in (lint, test):
        own = "your own rules (default: those of the package)"
        each.add_argument("folder", nargs="*", default=[], metavar="DIR", help=own)
    for each in (listing, show, lint, test, covered, new, causes):
        more = "add the rules of a directory"
        each.add_argument("--rules", metavar="DIR", action="append", default=[], help=more)
    return parser


def _list(arguments: argparse.Namespace) -> int:
    rules = _cached_rules(arguments).rules
    names = ("id", "role", "cause", "status", "title")
    if arguments.json:
        rows = [{name: getattr(rule, name) for name in (*names, "file")} for rule in rules]
        print(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        print(pages.table([names, *([getattr(rule, name) or "-" for name in names] for rule in rules)]))
    return 0


def _causes(arguments: argparse.Namespace) -> int:
    print(pages.table([("id", "meaning"), *_cached_rules(arguments).causes.items()]))
    return 0


def _show(arguments: argparse.Namespace) -> int:
    pack = _cached_rules(arguments)
    rules = {rule.id: rule for rule in pack.rules}
    if arguments.id not in rules:
        near = difflib.get_close_matches(arguments.id, rules, n=3)
        meant = f"is it {' or '.join(near)}?" if near else "`mwms-rules list` prints all"
        raise UsageError(f"there is no rule {arguments.id}; {meant}")
    print(pages.rule_page(rules[arguments.id], pack.causes), end="")
    return 0


def _lint(arguments: argparse.Namespace) -> int:
    try:
        own = _users_rules(_checked_rules(arguments), arguments)
        faults = _file_faults(arguments) if arguments.rules else []
    except RuleError as error:
        faults = str(error).splitlines()
    if faults:
        print(with_given_paths("\n".join(faults), [Path(each) for each in arguments.rules]))
        print(plural(len(faults), "fault"))
        return 2
    print(f"{plural(len(own.rules), 'rule')}, no faults")
    return 0


def _file_faults(arguments: argparse.Namespace) -> list[str]:
    """Return the faults of the user's directories: cases without their recording, files that are not read."""
    faults = [
        f"{folder.name}/{file.relative_to(folder).as_posix()}:1: is not read; rename it to {file.stem}.yaml"
        for folder in _folders(arguments)
        for file in sorted(folder.rglob("*.yml"))
    ]
    for name, home in _run_folders(arguments).items():
        faults += cases.faults_of_recordings(home / name, name, home)
    return faults


def _test(arguments: argparse.Namespace) -> int:
    trials = []
    for trial in _trials(arguments):
        outcome = "FAIL" if trial.fault else "skip" if trial.missing else "pass"
        reason = trial.fault or trial.missing
        if trial.fault or arguments.verbose or (reason and arguments.rules):
            print(f"{outcome}  {trial.rule.id}: {trial.case.name}")
            print(f"      {reason}\n" * bool(reason), end="")
        trials.append(trial)
    if not trials:
        print("0 cases: there are no rules to test here")
        return 0
    failed = sum(bool(trial.fault) for trial in trials)
    skipped = sum(bool(trial.missing) for trial in trials)
    missing = skipped if arguments.rules else 0
    lacking = "its run" if missing == 1 else "their runs"
    why = f" for lack of {lacking}, which counts as failed" if missing else _WITHOUT_RUNS * bool(skipped)
    print(f"{plural(len(trials), 'case')}, {failed} failed, {skipped} skipped{why}")
    return 1 if failed or missing else 0


def _trials(arguments: argparse.Namespace) -> Iterator[Trial]:
    """Run the cases of the user's rules; a recorded run is looked up beside the directory of its rule."""
    homes = _run_folders(arguments)
    pack = _users_rules(_checked_rules(arguments), arguments)
    for rule in pack.rules:
        for case in rule.cases:
            with tempfile.TemporaryDirectory(prefix="mwms-") as scratch:
                yield run_case(pack, rule, case, homes[rule.file], Path(scratch), _read)


def _coverage(arguments: argparse.Namespace) -> int:
    pack = _cached_rules(arguments)
    causes = cases.causes_without_rule(pack)
    _print_list("causes without a rule", causes)
    _print_list("rules without a firing case from a recorded run", cases.rules_without_recording(pack))
    if arguments.runs:
        fired = _fired_rules(pack, arguments.runs)
        idle = [rule.id for rule in pack.rules if rule.id not in fired]
        _print_list(f"rules that fired on no run of {arguments.runs}", idle)
    return 1 if causes else 0


def _schema(_: argparse.Namespace) -> int:
    print(json.dumps(file_schema("rule"), indent=2))
    return 0


def _new(arguments: argparse.Namespace) -> int:
    run = discover([arguments.run], installed_readers())
    name = arguments.id or "-".join(re.findall("[a-z0-9]+", run.name.lower())) or "draft"
    if not re.search(file_schema("rule")["properties"]["id"]["pattern"], name):
        raise UsageError(f"--id {name}: an id consists of lowercase letters, digits and hyphens")
    pack = _cached_rules(arguments)
    tables = load_tables(run, pack)
    known = diagnose_tables(run.name, tables, pack).document
    explained = [known["cause"]] if known["rule"] and known["cause"] else []
    drafted = draft(tables, run.name, name, explained, known["culprits"])
    if known["rule"]:
        note = f"{run.name} is already explained by {known['rule']}; `explains` puts the new rule above it"
        print(f"mwms-rules: {note}", file=sys.stderr)
    if drafted is None:
        raise UsageError(f"{arguments.run}: no log line distinguishes one of its workers from the others")
    print(drafted, end="")
    return 0


def _folders(arguments: argparse.Namespace) -> list[Path]:
    """Return the rule directories given on the command line, else the package's `rules` directory."""
    named = [rule_directory(name, option="") for name in arguments.rules]
    return [folder.resolve() for folder in named] or [resource("rules")]


def _cached_rules(arguments: argparse.Namespace) -> RulePack:
    """Return the rules of the package and of the user, from the disk cache if unchanged."""
    return load_rules([folder for folder in _folders(arguments) if folder != resource("rules")])


def _checked_rules(arguments: argparse.Namespace) -> RulePack:
    """Return the rules of the package and of the user; those that are asked for are read and checked."""
    return load_checked(list(dict.fromkeys([resource("rules"), *_folders(arguments)])))


def _users_rules(pack: RulePack, arguments: argparse.Namespace) -> RulePack:
    """Return the rules of a pack that are in the user's directories."""
    own = _run_folders(arguments)
    return pack._replace(rules=tuple(rule for rule in pack.rules if rule.file in own))


def _run_folders(arguments: argparse.Namespace) -> dict[str, Path]:
    """Return `Rule.file` → folder of its recorded runs, for each of the user's rule files."""
    return {
        f"{folder.name}/{file.relative_to(folder).as_posix()}": folder.parent
        for folder in _folders(arguments)
        for file in folder.rglob("*.yaml")
    }


def _read(run: Path, pack: RulePack) -> Tables:
    return load_tables(discover([run], installed_readers()), pack)


def _fired_rules(pack: RulePack, runs: Path) -> set[str]:
    """Return the ids of the rules that fired on at least one run of a directory."""
    if not runs.is_dir():
        raise UsageError(f"--runs {runs}: no such directory")
    fired: set[str] = set()
    for folder in sorted(path for path in runs.iterdir() if path.is_dir()):
        run = folder / "run" if (folder / "run").is_dir() else folder
        try:
            findings = match(pack, _read(run, pack))
        except UserError as error:
            print(f"mwms-rules: left out: {error}", file=sys.stderr)
            continue
        fired |= {finding.rule for finding in findings if finding.outcome is Outcome.FIRED}
    return fired


def _print_list(heading: str, names: Sequence[str]) -> None:
    print(f"{heading}: {len(names) or 'none'}")
    for name in names:
        print(f"  {name}")


if __name__ == "__main__":
    sys.exit(main())
