# SPDX-License-Identifier: Apache-2.0
"""MuJoCo's compiler as a quiet function: a file in, a model and its specification out, errors with a place.

For a mesh MuJoCo makes normals, a bounding volume hierarchy, mass properties and a convex hull, most of the time and
memory of compiling.  The model has no use for them, unless the mesh says what a body weighs or what size a primitive
has.  Such meshes stay; the others stand in by a tetrahedron, and the reader takes them from their files.  MuJoCo moves
every mesh to its centre of mass and the geoms with it; the reader takes that back, whatever the mesh.  Images that are
taken from their files stand in by one pixel, for the same reason: MuJoCo decodes all of them.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import ParseError
from simwright.core.files import read_bytes
from simwright.core.math3d import Array, Pose
from simwright.formats.images import MAX_BYTES, measure_png
from simwright.formats.mesh.load import MAX_MESH_BYTES
from simwright.formats.mesh.obj import has_several_objects
from simwright.formats.mjcf.places import MjcfSource, SourceElement
from simwright.formats.mjcf.quiet import list_refusals, quiet_mujoco

MUJOCO_WARNING = declare(
    "mjcf-mujoco-warning",
    Level.WARNING,
    "MuJoCo warns: {text}",
    doc="MuJoCo compiled the model with a warning of its own.",
)

# part of MuJoCo's message -> what to do about it
_HINTS = (
    ("'composite'", "newer MuJoCo releases have no <composite>: use <replicate>, <flexcomp> or plain bodies"),
    ("mass and inertia of moving bodies", "give the body an <inertial>, or a geom with mass"),
    ("unrecognized attribute", "check the spelling in MuJoCo's XML reference"),
    ("unrecognized element", "check the spelling, and where MJCF allows the element"),
    ("bad format", "the attribute must hold numbers"),
    ("repeated name", "names are unique per kind of element; rename one"),
    ("plugin", "this MuJoCo installation has no such plugin"),
    ("A + B >= C", "correct the inertia, or set balanceinertia in <compiler>"),
)
# MuJoCo writes "line 12" in errors of the compiler and "Line number=12" in those of its XML parser
_LINE = re.compile(r"[Ll]ine (?:number=)?(\d+)")
_QUOTED = re.compile(r"'([^']+)'")
_ELEMENT = re.compile(r"Element (name )?'([^']*)'")
_PREFIX = re.compile(r"^(?:XML Error: |Error: |ParseXML: )+")
_NUMBERS = re.compile(r"[\s\d.eE+-]*\Z")


def compile_model(
    path: Path, source: MjcfSource, reporter: Reporter
) -> tuple[Any, Any, Any, dict[str, Array]]:
    """``(mujoco, specification, model, scales)`` of a main file; what MuJoCo refuses is a ParseError.

    ``scales`` are those of meshes that were not loaded, by name.
    """
    import mujoco

    with quiet_mujoco() as texts:
        try:
            spec = mujoco.MjSpec.from_file(str(path))
            # on the specification, because the file itself must not be changed
            scales = _put_stand_ins(mujoco, spec, source)
            _put_pixels(mujoco, spec, source)
            model = spec.compile()
        except list_refusals(mujoco) as error:
            raise _make_error(str(error), source) from None
    # one finding for each text, however often MuJoCo says it
    for text in dict.fromkeys(texts):
        reporter.report(MUJOCO_WARNING, _find_place(text, source), text=text.strip().splitlines()[0])
    return mujoco, spec, model, scales


def _make_error(text: str, source: MjcfSource) -> ParseError:
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["unknown error"]
    message = _PREFIX.sub("", lines[0])
    element = _ELEMENT.search(text)
    # the message names the schema violation, the second line the element
    if element and not element.group(1) and "unrecognized element" in message:
        message = f"{message} <{element.group(2)}>"
    hint = next((hint for part, hint in _HINTS if part in text), "")
    return ParseError(f"MuJoCo refuses the model: {message}", hint=hint, where=_find_place(text, source))


def _find_place(text: str, source: MjcfSource) -> Where:
    """The place MuJoCo names; it gives no line for included files and no file for attached models."""
    found = _LINE.findall(text)
    line = int(found[-1]) if found else 0
    # with attached models a line may be one of any file
    if line > 0 and not source.attached:
        return Where(source.file, line)
    candidates = _list_candidates(text, source)
    # of two elements with one name the second is the mistake
    if len(candidates) == 1 or ("repeated name" in text and candidates):
        return candidates[-1].where
    files = {e.where.file for e in candidates}
    return Where(files.pop()) if len(files) == 1 else Where(source.file)


def _list_candidates(text: str, source: MjcfSource) -> list[SourceElement]:
    """Elements that a message may be about; a test that no element passes does not count."""
    candidates = list(source.list_elements())
    for is_meant in (_is_named, _mentions, _is_no_number, _is_at_line):
        candidates = [e for e in candidates if is_meant(e, text, source)] or candidates
    return candidates


def _is_at_line(entry: SourceElement, text: str, source: MjcfSource) -> bool:
    """Does it stand where MuJoCo says?  Line 0 is what MuJoCo says of elements that an include brought."""
    found = _LINE.findall(text)
    line = int(found[-1]) if found else 0
    return entry.where.line == line if line > 0 else bool(found) and entry.where.file != source.file


def _is_named(entry: SourceElement, text: str, _source: MjcfSource) -> bool:
    """Is it the element of MuJoCo's ``Element 'tag'`` or ``Element name 'name'``?"""
    match = _ELEMENT.search(text)
    if match is None or not match[2]:
        return False
    return bool((entry.name if match[1] else entry.element.tag) == match[2])


