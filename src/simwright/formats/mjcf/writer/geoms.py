# SPDX-License-Identifier: Apache-2.0
"""``<geom>``: looks and contact behaviour of shapes.

MuJoCo has one coefficient of sliding friction: the dynamic one is written (REP-0158 1.3.4).  ``condim`` follows from
the frictions a material has, unless the source said it.  Restitution and compliance per contact have no attribute.
"""

from __future__ import annotations

from typing import Any

from simwright.core.diag import Where
from simwright.core.math3d import Pose
from simwright.formats.mjcf.geoms import DEFAULT_FRICTION, DEFAULT_RGBA, choose_group
from simwright.formats.mjcf.joints import SOLIMP, SOLREF
from simwright.formats.mjcf.writer.draft import Draft
from simwright.formats.mjcf.writer.filters import Bits
from simwright.formats.mjcf.writer.meshes import MeshLibrary
from simwright.formats.mjcf.writer.messages import COLLIDER_HULL, FRICTION_APPROXIMATED, SETTING_LOST
from simwright.formats.mjcf.writer.shapes import Piece, make_pieces
from simwright.model.asset import Shape
from simwright.model.geometry import Mesh
from simwright.model.material import PhysicsMaterial

GEOM_DEFAULTS: dict[str, Any] = {
    "type": "sphere", "contype": 1, "conaffinity": 1, "condim": 3, "group": 0, "priority": 0,
    "friction": DEFAULT_FRICTION, "solmix": 1.0, "solref": SOLREF, "solimp": SOLIMP, "margin": 0.0, "gap": 0.0,
    "rgba": DEFAULT_RGBA,
}  # fmt: skip
_KEPT = ("condim", "priority", "solmix", "solref", "solimp", "adhesion", "surfacevel", "shellinertia", "user")
_CONVEX = ("convexHull", "boundingCube", "boundingSphere", "")
_FLUID_COEFFICIENTS = 5
_ROUNDING = 1e-12


def write_geoms(draft: Draft, library: MeshLibrary, bits: dict[str, Bits]) -> None:
    """Every shape on its body."""
    materials = {material.name: material for material in draft.asset.physics_materials}
    for shape in draft.asset.shapes:
        contact = _describe_contact(draft, shape, materials.get(shape.physics_material))
        for piece in make_pieces(draft, library, shape):
            _write_piece(draft, shape, piece, contact, bits.get(shape.name, (1, 1)))
    _report_hulls(draft)
    _report_materials(draft)


def _write_piece(draft: Draft, shape: Shape, piece: Piece, contact: dict[str, Any], bits: Bits) -> None:
    if not (piece.visual or piece.collision):
        return
    name = draft.claim("geom", piece.name)
    draft.note("shape", shape.name, name)
    if piece.collision:
        draft.names["collider", shape.name] = name
    around, inside = _find_frame(draft, shape, piece)
    values: dict[str, Any] = {
        "name": name,
        **piece.look,
        **draft.place(inside),
        **_describe_look(draft, shape, piece),
    }
    contype, conaffinity = bits if piece.collision else (0, 0)
    values |= {"contype": contype, "conaffinity": conaffinity, "group": _find_group(draft, shape, piece)}
    values |= contact
    if piece.collision or draft.exact:
        values |= {"margin": shape.margin, "gap": shape.gap}
    node = draft.nodes[shape.body]
    if around is not None:
        node = draft.add(node, "frame", draft.place(around))
    draft.add(node, "geom", values, GEOM_DEFAULTS)


def _find_frame(draft: Draft, shape: Shape, piece: Piece) -> tuple[Pose | None, Pose]:
    """The frame that an MJCF source has around a mesh, and the pose in it.

    MuJoCo moves the mesh inside the frame, so without it the last bits would be others.
    """
    kept = draft.solver.get(shape, "geom", "frame")
    if kept is None or "mesh" not in piece.look:
        return None, piece.pose
    around, inside = Pose.of(kept[0:3], kept[3:7]), Pose.of(kept[7:10], kept[10:14])
    same = (around @ inside).is_close(piece.pose, _ROUNDING)
    return (around, inside) if same else (None, piece.pose)


