# SPDX-License-Identifier: Apache-2.0
"""Regenerate what comes from code: reference pages under docs/ and JSON Schemas.

``--check`` writes nothing and exits with 1 when a file is stale; a test runs it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from generate import (
    arrays_page,
    benchmarks_page,
    cli_page,
    diagnostics_page,
    engines_page,
    formats_page,
    inspect_schema,
    model_page,
    notebooks,
    operations_page,
    proofs_page,
    python_page,
    rep0158_page,
    resolvers_page,
    robot_schema,
    rule_pages,
    scene_schema,
    schemas_page,
    security_page,
    source_map_page,
    task_scenes_page,
    translation_page,
    validators_info,
)

ROOT = Path(__file__).resolve().parent.parent
PAGES: dict[str, Callable[[], str]] = {
    "docs/benchmarks.md": benchmarks_page.generate,
    "docs/cli.md": cli_page.generate,
    "docs/diagnostics.md": diagnostics_page.generate,
    "docs/engines.md": engines_page.generate,
    "docs/proofs.md": proofs_page.generate,
    "docs/python.md": python_page.generate,
    "docs/formats.md": formats_page.generate,
    "docs/model.md": model_page.generate,
    "docs/operations.md": operations_page.generate,
    "docs/rep0158.md": rep0158_page.generate,
    "docs/resolvers.md": resolvers_page.generate,
    "docs/runtime-arrays.md": arrays_page.generate,
    "docs/schemas.md": schemas_page.generate,
    "docs/security.md": security_page.generate,
    "docs/source-map.md": source_map_page.generate,
    "docs/task-scenes.md": task_scenes_page.generate,
    "docs/translation.md": translation_page.generate,
    "src/simwright/app/schemas/inspect.v1.schema.json": inspect_schema.generate,
    "src/simwright/scenes/scene.schema.json": scene_schema.generate,
    "src/simwright/tasks/robot.schema.json": robot_schema.generate,
    "src/simwright/checker/adapters/usd_validation/plugInfo.json": validators_info.generate,
    "src/simwright/checker/adapters/usd_profiles/plugInfo.json": validators_info.generate_profiles,
}


def main() -> int:
    """Write or check every page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only tell which files are stale")
    check = parser.parse_args().check
    pages = (
        {name: generate() for name, generate in PAGES.items()} | rule_pages.generate() | notebooks.generate()
    )
    here = [*(ROOT / "docs/rules").glob("*.md"), *(ROOT / "docs/notebooks").glob("*.ipynb")]
    left = {str(path.relative_to(ROOT)) for path in here} - set(pages)
    stale = len(left)
    for name in sorted(left):
        print(f"left over: {name}")
        if not check:
            (ROOT / name).unlink()
    for name, text in pages.items():
        path = ROOT / name
        if path.exists() and path.read_text() == text:
            continue
        stale += 1
        if check:
            print(f"stale: {name} (run `make docs`)")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            print(f"wrote {name}")
    if not stale:
        print("all generated files are fresh")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
