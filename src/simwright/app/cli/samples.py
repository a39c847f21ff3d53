# SPDX-License-Identifier: Apache-2.0
"""``simwright samples`` and ``simwright init``: robots to begin with, and the settings of a project."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from simwright.app.cli.options import console, echo, format_option, print_json

SAMPLES_EPILOG = """\b
Examples:
  simwright samples list
  simwright samples copy my_samples
  simwright samples copy my_samples arm lab
"""
INIT_EPILOG = """\b
Examples:
  simwright init
  simwright init my_robots
"""
_STARTS = {
    "arm": ("urdf/arm.urdf.xacro", "six-axis arm with gripper and wrist camera (URDF, xacro)"),
    "rover": ("model.sdf", "differential drive with lidar and IMU (SDFormat)"),
    "quadruped": ("scene.xml", "walker with twelve joints (MJCF)"),
    "fourbar": ("fourbar.usda", "closed four-bar linkage with a ROS topic (OpenUSD)"),
    "rack": ("rack.usda", "pallet rack with instanced parts (OpenUSD)"),
    "box": ("box.usda", "cardboard box (OpenUSD)"),
    "floor": ("floor.usda", "floor slab (OpenUSD)"),
    "warehouse": ("warehouse.usda", "floor, racks and boxes together (OpenUSD, SDFormat)"),
    "lab": ("lab.yaml", "four rooms with furniture, doors and robots (2D world)"),
    "playground": ("playground.yaml", "the walker, a pendulum and boxes, to be run (scene)"),
}
"""Folders of the samples: the file to start with, and what it is."""
SETTINGS = """\
# Settings of Simwright for everything in and below this folder; docs/cli.md and docs/fix.md describe them.
# Lines that begin with # are the defaults.

[check]
# select = []            # only these rules, sections ("1.3") or profiles
# ignore = []            # not these
# profile = "all"        # or "core"
# fail-on = "error"      # "warning", "info" or "never"

[check.severity]
# "mass-no-zero-static" = "warning"    # error, warning, info or off

[check.settings]
# asset-state = "final"  # "source": assets that a pipeline still works on

# [[check.per-path]]
# path = "vendor/**"
# ignore = ["1.3"]
# reason = "vendor assets are repaired by hand"

[fix]
# identifier = "my_team/my_robot"      # values that fixes ask for; --set NAME=VALUE counts over them
# version = "1.0.0"
# license = "Apache-2.0"
"""


def find_samples() -> Path:
    """The folder of the samples: in an installed package, or in a clone."""
    package = Path(__file__).resolve().parents[2]
    installed = package / "samples"
    return installed if installed.is_dir() else package.parents[1] / "samples" / "simwright_samples"


@click.group("samples", epilog=SAMPLES_EPILOG)
def samples() -> None:
    """List the sample robots, rooms and scenes, and copy them into a folder of your own."""


@samples.command("list", epilog="\b\nExample:\n  simwright samples list --format json\n")
@format_option("text", "json")
def list_command(output_format: str) -> None:
    """List the samples and the file that each starts with."""
    root = find_samples()
    if output_format == "json":
        rows = [
            {"name": name, "file": str(root / name / start), "about": about}
            for name, (start, about) in _STARTS.items()
        ]
        print_json({"version": 1, "folder": str(root), "samples": rows})
        return
    from rich.table import Table

    table = Table("sample", "start with", "what it is", box=None, pad_edge=False)
    for name, (start, about) in _STARTS.items():
        table.add_row(name, f"{name}/{start}", about)
    console().print(table)
    echo("\nsimwright samples copy FOLDER    copies them")


@samples.command("copy", epilog=SAMPLES_EPILOG)
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("names", nargs=-1)
def copy_command(folder: Path, names: tuple[str, ...]) -> None:
    """Copy samples to FOLDER: those with NAMES, or all of them.

    The folder may exist, but no sample of the same name in it.  Samples refer to each other (the warehouse to the
    rack, a scene to its robot), so take all of them unless you know what they need.
    """
    from simwright.core.diag import Where
    from simwright.core.errors import OutputError, UnknownNameError

    root = find_samples()
    for name in names:
        if name not in _STARTS:
            raise UnknownNameError("sample", name, _STARTS)
    chosen = names or tuple(sorted(path.name for path in root.iterdir()))
    taken = [name for name in chosen if (folder / name).exists()]
    if taken:
        raise OutputError(
            "this is there already and is not replaced", where=Where(str(folder / taken[0])),
            hint="name another folder",
        )  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    for name in chosen:
        source = root / name
        if source.is_dir():
            shutil.copytree(source, folder / name)
        else:
            shutil.copyfile(source, folder / name)
    echo(f"copied {len(chosen)} to {folder}; try: simwright inspect {folder / _find_start(chosen)}")


def _find_start(chosen: tuple[str, ...]) -> str:
    first = next((name for name in _STARTS if name in chosen), "arm")
    return f"{first}/{_STARTS[first][0]}"


@click.command("init", epilog=INIT_EPILOG)
@click.argument("folder", type=click.Path(path_type=Path), default=Path())
def init(folder: Path) -> None:
    """Write simwright.toml into FOLDER (this one by default), with every setting and its default.

    A file that is there is not replaced.
    """
    from simwright.checker.config import FILE_NAME
    from simwright.core.diag import Where
    from simwright.core.errors import OutputError
    from simwright.core.files import write_atomic

    target = folder / FILE_NAME
    if target.exists():
        raise OutputError("there are settings already, which are not replaced", where=Where(str(target)))
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(target, SETTINGS)
    echo(f"wrote {target}")
