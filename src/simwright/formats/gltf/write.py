# SPDX-License-Identifier: Apache-2.0
"""The glTF writer: an asset becomes one .glb, or a .gltf with its buffer and images beside it.

``fill_document`` is the table of contents.  The same asset gives the same bytes.

Looks are made ready first: the model holds colours as they appear on a screen, glTF linear ones (REP-0158 3.1), and a
visual without a look of its own has those of its mesh file, one for each face set.

The physics block in the document's extras has joints, limits, drives and masses (``docs/gltf.md``).  Bodies are named
by their node.  Vectors and frames are in the local frames of nodes, units SI and radians, quaternions x, y, z, w as
everywhere in glTF.  What is not said is not there; limits without end are left out.
"""

from __future__ import annotations

import dataclasses
import json
import math
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from simwright.core.diag import Reporter
from simwright.core.errors import InputError
from simwright.core.files import write_staged
from simwright.core.math3d import Pose
from simwright.core.names import make_identifier
from simwright.formats.format import WriteOptions, choose_place
from simwright.formats.gltf.document import GltfDocument, Row
from simwright.formats.gltf.messages import EXTRAS_LOST, LOOK_HIGHLIGHTS, LOOK_UNREADABLE
from simwright.formats.gltf.scene import (
    LIGHTS,
    write_animation,
    write_bodies,
    write_optics,
    write_shapes,
    write_sites,
)
from simwright.formats.holds import report_lost
from simwright.formats.parts.looks import FileLooks, is_plain, rename_looks
from simwright.model.asset import Asset, Shape
from simwright.model.geometry import Mesh
from simwright.model.joint import WORLD, Dof, Drive, Joint, Motion
from simwright.model.kinematics import build_tree
from simwright.model.mass import body_inertials
from simwright.model.material import RenderMaterial, Rgb, Texture, make_linear
from simwright.resolve import mjc, newton, physx
from simwright.resolve.table import PrimType
from simwright.resolve.translation import MIMIC_WORDS

SUFFIXES = (".glb", ".gltf")
_VARIANTS = "KHR_materials_variants"
_JSON, _BIN = b"JSON", b"BIN\0"


def write(asset: Asset, target: Path, options: WriteOptions, reporter: Reporter) -> Path:
    """Write an asset; ``target`` is a file ending in .glb or .gltf, or a folder.  Gives the file's path."""
    named = target.suffix.lower() in SUFFIXES
    if named:
        folder, name = target.parent, target.name
    else:
        folder, name = target, f"{make_identifier(asset.name)}{SUFFIXES[0]}"
    # The files come first: their names decide whether the folder may be filled.
    files = build_files(asset, name, options, reporter)
    own = frozenset(file.partition("/")[0] for file in files)
    place = choose_place(asset, folder, name, own, options, named=named)
    options.approve()
    with place.fill() as staging:
        write_staged(staging, files)
    return place.path


def build_files(asset: Asset, entry: str, options: WriteOptions, reporter: Reporter) -> dict[str, bytes]:
    """Every file by relative path: one for .glb; for .gltf the document, its buffer and its images."""
    gltf = fill_document(asset, options, reporter)
    if entry.lower().endswith(SUFFIXES[0]):
        # Images are put into the buffer before the document, so that it has the length with them.
        for image in gltf.textures.images:
            gltf.buffer.add_view(image.content)
        return {entry: _pack(build_document(gltf), gltf.buffer.content)}
    stem = Path(entry).stem
    files: dict[str, bytes] = {}
    document = build_document(gltf, f"{stem}_textures")
    for row, image in zip(document.get("images", ()), gltf.textures.images, strict=True):
        files[f"{stem}_textures/{row['uri'].rpartition('/')[2]}"] = image.content
    if gltf.buffer.length:
        files[f"{stem}.bin"] = gltf.buffer.content
        document["buffers"][0]["uri"] = quote(f"{stem}.bin")
    return {**files, entry: _encode(document, indent=1)}


def fill_document(asset: Asset, options: WriteOptions, reporter: Reporter) -> GltfDocument:
    """Everything but the file."""
    asset = prepare_looks(asset, reporter)
    gltf = GltfDocument(asset, build_tree(asset), reporter, options)
    write_bodies(gltf)
    write_shapes(gltf)
    write_sites(gltf)
    write_optics(gltf)
    write_physics(gltf)
    write_animation(gltf)
    report_losses(gltf)
    return gltf


