# SPDX-License-Identifier: Apache-2.0
"""``<geom>`` and ``<site>``: which geoms a shape becomes, their looks and contact behaviour; named frames.

A shape is mostly one geom.  A mesh with several materials is seen as one geom per material; a collider that is a
bounding box or ball of its mesh is a geom of its own.  OpenUSD assets keep what is seen apart from what is touched
(REP-0158 1.3), so a geom that is both is two prims of one name; read back they are ``wall`` and ``wall_visual``, and
if they are the same in shape and place they are one geom again.

MuJoCo has one coefficient of sliding friction: the dynamic one is written (REP-0158 1.3.4).  ``condim`` follows from
the frictions a material has, unless the source said it.  Restitution and compliance per contact have no attribute.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from simwright.core.math3d import Array, Pose, vec3
from simwright.formats.mjcf.bodies import SOLIMP, SOLREF
from simwright.formats.mjcf.geoms import DEFAULT_FRICTION, PLANE_GRID, choose_group
from simwright.formats.mjcf.reader import DEFAULT_RGBA
from simwright.formats.mjcf.writer.contacts import Bits
from simwright.formats.mjcf.writer.document import MjcfDocument
from simwright.formats.mjcf.writer.kept import KeptAttributes
from simwright.formats.mjcf.writer.meshes import MjcfMeshFiles, is_flat, is_proven, make_cone
from simwright.formats.mjcf.writer.messages import (
    COLLIDER_HULL,
    FRICTION_APPROXIMATED,
    GEOMETRY_LEFT_OUT,
    SETTING_LOST,
)
from simwright.formats.mjcf.writer.visuals import find_tinted
from simwright.formats.parts.looks import list_uncovered
from simwright.formats.parts.solids import make_mesh
from simwright.model.asset import Asset, Shape, scaled
from simwright.model.geometry import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Geometry,
    Heightfield,
    Mesh,
    Plane,
    Sphere,
    Subset,
    box_bounds,
)
from simwright.model.joint import WORLD
from simwright.model.material import PhysicsMaterial
from simwright.model.moments import fills_hull

# what the OpenUSD writer puts behind the name of the visual half
_VISUAL_SUFFIX = re.compile(r"_visual(?:_\d+)?\Z")
_PLAIN_APPROXIMATIONS = ("none", "convexHull")


# one function: finding twins and leaving out their halves go by the same two tables
def join_twins(asset: Asset) -> Asset:
    """The asset, with colliders in the place of twins that are seen; the asset itself where there are none."""
    seen: dict[str, list[Shape]] = {}
    for shape in asset.shapes:
        word = _VISUAL_SUFFIX.search(shape.name)
        if word is not None and shape.visual and not shape.collision:
            seen.setdefault(shape.name[: word.start()], []).append(shape)
    joined: dict[str, Shape] = {}
    gone: set[str] = set()
    for shape in asset.shapes:
        twins = seen.get(shape.name, ()) if _is_bare(shape) else ()
        twin = next((twin for twin in twins if _is_same_shape(shape, twin)), None)
        if twin is not None:
            gone.add(twin.name)
            joined[shape.name] = dataclasses.replace(
                shape, visual=True, geometry=twin.geometry, material=twin.material, color=twin.color
            )
    ranks = _read_order(asset)
    if not joined and not ranks:
        return asset
    # the collider keeps its place in the order, its visual half goes
    left = [shape for shape in asset.shapes if shape.name not in gone]
    shapes = [joined.get(shape.name, shape) for shape in left]
    shapes.sort(key=lambda shape: ranks.get(shape.name, -1))
    return dataclasses.replace(asset, shapes=shapes)


def _read_order(asset: Asset) -> dict[str, int]:
    """Places of geoms on bodies where visuals and colliders of an MJCF source are mixed; OpenUSD keeps them apart."""
    if asset.provenance.format != "usd":
        return {}
    names = KeptAttributes(asset).take("geom", "order")
    return {str(name): place for place, name in enumerate(names)} if isinstance(names, list) else {}


def _is_bare(shape: Shape) -> bool:
    """Is it a collider that is not seen, and no simpler than its geometry?"""
    token = "none" if shape.approximation is None else shape.approximation.token
    return shape.collision and shape.enabled and not shape.visual and token in _PLAIN_APPROXIMATIONS


def _is_same_shape(shape: Shape, twin: Shape) -> bool:
    if shape.body != twin.body or not np.array_equal(scaled(shape), scaled(twin)):
        return False
    # two prims have two transforms, which are equal up to rounding
    if not np.allclose(shape.pose.matrix, twin.pose.matrix, rtol=0.0, atol=1e-12):
        return False
    return twin.mass is None and twin.density is None and _is_same_geometry(shape.geometry, twin.geometry)


def _is_same_geometry(a: Geometry, b: Geometry) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, Mesh) or isinstance(b, Mesh):
        return a is b or _has_same_faces(a, b)
    return all(_is_close(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a))


def _is_close(a: Any, b: Any) -> bool:
    """Are two sizes the same?  Those of a stage are floats, and a scale may be in them; a plane may have none."""
    if a is None or b is None or isinstance(a, str):
        return bool(a is b or a == b)
    return np.shape(a) == np.shape(b) and bool(np.allclose(a, b, rtol=1e-6, atol=0.0))


def _has_same_faces(a: Geometry, b: Geometry) -> bool:
    assert isinstance(a, Mesh)
    assert isinstance(b, Mesh)
    first, second = a.data, b.data
    if len(first.indices) != len(second.indices):
        return False
    # a mirrored mesh may be turned outside in for one of the two
    corners, others = (np.sort(data.triangles(), axis=1) for data in (first, second))
    return np.array_equal(first.vertices, second.vertices) and np.array_equal(corners, others)


# approximations of UsdPhysics that are primitives in MuJoCo
_BOUNDING_GEOMS = {"boundingCube": "box", "boundingSphere": "sphere"}


@dataclass(slots=True, eq=False)
class MjcfGeom:
    """One geom to be written."""

    name: str
    look: dict[str, Any]
    pose: Pose
    visual: bool
    collision: bool
    material: str = ""
    values: dict[str, Any] = field(default_factory=dict)


def _make_geoms(document: MjcfDocument, library: MjcfMeshFiles, shape: Shape) -> list[MjcfGeom]:
    """The geoms of a shape; none, and a finding, where MuJoCo cannot take it."""
    collision = shape.collision and shape.enabled
    geometry, scale = shape.geometry, scaled(shape)
    # MuJoCo takes planes and height fields on static bodies only
    if isinstance(geometry, (Plane, Heightfield)) and not _is_static(document, shape.body):
        return _report_refused(
            document, shape, "MuJoCo has planes and height fields on bodies that do not move only"
        )
    if isinstance(geometry, Heightfield):
        name, rise = library.find_heights(shape, geometry)
        # MuJoCo's heights begin at zero, the model's where they like
        lifted = shape.pose @ Pose.of((0.0, 0.0, rise))
        return [
            MjcfGeom(
                shape.name,
                {"type": "hfield", "hfield": name},
                lifted,
                shape.visual,
                collision,
                shape.material,
            )
        ]
    fitted = _fit_primitive(geometry, scale)
    if fitted is not None:
        if isinstance(geometry, Plane):
            grid = document.kept.get(shape, "geom", "grid", PLANE_GRID)
            fitted["size"] = (*fitted["size"][:2], grid if isinstance(grid, (int, float)) else PLANE_GRID)
        return [MjcfGeom(shape.name, fitted, shape.pose, shape.visual, collision, shape.material)]
    mesh = _find_mesh(geometry)
    if mesh is None:
        return _report_refused(document, shape, f"MuJoCo has no {geometry.kind} of this scale")
    if not is_proven(mesh) and not (len(mesh.data.vertices) and mesh.data.face_count):
        return _report_refused(document, shape, "the mesh is empty")
    return _make_mesh_geoms(document, library, shape, mesh, collision)


def _find_mesh(geometry: Geometry) -> Mesh | None:
    """The mesh that stands in for what MuJoCo has no geom for: cones, outlines, unevenly stretched round shapes."""
    if isinstance(geometry, Mesh):
        return geometry
    return make_cone(geometry) if isinstance(geometry, Cone) else make_mesh(geometry)


def _report_refused(document: MjcfDocument, shape: Shape, why: str) -> list[MjcfGeom]:
    kind, advice = shape.geometry.kind, "replace it by a mesh or a primitive that MuJoCo has"
    document.reporter.report(
        GEOMETRY_LEFT_OUT, shape.source, kind=kind, name=shape.name, why=why, advice=advice
    )
    return []


def _is_static(document: MjcfDocument, body: str) -> bool:
    """Does nothing between a body and the world move?"""
    while body != WORLD:
        mjcf_body = document.bodies[body]
        if mjcf_body.joints:
            return False
        body = mjcf_body.parent
    return True


# one function: the cases exclude each other, by looks, hull and bound
def _make_mesh_geoms(
    document: MjcfDocument, library: MjcfMeshFiles, shape: Shape, mesh: Mesh, collision: bool
) -> list[MjcfGeom]:
    bound = _BOUNDING_GEOMS.get(shape.approximation.token) if collision and shape.approximation else None
    hull = collision and bound is None and not _is_flat_collider(document, shape, mesh)
    # a mesh that MuJoCo has compiled before has no looks by faces, and is not even opened
    parts = [] if is_proven(mesh) or not shape.visual else _list_face_sets(mesh, shape.material)
    geoms: list[MjcfGeom] = []
    if len(parts) > 1:
        for part in parts:
            look = {"type": "mesh", "mesh": library.find_mesh(shape, mesh, part)}
            name = f"{shape.name}_{part.name}"
            geoms.append(MjcfGeom(name, look, shape.pose, True, False, part.material))
        # the hull is that of the whole mesh, so it cannot be one of the parts
        if hull:
            look = {"type": "mesh", "mesh": library.find_mesh(shape, mesh)}
            geoms.append(MjcfGeom(shape.name, look, shape.pose, False, True))
    elif shape.visual or hull:
        look = {"type": "mesh", "mesh": library.find_mesh(shape, mesh)}
        material = parts[0].material if parts else shape.material
        geoms.append(MjcfGeom(shape.name, look, shape.pose, shape.visual, hull, material))
    if bound:
        geoms.append(_make_bound(shape, mesh, bound))
    return geoms


def _is_flat_collider(document: MjcfDocument, shape: Shape, mesh: Mesh) -> bool:
    """Is it a mesh without a hull?  That is reported: MuJoCo refuses the whole model for one."""
    if is_proven(mesh) or not is_flat(mesh.data, scaled(shape)):
        return False
    why = "it is flat, and MuJoCo finds no hull; it is not touched" if shape.visual else "it is flat"
    document.reporter.report(
        GEOMETRY_LEFT_OUT,
        shape.source,
        kind="collider mesh",
        name=shape.name,
        why=why,
        advice="use a thin box as collider",
    )
    return True


def _list_face_sets(mesh: Mesh, material: str) -> list[Subset]:
    """Sets of faces with looks of their own, and what is left over with the shape's."""
    parts = [subset for subset in mesh.data.subsets if subset.material and len(subset.faces)]
    if not parts:
        return []
    # faces in no set show the material of the shape
    rest = list_uncovered(mesh.data)
    return [*parts, Subset("rest", rest, material)] if len(rest) else parts


