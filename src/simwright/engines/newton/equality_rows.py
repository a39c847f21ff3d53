# SPDX-License-Identifier: Apache-2.0
"""Connects and welds as rows of Newton's MuJoCo solver, beside the joints that close their loops.

A builder that has registered the solver's attributes holds how soft an equality is (``mjc:solref``, ``mjc:solimp``) in
such a row; the row names the joint that stands for the equality in other solvers.
"""

from __future__ import annotations

from typing import Any

from simwright.core.math3d import IDENTITY, Pose, pose_to_seven
from simwright.engines.newton.result import Imported
from simwright.model.joint import WORLD, Joint

FREQUENCY = "mujoco:equality_constraint"
_KINDS = {"MjcEqualityConnectAPI": 0, "MjcEqualityWeldAPI": 1}
_BODY = 1
_OF_JOINT = 1
"""What a row is about: bodies (MuJoCo's object type), and what stands for it in Newton: a joint."""
_SOFT: dict[str, tuple[float, ...]] = {
    "mujoco:eq_solref": (0.02, 1.0),
    "mujoco:eq_solimp": (0.9, 0.95, 0.001, 0.5, 2.0),
}
"""MuJoCo's own, for an equality that says nothing."""


def add_equality_rows(builder: Any, stage: Any, result: Imported, base: Pose) -> None:
    """A row for every joint of the stage that is a connect or a weld."""
    if f"{FREQUENCY}_type" not in builder.custom_attributes:
        return
    import newton

    attributes = [
        attribute
        for attribute in builder.custom_attributes.values()
        if attribute.frequency == FREQUENCY and attribute.usd_attribute_name
    ]
    for joint in result.asset.joints:
        index = result.joints.get(joint.name)
        prim = stage.GetPrimAtPath(joint.path) if joint.closes_loop and joint.path else None
        if index is None or not prim:
            continue
        for api, kind in _KINDS.items():
            if newton.usd.has_applied_api_schema(prim, api):
                soft = newton.usd.get_custom_attribute_values(prim, attributes, context={"builder": builder})
                words = _describe_row(result, joint, kind, base)
                words |= {"world": builder.current_world, "target_kind": _OF_JOINT, "target": index}
                row = {f"{FREQUENCY}_{name}": value for name, value in words.items()}
                for key, fallback in _SOFT.items():
                    row[key] = soft.get(key, builder.custom_attributes[key].dtype(*fallback))
                builder.add_custom_values(**row)


def _describe_row(result: Imported, joint: Joint, kind: int, base: Pose) -> dict[str, Any]:
    """The point of a connect is given on its first body, that of a weld on its second."""
    import warp

    on_parent = (base if joint.parent == WORLD else IDENTITY) @ joint.parent_frame
    on_child = (base if joint.child == WORLD else IDENTITY) @ joint.child_frame
    is_weld = kind == _KINDS["MjcEqualityWeldAPI"]
    scale = result.asset.extras.get("mjc", joint.path, "mjc:torqueScale", 1.0) if is_weld else 0.0
    relative = on_parent @ ~on_child if is_weld else IDENTITY
    return {
        "type": kind,
        "objtype": _BODY,
        "body1": result.bodies.get(joint.parent, -1),
        "body2": result.bodies.get(joint.child, -1),
        "anchor": warp.vec3(*(float(v) for v in (on_child if is_weld else on_parent).p)),
        "torquescale": float(scale),
        "relpose": warp.transform(*pose_to_seven(relative)),
        "joint1": -1,
        "joint2": -1,
        "polycoef": [0.0] * 5,
        "label": joint.path,
        "enabled": joint.enabled,
    }