def build_document(gltf: GltfDocument, image_folder: str = "") -> Row:
    """The JSON document; images are in the buffer unless a folder is named."""
    textures = gltf.textures
    document: Row = {"asset": {"version": "2.0", "generator": "Simwright"}}
    used = gltf.used | gltf.materials.extensions | textures.extensions
    document["extensionsUsed"] = sorted(used)
    document["extensionsRequired"] = sorted(gltf.required)
    document["extensions"] = _list_extensions(gltf)
    document["scene"] = 0
    document["scenes"] = [{"name": gltf.asset.name, "nodes": [0]}]
    document.update(
        nodes=gltf.nodes,
        meshes=gltf.meshes,
        materials=gltf.materials.rows,
        textures=textures.textures,
        images=[
            _describe_image(gltf, image.name, image.kind, image.content, image_folder)
            for image in textures.images
        ],
        samplers=textures.samplers,
        cameras=gltf.cameras,
        animations=gltf.animations,
        accessors=gltf.buffer.accessors,
        bufferViews=gltf.buffer.views,
        buffers=[{"byteLength": gltf.buffer.length}] if gltf.buffer.length else [],
        extras=gltf.extras,
    )
    # The schema of glTF forbids lists and objects without entries.
    return {key: value for key, value in document.items() if value not in ([], {})}


def _list_extensions(gltf: GltfDocument) -> Row:
    result: Row = {}
    if gltf.lights:
        result[LIGHTS] = {"lights": gltf.lights}
    if _VARIANTS in gltf.used:
        variants = gltf.asset.look_variants
        # KHR_materials_variants has one flat list; names of several variant sets could be equal.
        many = len({variant.set_name for variant in variants}) > 1
        names = [f"{v.set_name}={v.name}" if many else v.name for v in variants]
        result[_VARIANTS] = {"variants": [{"name": name} for name in names]}
    return result


def _describe_image(gltf: GltfDocument, name: str, kind: str, content: bytes, folder: str) -> Row:
    if folder:
        suffix = ".jpg" if kind == "image/jpeg" else ".png"
        return {"name": name, "uri": f"{quote(folder)}/{quote(name + suffix)}"}
    return {"name": name, "mimeType": kind, "bufferView": gltf.buffer.add_view(content)}


def _encode(document: Row, indent: int | None = None) -> bytes:
    separators = None if indent else (",", ":")
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)
    return text.encode()


def _pack(document: Row, content: bytes) -> bytes:
    """A .glb container."""
    text = _encode(document)
    # Chunks start at multiples of four bytes: JSON is padded by spaces, binary by zeros (glTF 2.0, 4.4.3).
    text += b" " * (-len(text) % 4)
    chunks: list[Any] = [struct.pack("<I", len(text)), _JSON, text]
    if content:
        padded = content + b"\0" * (-len(content) % 4)
        chunks += [struct.pack("<I", len(padded)), _BIN, padded]
    body = b"".join(chunks)
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


_COLORED = frozenset({"diffuse", "emissive", "specular"})


def prepare_looks(asset: Asset, reporter: Reporter) -> Asset:
    """A copy of the asset with linear colours and all looks it needs."""
    twin = asset.copy()
    _FileLookApplier(twin, reporter).dress()
    # After the looks of mesh files are in: they hold display colours like all others.
    twin.materials = [_make_linear(material) for material in twin.materials]
    for shape in twin.shapes:
        if shape.color is not None:
            shape.color = (*make_linear(shape.color[:3]), shape.color[3])
    return twin


def _make_linear(material: RenderMaterial) -> RenderMaterial:
    specular = material.specular
    return dataclasses.replace(
        material,
        diffuse=make_linear(material.diffuse),
        emissive=make_linear(material.emissive),
        specular=None if specular is None else make_linear(specular),
        textures={
            key: _make_texture_linear(texture) if key in _COLORED else texture
            for key, texture in material.textures.items()
        },
    )


def _make_texture_linear(texture: Texture) -> Texture:
    red, green, blue, alpha = texture.gain
    color: Rgb = make_linear((red, green, blue))
    return dataclasses.replace(texture, gain=(*color, alpha))