def _make_bound(shape: Shape, mesh: Mesh, bound: str) -> MjcfGeom:
    bounds = box_bounds(mesh)
    assert bounds is not None
    scale = scaled(shape)
    half = (bounds[1] - bounds[0]) / 2.0 * np.abs(scale)
    pose = shape.pose @ Pose.of((bounds[0] + bounds[1]) / 2.0 * scale)
    # the ball around the box
    size = half if bound == "box" else np.linalg.norm(half)
    name = f"{shape.name}_collider" if shape.visual else shape.name
    return MjcfGeom(name, {"type": bound, "size": size}, pose, False, True)


def _fit_primitive(geometry: Geometry, scale: Array) -> dict[str, Any] | None:
    """Type and half sizes of a stretched primitive; None if MuJoCo has none like it."""
    x, y, z = (abs(float(v)) for v in scale)
    match geometry:
        case Box():
            return {"type": "box", "size": geometry.size / 2.0 * (x, y, z)}
        case Sphere():
            # a stretched ball is an ellipsoid; a stretched capsule is nothing that MuJoCo has
            if x == y == z:
                return {"type": "sphere", "size": geometry.radius * x}
            return {"type": "ellipsoid", "size": geometry.radius * vec3(x, y, z)}
        case Ellipsoid():
            return {"type": "ellipsoid", "size": geometry.radii * (x, y, z)}
        case Cylinder() if x == y:
            return {"type": "cylinder", "size": (geometry.radius * x, geometry.length / 2.0 * z)}
        case Capsule() if x == y == z:
            return {"type": "capsule", "size": (geometry.radius * x, geometry.length / 2.0 * z)}
        case Plane():
            wide = (0.0, 0.0) if geometry.size is None else geometry.size / 2.0 * (x, y)
            return {"type": "plane", "size": (*wide, PLANE_GRID)}
    return None


