# SPDX-License-Identifier: Apache-2.0
"""From XML to the model tree, with every ``<include>`` replaced by what it includes.

An include names a model folder or a file (``model://``, ``package://``, ``file://`` or a path).  In a folder,
``model.config`` says which file is meant; without it, ``model.sdf``.  The file may be URDF too.  Depth and number of
includes are bounded, and a file that includes itself is reported and left out.

A file in another format (``<include><uri>robot.urdf</uri></include>``) is read by the reader of its own format.  Its
links and joints then stand in the model tree as SDFormat elements that hold nothing but names and poses, so that
frames, joints and placements can refer to them; what they really are is grafted onto the asset afterwards.  Fixed
joints stay joints (libsdformat joins their links instead).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lxml import etree

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import InputError, LimitError, NotFoundError
from simwright.core.gate import Gate
from simwright.core.math3d import IDENTITY, Pose
from simwright.formats.format import ReadOptions
from simwright.formats.resources import resolve_resource
from simwright.formats.sdf.context import SdfReadContext
from simwright.formats.sdf.document import NEWEST, SdfDocument, open_document
from simwright.formats.sdf.poses import frame_of
from simwright.formats.sdf.tree import ModelNode, NamedElement, join_scope
from simwright.formats.table import find_root_tag, read_asset
from simwright.formats.xml import Element, parse
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


# Real worlds include some hundred models, a few deep.
MAX_DEPTH = 32
MAX_INCLUDES = 10_000
MAX_NESTING = 64

INCLUDE_FAILED = declare(
    "sdf-include-failed",
    Level.ERROR,
    "the include of {uri!r} is left out: {reason}",
    hint="{advice}",
    doc="An included model cannot be found or read; the rest of the file is read without it.",
    loss=True,
)
INCLUDE_CYCLE = declare(
    "sdf-include-cycle",
    Level.ERROR,
    "the include of {uri!r} is left out: {chain} include each other in a circle",
    hint="remove one of the includes",
    doc="A file includes itself, directly or through others.",
    loss=True,
)
NOT_CARRIED = declare(
    "sdf-not-carried",
    Level.WARNING,
    "<{tag}> {name!r} is not read: {reason}",
    doc="An element that describes something an asset does not hold (actors, GUI, saved states ...).",
    loss=True,
)
NO_NAME = declare(
    "sdf-no-name",
    Level.ERROR,
    "<{tag}> has no name",
    hint="it is called {name!r}; give it a name attribute",
    doc="Models, links, joints and frames must be named.",
)

_IGNORED = {
    "actor": "animated actors are not part of an asset",
    "population": "populations are placed by the simulator",
    "state": "saved states are not part of an asset",
    "gui": "GUI settings are not part of an asset",
    "road": "roads have no counterpart",
}
_ROOT_TAGS = ("model", "light", "actor", "world")


@dataclass(slots=True)
class TreeBuilder:
    """Builds the model tree of one file and the files it includes."""

    gate: Gate
    reporter: Reporter
    stack: list[Path] = field(default_factory=list)
    opened: dict[Path, SdfDocument] = field(default_factory=dict)
    count: int = 0
    nesting: int = 0

    def build_top(self, document: SdfDocument, element: Element, *, is_world: bool) -> ModelNode:
        """The node of a ``<world>``, or of a file that holds models."""
        self.stack.append(document.path.resolve())
        node = ModelNode(element.get("name", ""), element, document, is_world=is_world)
        self._fill(node)
        self.stack.pop()
        return node

    def _fill(self, node: ModelNode) -> None:
        document = node.document
        for child in document.children(node.element):
            match child.tag:
                case "model":
                    node.models.append(self._build_model(node, document, child))
                case "include":
                    self._include(node, document, child)
                case "link":
                    node.links.append(self._item(node, document, child))
                case "joint":
                    node.joints.append(self._item(node, document, child))
                case "frame":
                    node.frames.append(self._item(node, document, child))
                case "light":
                    node.lights.append(self._item(node, document, child))
                case "plugin":
                    node.plugins.append((document, child))
                case tag if tag in _IGNORED:
                    self._ignore(document, child)

    def _ignore(self, document: SdfDocument, element: Element) -> None:
        reason = _IGNORED[element.tag]
        name = element.get("name", "")
        self.reporter.report(NOT_CARRIED, document.where(element), tag=element.tag, name=name, reason=reason)

    def _name(self, document: SdfDocument, element: Element) -> str:
        name = (element.get("name") or "").strip()
        if not name:
            name = f"unnamed_{element.tag}"
            self.reporter.report(NO_NAME, document.where(element), tag=element.tag, name=name)
        return name

    def _item(self, node: ModelNode, document: SdfDocument, element: Element) -> NamedElement:
        return NamedElement(self._name(document, element), element, document, node)

    def _build_model(
        self,
        parent: ModelNode,
        document: SdfDocument,
        element: Element,
        include: Element | None = None,
    ) -> ModelNode:
        """The node of a ``<model>``; ``include`` (an element of the parent's file) may override it."""
        outer = parent.document
        name = outer.text(include, "name") or self._name(document, element)
        node = ModelNode(name, element, document, parent)
        node.merged = include is not None and outer.flag_attribute(include, "merge")
        # A merged model's links belong to its parent, under their own names.
        node.scope = parent.scope if node.merged else join_scope(parent.scope, name)
        node.placement_frame = (element.get("placement_frame") or "").strip()
        node.placer, node.placer_document = element, document
        node.where = document.where(element) if include is None else outer.where(include)
        static = document.flag(element, "static")
        if include is not None:
            static = outer.flag(include, "static", default=static)
            node.placement_frame = outer.text(include, "placement_frame") or node.placement_frame
            # The pose of the include replaces that of the model, frame and all.
            if outer.child(include, "pose") is not None:
                node.placer, node.placer_document = include, outer
            node.plugins += [(outer, plugin) for plugin in outer.children(include, "plugin")]
        # What stands in a static model is static.
        node.static = parent.static or static
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            where = document.where(element)
            raise LimitError(f"models are nested more than {MAX_NESTING} deep", where=where)
        self._fill(node)
        self.nesting -= 1
        return node

    def _include(self, parent: ModelNode, document: SdfDocument, include: Element) -> None:
        uri = document.text(include, "uri")
        where = document.where(include)
        self.count += 1
        if self.count > MAX_INCLUDES or len(self.stack) > MAX_DEPTH:
            raise LimitError(
                f"more than {MAX_INCLUDES} includes, or includes more than {MAX_DEPTH} deep",
                hint="is a model included by the models it includes?",
                where=where,
            )
        try:
            path = self._find_file(uri, document, include)
            # Reported and left out instead of failing: the rest of the world is still of use.
            if path in self.stack:
                ring = [*self.stack[self.stack.index(path) :], path]
                chain = " -> ".join(step.name for step in ring)
                self.reporter.report(INCLUDE_CYCLE, where, uri=uri, chain=chain)
                return
            # Parsed once, however often it is included.
            if path not in self.opened:
                self.opened[path] = self._open(path)
        except InputError as error:
            advice = error.hint or "correct the address"
            self.reporter.report(INCLUDE_FAILED, where, uri=uri[:200], reason=error.message, advice=advice)
            return
        self.stack.append(path)
        self._attach(parent, document, include, self.opened[path])
        self.stack.pop()

    def _attach(
        self, parent: ModelNode, document: SdfDocument, include: Element, included: SdfDocument
    ) -> None:
        """Put what an included file holds in place of the include."""
        found = next((c for c in included.children(included.root) if c.tag in _ROOT_TAGS), None)
        where = document.where(include)
        if found is None or found.tag == "world":
            reason = "the file holds a world" if found is not None else "the file holds no model"
            self.reporter.report(
                INCLUDE_FAILED,
                where,
                uri=document.text(include, "uri"),
                reason=reason,
                advice="include a file that holds a model",
            )
        elif found.tag == "model":
            parent.models.append(self._build_model(parent, included, found, include))
        elif found.tag == "light":
            item = self._item(parent, included, found)
            item.name = document.text(include, "name") or item.name
            if document.child(include, "pose") is not None:
                item.placer, item.placer_document = include, document
            parent.lights.append(item)
        else:
            self._ignore(included, found)

    def _find_file(self, uri: str, document: SdfDocument, include: Element) -> Path:
        where = document.where(include)
        if not uri:
            raise NotFoundError("it has no <uri>", hint="add one", where=where)
        path = resolve_resource(uri, document.base, self.gate, where)
        return self.gate.admit(self._file_of_folder(path), where, uri) if path.is_dir() else path

    def _open(self, path: Path) -> SdfDocument:
        """An included file, of whichever format."""
        name = find_foreign(path)
        return (
            open_foreign(path, name, self.gate, self.reporter) if name else open_document(path, self.reporter)
        )

    def _file_of_folder(self, folder: Path) -> Path:
        """The SDFormat file of a model folder: the newest this reader knows, as ``model.config`` lists."""
        for manifest in (folder / "model.config", folder / "manifest.xml"):
            if manifest.is_file():
                name = _choose_version(parse(self.gate.admit(manifest), 1 << 20, self.reporter))
                # the manifest names a file beside it; anything else is not followed
                if name and Path(name).name == name and (folder / name).is_file():
                    return folder / name
        if (folder / "model.sdf").is_file():
            return folder / "model.sdf"
        raise NotFoundError(
            f"the folder {folder.name!r} has no model.config that names a file, and no model.sdf",
            hint="name the SDFormat file itself",
        )


def _choose_version(config: Element) -> str:
    """File name of the newest ``<sdf>`` entry of a model.config that is not newer than the reader."""
    best: tuple[tuple[int, int], str] | None = None
    for entry in config.iter("sdf"):
        match = re.fullmatch(r"(\d{1,3})\.(\d{1,3})", (entry.get("version") or "1.4").strip())
        version = (int(match.group(1)), int(match.group(2))) if match else (1, 4)
        if version <= NEWEST and (best is None or version > best[0]):
            best = (version, (entry.text or "").strip())
    return best[1] if best else ""
