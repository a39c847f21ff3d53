# SPDX-License-Identifier: Apache-2.0
"""Write the sample assets (``samples/simwright_samples``), or say whether they are up to date.

    python scripts/make_samples.py            write them
    python scripts/make_samples.py --check    compare; exit 1 when a file is missing, stale or left over

Writing twice gives the same bytes.  With another OpenUSD release the encoding of a layer may differ, so
``--check`` compares layers whose bytes differ by what they say.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
PACKAGE = REPO / "samples" / "simwright_samples"
sys.path[:0] = [str(REPO / "scripts"), str(REPO / "src")]

from samples import (  # noqa: E402 - the path above must be set first
    arm,
    box,
    floor,
    fourbar,
    lab,
    manifests,
    package,
    playground,
    quadruped,
    rack,
    rover,
    warehouse,
)

SAMPLES = (arm, rover, quadruped, fourbar, rack, box, floor, warehouse, lab, playground)


def build_all() -> dict[str, bytes]:
    """Every file of the package by its path inside it."""
    files = package.build(SAMPLES) | manifests.build()
    for sample in SAMPLES:
        files |= sample.build()
    return dict(sorted(files.items()))


def write_all(files: Mapping[str, bytes], folder: Path) -> None:
    """Make the folder hold exactly these files."""
    for path in _present(folder) - set(files):
        (folder / path).unlink()
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def find_stale(files: Mapping[str, bytes], folder: Path) -> list[str]:
    """One line per file that is missing, different or left over."""
    present = _present(folder)
    lines = [f"missing: {path}" for path in files if path not in present]
    lines += [f"left over: {path}" for path in sorted(present - set(files))]
    for path in sorted(present & set(files)):
        written = (folder / path).read_bytes()
        if written != files[path] and not _is_same_layer(path, written, files[path]):
            lines.append(f"stale: {path}")
    return lines


def _present(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def _is_same_layer(path: str, first: bytes, second: bytes) -> bool:
    """Do two encodings of a binary layer say the same?"""
    if not path.endswith(".usdc"):
        return False
    from pxr import Sdf

    texts = []
    with tempfile.TemporaryDirectory() as folder:
        for name, content in (("first.usdc", first), ("second.usdc", second)):
            file = Path(folder, name)
            file.write_bytes(content)
            texts.append(Sdf.Layer.OpenAsAnonymous(str(file)).ExportToString())
    return bool(texts[0] == texts[1])


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Write or check the sample assets.")
    parser.add_argument("--check", action="store_true", help="compare with what is on disk, write nothing")
    parser.add_argument("--folder", type=Path, default=PACKAGE, help="the ROS package's folder")
    options = parser.parse_args()
    files = build_all()
    if options.check:
        stale = find_stale(files, options.folder)
        for line in stale:
            print(line)
        return 1 if stale else 0
    write_all(files, options.folder)
    print(f"{len(files)} files, {sum(map(len, files.values())) / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