GEOM_DEFAULTS: dict[str, Any] = {
    "type": "sphere", "contype": 1, "conaffinity": 1, "condim": 3, "group": 0, "priority": 0,
    "friction": DEFAULT_FRICTION, "solmix": 1.0, "solref": SOLREF, "solimp": SOLIMP, "margin": 0.0, "gap": 0.0,
    "rgba": DEFAULT_RGBA,
}  # fmt: skip
_GEOM_KEPT = (
    "condim",
    "priority",
    "solmix",
    "solref",
    "solimp",
    "adhesion",
    "surfacevel",
    "shellinertia",
    "user",
)
# approximations that a hull satisfies; "" is none, where the source leaves it to the engine
_CONVEX = ("convexHull", "boundingCube", "boundingSphere", "")
_FLUID_COEFFICIENTS = 5
_ROUNDING = 1e-12


def write_geoms(document: MjcfDocument, library: MjcfMeshFiles, bits: dict[str, Bits]) -> None:
    """Every shape on its body."""
    materials = {material.name: material for material in document.asset.physics_materials}
    for shape in document.asset.shapes:
        # once for a shape: parts of it share their contact values
        contact = _describe_contact(document, shape, materials.get(shape.physics_material))
        for geom in _make_geoms(document, library, shape):
            _write_geom(document, shape, geom, contact, bits.get(shape.name, (1, 1)))
    _report_hulls(document)
    _report_materials(document)


