# SPDX-License-Identifier: Apache-2.0
"""Pushing a transform from a prim to what is below it, so that nothing in the world moves.

Of a prim with the local transform L below a frame that loses D, the new transform L' and the map E on its own content
are chosen so that ``D L = L' E``; its children are then in a frame that loses E.  Where E is the identity the push
ends.  Shapes take E up in their own numbers; joints that are fixed to the prim, and its centre of mass, go through E as
well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from pxr import Sdf, Usd, UsdGeom, UsdPhysics

from simwright.core.math3d import quat_from_matrix, quat_multiply
from simwright.sanitizer.conversion.dimensions import PrimRole, find_dimension
from simwright.sanitizer.conversion.index import read_index
from simwright.sanitizer.conversion.ops import (
    RESET,
    Moment,
    is_identity,
    read_matrices,
    read_order,
    write_ops,
)
from simwright.sanitizer.conversion.shapes import (
    TOLERANCE,
    bake_shape,
    can_hold,
    is_light,
    is_turn,
    move_hint,
)
from simwright.sanitizer.conversion.sites import rewrite
from simwright.sanitizer.conversion.values import transform_points
from simwright.usd.edit import Editor, Refused
from simwright.usd.xform import ORDER, PrimTransform, split_matrix

Array = np.ndarray[Any, Any]
_PLAIN_APIS = frozenset(
    {"GeomModelAPI", "MaterialBindingAPI", "MotionAPI", "VisibilityAPI", "PhysicsArticulationRootAPI"}
)
_HOLDERS = ("Xform", "Scope", "")
_MODELS = ("component", "assembly", "group")


_SURFACE_SPEED = "physxSurfaceVelocity:surfaceVelocity"
_SURFACE_TURN = "physxSurfaceVelocity:surfaceAngularVelocity"
SURFACE = (_SURFACE_SPEED, _SURFACE_TURN)


class TransformPush:
    """One push; ``frames`` are the maps on the content of prims, by path.

    ``for_all`` writes where several prims share what is said, because the same is right for all of them.
    """

    def __init__(self, editor: Editor, *, for_all: bool = False) -> None:
        self.editor = editor
        self.index = read_index(editor)
        if for_all:
            # the same map goes to all prims that share the spec, so there is nobody whose meaning would
            # change
            self.index = self.index.without_sharing()
        self.frames: dict[str, Array] = {}

    # what the two kinds of push do with a prim

    def push_scale(self, prim: Usd.Prim, lost: Array) -> None:
        """Take scale from a prim, its own included, and give it to what is below."""
        if not prim.IsA(UsdGeom.Xformable):
            self._go_on(prim, lost, self.push_scale)
            return
        if RESET in read_order(prim):
            return
        # one function: these are the ways in which a push can end or go on at a prim, and their order matters
        moments = [(time, lost @ matrix) for time, matrix in read_matrices(prim)]
        if prim.IsInstance() or prim.IsA(UsdGeom.PointInstancer):
            self._stop_at_copies(prim, moments)
            return
        rigid, frame = self._split_moments(prim, moments)
        if prim.IsA(UsdGeom.Gprim) and not _holds_more(prim) and not can_hold(prim, frame[:3, :3]):
            # the scale may stay on a leaf (REP-0158 1.1), but a body must not have one
            if prim.HasAPI(UsdPhysics.RigidBodyAPI):
                raise Refused(
                    f"{prim.GetPath()} is a body and its own shape; the shape has to be a prim below it"
                )
            self.write(prim, [(time, split_matrix(matrix)) for time, matrix in moments])
            return
        self.write(prim, [(time, split_matrix(matrix)) for time, matrix in rigid])
        if not np.array_equal(frame[:3, :3], np.diag(np.diag(frame[:3, :3]))):
            self.editor.expected.reframed.add(prim.GetPath().pathString)  # its axes were no longer square
        if prim.IsA(UsdGeom.Gprim) or is_light(prim):
            bake_shape(self.editor, self.index, prim, frame[:3, :3])
        self._reframe(prim, frame)
        self._go_on(prim, frame, self.push_scale)

    def push_turn(self, prim: Usd.Prim, lost: Array) -> None:
        """Turn a prim and what is below: frames with a meaning stand turned, what only holds others stays upright."""
        if not prim.IsA(UsdGeom.Xformable):
            self._go_on(prim, lost, self.push_turn)
            return
        if RESET in read_order(prim):
            raise Refused(f"{prim.GetPath()} ignores its parent's transform (!resetXformStack!)")
        matrices = read_matrices(prim)
        back = lost.T  # a rotation about the origin
        if not self._passes_on(prim):
            self.write(prim, [(time, split_matrix(lost @ matrix)) for time, matrix in matrices])
            return
        # the prim stays unturned and its content takes the turn: lost @ L == (lost @ L @ back) @ lost
        self.write(prim, [(time, split_matrix(lost @ matrix @ back)) for time, matrix in matrices])
        if prim.IsA(UsdGeom.Gprim):
            bake_shape(self.editor, self.index, prim, lost[:3, :3])
        self._reframe(prim, lost)
        self._go_on(prim, lost, self.push_turn)

    def push_shift(self, prim: Usd.Prim, lost: Array) -> None:
        """Move the first prims below that have a place."""
        if not prim.IsA(UsdGeom.Xformable):
            self._go_on(prim, lost, self.push_shift)
        elif RESET not in read_order(prim):
            self.write(prim, [(time, split_matrix(lost @ matrix)) for time, matrix in read_matrices(prim)])

    def push_children(self, prim: Usd.Prim, lost: Array, push: Any) -> None:
        """Start at a prim that has lost something itself."""
        self._reframe(prim, lost)
        self._go_on(prim, lost, push)

    def finish(self) -> None:
        """Ask for the frames of all joints that are fixed to what was reframed."""
        for path, frame in self.frames.items():
            for joint, number in self.index.list_joints(path):
                self._move_joint(joint, number, frame)

    # parts

    def _go_on(self, prim: Usd.Prim, lost: Array, push: Any) -> None:
        refuse_variants(self.editor, prim)
        for child in prim.GetFilteredChildren(Usd.PrimAllPrimsPredicate):
            if not child.IsAbstract():
                push(child, lost)

    def write(self, prim: Usd.Prim, moments: list[Moment]) -> None:
        """Ask for a transform."""
        refuse_variants(self.editor, prim, only_ops=True)
        # translate and orient have no sign for a mirror, and engines read a negative scale each in its own
        # way
        if any(moment.mirrored for _, moment in moments):
            raise Refused(f"{prim.GetPath()} is mirrored, which no rotation can express")
        if read_order(prim) or not all(is_identity(moment) for _, moment in moments):
            write_ops(self.editor, self.index, prim, moments)

    def _split_moments(
        self, prim: Usd.Prim, moments: list[tuple[float | None, Array]]
    ) -> tuple[list[tuple[float | None, Array]], Array]:
        """The pose at each moment, and the one map that is left at all of them."""
        parts = [(time, *self._split_scale(prim, matrix)) for time, matrix in moments]
        frame = parts[0][2]
        # what is below has one size, so it can take up a scale only if that is the same at all times
        if any(np.abs(other - frame).max() > TOLERANCE * np.abs(frame).max() for _, _, other in parts):
            raise Refused(f"the scale of {prim.GetPath()} changes over time; decide which one counts")
        return [(time, rigid) for time, rigid, _ in parts], frame

    def _split_scale(self, prim: Usd.Prim, matrix: Array) -> tuple[Array, Array]:
        """A pose and the map that is left; frames with a meaning must not be sheared."""
        whole: PrimTransform = split_matrix(matrix)
        if whole.mirrored:
            raise Refused(f"{prim.GetPath()} is mirrored, which no rotation can express")
        if not np.all(np.abs(whole.scale) > 0.0):
            raise Refused(f"{prim.GetPath()} is scaled to nothing")
        # axes that are not square have no nearest frame that everybody would agree on
        if whole.sheared and _has_meaning(prim):
            raise Refused(f"the scale shears {prim.GetPath()}, which has no shape of its own to take it up")
        rigid = np.eye(4)
        rigid[:3, :3] = whole.pose.rotation
        rigid[:3, 3] = whole.pose.p
        frame = np.eye(4)
        frame[:3, :3] = rigid[:3, :3].T @ matrix[:3, :3]
        if not whole.sheared:
            # exactly diagonal: the product above leaves dust beside the diagonal, which would count as shear
            frame[:3, :3] = np.diag(whole.scale)
        return rigid, frame

    def _stop_at_copies(self, prim: Usd.Prim, moments: list[tuple[float | None, Array]]) -> None:
        # all copies share one prototype, so the scale of one of them can only stand outside it
        inside = Usd.PrimRange(prim, Usd.TraverseInstanceProxies())
        if any(p.HasAPI(UsdPhysics.RigidBodyAPI) or "RosFrameAPI" in p.GetAppliedSchemas() for p in inside):
            raise Refused(
                f"{prim.GetPath()} makes copies of bodies or frames; make a part of the right size first"
            )
        self.write(prim, [(time, split_matrix(matrix)) for time, matrix in moments])

    def _passes_on(self, prim: Usd.Prim) -> bool:
        """Does a prim only hold others, or is it a mesh, whose points may be turned?  Roots never stand turned."""
        # REP-0158 1.1: the root of an asset has no turn that aligns axes
        if is_root(prim) and str(prim.GetTypeName()) in _HOLDERS and not prim.IsInstance():
            return True
        if (
            prim.IsInstance()
            or prim.IsA(UsdGeom.PointInstancer)
            or set(prim.GetAppliedSchemas()) - _PLAIN_APIS
        ):
            return prim.IsA(UsdGeom.Mesh) and not prim.IsInstance() and not _has_meaning(prim)
        if prim.IsA(UsdGeom.PointBased):
            return True
        if str(prim.GetTypeName()) not in _HOLDERS or not _holds_more(prim):
            return False
        # a model inside another one is referred to as a whole, so its frame has a meaning
        return Usd.ModelAPI(prim).GetKind() not in _MODELS

    def _reframe(self, prim: Usd.Prim, frame: Array) -> None:
        """Put what a prim says in its own frame (centre of mass, inertia, velocities) through the map."""
        if np.abs(frame - np.eye(4)).max() == 0.0:
            return
        editor, index = self.editor, self.index
        path = prim.GetPath().pathString
        self.frames[path] = frame
        linear = frame[:3, :3]
        if is_turn(linear):
            editor.expected.reframed.add(path)
            if prim.HasAPI(UsdPhysics.RigidBodyAPI):
                whole = split_matrix(frame).pose
                editor.expected.body_frames[path] = (*map(float, whole.p), *map(float, whole.q))
        move_hint(editor, index, prim, frame)

        def place(value: Any) -> Any:
            moved = linear @ np.array(value, dtype=np.float64) + frame[:3, 3]
            return type(value)(*(float(v) for v in moved))

        center: Any = prim.GetAttribute("physics:centerOfMass").Get()
        if center is not None and np.all(np.isfinite(np.array(center))):
            rewrite(editor, index, prim, "physics:centerOfMass", place)
        if is_turn(linear):
            self._turn_inertia(prim, linear)
            rewrite(
                editor, index, prim, "physics:angularVelocity", lambda value: transform_points(value, linear)
            )
            self._turn_surface(prim, _SURFACE_TURN, linear)
        rewrite(editor, index, prim, "physics:velocity", lambda value: transform_points(value, linear))
        self._turn_surface(prim, _SURFACE_SPEED, linear)

    def _turn_surface(self, prim: Usd.Prim, name: str, linear: Array) -> None:
        """PhysX's velocity of a surface, which is in the frame of its prim unless that is switched off."""
        if is_surface_local(prim):
            rewrite(self.editor, self.index, prim, name, lambda value: transform_points(value, linear))

    def _turn_inertia(self, prim: Usd.Prim, linear: Array) -> None:
        if np.array_equal(linear, np.eye(3)):
            return
        # six values would all change under a rotation; moments and axes leave the moments as they are
        if prim.GetAttribute("newton:inertia").HasAuthoredValue():
            raise Refused(
                f"{prim.GetPath()} has six inertia values, which have to be turned; write principal axes first"
            )
        moments: Any = prim.GetAttribute("physics:diagonalInertia").Get()
        if moments and any(moments):
            name = "physics:principalAxes"
            rewrite(
                self.editor,
                self.index,
                prim,
                name,
                lambda value: _turn_quaternion(value, linear),
                fallback=True,
            )

    def _move_joint(self, prim: Usd.Prim, number: int, frame: Array) -> None:
        linear = frame[:3, :3]

        def place(value: Any) -> Any:
            moved = linear @ np.array(value, dtype=np.float64) + frame[:3, 3]
            return type(value)(*(float(v) for v in moved))

        # a joint frame that nobody says is at the origin of its body, which has moved
        moves = bool(np.any(frame[:3, 3]))
        rewrite(self.editor, self.index, prim, f"physics:localPos{number}", place, fallback=moves)
        if is_turn(linear) and np.abs(linear - np.eye(3)).max() > 0.0:
            rewrite(
                self.editor,
                self.index,
                prim,
                f"physics:localRot{number}",
                lambda value: _turn_quaternion(value, linear),
                fallback=True,
            )