class _FileLookApplier:
    """Dresses visuals in the looks of their mesh files."""

    def __init__(self, asset: Asset, reporter: Reporter) -> None:
        self._asset = asset
        self._looks = FileLooks(asset, reporter, LOOK_UNREADABLE)
        self._meshes: dict[tuple[int, bool], Mesh] = {}
        self._kept: list[Mesh] = []  # their ids are keys, so they must live

    def dress(self) -> None:
        """Every visual whose mesh file has face sets with looks the asset does not know."""
        for shape in self._asset.shapes:
            mesh = shape.geometry
            if shape.visual and isinstance(mesh, Mesh) and mesh.file:
                self._dress(shape, mesh)
        self._looks.report_dimmed(LOOK_HIGHLIGHTS)

    def _dress(self, shape: Shape, mesh: Mesh) -> None:
        try:
            data = mesh.data
        except InputError:
            return  # said where the mesh itself is written
        # Sets that name a look of the asset were dressed by the source, as OpenUSD's are.
        if not data.subsets or any(subset.material in self._looks.own for subset in data.subsets):
            return
        key = (id(mesh), is_plain(shape))
        if key not in self._meshes:
            self._kept.append(mesh)
            looks = {} if is_plain(shape) else self._looks.take(mesh)
            self._meshes[key] = Mesh(
                rename_looks(data, looks), source=mesh.source, file=mesh.file, gate=mesh.gate
            )
        shape.geometry = self._meshes[key]


VERSION = 1
_DOF_NUMBERS = (
    ("lower", "lower"), ("upper", "upper"), ("effortLimit", "effort_limit"), ("velocityLimit", "velocity_limit"),
    ("damping", "damping"), ("friction", "friction"), ("stiffness", "stiffness"),
    ("springReference", "spring_ref"), ("armature", "armature"),
)  # fmt: skip


def write_physics(gltf: GltfDocument) -> None:
    """Fill the extras of the document; an asset without bodies has none."""
    asset = gltf.asset
    if not asset.bodies:
        return
    # One function: each part of the block is a few lines and depends on nothing else.
    block: Row = {"version": VERSION, "bodies": _list_bodies(gltf)}
    if asset.environment.gravity is not None:
        block["gravity"] = asset.environment.gravity.tolist()
    if asset.joints:
        loops = {id(joint) for joint in gltf.tree.loops}
        turned = {id(edge.joint) for edge in gltf.tree.edges if edge.reversed}
        known = gltf.body_nodes
        block["joints"] = [
            _describe_joint(gltf, joint, id(joint) in loops, id(joint) in turned)
            for joint in asset.joints
            if joint.parent in known and joint.child in known
        ]
    if asset.mimics:
        block["mimics"] = [
            {
                "follower": mimic.follower,
                "leader": mimic.leader,
                "multiplier": mimic.multiplier,
                "offset": mimic.offset,
                **({"polynomial": list(mimic.polynomial)} if mimic.polynomial else {}),
            }
            for mimic in asset.mimics
            if mimic.enabled
        ]
    gltf.extras["simwright"] = {"physics": block}


def _list_bodies(gltf: GltfDocument) -> list[Row]:
    inertials = body_inertials(gltf.asset)
    rows = []
    for body in gltf.asset.bodies:
        row: Row = {"node": gltf.body_nodes[body.name], "name": body.name}
        inertial = inertials.get(body.name)
        # A body without a mass says nothing, which readers can tell from zero.
        if inertial is not None and math.isfinite(inertial.mass) and inertial.mass > 0.0:
            row["mass"] = inertial.mass
            row["centerOfMass"] = inertial.com.tolist()
            row["inertia"] = inertial.six.tolist()
        if body.kinematic:
            row["kinematic"] = True
        if not body.enabled:
            row["enabled"] = False
        rows.append(row)
    return rows


