#!/usr/bin/env bash
# What the GitHub Action does: check as a job, then tell it in the log, as SARIF and as a page.
# PATHS, OPTIONS, FAIL_ON, JOBS and the variables of GitHub come from the environment.
set -uo pipefail
# names with wildcards are for simwright, which looks into folders by itself
set -f
out="${RUNNER_TEMP:-/tmp}/simwright"
rm -rf "$out"
mkdir -p "$out"
# words of both variables are options, one by one
# shellcheck disable=SC2086
simwright check $PATHS $OPTIONS --fail-on "${FAIL_ON:-error}" --jobs "${JOBS:-2}" --job "$out/job"
code=$?
if [ -f "$out/job/job.sqlite" ]; then
  simwright jobs report "$out/job" --format sarif -o "$out/findings.sarif" || true
  simwright jobs report "$out/job" --format html -o "$out/findings.html" || true
  if [ -n "${GITHUB_OUTPUT:-}" ]; then
    { echo "sarif=$out/findings.sarif"; echo "page=$out/findings.html"; } >> "$GITHUB_OUTPUT"
  fi
  if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    { echo '```'; simwright jobs report "$out/job"; echo '```'; } >> "$GITHUB_STEP_SUMMARY" || true
  fi
fi
exit "$code"
