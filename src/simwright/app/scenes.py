# SPDX-License-Identifier: Apache-2.0
"""Scene files for the command line: which files are scenes, and what is wrong with one."""

from __future__ import annotations

import os
from collections.abc import Sequence

from simwright.checker.result import AssetResult
from simwright.core.diag import Reporter, diagnostic_from_error, sort_diagnostics
from simwright.core.errors import SimwrightError

ENDINGS = (".yaml", ".yml", ".json")


def split_scenes(inputs: Sequence[str | os.PathLike[str]]) -> tuple[list[str], list[str]]:
    """Inputs that are scene files, by their ending and their keys, and all others."""
    texts = [os.fspath(item) for item in inputs]
    scenes = [text for text in texts if text.lower().endswith(ENDINGS) and _is_scene(text)]
    return scenes, [text for text in texts if text not in scenes]


def _is_scene(path: str) -> bool:
    from simwright.formats.table import FORMATS, detect_format

    # formats are a tier below scenes and cannot list them
    FORMATS.add("scene", "simwright.scenes.format:FORMAT")
    try:
        return detect_format(path).name == "scene"
    except SimwrightError:
        return False


def check_scene(path: str, *, compat: str | None = None, build: bool = True) -> AssetResult:
    """Every finding of a scene file; with ``build``, also of what it asks for: files, names, operations."""
    from simwright.core.documents.validate import InvalidDocumentError
    from simwright.scenes.control import load_control
    from simwright.scenes.document import read_scene
    from simwright.scenes.load import assemble_scene

    reporter = Reporter()
    result = AssetResult(path)
    try:
        file = read_scene(path, compat=compat, reporter=reporter)
        if build:
            assemble_scene(file, num_worlds=1, reporter=reporter)
            load_control(file)
    except SimwrightError as error:
        if isinstance(error, InvalidDocumentError):
            reporter.extend(error.problems)
        else:
            result.failed = not reporter.found
            reporter.add(diagnostic_from_error(error))
    result.findings = sort_diagnostics(reporter)
    return result