def _mentions(entry: SourceElement, text: str, _source: MjcfSource) -> bool:
    attributes = entry.element.attrib
    return any(q in attributes or q in attributes.values() for q in _QUOTED.findall(text))


def _is_no_number(entry: SourceElement, text: str, _source: MjcfSource) -> bool:
    """Does an attribute that MuJoCo finds badly formatted hold something that is not a number?"""
    if "bad format" not in text:
        return False
    values = [entry.element.get(q) or "" for q in _QUOTED.findall(text)]
    return any(not _NUMBERS.match(value) for value in values if value)


READABLE = (".stl", ".obj")
"""File name endings that the reader loads itself."""
_CONTENT_TYPES = ("", "model/stl", "model/obj")
_TETRAHEDRON = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


def _put_stand_ins(mujoco: Any, spec: Any, source: MjcfSource) -> dict[str, Array]:
    """Replace the meshes of a specification that compiling can do without; gives their scales by name."""
    # in attached models names are changed while compiling, so a mesh cannot be found again
    if source.attached or not _has_own_inertia(mujoco, spec):
        return {}
    shown, needed = _list_uses(mujoco, spec)
    needed |= _list_projected(mujoco, spec, source)
    scales: dict[str, Array] = {}
    for mesh in spec.meshes:
        name = str(mesh.name)
        if name in shown and name not in needed and is_plain_file(mesh, name, source):
            scales[name] = np.array(mesh.scale, dtype=np.float64)
            # without a file MuJoCo takes the points that are given here
            mesh.file, mesh.content_type = "", ""
            mesh.uservert, mesh.scale = _TETRAHEDRON, (1.0, 1.0, 1.0)
    return scales


def _put_pixels(mujoco: Any, spec: Any, source: MjcfSource) -> None:
    """Replace the images of a specification that are shown as their files have them by one pixel each.

    An image with any fault stays, so that MuJoCo judges it.
    """
    # as for meshes: names of attached models change
    if source.attached:
        return
    for texture in spec.textures:
        file = source.files.get(("texture", str(texture.name))) if texture.name else None
        if file is None or not is_plain_image(texture, has_sides=str(texture.name) in source.sides):
            continue
        size = measure_png(read_bytes(file, MAX_BYTES))
        is_flat = int(texture.type) == int(mujoco.mjtTexture.mjTEXTURE_2D)
        # a side of a cube is square
        if size is None or not (is_flat or size[0] == size[1]):
            continue
        texture.file, texture.content_type = "", ""
        texture.width = texture.height = 1
        texture.data = bytes(int(texture.nchannel))


