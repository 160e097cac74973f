#!/usr/bin/env bash
# The step of action.yml: analyzes $RUN; annotations go to the log, Markdown to the job's summary, reports to a directory.
set -uo pipefail

reports=$(mktemp -d "$RUNNER_TEMP/mwms-report.XXXXXX")
fail_on=${FAIL_ON:-degraded}
case $fail_on in failed | degraded | never) ;; *)
  echo "fail-on is failed, degraded or never, not $fail_on" >&2
  exit 2
esac
[ "$fail_on" = never ] && lowest=failed || lowest=$fail_on
mwms-analyze --format html,json,markdown,github,junit,sarif --fail-on "$lowest" --redact "${REDACT:-secrets}" \
  -o "$reports" -- "$RUN"
status=$?

diagnosis=$(find "$reports" -name '*.json')
[ -n "$diagnosis" ] || exit "$status"
cat "$reports"/*.github.txt
cat "$reports"/*.md >> "$GITHUB_STEP_SUMMARY"
rm "$reports"/*.github.txt
python - "$diagnosis" >> "$GITHUB_OUTPUT" <<'PYTHON'
import json, sys

document = json.load(open(sys.argv[1], encoding="utf-8"))
print("verdict=" + document["verdict"])
print("cause=" + (document["cause"] or ""))
print("culprits=" + " ".join(document["culprits"]))
PYTHON
echo "reports=$reports" >> "$GITHUB_OUTPUT"
[ "$fail_on" = never ] && exit 0
exit "$status"
