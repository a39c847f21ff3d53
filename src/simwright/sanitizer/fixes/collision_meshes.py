# SPDX-License-Identifier: Apache-2.0
"""Collision meshes: what they are for a solver, triangles, closed and not crossing themselves (REP-0158 1.3.1, 3.4).

An approximation is said, hulls are the default, triangles are offered as a choice.  A mesh is mended where the solid
stays the same.  Else a collider that engines take as its convex hull anyway becomes that hull, and its triangles stay
as the variant ``advanced`` of ``collision_fidelity``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics, Vt

from simwright.core.diag import Diagnostic
from simwright.formats.usd.writer.solids import make_hull
from simwright.model.geometry import MeshData
from simwright.sanitizer.choices import (
    Value,
    VariantState,
    choose_spec,
    list_own_specs,
    make_variants,
    write_value,
)
from simwright.sanitizer.faces import (
    COUNTS,
    HOLES,
    INDICES,
    MeshFaces,
    read_faces,
    replace_faces,
    split_faces,
)
from simwright.sanitizer.fixer import UserValues, fix
from simwright.sanitizer.fixes.visuals import is_drawn, split_roles
from simwright.sanitizer.mending import close_surface, unite_shells
from simwright.usd.edit import Editor, Refused

SET, BASELINE, ADVANCED = "collision_fidelity", "baseline", "advanced"
APPROXIMATION = "physics:approximation"
HULL, NONE = "convexHull", "none"
_TOKEN = Sdf.ValueTypeNames.Token
_MESH_API = "PhysicsMeshCollisionAPI"


@fix("coll-approx-none", changes=("collisions",))
def say_approximation(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Write the approximation down: "none" where nothing is said, as OpenUSD takes it."""
    prim = editor.find_prim(finding.where.prim)
    editor.add_api(prim, _MESH_API)
    if not prim.GetAttribute(APPROXIMATION).HasAuthoredValue():
        editor.set_value(prim, APPROXIMATION, _TOKEN, NONE, uniform=True)