def is_plain_image(texture: Any, *, has_sides: bool) -> bool:
    """Is the texture shown as its file has it, once or on every side of a cube?"""
    is_turned = bool(texture.hflip) or bool(texture.vflip)
    is_cut = any(int(side) != 1 for side in texture.gridsize)
    has_file = str(texture.content_type) in ("", "image/png")
    return not has_sides and has_file and not is_turned and not is_cut and not int(texture.builtin)


def is_plain_file(mesh: Any, name: str, source: MjcfSource) -> bool:
    """Is the mesh what a file says, at a scale, and can that file be read without MuJoCo?"""
    file = source.files.get(("mesh", name))
    if file is None or file.suffix.lower() not in READABLE or str(mesh.content_type) not in _CONTENT_TYPES:
        return False
    # refpos and refquat move the points: such a mesh is not what its file says
    still = np.array_equal(np.asarray(mesh.refpos), (0.0, 0.0, 0.0))
    straight = np.array_equal(np.asarray(mesh.refquat), (1.0, 0.0, 0.0, 0.0))
    scaled = np.all(np.isfinite(mesh.scale)) and np.all(np.asarray(mesh.scale))
    if not (still and straight and scaled) or bool(getattr(mesh, "needsdf", False)):
        return False
    return not has_several_objects(file)


def _has_own_inertia(mujoco: Any, spec: Any) -> bool:
    """May a body's own word about its inertia count?"""
    always = int(spec.compiler.inertiafromgeom) == int(mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE)
    # a fused body gives its geoms to its parent, which weighs them if it says nothing of its own inertia
    fused = spec.compiler.fusestatic and not all(body.explicitinertial for body in spec.bodies[1:])
    return not always and not fused


def _list_uses(mujoco: Any, spec: Any) -> tuple[set[str], set[str]]:
    """Names of meshes that geoms show, and of those whose mass or size counts."""
    shown: set[str] = set()
    needed: set[str] = {str(site.meshname) for site in spec.sites if getattr(site, "meshname", "")}
    mesh_type = int(mujoco.mjtGeom.mjGEOM_MESH)
    for body in spec.bodies:
        is_weighed = not body.explicitinertial and body.name != "world"
        for geom in body.geoms:
            name = str(geom.meshname)
            if not name:
                continue
            shown.add(name)
            # a primitive that names a mesh is fitted to it
            if int(geom.type) != mesh_type or (is_weighed and _has_mass(geom)):
                needed.add(name)
    return shown, needed


def _list_projected(mujoco: Any, spec: Any, source: MjcfSource) -> set[str]:
    """Names of meshes whose frame and size decide where images lie on them."""
    images = {str(m.name): {str(name) for name in m.textures if name} for m in spec.materials}
    stretched = _list_stretched(mujoco, spec, images)
    worn = {
        (str(g.meshname), str(g.material)) for g in spec.geoms if g.meshname and images.get(str(g.material))
    }
    found = {name for name, look in worn if look in stretched}
    # without coordinates of its own an image lies on a mesh by the mesh's frame
    for name in {name for name, _ in worn} - found:
        file = source.files.get(("mesh", name))
        if file is None or not _has_coordinates(file):
            found.add(name)
    return found - _list_framed(mujoco, spec, source)


def _list_framed(mujoco: Any, spec: Any, source: MjcfSource) -> set[str]:
    """Names of meshes whose frame is found without MuJoCo: all points of an STL file are corners of faces."""
    usual = int(mujoco.mjtMeshInertia.mjMESH_INERTIA_LEGACY)
    names = [str(mesh.name) for mesh in spec.meshes if int(mesh.inertia) == usual]
    return {name for name in names if (file := source.files.get(("mesh", name))) and is_stl(file)}


def _list_stretched(mujoco: Any, spec: Any, images: dict[str, set[str]]) -> set[str]:
    """Names of materials whose images lie on a shape by its size, or on a cube."""
    flat = int(mujoco.mjtTexture.mjTEXTURE_2D)
    cubes = {str(texture.name) for texture in spec.textures if int(texture.type) != flat}
    return {str(m.name) for m in spec.materials if m.texuniform or cubes & images[str(m.name)]}


