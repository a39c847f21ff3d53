#!/bin/sh
# The parsers of other projects that tests ask for a second opinion: urdfdom, libsdformat and Khronos' glTF validator.
# Installs what is missing and does nothing where all is there. Without them their tests are skipped, saying so
# (or fail, where CI=true).
set -u
cd "$(dirname "$0")/.." || exit 1
TOOLS=.parsers
GLTF_VALIDATOR=2.0.0-dev.3.10
mkdir -p "$TOOLS"

say() { echo "parsers: $*"; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

has_sdformat() {
  command -v g++ >/dev/null 2>&1 && command -v pkg-config >/dev/null 2>&1 && [ -n "$(find_sdformat)" ]
}

# the newest libsdformat that pkg-config knows: sdformat12, sdformat14 ...
find_sdformat() {
  pkg-config --list-all 2>/dev/null | sed -n 's/^\(sdformat[0-9]*\) .*/\1/p' | sort -V | tail -n 1
}

has_library() {
  find /usr/lib /usr/lib64 -name "$1.so*" 2>/dev/null | grep -q .
}

install_system_packages() {
  missing=""
  command -v check_urdf >/dev/null 2>&1 || missing="$missing liburdfdom-tools"
  has_sdformat || missing="$missing libsdformat-dev g++ pkg-config"
  command -v node >/dev/null 2>&1 || missing="$missing nodejs"
  command -v npm >/dev/null 2>&1 || missing="$missing npm"
  # MuJoCo draws pictures for the tests with one of these
  has_library libEGL_mesa || missing="$missing libegl1 libegl-mesa0 libgl1-mesa-dri"
  has_library libOSMesa || missing="$missing libosmesa6"
  [ -z "$missing" ] && return
  if ! command -v apt-get >/dev/null 2>&1 || ! as_root true 2>/dev/null; then
    say "cannot install (no apt-get, or not root):$missing"
    return
  fi
  say "installing$missing"
  as_root apt-get update -qq >/dev/null 2>&1
  for package in $missing; do
    # one by one: a package that is not to be had must not cost the others
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" \
      >"$TOOLS/apt.log" 2>&1 || say "could not install $package: $(tail -n 1 "$TOOLS/apt.log")"
  done
}

build_sdf_check() {
  source=tests/parsers/sdf_check.cpp
  has_sdformat || return
  [ -x "$TOOLS/sdf_check" ] && [ "$TOOLS/sdf_check" -nt "$source" ] && return
  say "building the SDFormat checker"
  # shellcheck disable=SC2046
  g++ -std=c++17 -O1 "$source" -o "$TOOLS/sdf_check.new" $(pkg-config --cflags --libs "$(find_sdformat)") \
    >"$TOOLS/build.log" 2>&1 && mv "$TOOLS/sdf_check.new" "$TOOLS/sdf_check" \
    || say "could not build $source: $(grep -m 1 error "$TOOLS/build.log")"
}

install_gltf_validator() {
  command -v npm >/dev/null 2>&1 || return
  grep -qs "\"version\": *\"$GLTF_VALIDATOR\"" "$TOOLS/node_modules/gltf-validator/package.json" && return
  say "installing gltf-validator $GLTF_VALIDATOR"
  npm install --prefix "$TOOLS" --no-save --no-audit --no-fund --ignore-scripts --loglevel=error \
    "gltf-validator@$GLTF_VALIDATOR" >"$TOOLS/npm.log" 2>&1 \
    || say "could not install gltf-validator: $(tail -n 1 "$TOOLS/npm.log")"
}

install_system_packages
build_sdf_check
install_gltf_validator
exit 0