def take_scale(editor: Editor, prim: Usd.Prim) -> None:
    """Push the scale of a prim to what is below it."""
    push = TransformPush(editor)
    push.push_scale(prim, np.eye(4))
    push.finish()


def take_turn(editor: Editor, prim: Usd.Prim) -> None:
    """Push the rotation of a prim to what is below it."""
    if _has_meaning(prim) and not (is_root(prim) and str(prim.GetTypeName()) in _HOLDERS):
        raise Refused(
            f"{prim.GetPath()} is a frame that others refer to; turn its parent or its content by hand"
        )
    push = TransformPush(editor)
    matrices = read_matrices(prim)
    # what is below has one orientation, so a turn that changes over time cannot go there
    if len(matrices) > 1:
        raise Refused(f"the rotation of {prim.GetPath()} changes over time; decide which one counts")
    local = split_matrix(matrices[0][1])
    if not local.is_rigid:
        raise Refused(f"{prim.GetPath()} is scaled as well; fix its scale first")
    turn = np.eye(4)
    turn[:3, :3] = snap_rotation(local.pose.rotation)
    upright = np.eye(4)
    upright[:3, 3] = local.pose.p
    push.write(prim, [(None, split_matrix(upright))])
    if prim.IsA(UsdGeom.PointBased):
        bake_shape(editor, push.index, prim, turn[:3, :3])
    push.push_children(prim, turn, push.push_turn)
    push.finish()


