# SPDX-License-Identifier: Apache-2.0
"""Inertia in the one form that UsdPhysics has, and such as a body can have (REP-0158 1.3).

What says the same in another way is proven to do so.  Moments that no body can have are replaced by the nearest that
one can, and noted: every engine repairs them in its own way, or refuses the asset.
"""

from __future__ import annotations

import numpy as np
from pxr import Gf, Sdf, Usd

from simwright.core.diag import Diagnostic
from simwright.core.math3d import quat_from_matrix
from simwright.model.inertia import find_nearest_moments
from simwright.sanitizer.fixer import UserValues, fix
from simwright.sanitizer.fixes.translation.dynamics import SIX, translate_inertia
from simwright.sanitizer.moments import write_possible
from simwright.sanitizer.welding import MASS_NAMES
from simwright.usd.edit import Editor, Refused

_KINDS = Sdf.ValueTypeNames
_AXES = "physics:principalAxes"
_DIAGONAL = "physics:diagonalInertia"
_ORDERS = {"urdf": (0, 3, 5, 1, 2, 4), "mujoco": (0, 1, 2, 3, 4, 5)}
"""Where ixx, iyy, izz, ixy, ixz and iyz stand among six values."""
_MASS = ("masses", "motion")


@fix("mass-guidelines", "isol-physics-spec")
def repair_inertia(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """A quaternion of another length means the same turn; impossible moments become possible ones."""
    prim = editor.find_prim(finding.where.prim)
    if finding.where.prop == _AXES and "length" in finding.data:
        value = prim.GetAttribute(_AXES).Get()
        if value is not None:  # another fix may have taken the body, and all it weighs, away
            editor.set_value(prim, _AXES, _KINDS.Quatf, value.GetNormalized())
        return
    if finding.where.prop in ("physics:centerOfMass", "physics:density"):
        editor.remove_property(prim, finding.where.prop)  # no number, which nobody reads
        return
    if finding.kind == "mass-guidelines" and not finding.where.prop:
        _drop_unread(editor, prim)
        return
    if finding.where.prop != _DIAGONAL and "diagonalInertia" not in finding.message:
        raise Refused("the right value is in the source of the asset")
    make_possible(editor, prim)


def _drop_unread(editor: Editor, prim: Usd.Prim) -> None:
    """A schema on what is neither body nor collider; with values, somebody meant something by them."""
    said = [name for name in MASS_NAMES if prim.GetAttribute(name).HasAuthoredValue()]
    if said:
        raise Refused(f"{said[0]} has no effect here: make the prim a rigid body, or remove the attribute")
    editor.remove_api(prim, "PhysicsMassAPI")


def make_possible(editor: Editor, prim: Usd.Prim) -> None:
    """The nearest moments that a body can have; what is not read, three zeros or a negative one, goes with its axes."""
    if prim.GetAttribute(SIX).HasAuthoredValue():
        translate_inertia(editor, prim)
        if editor.edits:
            return  # what is left of it is looked at in the next round
    moments = _read_moments(prim)
    # UsdPhysics: such moments are ignored and engines compute their own, so nothing is lost
    if not any(moments) or min(moments) < 0.0:
        for name in (_DIAGONAL, _AXES):
            editor.remove_property(prim, name)
        return
    if not np.allclose(find_nearest_moments(moments), moments, rtol=1e-6, atol=0.0):
        said = editor.find_strongest(prim, _DIAGONAL)
        assert said is not None
        write_possible(editor, prim, said.owner, moments)
    if not prim.GetAttribute(_AXES).HasAuthoredValue() or prim.GetAttribute(_AXES).Get().GetLength() == 0.0:
        editor.set_value(prim, _AXES, _KINDS.Quatf, Gf.Quatf(1.0))


def _read_moments(prim: Usd.Prim) -> list[float]:
    attribute = prim.GetAttribute(_DIAGONAL)
    value = attribute.Get() if attribute else None
    if value is None or attribute.ValueMightBeTimeVarying():
        raise Refused("the inertia is not there, or changes over time")
    moments = [float(number) for number in value]
    if not np.all(np.isfinite(moments)):
        raise Refused("the inertia is not a number")
    return moments


@fix("inertia-no-6value", values=("inertia-order",))
def decompose_inertia(editor: Editor, finding: Diagnostic, given: UserValues) -> None:
    """Eigenvalues and axes; six values need their order, ``urdf`` or ``mujoco``, unless they are Newton's."""
    layer = editor.find_layer(finding.where.file)
    spec = layer.GetAttributeAtPath(Sdf.Path(finding.where.prim).AppendProperty(finding.where.prop))
    if spec is None:
        return  # translated already
    if spec.HasInfo("timeSamples"):
        raise Refused("the inertia changes over time")
    prim = editor.stage.GetPrimAtPath(finding.where.prim)
    if spec.name == SIX and prim and prim.GetAttribute(SIX):
        reasons = translate_inertia(editor, prim)
        if SIX not in reasons:
            return
    matrix = _read_matrix(spec, "mujoco" if spec.name == SIX else given.find("inertia-order"))
    owner = spec.owner
    if owner.layer.GetAttributeAtPath(owner.path.AppendProperty(_DIAGONAL)) is None:
        _write_decomposed(editor, owner, matrix)
    editor.remove_spec(spec)


def _write_decomposed(editor: Editor, owner: Sdf.PrimSpec, matrix: np.ndarray) -> None:
    values, axes = np.linalg.eigh(matrix)
    # eigh gives the values in ascending order; the triangle inequality may be missed by rounding
    if not np.all(np.isfinite(values)) or values[0] <= 0.0 or values[2] > (values[0] + values[1]) * 1.001:
        raise Refused("no body has such an inertia")
    # eigenvectors may come as a mirrored set, which is not a rotation
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    w, x, y, z = (float(v) for v in quat_from_matrix(axes))
    diagonal = Gf.Vec3f(*(float(v) for v in values))
    editor.add_spec_api(owner, "PhysicsMassAPI")
    editor.set_spec_value(owner, _DIAGONAL, _KINDS.Float3, diagonal)
    editor.set_spec_value(owner, _AXES, _KINDS.Quatf, Gf.Quatf(w, x, y, z))
    editor.expected.sections.update(_MASS)


def _read_matrix(spec: Sdf.AttributeSpec, order: str) -> np.ndarray:
    flat = np.array(spec.default, dtype=np.float64).reshape(-1)
    if len(flat) == 9:
        matrix = flat.reshape(3, 3)
        if not np.allclose(matrix, matrix.T, rtol=1e-6, atol=0.0):
            raise Refused("the matrix is not symmetric")
        return (matrix + matrix.T) / 2.0
    if order not in _ORDERS:
        raise Refused(f"six values have no order of their own; say inertia-order={' or '.join(_ORDERS)}")
    ixx, iyy, izz, ixy, ixz, iyz = (flat[place] for place in _ORDERS[order])
    return np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
