# SPDX-License-Identifier: Apache-2.0
"""The ROS side of an asset in another one that has its bodies and joints already, under other names.

Arrays of scenes and models of tasks carry mechanics only.  What an asset is to ROS (contexts, interfaces, controllers,
frames) and what its interfaces measure with (sensors, cameras) comes after them, below a prim path of its own, so that
robots stay apart.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from simwright.core.math3d import IDENTITY, Pose
from simwright.core.names import NameScope
from simwright.model.asset import Asset
from simwright.model.joint import WORLD
from simwright.model.ros import RosContext

_MOUNTED = ("sites", "cameras", "sensors")


@dataclass(frozen=True, slots=True)
class RosSeat:
    """Where a ROS side goes: the prim ``path`` it is below, ``pose`` of its world in that of the other asset.

    ``bodies`` and ``joints`` give names of the asset the names they have in the other one.
    """

    path: str
    bodies: Mapping[str, str] = field(default_factory=dict)
    joints: Mapping[str, str] = field(default_factory=dict)
    pose: Pose = IDENTITY

    def place(self, path: str, name: str) -> str:
        """The path of an element that has a prim path, or only a name."""
        return f"{self.path}{path}" if path.startswith("/") else f"{self.path}/{name}"


def carry_ros_side(whole: Asset, part: Asset, seat: RosSeat, namespace: str = "") -> None:
    """Add the ROS side of ``part`` to ``whole``; with a namespace, all of it is in a context of that name."""
    if namespace:
        whole.contexts.append(RosContext(namespace, at="", pose=seat.pose, path=seat.path))
    # ROS names and frame ids are those of the part, whatever the whole calls things
    for body in part.bodies:
        if body.name in seat.bodies:
            whole.body(seat.bodies[body.name]).path = seat.place(body.path, body.name)
    for joint in part.joints:
        if joint.name in seat.joints:
            made = whole.joint(seat.joints[joint.name])
            made.path, made.ros_name = seat.place(joint.path, joint.name), joint.public_name
    names = _carry_mounted(whole, part, seat)
    known = {**names, **seat.bodies}
    for context in part.contexts:
        at = known.get(context.at, "")
        pose = context.pose if at else seat.pose @ context.pose
        whole.contexts.append(
            dataclasses.replace(context, at=at, pose=pose, path=seat.place(context.path, "context"))
        )
    for interface in part.interfaces:
        path = seat.place(interface.path, interface.name)
        whole.interfaces.append(dataclasses.replace(interface, at=known.get(interface.at, ""), path=path))
    for controller in part.controllers:
        joints = {
            role: [seat.joints[name] for name in group if name in seat.joints]
            for role, group in controller.joints.items()
        }
        settings = dict(controller.settings)
        if "body" in settings:
            settings["body"] = known.get(str(settings["body"]), settings["body"])
        path = seat.place(controller.path, controller.name)
        whole.controllers.append(dataclasses.replace(controller, joints=joints, settings=settings, path=path))


def _carry_mounted(whole: Asset, part: Asset, seat: RosSeat) -> dict[str, str]:
    """Frames, cameras and sensors; gives their names in the whole."""
    names: dict[str, str] = {}
    made: list[tuple[str, Any]] = []
    for family in _MOUNTED:
        scope = NameScope(element.name for element in getattr(whole, family))
        for element in getattr(part, family):
            # a body that did not come along takes what is on it with it
            if element.body != WORLD and element.body not in seat.bodies:
                continue
            name = names[element.name] = scope.claim(element.name)
            made.append((family, _seat(element, name, seat)))
    for family, element in made:
        if family == "sensors":
            element.target = names.get(element.target, element.target)
        getattr(whole, family).append(element)
    return names


def _seat(element: Any, name: str, seat: RosSeat) -> Any:
    on_world = element.body == WORLD
    return dataclasses.replace(
        element,
        name=name,
        body=WORLD if on_world else seat.bodies[element.body],
        pose=seat.pose @ element.pose if on_world else element.pose,
        path=seat.place(element.path, element.name),
    )
