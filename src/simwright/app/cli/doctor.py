# SPDX-License-Identifier: Apache-2.0
"""``simwright doctor``."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
from typing import Any

import click

from simwright import __version__
from simwright.app.cli.options import console, format_option, print_json

EPILOG = """\b
Examples:
  simwright doctor
  simwright doctor --format json
"""
_REQUIREMENT = re.compile(r"([A-Za-z0-9_.\-]+)([^;]*)(?:;\s*extra\s*==\s*['\"]([^'\"]+)['\"])?")

ENGINES = {
    "mujoco": "physics, embedded",
    "newton": "extra newton",
}
TOOLS = {
    "check_urdf": "judges URDF (liburdfdom-tools)",
    "gz": "Gazebo and SDFormat",
    "ign": "Gazebo and SDFormat, older",
    "gltf-validator": "judges glTF",
    "usdview": "OpenUSD viewer",
    "ros2": "ROS 2",
}
VARIABLES = (
    "ROS_DISTRO",
    "AMENT_PREFIX_PATH",
    "ROS_PACKAGE_PATH",
    "PXR_PLUGINPATH_NAME",
    "PXR_AR_DEFAULT_SEARCH_PATH",
)


@click.command("doctor", epilog=EPILOG)
@format_option("text", "json")
def doctor(output_format: str) -> int:
    """Show versions, optional extras, engines and tools that are found.

    Exit code 1 means that something Simwright itself needs is missing or broken.
    """
    report = _examine()
    if output_format == "json":
        print_json(report)
    else:
        _print_report(report)
    return 0 if report["healthy"] else 1


def _print_report(report: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    out = console()
    head = Text(f"simwright {report['simwright']}", "bold")
    out.print(head.append(f"  Python {report['python']}  {report['platform']}", "not bold"))
    for title, key in (
        ("Needed", "packages"),
        ("Extras", "extras"),
        ("Engines", "engines"),
        ("Tools", "tools"),
    ):
        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
        for row in report[key]:
            found = row["version"] is not None
            # only what is needed is an alarm; extras are a choice
            said = ("ok", "green") if found else ("--", "yellow") if key != "packages" else ("!!", "red")
            version, note = Text(row["version"] or "not found"), Text(row["note"], "dim")
            table.add_row(Text("  ").append(*said), row["name"], version, note)
        out.print(f"\n{title}", style="bold")
        out.print(table)
    out.print("\nROS and OpenUSD", style="bold")
    for name, value in report["environment"].items():
        out.print(f"  {name} = {value or '(not set)'}")
    out.print()
    if report["healthy"]:
        out.print("All that Simwright needs is here.", style="green")
    else:
        out.print("Something Simwright needs is missing:", style="red", end=" ")
        out.print("pip install --force-reinstall simwright")


def _examine() -> dict[str, Any]:
    """A JSON-ready report; ``healthy`` tells whether every needed package imports its metadata."""
    needed, extras = _list_requirements()
    packages = [_row(name, _find_version(name), spec) for name, spec in needed]
    return {
        "version": 1,
        "simwright": __version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "healthy": all(row["version"] is not None for row in packages),
        "packages": packages,
        "extras": [_extra_row(extra, names) for extra, names in extras.items()],
        "engines": [_row(name, _find_version(name), note) for name, note in ENGINES.items()],
        "tools": [_row(name, shutil.which(name), note) for name, note in TOOLS.items()],
        "environment": {name: os.environ.get(name, "") for name in VARIABLES},
    }


def _find_version(package: str) -> str | None:
    """Installed version of a distribution, None if it is not there."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _list_requirements() -> tuple[list[tuple[str, str]], dict[str, list[str]]]:
    """Needed packages and the extras with theirs, as our own metadata declares them."""
    needed: list[tuple[str, str]] = []
    extras: dict[str, list[str]] = {}
    for line in importlib.metadata.requires("simwright") or []:
        match = _REQUIREMENT.match(line)
        if match is None:
            continue
        name, spec, extra = match.groups()
        if extra is None:
            needed.append((name, spec.strip()))
        # tools of our own developers are no feature that a user could miss
        elif extra != "dev":
            extras.setdefault(extra, []).append(name)
    return needed, extras


def _extra_row(extra: str, names: list[str]) -> dict[str, Any]:
    versions = {name: _find_version(name) for name in names}
    present = [f"{name} {version}" for name, version in versions.items() if version]
    # half of an extra does not work: it is shown as missing, with the line that installs it
    complete = len(present) == len(names)
    note = ", ".join(names) if complete else f"pip install 'simwright[{extra}]'"
    return _row(extra, ", ".join(present) if complete else None, note)


def _row(name: str, version: str | None, note: str) -> dict[str, Any]:
    return {"name": name, "version": version, "note": note}