def _write_geom(
    document: MjcfDocument, shape: Shape, geom: MjcfGeom, contact: dict[str, Any], bits: Bits
) -> None:
    if not (geom.visual or geom.collision):
        return
    name = document.claim("geom", geom.name)
    document.note_written("shape", shape.name, name)
    if geom.collision:
        # contact pairs name the geom that is touched, not the ones that are seen
        document.names["collider", shape.name] = name
    around, inside = _find_frame(document, shape, geom)
    values: dict[str, Any] = {
        "name": name,
        **geom.look,
        **document.describe_pose(inside),
        **_describe_look(document, shape, geom),
    }
    contype, conaffinity = bits if geom.collision else (0, 0)
    values |= {"contype": contype, "conaffinity": conaffinity, "group": _find_group(document, shape, geom)}
    values |= contact
    # those of a geom that is only seen have no place in the model's formats
    idle = document.find_kept(shape, "geom", "margin", "gap")
    is_touched = geom.collision or document.exact
    values |= {"margin": shape.margin, "gap": shape.gap} if is_touched else idle
    node = document.nodes[shape.body]
    if around is not None:
        node = document.add(node, "frame", document.describe_pose(around))
    document.add(node, "geom", values, GEOM_DEFAULTS)


def _find_frame(document: MjcfDocument, shape: Shape, geom: MjcfGeom) -> tuple[Pose | None, Pose]:
    """The frame that an MJCF source has around a mesh, and the pose in it.

    MuJoCo moves the mesh inside the frame, so without it the last bits would be others.
    """
    kept = document.kept.get(shape, "geom", "frame")
    if kept is None or "mesh" not in geom.look:
        return None, geom.pose
    # kept by the reader as two poses in a row, 7 numbers each
    around, inside = Pose.of(kept[0:3], kept[3:7]), Pose.of(kept[7:10], kept[10:14])
    same = (around @ inside).is_close(geom.pose, _ROUNDING)
    return (around, inside) if same else (None, geom.pose)


