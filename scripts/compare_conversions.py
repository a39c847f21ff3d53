# SPDX-License-Identifier: Apache-2.0
"""Convert robots to OpenUSD, read them back and compare: one line of figures each, and what differs.

``python scripts/compare_conversions.py FOLDER_OR_FILE ... [--items N]``.  Folders are searched for URDF, SDFormat and
MJCF files.  Exits with 1 when kinematics or dynamics of a robot differ.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import simwright
from simwright.compare.difference import Difference

FIGURES = ("position", "orientation", "mass", "inertia", "mass matrix", "bias")
ENDINGS = (".urdf", ".sdf", ".xml")
NO_ROBOTS = ("package.xml", "keyframes.xml", "model.config")


def main() -> int:
    """Go through all files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--items", type=int, default=0, help="differences shown of each section")
    arguments = parser.parse_args()
    print(f"{'':44}" + "".join(f"{name:>13}" for name in FIGURES) + "  different in")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, file in enumerate(find_files(arguments.paths)):
            try:
                entry = simwright.convert(file, Path(folder) / str(number) / file.stem)
                difference = simwright.diff(file, entry)
            except simwright.SimwrightError as error:
                print(f"{file.parent.name[:20]}/{file.name}: {error}")
                failed += 1
                continue
            show(file, difference, arguments.items)
            failed += any(not s.equal for s in difference.sections if s.name in ("poses", "masses", "motion"))
    return 1 if failed else 0


def find_files(paths: list[Path]) -> Iterator[Path]:
    """Files as they are named, robots in folders in order."""
    for path in paths:
        if path.is_file():
            yield path
        else:
            found = (file for file in sorted(path.rglob("*")) if file.suffix in ENDINGS)
            yield from (file for file in found if file.name not in NO_ROBOTS)


def show(file: Path, difference: Difference, items: int) -> None:
    """One line, then differences if wanted."""
    errors = {figure.name: figure.error for section in difference.sections for figure in section.figures}
    figures = "".join(f"{errors[name]:13.1e}" if name in errors else f"{'-':>13}" for name in FIGURES)
    sections = [section for section in difference.sections if not section.equal]
    name = f"{file.parent.name[:20]}/{file.name}"
    print(f"{name[:43]:44}{figures}  {', '.join(f'{s.name} ({len(s.items)})' for s in sections)}", flush=True)
    for section in sections:
        for item in section.items[:items]:
            print(
                f"      {section.name}: {item.element}: {item.what}: {str(item.a)[:60]} -> {str(item.b)[:60]}"
            )


if __name__ == "__main__":
    sys.exit(main())
