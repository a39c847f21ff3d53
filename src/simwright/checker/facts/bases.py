# SPDX-License-Identifier: Apache-2.0
"""Base frames of mechanisms, their wheels, and what names say about left, right and forward (REP 103, REP 105)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from pxr import Gf

from simwright.checker.facts.kinematics import find_common_path
from simwright.checker.facts.transforms import read_in

if TYPE_CHECKING:
    from simwright.checker.facts.graph import Component, JointEdge, JointGraph
    from simwright.checker.facts.snapshot import PrimNode, StageSnapshot

Vector: TypeAlias = npt.NDArray[np.float64]

_LEFT_TO_RIGHT = {
    "left": "right", "l": "r", "fl": "fr", "rl": "rr", "bl": "br", "hl": "hr", "lf": "rf", "lh": "rh", "lb": "rb",
}  # fmt: skip
_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
_SIDED = re.compile(
    r"(?i:left|right)|(?:^|[_\-])(?i:[lr]|[frbh][lr]|[lr][fhb])(?:[_\-0-9A-Z]|$)|[LR](?:[_\-0-9]|$)"
)
_DRIVES = ("RosControlDiffDriveAPI",)


@dataclass(slots=True)
class Wheels:
    """Driven wheels of a mechanism; the sides are known only from a controller."""

    component: Component
    left: list[JointEdge] = field(default_factory=list)
    right: list[JointEdge] = field(default_factory=list)
    other: list[JointEdge] = field(default_factory=list)
    controller: PrimNode | None = None

    @property
    def all(self) -> list[JointEdge]:
        """Every wheel."""
        return [*self.left, *self.right, *self.other]


def is_sided(name: str) -> bool:
    """May a name say left or right?  A quick sieve for :func:`find_opposite`."""
    return _SIDED.search(name) is not None


@cache
def split_name(name: str) -> tuple[str, ...]:
    """Words of a prim name, in lower case: ``frontLeft_wheel2`` -> front, left, wheel, 2."""
    # at separators, at a change from lower to upper case, and before digits
    parts = re.split(r"[_\-\s]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9])", name)
    return tuple(part.lower() for part in parts if part)


def find_opposite(words: tuple[str, ...]) -> tuple[str, ...] | None:
    """Words of the name on the right side, for a name that says left; else None."""
    sides = [word for word in words if word in _LEFT_TO_RIGHT]
    return tuple(_LEFT_TO_RIGHT.get(word, word) for word in words) if sides else None


def find_base(component: Component, snapshot: StageSnapshot) -> PrimNode | None:
    """The frame a mechanism is described in: the deepest prim at or above all of its bodies."""
    path = find_common_path([body.path for body in component.bodies])
    return snapshot.node(path) if path else None


def find_position(node: PrimNode, base: PrimNode | None, snapshot: StageSnapshot) -> Vector | None:
    """Origin of a node as seen from a base [m]."""
    found = read_in(node, base, snapshot)
    return None if found is None else np.asarray(found.pose.p, dtype=np.float64)


def find_joint_frame(
    edge: JointEdge, base: PrimNode | None, snapshot: StageSnapshot
) -> tuple[Vector, Vector] | None:
    """Origin [m] and axis of a joint as seen from a base, from the side of its first body."""
    body = edge.body0 or edge.body1
    if body is None:
        return None
    end = "0" if edge.body0 is not None else "1"
    place = read_in(body, base, snapshot)
    if place is None:
        return None
    position = np.array(edge.joint.value(f"physics:localPos{end}") or (0.0, 0.0, 0.0), dtype=np.float64)
    axis = _turn(
        edge.joint.value(f"physics:localRot{end}"),
        _AXES.get(str(edge.joint.value("physics:axis")), (1, 0, 0)),
    )
    return place.pose.apply(place.scale * position), place.pose.apply(axis) - place.pose.p


def list_wheels(snapshot: StageSnapshot) -> list[Wheels]:
    """Mechanisms with driven wheels: by a differential drive controller, else by joints or bodies named so."""
    return snapshot.shared("bases.wheels", _gather_wheels)


def _turn(rotation: Any, axis: tuple[float, float, float]) -> Vector:
    if hasattr(rotation, "GetReal"):
        quat = Gf.Quatd(rotation)
        # a zero quaternion is how broken exporters write the identity
        if quat.GetLength() > 1e-9:
            axis = Gf.Rotation(quat.GetNormalized()).TransformDir(Gf.Vec3d(*axis))
    return np.array(axis, dtype=np.float64)


def _gather_wheels(snapshot: StageSnapshot) -> list[Wheels]:
    graph = snapshot.graph
    of_joint = {edge.joint.path: edge for edge in graph.edges}
    found: list[Wheels] = []
    known: set[int] = set()
    for controller in snapshot.having(*_DRIVES):
        wheels = _read_drive(controller, of_joint, graph)
        if wheels is not None and id(wheels.component) not in known:
            known.add(id(wheels.component))
            found.append(wheels)
    for component in graph.components:
        if id(component) in known:
            continue
        named = [edge for edge in component.edges if _is_wheel(edge)]
        # one wheel may be a steering wheel, a valve or a filter wheel: a vehicle has two or more
        if len(named) >= 2:
            found.append(Wheels(component, other=named))
    return found


def _read_drive(controller: PrimNode, of_joint: dict[str, JointEdge], graph: JointGraph) -> Wheels | None:
    """The wheels that a differential drive controller names, and the mechanism they belong to."""
    left, right = (
        [of_joint[path.pathString] for path in controller.targets(name) if path.pathString in of_joint]
        for name in ("ros:diff_drive:left_wheels", "ros:diff_drive:right_wheels")
    )
    body = next((edge.held for edge in (*left, *right)), None)
    component = graph.of_body.get(body.path) if body is not None else None
    return None if component is None else Wheels(component, left=left, right=right, controller=controller)


def _is_wheel(edge: JointEdge) -> bool:
    if edge.joint.type != "PhysicsRevoluteJoint":
        return False
    names = (edge.joint.name, edge.body1.name if edge.body1 is not None else "")
    if not any("wheel" in name.lower() for name in names):
        return False
    words = {word for name in names for word in split_name(name)}
    # casters and steering axes have wheels in their names and are not driven
    return "wheel" in words and not words & {"caster", "castor", "steer", "steering", "hub", "swivel"}