def _find_group(document: MjcfDocument, shape: Shape, geom: MjcfGeom) -> int:
    """As it was read, else by what it is for."""
    kept = document.kept.get(shape, "geom", "group")
    if shape.group is not None:
        return shape.group
    return choose_group(geom.visual, geom.collision) if kept is None else int(kept)


def _describe_look(document: MjcfDocument, shape: Shape, geom: MjcfGeom) -> dict[str, Any]:
    # MuJoCo shows the colour of a geom before that of its material; the model has a material for each colour
    tinted = find_tinted(document, shape) if geom.material and geom.material == shape.material else None
    if tinted is not None:
        return {"material": document.find_name("material", tinted[0]), "rgba": tinted[1]}
    material = document.find_name("material", geom.material) if geom.material else None
    # what OpenUSD does not show: looks of colliders, and colours beside a material
    hidden, tint = (document.kept.get(shape, "geom", word) for word in ("material", "rgba"))
    if not geom.visual and material is None:
        named = document.find_name("material", hidden) if hidden else None
        return {"material": named, "rgba": tint if shape.color is None else shape.color}
    # the colour of a shape tints its own material, not those of its face sets
    if material is not None and geom.material != shape.material:
        return {"material": material}
    return {
        "material": material,
        "rgba": shape.color if material is None and shape.color is not None else tint,
    }


def _describe_contact(
    document: MjcfDocument, shape: Shape, material: PhysicsMaterial | None
) -> dict[str, Any]:
    """Friction, dimension and solver values, as read; from the material where nothing was."""
    values = document.find_kept(shape, "geom", *_GEOM_KEPT)
    friction = document.kept.get(shape, "geom", "friction")
    fluid = document.kept.get(shape, "geom", "fluid")
    if fluid is not None:
        # the compiled numbers begin with the switch that fluidshape is
        values |= {"fluidshape": "ellipsoid", "fluidcoef": fluid[1 : 1 + _FLUID_COEFFICIENTS]}
    if material is not None and shape.collision:
        key = f"physics_material/{material.name}"
        for attribute in ("solref", "solimp"):
            found = document.kept.take(key, attribute)
            if found is not None:
                values.setdefault(attribute, found)
        for attribute, setting in (("priority", "priority"), ("solmix", "weight")):
            if setting in material.settings:
                values.setdefault(attribute, material.settings[setting])
        # what the source said about the geom wins over what follows from its material
        values.setdefault("condim", _choose_dimension(material))
        friction = friction or _approximate_friction(material, int(values["condim"]))
    if friction is not None:
        values["friction"] = friction
    if "shellinertia" in values:
        values["shellinertia"] = bool(values["shellinertia"])
    return values


def _choose_dimension(material: PhysicsMaterial) -> int:
    if material.rolling_friction:
        return 6
    if material.torsional_friction:
        return 4
    return 1 if material.dynamic_friction == material.static_friction == 0.0 else 3


def _approximate_friction(material: PhysicsMaterial, dimension: int) -> list[float]:
    # REP-0158 1.3.4: the dynamic coefficient, the static one where it is the only one
    slide = material.static_friction if material.dynamic_friction is None else material.dynamic_friction
    given = (slide if dimension > 1 else None, material.torsional_friction, material.rolling_friction)
    return [
        default if value is None else value for value, default in zip(given, DEFAULT_FRICTION, strict=True)
    ]


