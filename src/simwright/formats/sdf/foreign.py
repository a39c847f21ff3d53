# SPDX-License-Identifier: Apache-2.0
"""An included model in another format: ``<include><uri>robot.urdf</uri></include>``.

The file is read by the reader of its own format.  Its links and joints then stand in the model tree as SDFormat
elements that hold nothing but names and poses, so that frames, joints and placements can refer to them; what they
really are is grafted onto the asset afterwards.  Fixed joints stay joints (libsdformat joins their links instead).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lxml import etree

from simwright.core.diag import Reporter, Where
from simwright.core.gate import Gate
from simwright.core.math3d import IDENTITY, Pose
from simwright.formats.format import ReadOptions
from simwright.formats.sdf.context import SdfReadContext
from simwright.formats.sdf.document import SdfDocument
from simwright.formats.sdf.poses import frame_of
from simwright.formats.sdf.tree import ModelNode
from simwright.formats.table import find_root_tag, read_asset
from simwright.formats.xml import Element
from simwright.model.asset import Asset, Camera, Sensor, Shape, Site
from simwright.model.joint import WORLD, Joint

_FOREIGN_ROOTS = {"robot": "urdf"}
_HEAD_BYTES = 1 << 16


def find_foreign(path: Path) -> str:
    """The format of a file that is not SDFormat but can be included, else empty."""
    with path.open("rb") as stream:
        return _FOREIGN_ROOTS.get(find_root_tag(stream.read(_HEAD_BYTES)), "")


def open_foreign(path: Path, name: str, gate: Gate, reporter: Reporter) -> SdfDocument:
    """A document with one model of names and poses; its asset is ``document.foreign``."""
    options = ReadOptions(packages=gate.packages, gate=gate)
    asset = read_asset(path, format_name=name, options=options, reporter=reporter)
    # A version with frame semantics, so that poses and names mean what they say.
    root = etree.Element("sdf", version="1.11")
    model = _add(root, "model", Where(str(path), 1), name=asset.name)
    poses = {WORLD: IDENTITY}
    for body in asset.bodies:
        poses[body.name] = body.pose
        _add_pose(_add(model, "link", body.source, name=body.name), body.pose)
    for joint in asset.joints:
        element = _add(model, "joint", joint.source, name=joint.name, type="fixed")
        for tag, end in (("parent", joint.parent), ("child", joint.child)):
            etree.SubElement(element, tag).text = end or "world"
        _add_pose(element, joint.child_frame)
    document = SdfDocument(path, root, reporter)
    document.foreign = asset
    return document


def _add(parent: Element, tag: str, source: Where, **attributes: str) -> Element:
    element: Element = etree.SubElement(parent, tag, attributes)
    # libxml2 keeps lines in sixteen bits.
    element.sourceline = min(source.line or 1, 65535)
    return element


def _add_pose(element: Element, pose: Pose) -> None:
    w, x, y, z = pose.q
    pose_element = etree.SubElement(element, "pose", rotation_format="quat_xyzw")
    pose_element.text = " ".join(repr(float(value)) for value in (*pose.p, x, y, z, w))


def insert_foreign(context: SdfReadContext, model: ModelNode) -> None:
    """Put the asset of a foreign model in its place, every name made unique."""
    foreign = model.document.foreign
    if foreign is None:
        return
    # A copy: the same file may be included several times.
    _ForeignModel(context, model, foreign.copy()).run()


class _ForeignModel:
    """One asset on its way into another."""

    def __init__(self, context: SdfReadContext, model: ModelNode, asset: Asset) -> None:
        self.context, self.model, self.asset = context, model, asset
        assert model.frame is not None
        self.lift = context.graph.pose(model.frame)
        self.bodies = {item.name: item.key for item in model.links} | {WORLD: WORLD}
        self.joints = {item.name: item.key for item in model.joints}
        self.dofs: dict[str, str] = {}
        self.placements = {name: (key, IDENTITY) for name, key in self.bodies.items()}
        self.placements[WORLD] = (WORLD, self.lift)
        if model.static:
            for item in model.links:
                self.placements[item.name] = (WORLD, context.graph.pose(frame_of(item)))

    def run(self) -> None:
        """Move everything."""
        self._move_bodies()
        if not self.model.static:
            self._move_joints()
        named = {
            kind: self._rename(getattr(self.asset, field), kind)
            for field, kind in (
                ("shapes", "shape"), ("materials", "material"), ("physics_materials", "physics_material"),
                ("cameras", "camera"), ("sensors", "sensor"), ("controllers", "controller"),
            )
        }  # fmt: skip
        self._place_parts(named)
        self._move_interfaces(named["sensor"])
        renamed = {**self.bodies, **self.joints, **named["shape"]}
        for space, element, attribute, extra in self.asset.extras:
            owner = renamed.get(element, element)
            self.context.asset.extras.keep(space, owner, attribute, extra.value, extra.source)

    def _move_bodies(self) -> None:
        target, graph = self.context.asset, self.context.graph
        items = {item.name: item for item in self.model.links}
        for body in self.asset.bodies:
            item = items[body.name]
            pose = graph.pose(frame_of(item))
            if self.model.static:
                self.context.claim("site", item.key)
                target.sites.append(Site(item.key, pose=pose, path=item.scoped, source=body.source))
                continue
            body.name, body.pose, body.scope, body.path = item.key, pose, self.model.scope, item.scoped
            target.bodies.append(body)

    def _move_joints(self) -> None:
        for joint in self.asset.joints:
            # A joint to the world is placed in the model's frame, which the include may have moved.
            if joint.parent == WORLD:
                joint.parent_frame = self.lift @ joint.parent_frame
            self._rename_joint(joint)
            self.context.asset.joints.append(joint)
        for mimic in self.asset.mimics:
            mimic.follower, mimic.leader = self.dofs[mimic.follower], self.dofs[mimic.leader]
            self.context.asset.mimics.append(mimic)
        self._rename(self.asset.actuators, "actuator")
        for actuator in self.asset.actuators:
            actuator.target = self.dofs.get(actuator.target, actuator.target)
            self.context.asset.actuators.append(actuator)

    def _rename_joint(self, joint: Joint) -> None:
        old, joint.name = joint.name, self.joints[joint.name]
        joint.parent, joint.child = self.bodies[joint.parent], self.bodies[joint.child]
        joint.path = joint.name
        for dof in joint.dofs:
            # Freedoms are called after their joint and follow its new name.
            name = joint.name + dof.name[len(old) :] if dof.name.startswith(old) else dof.name
            self.dofs[dof.name] = dof.name = name

    def _rename(self, elements: list[Any], kind: str) -> dict[str, str]:
        names: dict[str, str] = {}
        for element in elements:
            names[element.name] = self.context.claim(kind, element.name, self.model.scope)
            element.name = names[element.name]
        return names

    def _place_parts(self, named: dict[str, dict[str, str]]) -> None:
        target = self.context.asset
        parts: list[Shape | Camera | Sensor] = [*self.asset.shapes, *self.asset.cameras, *self.asset.sensors]
        for part in parts:
            part.body, lift = self.placements[part.body]
            part.pose = part.pose if lift is IDENTITY else lift @ part.pose
        for shape in self.asset.shapes:
            shape.material = named["material"].get(shape.material, shape.material)
            shape.physics_material = named["physics_material"].get(shape.physics_material, "")
        for sensor in self.asset.sensors:
            sensor.target = named["camera"].get(sensor.target, self.joints.get(sensor.target, sensor.target))
        target.shapes += self.asset.shapes
        target.cameras += self.asset.cameras
        target.sensors += self.asset.sensors
        target.materials += self.asset.materials
        target.physics_materials += self.asset.physics_materials

    def _move_interfaces(self, sensors: dict[str, str]) -> None:
        for interface in self.asset.interfaces:
            interface.at = sensors.get(interface.at, self.bodies.get(interface.at, interface.at))
        for controller in self.asset.controllers:
            controller.joints = {
                role: [self.joints.get(name, name) for name in names]
                for role, names in controller.joints.items()
            }
        self.context.asset.interfaces += self.asset.interfaces
        self.context.asset.controllers += self.asset.controllers