def _describe_joint(gltf: GltfDocument, joint: Joint, closes_loop: bool, is_turned: bool) -> Row:
    row: Row = {"name": joint.public_name, "type": joint.kind.value}
    if joint.parent != WORLD:
        row["parent"] = gltf.body_nodes[joint.parent]
    if joint.child != WORLD:
        row["child"] = gltf.body_nodes[joint.child]
    # One row after the other, each left out where it says what is the default.
    for word, frame in (("parentFrame", joint.parent_frame), ("childFrame", joint.child_frame)):
        if not frame.is_identity():
            row[word] = _describe_frame(frame)
    if joint.dofs:
        row["dofs"] = [_describe_dof(dof) for dof in joint.dofs]
    if closes_loop:
        row["closesLoop"] = True
    if is_turned:
        row["childCarriesParent"] = True
    if not joint.enabled:
        row["enabled"] = False
    if joint.distance is not None:
        # JSON has no infinity.
        row["distance"] = [value if math.isfinite(value) else None for value in joint.distance]
    if joint.gear is not None:
        row["gearRatio"] = joint.gear.ratio
    return row


def _describe_frame(frame: Pose) -> Row:
    w, x, y, z = frame.q.tolist()
    return {"translation": frame.p.tolist(), "rotation": [x, y, z, w]}


def _describe_dof(dof: Dof) -> Row:
    row: Row = {"motion": dof.motion.value}
    if dof.name:
        row["name"] = dof.name
    if dof.motion in (Motion.HINGE, Motion.SLIDE):
        row["axis"] = dof.axis.tolist()
    if any(dof.anchor.tolist()):
        row["anchor"] = dof.anchor.tolist()
    if dof.swing is not None:
        row["swing"] = list(dof.swing)
    if dof.pitch:
        row["pitch"] = dof.pitch
    if dof.ref:
        row["reference"] = dof.ref
    for word, name in _DOF_NUMBERS:
        _put(row, word, getattr(dof, name))
    if dof.position is not None:
        row["position"] = _as_numbers(dof.position)
    if dof.drive is not None:
        row["drive"] = _describe_drive(dof.drive)
    return row


def _describe_drive(drive: Drive) -> Row:
    row: Row = {"type": "acceleration" if drive.acceleration else "force"}
    for word, value in (
        ("stiffness", drive.stiffness),
        ("damping", drive.damping),
        ("targetPosition", drive.target_position),
        ("targetVelocity", drive.target_velocity),
        ("maxForce", drive.max_force),
    ):
        _put(row, word, value)
    return row


def _put(row: Row, word: str, value: float | None) -> None:
    if value is not None and math.isfinite(value):
        row[word] = float(value)


def _as_numbers(value: Any) -> float | list[float]:
    if isinstance(value, Iterable):
        return [float(entry) for entry in value]
    return float(value)


_KEYS = frozenset(
    {"armature", "damping", "friction", "effort_limit", "velocity_limit", "stiffness", "spring_ref", "ref"}
)
_CARRIED = frozenset(
    name
    for rows in (mjc.ROWS, newton.ROWS, physx.ROWS)
    for row in rows
    if row.prim is PrimType.JOINT and (row.key in _KEYS or row.key.endswith("_position"))
    for name in row.attributes
)
"""Attributes of solvers whose value is in the physics block."""


def report_losses(gltf: GltfDocument) -> None:
    """Joints that hold nothing, contact materials without their colliders, then attributes of solvers."""
    asset, reporter = gltf.asset, gltf.reporter
    # Friction and bounce are written on the nodes of colliders, which are there on request only.
    lost: list[Any] = [] if gltf.options.collision else asset.physics_materials
    if lost:
        what, advice = f"{len(lost)} contact material(s)", "--collision writes them with the colliders"
        report_lost(reporter, "glTF 2.0", what, lost, moves=True, advice=advice)
    lost = gltf.tree.dangling
    if lost:
        what = f"{len(lost)} joint(s) to bodies that do not exist"
        report_lost(reporter, "glTF 2.0", what, lost, moves=True, advice="correct the names")
    spaces: dict[str, list[str]] = {}
    for space, element, attribute, _ in asset.extras:
        # Attributes whose value is in the physics block are not lost, whatever solver they are of.
        if attribute not in _CARRIED and not attribute.startswith(MIMIC_WORDS):
            spaces.setdefault(space, []).append(f"{element} {attribute}")
    for space, names in spaces.items():
        reporter.report(EXTRAS_LOST, count=len(names), space=space, first=names[0])