def _report_hulls(document: MjcfDocument) -> None:
    """Mesh colliders whose source is not content with a hull; MJCF never is more."""
    # MuJoCo took the hull before, too
    if document.asset.provenance.format == "mjcf":
        return
    fills: dict[int, bool] = {}
    hollow: list[Shape] = []
    for shape in document.asset.shapes:
        mesh = shape.geometry
        if not (shape.collision and shape.enabled and isinstance(mesh, Mesh)):
            continue
        if (shape.approximation.token if shape.approximation else "none") in _CONVEX:
            continue
        if id(mesh) not in fills:
            fills[id(mesh)] = fills_hull(mesh.data.vertices, mesh.data.triangles())
        if not fills[id(mesh)]:
            hollow.append(shape)
    if hollow:
        document.reporter.report(COLLIDER_HULL, hollow[0].source, count=len(hollow), first=hollow[0].name)


def _report_materials(document: MjcfDocument) -> None:
    used = {shape.physics_material for shape in document.asset.shapes if shape.collision}
    materials = [m for m in document.asset.physics_materials if m.name in used]
    lost: tuple[tuple[str, Callable[[PhysicsMaterial], object]], ...] = (
        ("the restitution", lambda material: material.restitution),
        ("the contact stiffness or damping", partial(_is_compliant, document)),
        ("the rule of combination", _has_own_combination),
    )
    split = [m for m in materials if _has_two_frictions(m)]
    if split:
        first = split[0]
        document.reporter.report(FRICTION_APPROXIMATED, first.source, count=len(split), first=first.name)
    for what, has_lost in lost:
        found = [material for material in materials if has_lost(material)]
        if found:
            first = found[0]
            document.reporter.report(
                SETTING_LOST, first.source, what=what, count=len(found), first=first.name
            )


def _has_own_combination(material: PhysicsMaterial) -> bool:
    """By another rule than MuJoCo's, which takes the larger friction."""
    return material.friction_combine not in ("", "max") or material.restitution_combine not in ("", "max")


def _has_two_frictions(material: PhysicsMaterial) -> bool:
    static, dynamic = material.static_friction, material.dynamic_friction
    return static is not None and dynamic is not None and static != dynamic


def _is_compliant(document: MjcfDocument, material: PhysicsMaterial) -> bool:
    """Stiffness that did not come from ``solref``, which is written again."""
    if document.sets_springs or (material.stiffness is None and material.damping is None):
        return False
    return document.kept.get(material, "physics_material", "solref") is None


# MuJoCo's default site is a ball of 5 mm
SITE_DEFAULTS: dict[str, Any] = {"type": "sphere", "size": 0.005, "group": 0, "rgba": DEFAULT_RGBA}
_SAME_PLACE = 1e-12
OWN_GROUP = 4
"""Display group of sites that only exist for a constraint; viewers hide it."""


def write_sites(document: MjcfDocument) -> None:
    """Every frame on its body."""
    for site in document.asset.sites:
        values: dict[str, Any] = {
            "name": document.claim("site", site.name),
            **document.describe_pose(site.pose),
        }
        fitted = _fit_primitive(site.geometry, np.ones(3)) if site.geometry is not None else None
        values |= fitted or {}
        values |= document.find_kept(site, "site", "group", "rgba", "material", "user")
        if "material" in values:
            values["material"] = document.find_name("material", values["material"])
        document.add(document.nodes[site.body], "site", values, SITE_DEFAULTS)


def find_site(document: MjcfDocument, name: str, body: str, pose: Pose) -> str:
    """A site of the model at a place, or one of the writer's own."""
    for site in document.asset.sites:
        # a site that is there already means one less that nobody wrote
        if site.body == body and site.pose.is_close(pose, _SAME_PLACE):
            return document.find_name("site", site.name) or site.name
    return add_site(document, name, body, pose)


def add_site(document: MjcfDocument, name: str, body: str, pose: Pose) -> str:
    """A site of the writer's own."""
    values = {"name": document.claim("site", name), **document.describe_pose(pose), "group": OWN_GROUP}
    document.add(document.nodes[body], "site", values)
    return str(values["name"])