def is_stl(file: Path) -> bool:
    """Is it a mesh file that never has texture coordinates, nor points without a face?"""
    return file.suffix.lower() == ".stl"


def find_mesh_frame(vertices: Array, triangles: npt.NDArray[np.int32], scale: Array) -> tuple[Pose, Array]:
    """Where MuJoCo puts the frame of a mesh, and how far the mesh reaches from it along its axes [m].

    The centre and principal axes of the solid, with every tetrahedron counted as positive (inertia ``legacy``, the
    usual one).  A round solid has its axes where rounding puts them: then MuJoCo compiles the mesh.
    """
    # MuJoCo takes a moment to import
    import mujoco

    points = vertices * scale
    corners = [points.take(column, axis=0) for column in triangles.T]
    # products by columns and matrices: np.cross and einsum of three take several times as long
    (ax, ay, az), (bx, by, bz) = ((corner - corners[0]).T for corner in corners[1:])
    normals = np.stack((ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx), axis=1)
    total = corners[0] + corners[1] + corners[2]
    areas = np.sqrt(np.einsum("ij,ij->i", normals, normals))
    inner = areas @ total / max(3.0 * float(areas.sum()), _LEAST)
    volumes = np.abs(np.einsum("ij,ij->i", total / 3.0 - inner, normals))
    center = 0.25 * inner + volumes @ total / max(4.0 * float(volumes.sum()), _LEAST)
    shares = np.abs(np.einsum("ij,ij->i", total / 3.0 - center, normals))[:, None] / 120.0
    arms = [*(corner - center for corner in corners), total - 3.0 * center]
    second = sum(((shares * arm).T @ arm for arm in arms), np.zeros((3, 3)))
    moments, axes, turn = np.zeros(3), np.zeros(9), np.zeros(4)
    mujoco.mju_eig3(moments, axes, turn, (np.eye(3) * np.trace(second) - second).reshape(-1))
    gaps = np.abs(np.diff(moments))
    if not gaps.min() > _ROUND * float(moments.max()):
        return _compile_mesh_frame(mujoco, vertices, triangles, scale)
    frame = Pose.of(center, turn)
    return frame, np.abs((points - center) @ frame.rotation).max(axis=0)


def _compile_mesh_frame(
    mujoco: Any, vertices: Array, triangles: npt.NDArray[np.int32], scale: Array
) -> tuple[Pose, Array]:
    spec = mujoco.MjSpec()
    mesh = spec.add_mesh(name="mesh")
    mesh.uservert, mesh.userface = vertices.reshape(-1), triangles.reshape(-1)
    mesh.scale = scale
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="mesh", contype=0, conaffinity=0)
    with quiet_mujoco():
        try:
            model = spec.compile()
        except list_refusals(mujoco):
            # it has no solid to have axes; MuJoCo would show nothing, and whoever looks sees an image somewhere
            points = vertices * scale if len(vertices) else np.zeros((1, 3))
            middle = (points.min(axis=0) + points.max(axis=0)) / 2.0
            return Pose.of(middle), np.abs(points - middle).max(axis=0)
    return Pose.of(model.mesh_pos[0], model.mesh_quat[0]), np.array(model.geom_size[0], dtype=np.float64)


_ROUND = 1e-3
"""Principal moments that differ by less, relative to the largest, are those of a round solid."""
_LEAST = 1e-300


def _has_coordinates(file: Path) -> bool:
    """Has a mesh file texture coordinates?  STL files never have."""
    if file.suffix.lower() != ".obj":
        return False
    return re.search(rb"^\s*vt\s", read_bytes(file, MAX_MESH_BYTES), re.MULTILINE) is not None


def _has_mass(geom: Any) -> bool:
    # NaN is how MjSpec says that no mass is given; then the density counts
    mass = float(geom.mass)
    return bool(geom.density) if math.isnan(mass) else mass != 0.0
