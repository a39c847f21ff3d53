#!/bin/sh
# Create the virtual environment and install Simwright with everything its tests need.
set -eu
PYTHON="${PYTHON:-python3}"
VENV="${VENV:-.venv}"

"$PYTHON" - <<'PY' || exit 1
import sys
if sys.version_info < (3, 11):
    sys.exit(f"Simwright needs Python 3.11 or newer, this is {sys.version.split()[0]}; set PYTHON=python3.12")
PY

if [ ! -x "$VENV/bin/python" ]; then
  echo "Creating $VENV"
  if ! "$PYTHON" -m venv "$VENV" 2>/dev/null; then
    rm -rf "$VENV"
    echo "The venv module is missing; trying the system package python3-venv"
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
      apt-get update -qq && apt-get install -y -qq python3-venv >/dev/null
    fi
    "$PYTHON" -m venv "$VENV"
  fi
fi

echo "Installing Simwright (about a minute the first time)"
log="$VENV/setup.log"
"$VENV/bin/python" -m pip install --no-color --progress-bar off --disable-pip-version-check \
  --constraint constraints.txt --editable '.[dev]' >"$log" 2>&1 &
pip=$!
trap 'kill "$pip" 2>/dev/null; exit 130' INT TERM
# what pip is at, where that has changed: collecting, downloading, installing
said=""
while kill -0 "$pip" 2>/dev/null; do
  sleep 1
  now=$(grep -E '^ *(Collecting|Downloading|Building|Preparing|Installing)' "$log" | tail -n 1 | cut -c 1-100)
  if [ "$now" != "$said" ]; then
    said=$now
    echo "  $now"
  fi
done
if ! wait "$pip"; then
  tail -n 20 "$log" >&2
  echo "Installing failed; everything that pip said is in $log" >&2
  exit 1
fi
"$VENV/bin/python" -c 'import simwright'
