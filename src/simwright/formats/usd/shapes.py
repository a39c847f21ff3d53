# SPDX-License-Identifier: Apache-2.0
"""Shapes: what is seen and what is touched, on its body or on the world.

A prim with PhysicsCollisionAPI is a collider, and seen as well if its purpose is default or render and it is
visible.  Everything else that is visible is a visual.
"""

from __future__ import annotations

from collections.abc import Sequence

from pxr import UsdGeom

from simwright.core.colors import make_display
from simwright.core.diag import Level, declare
from simwright.core.math3d import Array, Pose
from simwright.formats.usd.bindings import Bindings
from simwright.formats.usd.mass import read_shape_mass
from simwright.formats.usd.meshes import read_mesh
from simwright.formats.usd.naming import name_shapes
from simwright.formats.usd.placement import Placement, decompose_many
from simwright.formats.usd.primitives import find_axis_turn, read_primitive
from simwright.formats.usd.rounds import read_ellipsoid
from simwright.formats.usd.scan import COLLISION, Found, Scan
from simwright.formats.usd.source import BodyFrame, Source, as_floats
from simwright.formats.usd.terrain import read_terrain
from simwright.model.asset import Shape
from simwright.model.geometry import Approximation, Geometry, Heightfield

GEOMETRY_UNSUPPORTED = declare(
    "usd-geometry-unsupported",
    Level.WARNING,
    "{count} {type} prim(s) are not carried, the first at {first}",
    hint="convert them to meshes",
    doc="Geometry of a type the model has no word for (curves, points, patches, volumes ...).",
    loss=True,
)
GEOMETRY_HIDDEN = declare(
    "usd-geometry-hidden",
    Level.INFO,
    "{count} invisible prim(s) that do not collide are not carried, the first at {first}",
    doc="Geometry that is neither seen nor touched.",
    loss=True,
)
GEOMETRY_SUBDIVIDED = declare(
    "usd-geometry-subdivided",
    Level.INFO,
    "{count} mesh(es) author a subdivision scheme, the first at {first}; the control mesh is read",
    hint='author subdivisionScheme = "none" for polygon meshes',
    doc="Subdivision surfaces are read as the polygons of their control mesh.",
)
GEOMETRY_SHEARED = declare(
    "usd-geometry-sheared",
    Level.WARNING,
    "{type} {name!r} is sheared by its ancestors; an unsheared one of about the same size is used",
    hint="scale the prim itself instead of a rotated ancestor",
    doc="Scale above a rotation slants a primitive. Meshes are slanted exactly, primitives cannot be.",
    section="1.1",
)
GEOMETRY_MIRRORED = declare(
    "usd-geometry-mirrored",
    Level.INFO,
    "{count} shape(s) are mirrored by a negative scale, the first at {first}",
    hint="bake the mirroring into the points for tools that want a positive scale",
    doc="A negative scale turns a shape inside out; the model keeps the scale and the right side outside.",
    section="1.1",
)
COLLIDER_NOT_GEOMETRY = declare(
    "usd-collider-not-geometry",
    Level.WARNING,
    "PhysicsCollisionAPI is applied to {type} {name!r}, which is no geometry; it has no effect",
    hint="apply it to the geometry prims below",
    doc="UsdPhysics colliders are geometry prims.",
    section="1.3.1",
)

SDF = "NewtonSDFCollisionAPI"
_SCHEME = "subdivisionScheme"
_COLOR = "primvars:displayColor"
_SEEN_PURPOSES = frozenset({"default", "render"})


def read_shapes(source: Source, scan: Scan, bindings: Bindings) -> None:
    """Add a shape for every geometry prim."""
    names = name_shapes(scan.geometry, noted=source.noted)
    tally = Tally()
    bodies = [source.body_of(found.owner) for found in scan.geometry]
    placements = place_geometry(source, scan.geometry, bodies, source.world_matrices(scan.geometry))
    for found, body, placement in zip(scan.geometry, bodies, placements, strict=True):
        shape = build_shape(source, found, bindings, tally, body=body, placement=placement)
        if shape is not None:
            shape.name = names[found.path]
            source.shapes[found.path] = shape.name
            source.asset.shapes.append(shape)
    tally.report(source)
    for found in scan.stray_colliders:
        where = source.where(found)
        source.reporter.report(COLLIDER_NOT_GEOMETRY, where, type=found.type or "prim", name=found.name)


def place_geometry(
    source: Source, founds: Sequence[Found], bodies: Sequence[BodyFrame], worlds: Array
) -> list[Placement]:
    """Placements on their bodies of prims that stand at ``worlds``, primitives turned onto their axis."""
    matrices = source.place_on(bodies, worlds)
    turned: dict[int, tuple[Pose, list[int]]] = {}
    for number, found in enumerate(founds):
        turn = find_axis_turn(source, found)
        if turn is not None:
            turned.setdefault(id(turn), (turn, []))[1].append(number)
    for turn, numbers in turned.values():
        matrices[numbers, :3, :3] = matrices[numbers, :3, :3] @ turn.rotation
    return decompose_many(matrices)


