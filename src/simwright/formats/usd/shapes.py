# SPDX-License-Identifier: Apache-2.0
"""Shapes: what is seen and what is touched, on its body or on the world; point instancers too (REP-0158 3.5).

A prim with PhysicsCollisionAPI is a collider, and a visual as well if its purpose is default or render and it is
visible.  Every other visible geometry is a visual.  A point instancer gives one shape per instance and prototype part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from pxr import UsdGeom

from simwright.core.diag import Level, declare
from simwright.core.math3d import Array, Pose
from simwright.core.names import NameScope
from simwright.formats.usd.mass import read_shape_mass
from simwright.formats.usd.materials import MaterialBindings
from simwright.formats.usd.meshes import read_mesh
from simwright.formats.usd.naming import name_shapes
from simwright.formats.usd.primitives import (
    find_axis_turn,
    read_ellipsoid,
    read_noted,
    read_primitive,
    read_terrain,
)
from simwright.formats.usd.prims import COLLISION, FoundPrim
from simwright.formats.usd.scan import StageScan, scan_prims
from simwright.formats.usd.stage_reader import BodyFrame, StageReader, as_matrix, as_rows
from simwright.formats.usd.transforms import ScaledPose, are_sound, decompose_many
from simwright.model.asset import Shape
from simwright.model.geometry import Approximation, Geometry, Heightfield
from simwright.model.material import make_display

GEOMETRY_UNSUPPORTED = declare(
    "usd-geometry-unsupported",
    Level.WARNING,
    "{count} {type} prim(s) are left out, the first at {first}",
    hint="convert them to meshes",
    doc="Geometry of a type the model has no word for (curves, points, patches, volumes ...).",
    loss=True,
)
GEOMETRY_HIDDEN = declare(
    "usd-geometry-hidden",
    Level.INFO,
    "{count} invisible prim(s) that do not collide are left out, the first at {first}",
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
    "PhysicsCollisionAPI is applied to {type} {name!r}, which is not a geometry; it has no effect",
    hint="apply it to the geometry prims below",
    doc="UsdPhysics colliders are geometry prims.",
    section="1.3.1",
)

SDF = "NewtonSDFCollisionAPI"
_SCHEME = "subdivisionScheme"
_COLOR = "primvars:displayColor"
_SEEN_PURPOSES = frozenset({"default", "render"})
_DRAWN_PURPOSES = _SEEN_PURPOSES | {"proxy"}


def read_shapes(reader: StageReader, scan: StageScan, bindings: MaterialBindings) -> None:
    """Add a shape for every geometry prim."""
    names = name_shapes(scan.geometry, noted=reader.noted)
    omitted = OmittedShapes()
    bodies = [reader.body_of(found.owner) for found in scan.geometry]
    placements = place_geometry(reader, scan.geometry, bodies, reader.world_matrices(scan.geometry))
    for found, body, placement in zip(scan.geometry, bodies, placements, strict=True):
        shape = build_shape(reader, found, bindings, omitted, body=body, placement=placement)
        if shape is not None:
            shape.name = names[found.path]
            reader.shapes[found.path] = shape.name
            reader.asset.shapes.append(shape)
    omitted.report(reader)
    for found in scan.stray_colliders:
        where = reader.where(found)
        reader.reporter.report(COLLIDER_NOT_GEOMETRY, where, type=found.type or "prim", name=found.name)


def place_geometry(
    reader: StageReader, founds: Sequence[FoundPrim], bodies: Sequence[BodyFrame], worlds: Array
) -> list[ScaledPose]:
    """Placements on their bodies of prims that stand at ``worlds``, primitives turned onto their axis."""
    matrices = reader.place_on(bodies, worlds)
    # few turns for many shapes, so matrices of one turn are multiplied together
    turned: dict[int, tuple[Pose, list[int]]] = {}
    for number, found in enumerate(founds):
        turn = find_axis_turn(reader, found)
        if turn is not None:
            turned.setdefault(id(turn), (turn, []))[1].append(number)
    for turn, numbers in turned.values():
        matrices[numbers, :3, :3] = matrices[numbers, :3, :3] @ turn.rotation
    return decompose_many(matrices)


class OmittedShapes:
    """Counts what is left out, so that a thousand curves are one finding."""

    def __init__(self) -> None:
        self.unsupported: dict[str, list[FoundPrim]] = {}
        self.hidden: list[FoundPrim] = []
        self.subdivided: list[FoundPrim] = []
        self.mirrored: list[FoundPrim] = []

    def report(self, reader: StageReader) -> None:
        """One finding per kind of omission."""
        report = reader.reporter.report
        for kind, prims in self.unsupported.items():
            where = reader.where(prims[0])
            report(GEOMETRY_UNSUPPORTED, where, type=kind, count=len(prims), first=prims[0].path)
        for finding, prims in (
            (GEOMETRY_HIDDEN, self.hidden),
            (GEOMETRY_SUBDIVIDED, self.subdivided),
            (GEOMETRY_MIRRORED, self.mirrored),
        ):
            if prims:
                report(finding, reader.where(prims[0]), count=len(prims), first=prims[0].path)


def build_shape(
    reader: StageReader,
    found: FoundPrim,
    bindings: MaterialBindings,
    omitted: OmittedShapes,
    *,
    body: BodyFrame,
    placement: ScaledPose,
) -> Shape | None:
    """The shape of a prim that is placed on ``body``; None (noted as omitted) if it is left out."""
    collision = COLLISION in found.apis
    # colliders of purpose guide or proxy are there for physics; a renderer does not draw them. Viewers that draw
    # everything that is wanted (hidden_shapes) draw proxies as well
    seen = _DRAWN_PURPOSES if reader.hidden_shapes else _SEEN_PURPOSES
    visual = found.visible and (not collision or found.purpose in seen)
    if not (visual or collision or reader.hidden_shapes):
        omitted.hidden.append(found)
        return None
    sized = _read_geometry(reader, found, bindings, placement, omitted)
    if sized is None:
        return None
    if placement.is_mirrored:
        omitted.mirrored.append(found)
    shape = Shape(
        name=found.name,
        geometry=sized[0],
        body=body.name,
        pose=placement.pose,
        scale=sized[1],
        visual=visual,
        collision=collision,
        material=bindings.render_name(found),
        color=_read_color(reader, found),
        purpose=found.purpose,
        double_sided=found.may_author("doubleSided") and reader.get_flag(found, "doubleSided", False),
        path=found.path,
        source=reader.where(found),
    )
    if collision:
        _add_collision(reader, found, bindings, shape)
    return shape


def _add_collision(reader: StageReader, found: FoundPrim, bindings: MaterialBindings, shape: Shape) -> None:
    shape.enabled = reader.get_flag(found, "physics:collisionEnabled", True)
    shape.physics_material = bindings.physics_name(found)
    token = reader.get(found, "physics:approximation")
    is_meshed = "PhysicsMeshCollisionAPI" in found.apis or token is not None
    if is_meshed and not isinstance(shape.geometry, Heightfield):  # its mesh is for who reads no notes
        shape.approximation = Approximation(str(token or "none"))
    # the schema asks for a distance field by being applied; it has no attribute for that
    if SDF in found.apis:
        shape.settings["sdf_enabled"] = True
    if found.path != found.owner:
        read_shape_mass(reader, found, shape)


def _read_geometry(
    reader: StageReader,
    found: FoundPrim,
    bindings: MaterialBindings,
    placement: ScaledPose,
    omitted: OmittedShapes,
) -> tuple[Geometry, Array | None] | None:
    """The geometry, and the scale that it does not hold itself; None (noted as omitted) where there is none."""
    if found.type == "Mesh":
        return _read_mesh_geometry(reader, found, bindings, placement, omitted)
    sized = read_primitive(reader, found, placement.scale)
    if sized is None:
        if found.type in reader.read_elsewhere:
            return None
        omitted.unsupported.setdefault(found.type or "untyped", []).append(found)
    elif placement.stretch is not None:
        reader.reporter.report(GEOMETRY_SHEARED, reader.where(found), type=found.type, name=found.name)
    return sized


def _read_mesh_geometry(
    reader: StageReader,
    found: FoundPrim,
    bindings: MaterialBindings,
    placement: ScaledPose,
    omitted: OmittedShapes,
) -> tuple[Geometry, Array | None]:
    """A mesh, or the ellipsoid or heightfield that it was written for; a sheared one is neither any more."""
    if reader.noted and placement.stretch is None:
        noted: Geometry | None = read_ellipsoid(reader, found, placement.scale)
        noted = noted or read_terrain(reader, found, placement.scale)
        if noted is not None:
            return noted, None
        sized = read_noted(reader, found, placement.scale)
        if sized is not None:
            return sized
    # catmullClark is the schema's fallback, which exporters of polygon meshes forget to turn off: only a scheme that
    # somebody authored is worth a finding
    scheme = reader.get(found, _SCHEME) if found.may_author(_SCHEME) else "none"
    if scheme != "none" and reader.get_authored(found, _SCHEME) is not None:
        omitted.subdivided.append(found)
    materials = {subset.name: bindings.render_name(subset) for subset in found.subsets or ()}
    mesh = read_mesh(reader, found, materials, placement.stretch)
    is_baked = placement.stretch is not None or placement.is_unscaled
    return mesh, None if is_baked else placement.scale


def _read_color(reader: StageReader, found: FoundPrim) -> tuple[float, float, float, float] | None:
    """The constant colour of a prim, as it appears on a screen, and opacity, if there is one."""
    if not found.may_author(_COLOR):
        return _read_inherited_color(reader, found)
    values = reader.get(found, _COLOR)
    if found.may_author(f"{_COLOR}:indices"):
        # indexed primvars have their values in another order, also where there is one
        values = UsdGeom.Gprim(found.prim).GetDisplayColorPrimvar().ComputeFlattened(reader.time)
    rows = as_rows(values, 3)
    if len(rows) != 1 or not np.all(np.isfinite(rows)):
        return None
    red, green, blue = make_display((float(rows[0][0]), float(rows[0][1]), float(rows[0][2])))
    opacity = as_rows(reader.get(found, "primvars:displayOpacity"), 1)[:, 0]
    return red, green, blue, float(opacity[0]) if len(opacity) == 1 else 1.0


def _read_inherited_color(reader: StageReader, found: FoundPrim) -> tuple[float, float, float, float] | None:
    """A constant colour of a prim above, which holds for all below it."""
    if _COLOR not in reader.names and not reader.timed:
        return None
    above = _find_colored(reader, found.path.rpartition("/")[0])
    if above is None:
        return None
    inherited = UsdGeom.PrimvarsAPI(above.prim).GetPrimvar("displayColor")
    constant = inherited and inherited.GetInterpolation() == UsdGeom.Tokens.constant
    return _read_color(reader, above) if constant else None


def _find_colored(reader: StageReader, path: str) -> FoundPrim | None:
    """The nearest prim with a colour at or above a path; shapes stand side by side below a few prims."""
    if not path:
        return None
    if path not in reader.colored:
        above = reader.founds.get(path)
        has_own = above is not None and above.authored is not None and _COLOR in above.authored
        reader.colored[path] = above if has_own else _find_colored(reader, path.rpartition("/")[0])
    return reader.colored[path]


INSTANCES_MANY = declare(
    "usd-instances-many",
    Level.WARNING,
    "point instancer {name!r} makes {count} shapes; the first {limit} are read",
    hint="split the scene, or simulate the scatter natively",
    doc="The model holds one shape per instance, so their number is bounded.",
)
INSTANCES_INVALID = declare(
    "usd-instances-invalid",
    Level.ERROR,
    "point instancer {name!r} cannot be read: {why}",
    hint="protoIndices, positions and prototypes must fit together",
    doc="The arrays of a point instancer do not fit together.",
)
INSTANCES_BODY = declare(
    "usd-instances-body",
    Level.WARNING,
    "prototype {prototype} of point instancer {name!r} holds a {what}, which is not scattered",
    hint="place physics bodies as prims of their own; nested instancers as one",
    doc="Only geometry is scattered: bodies, joints and instancers inside a prototype are left out.",
    section="3.5",
    loss=True,
)

# a scatter of grass has millions of instances
MAX_SHAPES = 20_000
"""Largest number of shapes one instancer may make."""


@dataclass(slots=True, eq=False)
class InstancerPrototypes:
    """An instancer with the geometry of its prototypes, each relative to its prototype's placement."""

    found: FoundPrim
    prototypes: list[list[tuple[FoundPrim, Array]]]


