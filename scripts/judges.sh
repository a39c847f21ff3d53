#!/bin/sh
# Third-party parsers that some tests ask for a second opinion. Without them those tests are skipped, saying so.
set -u
missing=""
command -v check_urdf >/dev/null 2>&1 || missing="$missing liburdfdom-tools"
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "Installing system packages for tests:$missing"
  apt-get update -qq >/dev/null 2>&1
  # shellcheck disable=SC2086
  apt-get install -y -qq $missing >/dev/null 2>&1 || echo "could not install$missing; their tests will be skipped"
else
  echo "not installed (their tests will be skipped):$missing"
fi
exit 0
