# SPDX-License-Identifier: Apache-2.0
"""Are the declared versions of dependencies true?  Makes an environment and tries every command in it.

``lowest`` installs the lowest version of every dependency that ``pyproject.toml`` has, ``newest`` the newest, and tries
every group of commands. ``wheel`` and ``sdist`` install what is built of this checkout, with the versions of
``constraints.txt``, and take the tour of ``make demo`` in an empty folder outside of it.  The environment is kept below
the user's cache and made again where what it is made of has changed.

    .venv/bin/python scripts/check_versions.py lowest
    .venv/bin/python scripts/check_versions.py wheel --build-only
    .venv/bin/python scripts/check_versions.py newest --python python3.13
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KINDS = ("lowest", "newest", "wheel", "sdist")
PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
STEPS: tuple[tuple[str, int], ...] = (
    ("samples copy samples", 0),
    ("inspect samples/arm/urdf/arm.urdf.xacro", 0),
    ("inspect samples/rover/model.sdf --format json", 0),
    ("inspect samples/quadruped/quadruped.xml", 0),
    ("inspect samples/fourbar/fourbar.usda", 0),
    ("check samples/warehouse/warehouse.usda", 0),
    ("explain mass-no-zero-static", 0),
    ("rules --format json", 0),
    ("convert samples/arm/urdf/arm.urdf.xacro out/arm", 0),
    ("check out/arm", 0),
    ("fix out/arm/simwright_arm.usda -o out/fixed", 0),
    ("diff samples/arm/urdf/arm.urdf.xacro out/arm/simwright_arm.usda", 0),
    ("convert out/arm/simwright_arm.usda out/mujoco/arm.xml", 0),
    ("convert out/arm/simwright_arm.usda out/ros/arm.urdf", 0),
    ("convert out/arm/simwright_arm.usda out/gazebo/arm.sdf", 0),
    ("convert out/arm/simwright_arm.usda out/web/arm.glb", 0),
    ("convert samples/rover/model.sdf out/package/rover.usdz", 0),
    ("resolve out/arm/simwright_arm.usda", 0),
    ("run samples/quadruped/scene.xml --frames 200 --num-worlds 4 --record out/run.npz", 0),
    ("run samples/playground/playground.yaml --frames 100 --num-worlds 4", 0),
    ("scene check samples/playground/playground.yaml", 0),
    ("robots list", 0),
    ("robots inspect samples/quadruped/quadruped.xml", 0),
    ("task run reach --robot sample_arm --policy reach --fit", 0),
    ("task export reach --robot sample_arm -o out/reach.usda", 0),
    ("world check samples/lab/lab.yaml", 0),
    ("world render samples/lab/lab.yaml -o out/lab.png", 0),
    ("world plan samples/lab/lab.yaml --robot tender --to office", 0),
    ("world build samples/lab/lab.yaml -o out/lab --format all", 0),
    ("packages --near samples", 0),
    ("registry show RosTopicAPI", 0),
    ("plugin-path", 0),
    ("ros graph samples/fourbar/fourbar.usda", 0),
    ("engines list", 0),
    ("doctor", 0),
)
"""Commands of every group, and their exit codes."""


def read_dependencies() -> list[str]:
    """What ``pyproject.toml`` asks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found: list[str] = project["dependencies"]
    return found


def pin_lowest(dependencies: list[str]) -> list[str]:
    """The lowest versions that are declared, exactly."""
    pins = []
    for text in dependencies:
        found = re.fullmatch(r"([A-Za-z0-9_.-]+)>=([0-9.]+)(?:,.*)?", text)
        if found is None:
            raise SystemExit(f"{text!r} in pyproject.toml declares no lowest version")
        pins.append(f"{found[1]}=={found[2]}")
    return pins