def snap_rotation(linear: Array) -> Array:
    """A rotation without the noise of its making: quarter turns are exact."""
    # a quarter turn computed from a quaternion is off by 1e-16, which would show in every point
    whole = np.round(linear)
    return np.where(np.abs(linear - whole) <= 1e-12, whole, linear)


def _turn_quaternion(value: Any, linear: Array) -> Any:
    known = np.array((value.GetReal(), *value.GetImaginary()))
    turned = quat_multiply(quat_from_matrix(linear), known if known.any() else np.array((1.0, 0.0, 0.0, 0.0)))
    # + 0.0 turns -0.0 into 0.0: the text of the layer must not depend on the sign of nothing
    w, x, y, z = (float(v) + 0.0 for v in turned)
    return type(value)(w, x, y, z)


def _has_meaning(prim: Usd.Prim) -> bool:
    """Is the frame of a prim something that others refer to?"""
    if prim.IsA(UsdGeom.Camera) or is_light(prim):
        return True
    applied = prim.GetAppliedSchemas()
    return "PhysicsRigidBodyAPI" in applied or "RosFrameAPI" in applied


def is_root(prim: Usd.Prim) -> bool:
    """Does a prim stand in the world?"""
    return bool(prim.GetParent()) and prim.GetParent().IsPseudoRoot()