def _find_group(draft: Draft, shape: Shape, piece: Piece) -> int:
    """As it was read, else by what it is for."""
    kept = draft.solver.get(shape, "geom", "group")
    if shape.group is not None:
        return shape.group
    return choose_group(piece.visual, piece.collision) if kept is None else int(kept)


def _describe_look(draft: Draft, shape: Shape, piece: Piece) -> dict[str, Any]:
    material = draft.name("material", piece.material) if piece.material else None
    color = shape.color if piece.material == shape.material or material is None else None
    return {"material": material, "rgba": color}


def _describe_contact(draft: Draft, shape: Shape, material: PhysicsMaterial | None) -> dict[str, Any]:
    """Friction, dimension and solver values, as read; from the material where nothing was."""
    values = draft.keep(shape, "geom", *_KEPT)
    friction = draft.solver.get(shape, "geom", "friction")
    fluid = draft.solver.get(shape, "geom", "fluid")
    if fluid is not None:
        values |= {"fluidshape": "ellipsoid", "fluidcoef": fluid[1 : 1 + _FLUID_COEFFICIENTS]}
    if material is not None and shape.collision:
        key = f"physics_material/{material.name}"
        for attribute in ("solref", "solimp"):
            found = draft.solver.take(key, attribute)
            if found is not None:
                values.setdefault(attribute, found)
        for attribute, setting in (("priority", "priority"), ("solmix", "weight")):
            if setting in material.settings:
                values.setdefault(attribute, material.settings[setting])
        values.setdefault("condim", _choose_dimension(material))
        friction = friction or _approximate(material, int(values["condim"]))
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


def _approximate(material: PhysicsMaterial, dimension: int) -> list[float]:
    slide = material.static_friction if material.dynamic_friction is None else material.dynamic_friction
    given = (slide if dimension > 1 else None, material.torsional_friction, material.rolling_friction)
    return [
        default if value is None else value for value, default in zip(given, DEFAULT_FRICTION, strict=True)
    ]


def _report_hulls(draft: Draft) -> None:
    """Mesh colliders whose source is not content with a hull; MJCF never is more."""
    if draft.asset.provenance.format == "mjcf":
        return
    hollow = [
        shape
        for shape in draft.asset.shapes
        if shape.collision
        and shape.enabled
        and isinstance(shape.geometry, Mesh)
        and (shape.approximation.token if shape.approximation else "none") not in _CONVEX
    ]
    if hollow:
        draft.reporter.report(COLLIDER_HULL, hollow[0].source, count=len(hollow), first=hollow[0].name)


def _report_materials(draft: Draft) -> None:
    used = {shape.physics_material for shape in draft.asset.shapes if shape.collision}
    materials = [m for m in draft.asset.physics_materials if m.name in used]
    split = [m for m in materials if _differ(m.static_friction, m.dynamic_friction)]
    if split:
        draft.reporter.report(FRICTION_APPROXIMATED, split[0].source, count=len(split), first=split[0].name)
    lost: tuple[tuple[str, list[PhysicsMaterial]], ...] = (
        ("the restitution", [m for m in materials if m.restitution]),
        ("the contact stiffness or damping", [m for m in materials if _is_compliant(draft, m)]),
        ("the rule of combination", [m for m in materials if _combines(m)]),
    )
    for what, found in lost:
        if found:
            where: Where = found[0].source
            draft.reporter.report(SETTING_LOST, where, what=what, count=len(found), first=found[0].name)


def _combines(material: PhysicsMaterial) -> bool:
    """By another rule than MuJoCo's, which takes the larger friction."""
    return material.friction_combine not in ("", "max") or material.restitution_combine not in ("", "max")


def _differ(a: float | None, b: float | None) -> bool:
    return a is not None and b is not None and a != b


def _is_compliant(draft: Draft, material: PhysicsMaterial) -> bool:
    """Stiffness that did not come from ``solref``, which is written again."""
    if draft.sets_springs or (material.stiffness is None and material.damping is None):
        return False
    return draft.solver.get(material, "physics_material", "solref") is None