class Tally:
    """Counts what is left out, so that a thousand curves are one finding."""

    def __init__(self) -> None:
        self.unsupported: dict[str, list[Found]] = {}
        self.hidden: list[Found] = []
        self.subdivided: list[Found] = []
        self.mirrored: list[Found] = []

    def report(self, source: Source) -> None:
        """One finding per kind of omission."""
        report = source.reporter.report
        for kind, prims in self.unsupported.items():
            where = source.where(prims[0])
            report(GEOMETRY_UNSUPPORTED, where, type=kind, count=len(prims), first=prims[0].path)
        for finding, prims in (
            (GEOMETRY_HIDDEN, self.hidden),
            (GEOMETRY_SUBDIVIDED, self.subdivided),
            (GEOMETRY_MIRRORED, self.mirrored),
        ):
            if prims:
                report(finding, source.where(prims[0]), count=len(prims), first=prims[0].path)


def build_shape(
    source: Source, found: Found, bindings: Bindings, tally: Tally, *, body: BodyFrame, placement: Placement
) -> Shape | None:
    """The shape of a prim that is placed on ``body``; None (tallied) if it is left out."""
    collision = COLLISION in found.apis
    visual = found.visible and (not collision or found.purpose in _SEEN_PURPOSES)
    if not (visual or collision):
        tally.hidden.append(found)
        return None
    sized = _read_geometry(source, found, bindings, placement, tally)
    if sized is None:
        return None
    if placement.is_mirrored:
        tally.mirrored.append(found)
    shape = Shape(
        name=found.name,
        geometry=sized[0],
        body=body.name,
        pose=placement.pose,
        scale=sized[1],
        visual=visual,
        collision=collision,
        material=bindings.render_name(found),
        color=_read_color(source, found),
        purpose=found.purpose,
        double_sided=found.may_author("doubleSided") and source.get_flag(found, "doubleSided", False),
        path=found.path,
        source=source.where(found),
    )
    if collision:
        _add_collision(source, found, bindings, shape)
    return shape


def _add_collision(source: Source, found: Found, bindings: Bindings, shape: Shape) -> None:
    shape.enabled = source.get_flag(found, "physics:collisionEnabled", True)
    shape.physics_material = bindings.physics_name(found)
    token = source.get(found, "physics:approximation")
    is_meshed = "PhysicsMeshCollisionAPI" in found.apis or token is not None
    if is_meshed and not isinstance(shape.geometry, Heightfield):  # its mesh is for who reads no notes
        shape.approximation = Approximation(str(token or "none"))
    if SDF in found.apis:
        shape.settings["sdf_enabled"] = True
    if found.path != found.owner:
        read_shape_mass(source, found, shape)


def _read_geometry(
    source: Source, found: Found, bindings: Bindings, placement: Placement, tally: Tally
) -> tuple[Geometry, Array | None] | None:
    if found.type == "Mesh":
        ellipsoid = read_ellipsoid(source, found, placement.scale) if source.noted else None
        if ellipsoid is not None and placement.stretch is None:
            return ellipsoid, None
        terrain = read_terrain(source, found, placement.scale) if source.noted else None
        if terrain is not None and placement.stretch is None:
            return terrain, None
        scheme = source.get(found, _SCHEME) if found.may_author(_SCHEME) else "none"
        if scheme != "none" and source.get_authored(found, _SCHEME) is not None:
            tally.subdivided.append(found)
        materials = {subset.name: bindings.render_name(subset) for subset in found.subsets or ()}
        mesh = read_mesh(source, found, materials, placement.stretch)
        baked = placement.stretch is not None or placement.is_unscaled
        return mesh, None if baked else placement.scale
    sized = read_primitive(source, found, placement.scale)
    if sized is None:
        tally.unsupported.setdefault(found.type or "untyped", []).append(found)
    elif placement.stretch is not None:
        source.reporter.report(GEOMETRY_SHEARED, source.where(found), type=found.type, name=found.name)
    return sized


def _read_color(source: Source, found: Found) -> tuple[float, float, float, float] | None:
    """The constant colour of a prim, as it appears on a screen, and opacity, if there is one."""
    if not found.may_author(_COLOR):
        return None
    values = source.get(found, _COLOR)
    if found.may_author(f"{_COLOR}:indices"):
        values = UsdGeom.Gprim(found.prim).GetDisplayColorPrimvar().ComputeFlattened(source.time)
    if values is None or len(values) != 1:
        return None
    red, green, blue = as_floats(values[0])
    red, green, blue = make_display((red, green, blue))
    opacity: Sequence[float] = source.get(found, "primvars:displayOpacity") or ()
    return red, green, blue, float(opacity[0]) if len(opacity) == 1 else 1.0
