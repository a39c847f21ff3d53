# SPDX-License-Identifier: Apache-2.0
"""Applying the edits of a scene to the builder: initial positions, then operations, in the order of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simwright.core.diag import Reporter
from simwright.scenes.ops.bench import Bench, put_position
from simwright.scenes.ops.registry import UnsupportedOperation, load_operations

if TYPE_CHECKING:
    from simwright.scenes.builder import Builder
    from simwright.scenes.document import SceneFile
    from simwright.scenes.sources import SourceFinder


def run_operations(builder: Builder, file: SceneFile, sources: SourceFinder, reporter: Reporter) -> list[str]:
    """Apply ``post_build`` in its order; gives what is not supported."""
    unsupported: list[str] = []
    for number, entry in enumerate(file.scene.post_build):
        if isinstance(entry, UnsupportedOperation):
            unsupported.extend(entry.list_unsupported())
            continue
        bench = Bench(builder, reporter, file, sources, ("post_build", number), unsupported)
        load_operations()[entry.op].apply(bench, entry)
    return unsupported


def set_initial_positions(
    builder: Builder, file: SceneFile, sources: SourceFinder, reporter: Reporter
) -> None:
    """Apply ``initial_joint_q``."""
    for number, entry in enumerate(file.scene.initial_joint_q):
        bench = Bench(builder, reporter, file, sources, ("initial_joint_q", number))
        put_position(bench, entry.index, entry.reference, entry.offset, entry.value)