def make_environment(kind: str, folder: Path, interpreter: str) -> Path:
    """The interpreter of an environment of this kind; made where there is none of the same content."""
    if kind in ("wheel", "sdist"):
        built = build(kind, folder / "dist")
        what = [str(built), "--constraint", str(ROOT / "constraints.txt")]
    else:
        pins = pin_lowest(read_dependencies()) if kind == "lowest" else read_dependencies()
        what = ["--upgrade", "--editable", str(ROOT), *pins]
    today = time.strftime("%Y-%m-%d") if kind == "newest" else ""  # what is newest is asked once a day
    python, mark = folder / "bin" / "python", folder / "made.txt"
    told = today + _mark(what, built if kind in ("wheel", "sdist") else None)
    if not (mark.is_file() and mark.read_text() == told):
        mark.unlink(missing_ok=True)
        if not python.exists():
            _call([interpreter, "-m", "venv", folder], ROOT)
        _call([python, *PIP, *what], ROOT)
        if kind in ("wheel", "sdist"):  # pip leaves an older build of the same version where it is
            _call([python, *PIP, "--force-reinstall", "--no-deps", str(built)], ROOT)
        mark.write_text(told)
    return python


def build(kind: str, folder: Path) -> Path:
    """A wheel or a source distribution of this checkout; the wheel is built of the other, as users get it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tools = _find_tools(folder.parent.parent / "build-tools")
    _call([tools, "-m", "build", "--no-isolation", "--outdir", folder, ROOT], ROOT, quiet=True)
    ending = "*.whl" if kind == "wheel" else "*.tar.gz"
    return next(folder.glob(ending))


def _find_tools(folder: Path) -> str:
    """An interpreter with what builds packages: that of ``make judge``, or one that is made here."""
    given = os.environ.get("SIMWRIGHT_PEER_BUILD")
    if given:
        return given
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        _call([python, *PIP, "--requirement", ROOT / "scripts" / "judge" / "packages.txt"], ROOT)
    return str(python)


def _mark(what: list[str], built: Path | None) -> str:
    digest = hashlib.sha256((built.read_bytes() if built else b"") + repr(what).encode())
    digest.update((ROOT / "pyproject.toml").read_bytes() + (ROOT / "constraints.txt").read_bytes())
    return digest.hexdigest()


def take_tour(python: Path, folder: Path) -> Iterator[str]:
    """The tour of ``make demo`` in an empty folder, by a copy of it; gives a line if it fails."""
    copy = shutil.copy(ROOT / "scripts" / "demo.py", folder / "demo.py")
    command = [python, copy, "--folder", folder / "demo"]
    done = subprocess.run(command, cwd=folder, env=_clean(), capture_output=True, text=True, check=False)
    if done.returncode or not (folder / "demo" / "index.html").is_file():
        yield f"the tour: exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def _clean() -> dict[str, str]:
    """The environment without what would lead Python to this checkout."""
    return {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}


def try_commands(python: Path, folder: Path) -> Iterator[str]:
    """Run every step in an empty folder; gives a line for each that ends otherwise than it should."""
    environment = _clean()
    for step, expected in STEPS:
        done = subprocess.run(
            [python, "-m", "simwright", *step.split()], cwd=folder, env=environment, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        if done.returncode != expected or "Traceback" in done.stderr:
            tail = " | ".join((done.stderr or done.stdout).strip().splitlines()[-3:])
            yield f"simwright {step}: exit code {done.returncode} instead of {expected}: {tail}"


def main() -> int:
    """Make the environment, try all commands, print what fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--build-only", action="store_true", help="build and install, but try nothing")
    parser.add_argument("--python", default=sys.executable, help="the interpreter to try it with [this one]")
    asked = parser.parse_args()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    name = asked.kind if asked.python == sys.executable else f"{asked.kind}-{Path(asked.python).name}"
    folder = cache / "simwright-versions" / name
    print(f"making an environment of the kind {asked.kind!r} in {folder}", flush=True)
    python = make_environment(asked.kind, folder, asked.python)
    if asked.build_only:
        return 0
    with tempfile.TemporaryDirectory() as empty:
        failed = 0
        tried = take_tour if asked.kind in ("wheel", "sdist") else try_commands
        for line in tried(python, Path(empty)):
            failed += 1
            print(line, flush=True)
    what = "the tour" if tried is take_tour else f"{len(STEPS) - failed} of {len(STEPS)} commands"
    print(f"{what}: works" if not failed else f"{failed} failed")
    return 1 if failed else 0


def _call(command: list[str | Path], folder: Path, *, quiet: bool = False) -> None:
    out = subprocess.DEVNULL if quiet else None
    if subprocess.run([str(part) for part in command], cwd=folder, check=False, stdout=out).returncode:
        raise SystemExit(f"failed: {' '.join(str(part) for part in command)}")


if __name__ == "__main__":
    sys.exit(main())
