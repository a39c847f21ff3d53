# SPDX-License-Identifier: Apache-2.0
"""Bodies, joints and colliders (REP-0158 1.3): what can be said in another way without changing the machine.

These need intent, since a simulator may read the two ways differently; the proof holds for the neutral model.
"""

from __future__ import annotations

import numpy as np
from pxr import Gf, Sdf, Usd, UsdPhysics

from simwright.core.diag import Diagnostic
from simwright.core.math3d import quat_from_matrix
from simwright.sanitizer.fixer import Wishes, fix
from simwright.usd.edit import Editor, Refused

_KINDS = Sdf.ValueTypeNames
_AXES = "physics:principalAxes"
_DIAGONAL = "physics:diagonalInertia"
_ORDERS = {"urdf": (0, 3, 5, 1, 2, 4), "mujoco": (0, 1, 2, 3, 4, 5)}
"""Where ixx, iyy, izz, ixy, ixz and iyz stand among six values."""


@fix("mass-guidelines", changes=("masses", "motion"))
def normalize_axes(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """A quaternion of another length means the same turn."""
    if finding.where.prop != _AXES:
        raise Refused("the right value is in the source of the asset")
    prim = editor.find_prim(finding.where.prim)
    value = prim.GetAttribute(_AXES).Get()
    editor.set_value(prim, _AXES, _KINDS.Quatf, value.GetNormalized())


@fix("inertia-no-6value", wishes=("inertia-order",), changes=("masses", "motion"))
def decompose_inertia(editor: Editor, finding: Diagnostic, wishes: Wishes) -> None:
    """Eigenvalues and axes; six values need their order: ``urdf`` or ``mujoco``."""
    layer = editor.find_layer(finding.where.file)
    spec = layer.GetAttributeAtPath(Sdf.Path(finding.where.prim).AppendProperty(finding.where.prop))
    if spec is None or spec.HasInfo("timeSamples"):
        raise Refused("the inertia is not there, or changes over time")
    matrix = _read_matrix(spec, wishes.find("inertia-order"))
    owner = spec.owner
    if owner.layer.GetAttributeAtPath(owner.path.AppendProperty(_DIAGONAL)) is None:
        values, axes = np.linalg.eigh(matrix)
        if not np.all(np.isfinite(values)) or values[0] <= 0.0 or values[2] > (values[0] + values[1]) * 1.001:
            raise Refused("no body has such an inertia")
        if np.linalg.det(axes) < 0.0:
            axes[:, 0] *= -1.0
        w, x, y, z = (float(v) for v in quat_from_matrix(axes))
        diagonal = Gf.Vec3f(*(float(v) for v in values))
        editor.add_spec_api(owner, "PhysicsMassAPI")
        editor.set_spec_value(owner, _DIAGONAL, _KINDS.Float3, diagonal)
        editor.set_spec_value(owner, _AXES, _KINDS.Quatf, Gf.Quatf(w, x, y, z))
    editor.remove_spec(spec)


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


@fix("contact-physics-purpose", changes=("materials", "contacts"))
def bind_for_physics(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The physics material that all purposes have, for physics."""
    prim = editor.find_prim(finding.where.prim)
    above = prim
    while above and not above.IsPseudoRoot():
        relation = above.GetRelationship(str(finding.data.get("relation", "")))
        if relation and relation.HasAuthoredTargets():
            editor.add_api(prim, "MaterialBindingAPI")
            materials = [target for target in relation.GetTargets() if target.IsPrimPath()]
            editor.set_targets(prim, "material:binding:physics", materials[:1])
            return
        above = above.GetParent()
    raise Refused("the binding is not there")


@fix("coll-purpose-guide", changes=("visuals", "materials"))
def make_guide(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """A collider that has a visual beside it is not for the eye."""
    if "become invisible" in finding.message or "alone it would" in finding.hint:
        raise Refused("nothing else of the body can be seen; give it visual geometry first")
    prim = editor.find_prim(finding.where.prim)
    editor.set_value(prim, "purpose", _KINDS.Token, "guide", uniform=True)


@fix("kinematic-enabled", changes=("bodies", "joints", "order", "poses", "motion", "limits"))
def make_kinematic(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """A body with time samples is moved by them."""
    editor.set_value(editor.find_prim(finding.where.prim), "physics:kinematicEnabled", _KINDS.Bool, True)


@fix("loop-exclude", changes=("joints", "constraints", "order"))
def exclude_joint(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The joint that closes the loop."""
    prim = editor.find_prim(finding.where.prim)
    editor.set_value(prim, "physics:excludeFromArticulation", _KINDS.Bool, True, uniform=True)


@fix("artic-one-root")
def drop_root(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """One articulation root for one tree: the outermost stays."""
    editor.remove_api(editor.find_prim(finding.where.prim), "PhysicsArticulationRootAPI")


@fix("anchor-fixedjoint")
def swap_ends(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The world is body0; a fixed joint is the same seen from its other end."""
    prim = editor.find_prim(finding.where.prim)
    joint = UsdPhysics.Joint(prim)
    if joint.GetBody1Rel().GetTargets() or not joint.GetBody0Rel().GetTargets():
        raise Refused("which body is meant has to be decided")
    editor.set_targets(prim, "physics:body1", joint.GetBody0Rel().GetTargets())
    editor.set_targets(prim, "physics:body0", [])
    for name, kind in (("physics:localPos", _KINDS.Point3f), ("physics:localRot", _KINDS.Quatf)):
        first, second = (_read_value(prim, f"{name}{end}") for end in (0, 1))
        editor.set_value(prim, f"{name}0", kind, second)
        editor.set_value(prim, f"{name}1", kind, first)


def _read_value(prim: Usd.Prim, name: str) -> object:
    attribute = prim.GetAttribute(name)
    if attribute.GetNumTimeSamples():
        raise Refused(f"{name} changes over time")
    return attribute.Get()