def scan_instancers(reader: StageReader, scan: StageScan) -> list[InstancerPrototypes]:
    """Look below the prototypes of every instancer."""
    scatters = []
    for found in scan.instancers:
        targets = reader.get_targets(found, "prototypes")
        prototypes = [_scan_prototype(reader, found, target) for target in targets]
        scatters.append(InstancerPrototypes(found, prototypes))
    return scatters


def list_geometry(scatters: list[InstancerPrototypes]) -> list[FoundPrim]:
    """All geometry prims of all prototypes."""
    return [found for s in scatters for parts in s.prototypes for found, _ in parts]


def _scan_prototype(reader: StageReader, instancer: FoundPrim, target: str) -> list[tuple[FoundPrim, Array]]:
    root = reader.stage.GetPrimAtPath(target)
    if not root:
        _refuse(reader, instancer, f"its prototype {target} does not exist")
        return []
    inner = scan_prims(reader, root)
    for what, prims in (
        ("rigid body", inner.bodies),
        ("joint", inner.joints),
        ("instancer", inner.instancers),
    ):
        if prims:
            reader.reporter.report(
                INSTANCES_BODY,
                reader.where(prims[0]),
                prototype=target,
                name=instancer.name,
                what=what,
            )
    outer = as_matrix(reader.xforms.GetParentToWorldTransform(root))
    if not are_sound(outer.T[None]):
        _refuse(reader, instancer, f"its prototype {target} stands where a scale is zero or not finite")
        return []
    # the transform of the prototype root counts, that of everything above it does not (PointInstancer)
    above = np.linalg.inv(outer)
    parts = []
    for found in inner.geometry:
        found.visible = found.visible and instancer.visible
        found.purpose = instancer.purpose if found.purpose == "default" else found.purpose
        parts.append((found, above @ as_matrix(reader.xforms.GetLocalToWorldTransform(found.prim))))
    return parts


