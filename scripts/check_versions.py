# SPDX-License-Identifier: Apache-2.0
"""Are the declared versions of dependencies true?  Makes an environment and tries every command in it.

``lowest`` installs the lowest version of every dependency that ``pyproject.toml`` has, ``newest`` the newest; ``wheel``
and ``sdist`` what is built of this checkout, with the versions of ``constraints.txt``, and tries it outside of the
checkout.  The environment is kept below the user's cache and made again where what it is made of has changed.

    .venv/bin/python scripts/check_versions.py lowest
    .venv/bin/python scripts/check_versions.py wheel --build-only
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KINDS = ("lowest", "newest", "wheel", "sdist")
SAMPLES = "samples"
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


def make_environment(kind: str, folder: Path) -> Path:
    """The interpreter of an environment of this kind; made where there is none of the same content."""
    if kind in ("wheel", "sdist"):
        built = build(kind, folder / "dist")
        what = [str(built), "--constraint", str(ROOT / "constraints.txt")]
    else:
        pins = pin_lowest(read_dependencies()) if kind == "lowest" else read_dependencies()
        what = ["--upgrade", "--editable", str(ROOT), *pins]
    python, mark = folder / "bin" / "python", folder / "made.txt"
    told = _mark(what, built if kind in ("wheel", "sdist") else None)
    if not (mark.is_file() and mark.read_text() == told):
        venv.create(folder, with_pip=True, clear=not (folder / "dist").exists())
        _call([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what], ROOT)
        mark.write_text(told)
    return python


def build(kind: str, folder: Path) -> Path:
    """A wheel or a source distribution of this checkout; the wheel is built of the other, as users get it."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    tools = folder.parent / "build-tools"
    if not (tools / "bin" / "python").exists():
        venv.create(tools, with_pip=True)
        _call([tools / "bin" / "python", *pip[1:], "install", "--quiet", "build"], ROOT)
    _call([tools / "bin" / "python", "-m", "build", "--outdir", folder, ROOT], ROOT, quiet=True)
    ending = "*.whl" if kind == "wheel" else "*.tar.gz"
    return next(folder.glob(ending))


def _mark(what: list[str], built: Path | None) -> str:
    digest = hashlib.sha256((built.read_bytes() if built else b"") + repr(what).encode())
    digest.update((ROOT / "pyproject.toml").read_bytes() + (ROOT / "constraints.txt").read_bytes())
    return digest.hexdigest()


def try_commands(python: Path, folder: Path) -> Iterator[str]:
    """Run every step in an empty folder; gives a line for each that ends otherwise than it should."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
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
    asked = parser.parse_args()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "simwright-versions" / asked.kind
    print(f"making an environment of the kind {asked.kind!r} in {folder}", flush=True)
    python = make_environment(asked.kind, folder)
    if asked.build_only:
        return 0
    with tempfile.TemporaryDirectory() as empty:
        failed = 0
        for line in try_commands(python, Path(empty)):
            failed += 1
            print(line, flush=True)
    print(f"{len(STEPS) - failed} of {len(STEPS)} commands work")
    return 1 if failed else 0


def _call(command: list[str | Path], folder: Path, *, quiet: bool = False) -> None:
    out = subprocess.DEVNULL if quiet else None
    if subprocess.run([str(part) for part in command], cwd=folder, check=False, stdout=out).returncode:
        raise SystemExit(f"failed: {' '.join(str(part) for part in command)}")


if __name__ == "__main__":
    sys.exit(main())
