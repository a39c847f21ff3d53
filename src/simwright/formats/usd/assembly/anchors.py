# SPDX-License-Identifier: Apache-2.0
"""Joints to the world: their frame there is counted in the world, so it moves with the placement (UsdPhysics)."""

from __future__ import annotations

from typing import Any

from pxr import Sdf

from simwright.core.math3d import Pose
from simwright.formats.usd.writer.sheet import Sheet

_ENDS = ("0", "1")


def move_anchors(sheet: Sheet, path: str, physics: Any, pose: Pose) -> None:
    """Say the frames of anchors anew below ``path``, where the asset of the layer ``physics`` is placed."""
    if physics is None:
        return
    root = physics.defaultPrim

    def visit(at: Any) -> None:
        spec = physics.GetPrimAtPath(at) if at.IsPrimPath() else None
        if spec is None or not str(spec.typeName).startswith("Physics") or "Joint" not in str(spec.typeName):
            return
        target = str(at).replace(f"/{root}", path, 1)
        for end in _ENDS:
            if not _has_body(spec, end):
                frame = pose @ _read_frame(spec, end)
                sheet.set(target, f"physics:localPos{end}", "point3f", frame.p)
                sheet.set(target, f"physics:localRot{end}", "quatf", frame.q)

    physics.Traverse(Sdf.Path.absoluteRootPath, visit)


def _has_body(spec: Any, end: str) -> bool:
    relation = spec.relationships.get(f"physics:body{end}")
    return relation is not None and bool(relation.targetPathList.GetAddedOrExplicitItems())


def _read_frame(spec: Any, end: str) -> Pose:
    position = spec.attributes.get(f"physics:localPos{end}")
    turn = spec.attributes.get(f"physics:localRot{end}")
    p = (0.0, 0.0, 0.0) if position is None or position.default is None else tuple(position.default)
    if turn is None or turn.default is None:
        return Pose.of(p)
    return Pose.of(p, (turn.default.real, *turn.default.imaginary))