def read_instancers(
    reader: StageReader, scatters: list[InstancerPrototypes], bindings: MaterialBindings
) -> None:
    """Add the scattered shapes."""
    scope = NameScope(shape.name for shape in reader.asset.shapes)
    for scatter in scatters:
        omitted = OmittedShapes()
        body = reader.body_of(scatter.found.owner)
        copies = list(_list_copies(reader, scatter))
        worlds = reader.units.convert_matrices(np.array([m for _, _, m in copies]).reshape(-1, 4, 4))
        placements = place_geometry(reader, [f for _, f, _ in copies], [body] * len(copies), worlds)
        for (number, found, _), placement in zip(copies, placements, strict=True):
            shape = build_shape(reader, found, bindings, omitted, body=body, placement=placement)
            if shape is None:
                continue
            shape.name = scope.claim(f"{scatter.found.name}_{number}_{shape.name}")
            shape.instancer = scatter.found.path
            reader.asset.shapes.append(shape)
        omitted.report(reader)


def _list_copies(reader: StageReader, scatter: InstancerPrototypes) -> Iterator[tuple[int, FoundPrim, Array]]:
    """Instance number, prototype part and its stage matrix, masked instances left out."""
    usd = UsdGeom.PointInstancer(scatter.found.prim)
    indices = as_rows(usd.GetProtoIndicesAttr().Get(reader.time), 1)[:, 0].astype(np.int64)
    matrices = _compute_matrices(reader, usd, len(indices))
    if matrices is None or bool(np.any((indices < 0) | (indices >= len(scatter.prototypes)))):
        _refuse(reader, scatter.found, "its arrays have different lengths or name no prototype")
        return
    shown = _compute_mask(reader, usd, len(indices))
    total = sum(len(scatter.prototypes[i]) for i in indices[shown])
    if total > MAX_SHAPES:
        reader.reporter.report(
            INSTANCES_MANY,
            reader.where(scatter.found),
            name=scatter.found.name,
            count=total,
            limit=MAX_SHAPES,
        )
    base = as_matrix(reader.xforms.GetLocalToWorldTransform(scatter.found.prim))
    # one broken instance of a thousand is left out, the others are not
    odd = [number for number in np.flatnonzero(shown) if not np.isfinite(base @ matrices[number]).all()]
    if odd:
        _refuse(reader, scatter.found, f"{len(odd)} instances, the first number {odd[0]}, are not finite")
        shown[odd] = False
    made = 0
    for number in np.flatnonzero(shown):
        for found, part in scatter.prototypes[indices[number]]:
            if made >= MAX_SHAPES:
                return
            made += 1
            yield int(number), found, base @ matrices[number] @ part


def _compute_matrices(reader: StageReader, usd: UsdGeom.PointInstancer, count: int) -> list[Array] | None:
    time = reader.time
    if count == 0:
        return []
    if len(as_rows(usd.GetPositionsAttr().Get(time), 3)) != count:
        return None
    found = usd.ComputeInstanceTransformsAtTime(
        # masked instances are kept here, so that rows and indices stay in step; the mask is applied later
        time,
        time,
        UsdGeom.PointInstancer.ExcludeProtoXform,
        UsdGeom.PointInstancer.IgnoreMask,
    )
    return [as_matrix(m) for m in found] if found is not None and len(found) == count else None


def _compute_mask(reader: StageReader, usd: UsdGeom.PointInstancer, count: int) -> np.ndarray:
    mask = usd.ComputeMaskAtTime(reader.time)
    return np.array(mask, dtype=bool) if len(mask) == count else np.ones(count, dtype=bool)


def _refuse(reader: StageReader, found: FoundPrim, why: str) -> None:
    reader.reporter.report(INSTANCES_INVALID, reader.where(found), name=found.name, why=why)