def _holds_more(prim: Usd.Prim) -> bool:
    below = iter(Usd.PrimRange(prim, Usd.TraverseInstanceProxies()))
    next(below)
    return any(other.IsA(UsdGeom.Xformable) for other in below)


def refuse_variants(editor: Editor, prim: Usd.Prim, *, only_ops: bool = False) -> None:
    """Refuse where another choice says transforms or shapes of the prim, or of what is below it."""
    for spec in editor.list_prim_specs(prim):
        for name, variant in _list_unchosen(prim, spec):
            for below in _walk_below(variant):
                if _is_sensitive(below) and (not only_ops or below == variant):
                    raise Refused(
                        f"the variant {name} of {prim.GetPath()} says transforms or shapes too; "
                        "fix it with that variant chosen, or by hand"
                    )
            if only_ops:
                continue
            if any(below.hasReferences or below.hasPayloads for below in _walk_below(variant)):
                raise Refused(
                    f"the variant {name} of {prim.GetPath()} brings in files; fix those by themselves"
                )


def _list_unchosen(prim: Usd.Prim, spec: Sdf.PrimSpec) -> Iterator[tuple[str, Sdf.PrimSpec]]:
    for group in spec.variantSets.values():
        chosen = prim.GetVariantSet(group.name).GetVariantSelection()
        for variant in group.variants.values():
            if variant.name != chosen:
                yield f"{group.name}={variant.name}", variant.primSpec


def _walk_below(spec: Sdf.PrimSpec) -> Iterator[Sdf.PrimSpec]:
    pending = [spec]
    while pending:
        found = pending.pop()
        yield found
        pending.extend(found.nameChildren.values())


def _is_sensitive(spec: Sdf.PrimSpec) -> bool:
    for prop in spec.properties:
        if prop.name == ORDER or prop.name.startswith("xformOp:"):
            return True
        # lengths without mass are sizes and places; masses and inertias do not depend on where a prim stands
        dimension = find_dimension(prop.name, PrimRole(spec.typeName))
        if dimension is not None and dimension.length and not dimension.mass:
            return True
    return False


def is_surface_local(prim: Usd.Prim) -> bool:
    """Are PhysX's velocities of a surface in the frame of their prim?"""
    local = prim.GetAttribute("physxSurfaceVelocity:surfaceVelocityLocalSpace")
    return not local or local.Get() is not False


def is_reached(editor: Editor, prim: Usd.Prim) -> bool:
    """Is a push under way at the prim, above it or below it?  Then it waits for the next round."""
    path = prim.GetPath()
    below = f"{path}/" in editor.pushed
    return below or any(prefix.pathString in editor.pushed for prefix in path.GetPrefixes())


def mark_reached(editor: Editor, prim: Usd.Prim) -> None:
    """Note a push at the prim."""
    path = prim.GetPath()
    editor.pushed.add(path.pathString)
    # a slash at the end: something below this prim was pushed
    editor.pushed |= {f"{prefix}/" for prefix in path.GetParentPath().GetPrefixes()}
