# SPDX-License-Identifier: Apache-2.0
"""A scene as an assembly (REP-0158 1.2): components in folders of their own, brought together by references.

``<name>.usda`` refers to ``ros.usda`` (namespaces), ``lights.usda``, ``physics.usda`` (gravity, anchors) and
``base.usda`` (what stands where).  Assets that stand still and are placed several times are instanced.  A placement
with a switch is a group with a variant set.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from pxr import Sdf, Tf, Vt

from simwright.core.diag import Reporter, Where
from simwright.core.errors import OutputError
from simwright.core.files import write_staged
from simwright.core.math3d import IDENTITY, Pose
from simwright.core.names import make_identifier
from simwright.core.swap import write_folder
from simwright.formats.format import WriteOptions
from simwright.formats.usd import FORMAT
from simwright.formats.usd.writer.entry import build_layers, check_depth, describe_origin, name_entry
from simwright.formats.usd.writer.instances import place_camera, place_light
from simwright.formats.usd.writer.layer import LayerWriter, join
from simwright.formats.usd.writer.plan import PrimNames
from simwright.model.asset import Asset
from simwright.model.scene import Placement, Scene
from simwright.usd.layers import encode_layer
from simwright.usd.plugins import register_plugins

_ENDS = ("0", "1")


def move_anchors(layer: LayerWriter, path: str, physics: Any, pose: Pose) -> None:
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
            # an end without a body is in the world, which does not move with the reference
            if not _has_body(spec, end):
                frame = pose @ _read_frame(spec, end)
                layer.set(target, f"physics:localPos{end}", "point3f", frame.p)
                layer.set(target, f"physics:localRot{end}", "quatf", frame.q)

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


SPACE = "simwright_world"
"""Where the facts of placements are kept in ``customData``."""
_FOLDER = "components"


def write_assembly(
    scene: Scene, folder: Path, reporter: Reporter, options: WriteOptions | None = None
) -> Path:
    """Write a scene into a folder, which appears whole or is filled; gives the path of the entry."""
    register_plugins()
    options = options or WriteOptions()
    try:
        entry, files = build_assembly(scene, reporter, options)
    except Tf.ErrorException as error:
        raise OutputError(f"OpenUSD cannot write the scene: {error}", where=Where(str(folder))) from None
    options.approve()
    with write_folder(folder, last=entry) as staging:
        write_staged(staging, files)
    return folder / entry


def build_assembly(scene: Scene, reporter: Reporter, options: WriteOptions) -> tuple[str, dict[str, bytes]]:
    """The name of the entry, and every file by its relative path."""
    assembly = _Assembly(scene)
    files = assembly.write_components(reporter, options)
    for placement in scene.placements:
        assembly.place(placement)
    assembly.write_scene()
    return assembly.entry, {**files, **assembly.finish()}


class _Assembly:
    """The layers of the assembly itself."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._root = f"/{make_identifier(scene.name, 'scene')}"
        self.entry = f"{self._root[1:]}.usda"
        self._names = PrimNames()
        self._names.reserve(self._root, "lights", "cameras", "PhysicsScene")
        self._layers = {
            "ros.usda": LayerWriter(self._root, f"Namespaces of the robots in {scene.name}."),
            "lights.usda": LayerWriter(self._root, f"Lights and cameras of {scene.name}."),
            "physics.usda": LayerWriter(
                self._root, f"Gravity in {scene.name}, and what is anchored to its ground."
            ),
            "base.usda": LayerWriter(self._root, f"What stands where in {scene.name}."),
        }
        self._base = self._layers["base.usda"]
        self._base.define(self._root)
        self._base.place(self._root, IDENTITY)
        self._uses = Counter(id(placement.asset) for placement in scene.placements)
        self._files: dict[int, str] = {}
        self._component_layers: dict[int, dict[str, Sdf.Layer]] = {}
        self._groups: dict[str, str] = {}

    # -- components ----------------------------------------------------------------------------------------------

    def write_components(self, reporter: Reporter, options: WriteOptions) -> dict[str, bytes]:
        """Every asset once, in a folder of its own."""
        files: dict[str, bytes] = {}
        groups = {
            id(placement.asset): placement.group or _FOLDER for placement in reversed(self._scene.placements)
        }
        for asset in self._scene.list_assets():
            check_depth(asset, Where(asset.provenance.file))
            entry = name_entry(asset)
            folder = f"{groups[id(asset)]}/{entry.removesuffix('.usda')}"
            FORMAT.report_losses(asset, reporter)
            layers, images = build_layers(asset, entry, reporter, options)
            self._files[id(asset)] = f"{folder}/{entry}"
            self._component_layers[id(asset)] = {file: layer.sdf for file, layer in layers.items()}
            for file, layer in layers.items():
                files[f"{folder}/{file}"] = encode_layer(layer.sdf, Path(file).suffix)
            files.update({f"{folder}/{file}": content for file, content in images.files.items()})
        return files

    # -- placements ----------------------------------------------------------------------------------------------

    def place(self, placement: Placement) -> None:
        """A reference to its component, in its group, behind its switch."""
        path = self._names.claim(self._find_group(placement.group), placement.name)
        layer = self._base
        layer.define(path)
        layer.name(path, placement.name)
        layer.place(path, placement.pose)
        if placement.variant is None:
            self._refer(path, placement.asset)
        else:
            word, there, away = placement.variant
            spec = layer.over(path)
            spec.SetInfo("kind", "group")
            inside = layer.vary(path, word, there)
            # the empty variant, so that the choice exists
            layer.vary(path, word, away)
            layer.select(path, word, there if placement.present else away)
            leaf = join(inside, make_identifier(placement.asset.name))
            layer.define(leaf)
            layer.place(leaf, IDENTITY)
            self._refer(leaf, placement.asset)
        self._note(path, placement.facts)
        if placement.namespace is not None:
            ros = self._layers["ros.usda"]
            ros.apply(path, "RosContextAPI")
            ros.set(path, "ros:context:namespace", "string", placement.namespace, uniform=True)
        move_anchors(
            self._layers["physics.usda"],
            path,
            self._component_layers[id(placement.asset)].get("physics.usda"),
            placement.pose,
        )

    def _refer(self, path: str, asset: Asset) -> None:
        spec = self._base.over(path)
        spec.referenceList.prependedItems = [Sdf.Reference(f"./{self._files[id(asset)]}")]
        # bodies of an instance cannot be moved, and interfaces of one would all have the same name
        if self._uses[id(asset)] > 1 and not asset.bodies and not asset.interfaces:
            spec.instanceable = True

    def _find_group(self, word: str) -> str:
        """The prim that things of a sort are in."""
        if not word:
            return self._root
        path = self._groups.get(word)
        if path is None:
            path = self._groups[word] = self._names.claim(self._root, word)
            self._base.define(path).SetInfo("kind", "group")
            self._base.place(path, IDENTITY)
        return path

    def _note(self, path: str, facts: dict[str, Any]) -> None:
        if facts:
            self._base.over(path).SetInfo("customData", {SPACE: _make_plain(facts)})

    # -- the rest ------------------------------------------------------------------------------------------------

    def write_scene(self) -> None:
        """Gravity, lights and cameras."""
        physics, lights = self._layers["physics.usda"], self._layers["lights.usda"]
        path = f"{self._root}/PhysicsScene"
        physics.define(path, "PhysicsScene")
        gravity = self._scene.environment.gravity
        pull = (0.0, 0.0, -9.81) if gravity is None else tuple(float(v) for v in gravity)
        size = sum(v * v for v in pull) ** 0.5
        down = tuple(v / size for v in pull) if size else (0.0, 0.0, -1.0)
        physics.set(path, "physics:gravityDirection", "vector3f", down)
        physics.set(path, "physics:gravityMagnitude", "float", size)
        for scope, family in (("lights", self._scene.lights), ("cameras", self._scene.cameras)):
            if family:
                lights.define(f"{self._root}/{scope}", "Scope")
        for light in self._scene.lights:
            place_light(lights, self._names.claim(f"{self._root}/lights", light.name), light)
        for camera in self._scene.cameras:
            place_camera(lights, self._names.claim(f"{self._root}/cameras", camera.name), camera)

    def finish(self) -> dict[str, bytes]:
        """The layers that say something, and the entry."""
        used = {file: layer for file, layer in self._layers.items() if layer.is_used}
        entry = LayerWriter(self._root, f"{self._scene.name}, written by Simwright.")
        spec = entry.define(self._root)
        spec.SetInfo("kind", "assembly")
        whole = Asset(self._scene.name, provenance=self._scene.provenance)
        spec.SetInfo("assetInfo", describe_origin(whole, self.entry))
        entry.name(self._root, self._scene.name)
        entry.refer(self._root, used)
        layers = {**used, self.entry: entry}
        return {file: encode_layer(layer.sdf, ".usda") for file, layer in layers.items()}


def _make_plain(value: Any) -> Any:
    """Facts as OpenUSD keeps them."""
    if isinstance(value, dict):
        return {make_identifier(str(key)): _make_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return Vt.StringArray([str(item) for item in value])
    return value
