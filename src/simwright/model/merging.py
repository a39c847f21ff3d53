# SPDX-License-Identifier: Apache-2.0
"""One asset of a whole scene, for formats that have no references.

Names get the name of the placement in front (``rover::wheel``), except where a thing is a single body, which then has
the name of the placement.  Materials are kept once however often an asset is placed.  What is stated for a whole file
and can be stated once only (step, gravity, states to start from) is the scene's own.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from simwright.core.diag import Level, Reporter, declare
from simwright.core.math3d import Pose
from simwright.model.asset import Asset
from simwright.model.joint import WORLD
from simwright.model.scene import Placement, Scene

SEPARATOR = "::"
STATES_LEFT = declare(
    "scene-states",
    Level.INFO,
    "{name!r} brings {count} named state(s), which are not in the scene: a scene starts where things are placed",
    hint="keep the file of the asset for its states",
    doc="A keyframe holds the coordinates of a whole model; in a scene the model is one thing among many.",
    loss=True,
)
SETTINGS_LEFT = declare(
    "scene-settings",
    Level.WARNING,
    "{name!r} brings settings of a world ({settings}), which are not in the scene: they are the scene's own",
    hint="set them in the simulator that runs the scene",
    doc="Step, wind and solver options are stated once for all that is in a scene.",
    loss=True,
)
_SHARED = ("materials", "physics_materials")
_ON_BODY = ("shapes", "sites", "cameras", "lights", "sensors")
_NAMED = (
    "bodies", "joints", *_ON_BODY, "actuators", "tendons", "equalities", "collision_groups", "articulations",
    "controllers",
)  # fmt: skip


def merge_scene(scene: Scene, reporter: Reporter | None = None) -> Asset:
    """All present placements as one asset."""
    whole = Asset(scene.name, environment=scene.environment, provenance=scene.provenance)
    whole.lights += scene.lights
    whole.cameras += scene.cameras
    looks: dict[int, dict[str, str]] = {}
    for placement in scene.list_present():
        source = placement.asset
        known = looks.get(id(source))
        if known is None:
            known = looks[id(source)] = _share_looks(whole, source, len(looks))
            if reporter is not None:
                _report_left(source, reporter)
        _Part(whole, placement, known).add()
    return whole


def _report_left(source: Asset, reporter: Reporter) -> None:
    if source.keyframes:
        reporter.report(STATES_LEFT, name=source.name, count=len(source.keyframes))
    world = source.environment
    said = [key for key in ("timestep", "wind", "magnetic_field") if getattr(world, key) is not None]
    said += sorted(world.settings)
    if said:
        reporter.report(SETTINGS_LEFT, name=source.name, settings=", ".join(said[:5]))


def _share_looks(whole: Asset, source: Asset, number: int) -> dict[str, str]:
    """Take the materials of an asset over; their new names."""
    names: dict[str, str] = {}
    taken = {material.name for family in _SHARED for material in getattr(whole, family)}
    for family in _SHARED:
        for material in getattr(source, family):
            name = material.name
            if name in taken and names.get(name) != name:
                name = f"{source.name}_{name}"
                while name in taken:
                    name = f"{name}_{number}"
            getattr(whole, family).append(dataclasses.replace(material, name=name))
            names.setdefault(material.name, name)
    return names


class _Part:
    """One placement on its way into the whole."""

    def __init__(self, whole: Asset, placement: Placement, looks: dict[str, str]) -> None:
        self._whole = whole
        self._looks = looks
        self._pose = placement.pose
        self._name = placement.name
        self._placement = placement
        self._asset = placement.asset.copy()
        single = len(self._asset.bodies) == 1 and not self._asset.joints
        self._single = self._asset.bodies[0].name if single else None
        names = (element.name for family in _NAMED for element in getattr(self._asset, family))
        dofs = (dof.name for joint in self._asset.joints for dof in joint.dofs if dof.name)
        self._known = {*names, *dofs}

    def add(self) -> None:
        """Rename, place, and hand over."""
        asset = self._asset
        for family in _NAMED:
            for element in getattr(asset, family):
                element.name = self._rename(element.name)
        for body in asset.bodies:
            self._place_body(body)
        for family in _ON_BODY:
            for element in getattr(asset, family):
                element.body, element.pose = self._seat(element.body, element.pose)
        for shape in asset.shapes:
            shape.material = self._looks.get(shape.material, shape.material)
            shape.physics_material = self._looks.get(shape.physics_material, shape.physics_material)
        self._refer_mechanics()
        self._refer_contacts()
        self._refer_ros()
        for family in (*_NAMED, "mimics", "contact_filters", "contact_pairs", "interfaces", "contexts"):
            getattr(self._whole, family).extend(getattr(asset, family))
        for space, element, attribute, extra in asset.extras:
            place = self._rename(element) if element in self._known else self._move_path(element)
            self._whole.extras.keep(space, place, attribute, extra.value, extra.source)
        for custom in asset.custom_attributes:
            custom.values = {self._rename(key): value for key, value in custom.values.items()}
            self._whole.custom_attributes.append(custom)

    def _rename(self, name: str) -> str:
        if name == WORLD:
            return name
        return self._name if name == self._single else f"{self._name}{SEPARATOR}{name}"

    def _move_path(self, path: str) -> str:
        return f"/{self._name}{path}" if path.startswith("/") else path

    def _seat(self, body: str, pose: Pose) -> tuple[str, Pose]:
        return (WORLD, self._pose @ pose) if body == WORLD else (self._rename(body), pose)

    def _place_body(self, body: Any) -> None:
        body.pose = self._pose @ body.pose
        if self._single is None:
            body.scope = SEPARATOR.join(word for word in (self._name, body.scope) if word)
        for field in ("linear_velocity", "angular_velocity"):
            if getattr(body, field) is not None:
                setattr(body, field, self._pose.rotation @ getattr(body, field))

    def _refer_mechanics(self) -> None:
        asset = self._asset
        for joint in asset.joints:
            joint.ros_name = joint.ros_name and self._rename(joint.ros_name)
            joint.parent, joint.parent_frame = self._seat(joint.parent, joint.parent_frame)
            joint.child, joint.child_frame = self._seat(joint.child, joint.child_frame)
            if joint.gear is not None:
                joint.gear.reference = self._rename(joint.gear.reference)
            for dof in joint.dofs:
                dof.name = dof.name and self._rename(dof.name)
        for equality in asset.equalities:
            equality.a, equality.frame_a = self._seat(equality.a, equality.frame_a)
            equality.b, equality.frame_b = self._seat(equality.b, equality.frame_b)
        for mimic in asset.mimics:
            mimic.name = mimic.name and self._rename(mimic.name)
            mimic.leader, mimic.follower = self._rename(mimic.leader), self._rename(mimic.follower)
        for tendon in asset.tendons:
            for point in tendon.path:
                point.name, point.side = self._rename(point.name), self._rename(point.side)
        motors: list[Any] = [*asset.actuators, *asset.sensors]
        for element in motors:
            element.target = self._rename(element.target)
        for articulation in asset.articulations:
            articulation.root = self._rename(articulation.root)

    def _refer_contacts(self) -> None:
        asset = self._asset
        for group in asset.collision_groups:
            group.members = [self._rename(name) for name in group.members]
            group.filtered = [self._rename(name) for name in group.filtered]
        pairs: list[Any] = [*asset.contact_filters, *asset.contact_pairs]
        for pair in pairs:
            pair.a, pair.b = self._rename(pair.a), self._rename(pair.b)

    def _refer_ros(self) -> None:
        """Names of interfaces get the namespace of the placement, as a context would give it to them."""
        asset = self._asset
        renamed: dict[str, str] = {}
        spaces = "/".join(
            word for word in (self._placement.namespace, *(c.namespace for c in asset.contexts[:1])) if word
        )
        for interface in asset.interfaces:
            name = interface.name
            interface.name = name if name.startswith("/") or not spaces else f"{spaces}/{name}"
            interface.at = self._rename(interface.at)
            renamed[name] = interface.name
        asset.contexts = []
        for controller in asset.controllers:
            controller.joints = {
                role: [self._rename(n) for n in names] for role, names in controller.joints.items()
            }
            if "body" in controller.settings:
                controller.settings["body"] = self._rename(controller.settings["body"])
            controller.interfaces = {role: renamed.get(n, n) for role, n in controller.interfaces.items()}
