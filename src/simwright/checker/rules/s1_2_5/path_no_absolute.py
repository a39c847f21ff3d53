# SPDX-License-Identifier: Apache-2.0
"""No path is absolute.

Why: `/home/me/robot/mesh.usdc` exists on one machine.

Fails: `@/home/me/mesh.usdc@`, `@C:/robot/mesh.usdc@`, a Windows share, `@file:///tmp/mesh.usdc@`.
Passes: `@./mesh.usdc@`, `@package://my_robot/mesh.usdc@`.

Reading: a string attribute that holds the absolute path of a file is a warning: it may be a note.

Fix: unsafe.  The path becomes relative if the file is inside the asset.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from simwright.checker.facts.paths import PathForm, classify_path, find_dependencies
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level

# an extension: "/robot/base" in a string is a prim path or a frame, not a file
_FILE = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,6}$")


@rule("path-no-absolute", "1.2.5", "must not", on="stage", fix="unsafe", fix_title="make the path relative")
def path_no_absolute(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Absolute asset paths, and strings that look like one."""
    for dependency in find_dependencies(snapshot):
        if dependency.form is PathForm.ABSOLUTE:
            yield dependency.finding(
                f"the {dependency.shown} {dependency.text!r} is absolute",
                "write a path relative to the layer (./...), or package:// for a file of another ROS package",
            )
    for facts in snapshot.layers:
        for value in facts.texts:
            if classify_path(value.text) is PathForm.ABSOLUTE and _FILE.search(value.text):
                yield Finding(
                    f"the string {value.text!r} is the absolute path of a file",
                    hint="use a relative path, or remove it",
                    at=value.path,
                    layer=facts.layer,
                    level=Level.WARNING,
                )
