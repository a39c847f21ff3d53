# SPDX-License-Identifier: Apache-2.0
"""Make generatedSchema.usda and plugInfo.json of every extension from its schema.usda.

    python scripts/generate_schemas.py            write what has changed
    python scripts/generate_schemas.py --check    write nothing; exit 1 and name the stale files

OpenUSD's own generator (usdGenSchema, shipped with usd-core; it needs jinja2) does the work in a temporary
folder; the result is brought into one fixed form, so that the same input always gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SCHEMAS = Path(__file__).resolve().parent.parent / "src" / "simwright" / "usd" / "schemas"

PLUG_INFO_TEMPLATE = """\
{"Plugins": [{"Info": {}, "LibraryPath": "", "Name": "{{ libraryName }}", "ResourcePath": ".",
              "Root": ".", "Type": "resource"}]}
"""
"""What usdGenSchema starts a plugInfo.json from; usd-core does not ship its templates."""


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; gives the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path, help="extension folders; none means all of ours")
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 if a file is stale")
    options = parser.parse_args(arguments)
    folders = options.folders or sorted(file.parent for file in SCHEMAS.glob("*/schema.usda"))
    stale = [file for folder in folders for file in refresh_folder(folder, write=not options.check)]
    for file in stale:
        print(f"{'stale' if options.check else 'wrote'}: {file.parent.name}/{file.name}")
    return 1 if options.check and stale else 0


def refresh_folder(folder: Path, *, write: bool) -> list[Path]:
    """The generated files of ``folder`` that differ from what its schema.usda gives; written if asked."""
    stale = []
    for name, text in generate_files(folder / "schema.usda").items():
        file = folder / name
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            stale.append(file)
            if write:
                file.write_text(text, encoding="utf-8")
    return stale


def generate_files(schema: Path) -> dict[str, str]:
    """File name -> text of what belongs beside ``schema``."""
    with tempfile.TemporaryDirectory() as temporary:
        templates, output = Path(temporary, "templates"), Path(temporary, "output")
        templates.mkdir()
        output.mkdir()
        (templates / "plugInfo.json").write_text(PLUG_INFO_TEMPLATE, encoding="utf-8")
        run_generator(schema, templates, output)
        return {
            "generatedSchema.usda": (output / "generatedSchema.usda").read_text(encoding="utf-8").rstrip()
            + "\n",
            "plugInfo.json": format_plug_info((output / "plugInfo.json").read_text(encoding="utf-8")),
        }


def run_generator(schema: Path, templates: Path, output: Path) -> None:
    """Run usdGenSchema in a process of its own: it sets global resolver state."""
    import pxr

    generator = Path(pxr.__file__).parent / "Usd" / "usdGenSchema.py"
    # other plugins must not take part in what our files say
    environment = {key: value for key, value in os.environ.items() if key != "PXR_PLUGINPATH_NAME"}
    command = [
        sys.executable,
        str(generator),
        "--quiet",
        "--templates",
        str(templates),
        str(schema),
        str(output),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(f"usdGenSchema failed for {schema}:\n{done.stdout}{done.stderr}")


def format_plug_info(text: str) -> str:
    """Plain JSON, sorted, without the comment lines that only OpenUSD's own parser accepts."""
    body = "".join(line for line in text.splitlines(keepends=True) if not line.lstrip().startswith("#"))
    return json.dumps(json.loads(body), indent=4, sort_keys=True) + "\n"


if __name__ == "__main__":
    sys.exit(main())
