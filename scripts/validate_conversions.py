# SPDX-License-Identifier: Apache-2.0
"""Convert random robots to every format and ask the validators of other projects about what was written.

``python scripts/validate_conversions.py FOLDER ... [--count 40] [--seed 0] [--only WORD] [--results FILE]`` draws
robots among the MJCF, URDF and SDFormat files below the folders, from each folder in turn, converts each to OpenUSD,
GLB, URDF and SDFormat, and asks

* OpenUSD: every validator of ``UsdValidation`` that comes with it, on the composed stage;
* glTF: Khronos' gltf-validator, where warnings count;
* URDF: urdfdom's ``check_urdf``;
* SDFormat: libsdformat's checks.  A file of a version that the installed library does not know (mimics need 1.11, which
  came with libsdformat 14) is written again for 1.9, and asked about then: ``older``.

One line for each robot, then complaints and figures; a conversion that is refused is told and not counted as clean.
Files that the reader of their own format does not load are drawn again.  ``--results`` keeps what was found in a file.
Exits with 1 on a complaint or a refusal.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPO))

from scripts.compare_models import load as load_mjcf  # noqa: E402 - the repository has to be found
from tests.parsers import ask_parser, find_check_urdf, find_gltf_check, find_sdf_check  # noqa: E402

import simwright  # noqa: E402
from simwright.core.diag import Reporter  # noqa: E402

KINDS = {".xml": "mjcf", ".urdf": "urdf", ".sdf": "sdf", ".world": "sdf"}
TARGETS = {"usd": "", "gltf": ".glb", "urdf": ".urdf", "sdf": ".sdf"}
KNOWN_SDF = (1, 9)
"""The newest version that libsdformat 12, Debian's, reads."""


def main() -> int:
    """All robots, then what was said."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=40, help="robots to draw")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="only files with this in their path")
    parser.add_argument(
        "--results", type=Path, help="a file of lines to add to; what is in it is not done again"
    )
    arguments = parser.parse_args()
    tools = {"gltf": find_gltf_check(), "urdf": find_check_urdf(), "sdf": find_sdf_check()}
    if missing := [name for name, tool in tools.items() if not tool]:
        parser.error(f"no validator for {', '.join(missing)}: run scripts/install_parsers.sh")
    kept = read_results(arguments.results)
    rows: list[dict[str, Any]] = []
    for folder, file in draw(arguments.folders, arguments.count, arguments.seed, arguments.only):
        row = kept.get(str(file)) or validate(file, folder, tools)
        rows.append(row)
        print(f"{len(rows)}/{arguments.count} {row['file']:60} {tell(row['verdicts'])}", flush=True)
        if arguments.results and str(file) not in kept:
            with arguments.results.open("a") as stream:
                stream.write(json.dumps(row) + "\n")
    return show(rows)


def draw(folders: list[Path], count: int, seed: int, only: str) -> Iterator[tuple[Path, Path]]:
    """Robots in a random order that the seed gives, from each folder in turn; those that nobody loads are left out."""
    chance = random.Random(seed)
    heaps = []
    for folder in folders:
        files = sorted(file for file in folder.rglob("*") if file.suffix in KINDS and only in str(file))
        chance.shuffle(files)
        heaps.append((folder, files))
    while count and any(files for _, files in heaps):
        for folder, files in heaps:
            while files and not is_sound(files[-1]):
                files.pop()
            if files and count:
                count -= 1
                yield folder, files.pop()


def is_sound(file: Path) -> bool:
    """Does the parser of the format's own project read it?"""
    text = file.read_text("utf-8", "replace")
    if file.suffix == ".xml":
        return "<mujoco" in text and "<worldbody" in text and not isinstance(load_mjcf(file), str)
    command = find_check_urdf() if file.suffix == ".urdf" else find_sdf_check()
    return ask_parser(command, file)[0] == 0


def validate(file: Path, folder: Path, tools: dict[str, list[str]]) -> dict[str, Any]:
    """What is said of one robot: a verdict for each format, and the complaints."""
    row: dict[str, Any] = {"path": str(file), "file": "/".join(file.parts[-2:]), "verdicts": {}, "said": {}}
    for word, ending in TARGETS.items():
        with tempfile.TemporaryDirectory() as work:
            target = Path(work) / f"{file.stem}{ending}"
            try:
                entry = convert(file, target, word, folder)
                said = validate_usd(entry) if word == "usd" else ask(tools[word], entry)
                verdict = "clean"
                if said and word == "sdf" and find_version(entry) > KNOWN_SDF:
                    older = Path(work) / "older" / target.name
                    said = ask(tools[word], convert(file, older, word, folder, sdf_version="1.9"))
                    verdict = "older"
            except simwright.SimwrightError as error:
                verdict, said = "refused", [str(error)]
        row["verdicts"][word] = "complaint" if said and verdict != "refused" else verdict
        if said:
            row["said"][word] = said
    return row


def convert(file: Path, target: Path, word: str, folder: Path, **options: str) -> Path:
    """One conversion; models of a world need a world."""
    return Path(
        simwright.convert(file, target, to=word, reporter=Reporter(), allow_outside=[folder], **options)
    )


def validate_usd(entry: Path) -> list[str]:
    """What OpenUSD's validators say of a stage."""
    from pxr import Usd, UsdValidation

    context = UsdValidation.ValidationContext(UsdValidation.ValidationRegistry().GetOrLoadAllValidators())
    said = []
    for error in context.Validate(Usd.Stage.Open(str(entry))):
        places = [str(site.GetPrim().GetPath()) for site in error.GetSites() if site.IsPrim()]
        said.append(f"{error.GetIdentifier()} {', '.join(places)}: {error.GetMessage()}")
    return said


def ask(command: list[str], file: Path) -> list[str]:
    """What a parser complains of."""
    code, said = ask_parser(command, file)
    if "gltf" in command[-1]:
        issues = json.loads(said)["issues"]["messages"] if said.startswith("{") else [{"message": said}]
        return [
            f"{issue.get('code', '')} {issue['message']}" for issue in issues if issue.get("severity", 0) < 2
        ]
    lines = [line for line in said.splitlines() if re.match(r"\s*(error|warning)", line, re.IGNORECASE)]
    return lines or ([said.strip()] if code else [])


def find_version(file: Path) -> tuple[int, ...]:
    """The version of an SDFormat file."""
    match = re.search(r'<sdf[^>]* version="(\d+)\.(\d+)"', file.read_text())
    return tuple(map(int, match.groups())) if match else (0, 0)


def read_results(file: Path | None) -> dict[str, dict[str, Any]]:
    """What was found before, by file."""
    lines = file.read_text().splitlines() if file and file.exists() else []
    return {row["path"]: row for row in map(json.loads, lines)}


def tell(verdicts: dict[str, str]) -> str:
    """A cell for each format."""
    return "  ".join(f"{word} {verdict}" for word, verdict in verdicts.items())


def show(rows: list[dict[str, Any]]) -> int:
    """Complaints and figures."""
    bad = 0
    for row in rows:
        for word, said in row["said"].items():
            bad += 1
            print(f"\n{row['file']} {word} {row['verdicts'][word]}: {len(said)}")
            print(*(f"    {text[:200]}" for text in said[:4]), sep="\n")
    print()
    for word in TARGETS:
        counts = Counter(row["verdicts"][word] for row in rows)
        print(
            f"{word:5} {len(rows)} robots: "
            + ", ".join(f"{verdict} {count}" for verdict, count in counts.items())
        )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