@fix("coll-dual-fidelity", changes=("collisions",), phase=0)
def offer_triangles(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Hulls for everybody, what the collider is now as a choice."""
    for path in finding.data["colliders"]:
        _offer_choice(editor, editor.find_prim(str(path)))


def _offer_choice(editor: Editor, prim: Usd.Prim) -> None:
    said = _read_said(prim)
    editor.add_api(prim, _MESH_API)
    finer = VariantState(ADVANCED, {} if said else _give_approximation(NONE))
    make_variants(editor, prim, SET, VariantState(BASELINE, _give_approximation(HULL)), finer)


def _give_approximation(approximation: str) -> dict[str, Value]:
    """The approximation as a value for a variant."""
    return {APPROXIMATION: (_TOKEN, approximation, True)}


def _read_said(prim: Usd.Prim) -> str:
    attribute = prim.GetAttribute(APPROXIMATION)
    return str(attribute.Get()) if attribute and attribute.HasAuthoredValue() else ""


@fix("coll-default-baseline", changes=("collisions",))
def make_baseline(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The variant that is there for it, or the hull."""
    prim = editor.find_prim(finding.where.prim)
    if prim.GetTypeName() != "Mesh":
        raise Refused(f"there is no hull of a {prim.GetTypeName()}; make a mesh or primitives of it")
    above = prim
    while above and not above.IsPseudoRoot():
        names = above.GetVariantSet(SET).GetVariantNames() if SET in above.GetVariantSets().GetNames() else []
        if BASELINE in names and above.GetVariantSet(SET).GetVariantSelection() != BASELINE:
            _choose_baseline(editor, above)
            return
        above = above.GetParent()
    if not prim.HasAPI(UsdPhysics.MeshCollisionAPI):
        editor.add_api(prim, _MESH_API)
    editor.set_value(prim, APPROXIMATION, _TOKEN, HULL, uniform=True)


def _choose_baseline(editor: Editor, prim: Usd.Prim) -> None:
    """Select the baseline variant where another one is selected, else at the prim's home."""
    said = [spec for spec in prim.GetPrimStack() if SET in spec.variantSelections]
    spec = said[0] if said and said[0].layer.identifier in editor.own else editor.choose_home(prim)

    def apply() -> None:
        spec.variantSelections[SET] = BASELINE

    editor.add(spec.layer, spec.path, f'{SET} = "{BASELINE}"', apply)
    editor.expected.sections |= {"stage", "visuals"}


_SCHEME = "subdivisionScheme"


@fix("geo-coll-tri", changes=("collisions", "visuals"))
def make_triangles(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Faces split; holes and smoothing, which engines do not see, taken away."""
    prim = editor.find_prim(finding.where.prim)
    if finding.where.prop == _SCHEME:
        # one finding stands for all of them
        for mesh in _list_smooth(editor.stage):
            editor.set_value(mesh, _SCHEME, Sdf.ValueTypeNames.Token, "none", uniform=True)
        return
    if finding.where.prop == HOLES:
        # engines collide with these faces too: the shape that is touched stays what it is
        editor.remove_property(prim, HOLES)
        return
    faces = read_faces(prim)
    replace_faces(editor, prim, faces, split_faces(faces))


def _list_smooth(stage: Usd.Stage) -> list[Usd.Prim]:
    """Collision meshes that are subdivided."""
    found = []
    for prim in stage.Traverse(Usd.TraverseInstanceProxies()):
        if prim.IsA(UsdGeom.Mesh) and UsdGeom.Mesh(prim).GetSubdivisionSchemeAttr().Get() != "none":
            above = prim
            while above and not above.HasAPI(UsdPhysics.CollisionAPI):
                above = above.GetParent()
            if above:
                found.append(prim)
    return found


_KINDS = Sdf.ValueTypeNames
_SUBDIVISION_NAMES = (
    "cornerIndices",
    "cornerSharpnesses",
    "creaseIndices",
    "creaseLengths",
    "creaseSharpnesses",
    HOLES,
)


@fix("geo-coll-watertight", changes=("collisions",))
def close_mesh(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Mend the mesh, or let its convex hull take its place."""
    prim = editor.find_prim(finding.where.prim)
    faces = read_faces(prim)
    if "(it is flat)" in finding.message:
        raise Refused("a flat mesh encloses nothing; use a Plane or a thin box")
    # mending a mesh that others refer to changes what they show; a hull beside it does not
    mended = None if _is_hull(prim) and _is_borrowed(editor, prim) else close_surface(faces)
    if mended is not None:
        _expect_visual(editor, prim)
        replace_faces(editor, prim, faces, mended)
        return
    _become_hull(editor, prim, faces, "its holes can be closed in more than one way")


@fix("geo-coll-no-selfint", changes=("collisions",))
def part_shells(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """One solid of the shells that cross, or the hull."""
    prim = editor.find_prim(finding.where.prim)
    faces = read_faces(prim)
    if not _is_hull(prim):
        united = unite_shells(faces)
        if united is not None:
            _expect_visual(editor, prim)
            _replace_mesh(editor, prim, united)
            return
    _become_hull(editor, prim, faces, "the shells that cross are not closed")


@fix("geo-nonmanifold-visual", changes=("visuals", "materials"), phase=0)
def draw_twin(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """One mesh to be seen and one to be touched."""
    split_roles(editor, editor.find_prim(finding.where.prim))


def _expect_visual(editor: Editor, prim: Usd.Prim) -> None:
    """Expect another visual where the collision mesh is drawn as well."""
    if is_drawn(prim):
        editor.expected.sections.add("visuals")


def _is_borrowed(editor: Editor, prim: Usd.Prim) -> bool:
    """Does the mesh come by a reference, so that others may show it?"""
    source = editor.find_strongest(prim, "points")
    return source is not None and source.owner not in list_own_specs(editor, prim)


def _is_hull(prim: Usd.Prim) -> bool:
    api = UsdPhysics.MeshCollisionAPI(prim)
    return bool(api) and prim.HasAPI(UsdPhysics.MeshCollisionAPI) and api.GetApproximationAttr().Get() == HULL


def _become_hull(editor: Editor, prim: Usd.Prim, faces: MeshFaces, reason: str) -> None:
    if not _is_hull(prim):
        raise Refused(f'{reason}; with physics:approximation = "convexHull" its hull takes its place')
    if is_drawn(prim):
        raise Refused("the mesh is drawn as well; give the body a mesh to be seen first")
    data = MeshData(faces.points, faces.indices.astype(np.int32))
    hull = make_hull(data, np.ones(3))
    if hull is None:
        raise Refused("a flat mesh has no hull; use a Plane or a thin box")
    values = _describe_hull(prim, hull)
    subsets = [child.GetName() for child in prim.GetChildren() if child.IsA(UsdGeom.Subset)]
    specs = list_own_specs(editor, prim)
    source = editor.find_strongest(prim, "points")
    assert source is not None, "a mesh that was read has points"
    default = VariantState(BASELINE, values)
    # arrays from a library stay there: the hull is put beside them and referred to
    if source.owner not in specs:
        default = VariantState(
            BASELINE, reference=_store_hull(editor, source.owner, choose_spec(specs), values)
        )
    make_variants(editor, prim, SET, default, VariantState(ADVANCED), hidden=subsets)
    # the hull has other points, in every instance that shows it
    editor.expected.repositioned |= _list_copies(prim)


def _list_copies(prim: Usd.Prim) -> set[str]:
    """Paths of a prim in all instances that show it."""
    above = prim
    # up to the instance itself: the paths of its copies differ above it only
    while above.IsInstanceProxy():
        above = above.GetParent()
    path = prim.GetPath()
    instances = above.GetPrototype().GetInstances() if above.IsInstance() else [above]
    return {path.ReplacePrefix(above.GetPath(), each.GetPath()).pathString for each in instances}


def _store_hull(
    editor: Editor, source: Sdf.PrimSpec, user: Sdf.PrimSpec, values: dict[str, Value]
) -> Sdf.Reference:
    """A prim in the library of the mesh, where nobody refers to it yet; meshes of one source have one hull."""
    layer, parent = source.layer, Sdf.Path("/hulls")
    what = f"the hull of {source.path}"
    # edits are made later, so a hull that another finding asked for is not in the layer yet
    asked = {edit.path: edit.what for edit in editor.edits.values() if edit.layer == layer}
    place = next((path for path, words in asked.items() if words == what), None)
    if place is None:
        place, number = parent.AppendChild(source.name), 2
        while place in asked or layer.GetPrimAtPath(place) is not None:
            place, number = parent.AppendChild(f"{source.name}_{number}"), number + 1
        editor.add(layer, place, what, _bind_hull(layer, place, values))
    if layer == user.layer:
        return Sdf.Reference("", place)
    path = Path(os.path.relpath(layer.realPath, Path(user.layer.realPath).parent)).as_posix()
    return Sdf.Reference(path if path.startswith("../") else f"./{path}", place)


def _bind_hull(layer: Sdf.Layer, place: Sdf.Path, values: dict[str, Value]) -> Callable[[], None]:
    def apply() -> None:
        spec = Sdf.CreatePrimInLayer(layer, place)
        spec.nameParent.specifier, spec.nameParent.typeName = Sdf.SpecifierClass, "Scope"
        spec.specifier, spec.typeName = Sdf.SpecifierDef, "Mesh"
        for name, value in values.items():
            write_value(spec, name, value)

    return apply


def _describe_hull(prim: Usd.Prim, hull: MeshData) -> dict[str, Value]:
    """Every property of a mesh that has to be another one."""
    points = np.asarray(hull.vertices, dtype=np.float32)
    values = _describe_mesh(points, np.asarray(hull.indices, dtype=np.int32))
    mesh = UsdGeom.Mesh(prim)
    if mesh.GetSubdivisionSchemeAttr().Get() != "none":
        values["subdivisionScheme"] = (_KINDS.Token, "none", True)
    if mesh.GetOrientationAttr().Get() != "rightHanded":
        values["orientation"] = (_KINDS.Token, "rightHanded", True)
    values |= _block_rest(prim)
    return values


def _describe_mesh(points: Any, indices: Any) -> dict[str, Value]:
    counts = np.full(len(indices) // 3, 3, dtype=np.int32)
    low, high = (Gf.Vec3f(*(float(v) for v in corner)) for corner in (points.min(axis=0), points.max(axis=0)))
    return {
        "points": (_KINDS.Point3fArray, Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(points)), False),
        COUNTS: (_KINDS.IntArray, Vt.IntArray.FromNumpy(counts), False),
        INDICES: (_KINDS.IntArray, Vt.IntArray.FromNumpy(np.ascontiguousarray(indices)), False),
        "extent": (_KINDS.Float3Array, Vt.Vec3fArray([low, high]), False),
    }


def _block_rest(prim: Usd.Prim) -> dict[str, Value]:
    """Blocks for values of points, faces and corners that are no longer there."""
    primvars = [primvar.GetAttr() for primvar in UsdGeom.PrimvarsAPI(prim).GetPrimvars()]
    found = [UsdGeom.PointBased(prim).GetNormalsAttr(), *primvars]
    # a constant value fits any number of points and faces
    names = [a for a in found if a.GetMetadata("interpolation") not in (None, "constant")]
    names += [a for name in _SUBDIVISION_NAMES if (a := prim.GetAttribute(name))]
    blocked: dict[str, Value] = {}
    for attribute in names:
        for each in (attribute, prim.GetAttribute(f"{attribute.GetName()}:indices")):
            if each and each.HasAuthoredValue():
                is_uniform = each.GetVariability() == Sdf.VariabilityUniform
                blocked[each.GetName()] = (each.GetTypeName(), None, is_uniform)
    return blocked


def _replace_mesh(editor: Editor, prim: Usd.Prim, united: tuple[Any, Any]) -> None:
    """Other points and faces, where they are said."""
    if _block_rest(prim) or any(child.IsA(UsdGeom.Subset) for child in prim.GetChildren()):
        raise Refused("what is said of its faces would be lost; unite the shells in a modelling tool")
    for name, (kind, value, uniform) in _describe_mesh(*united).items():
        editor.set_value(prim, name, kind, value, uniform=uniform)
    editor.expected.repositioned.add(prim.GetPath().pathString)
