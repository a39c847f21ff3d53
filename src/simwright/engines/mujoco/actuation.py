# SPDX-License-Identifier: Apache-2.0
"""What acts on a compiled MuJoCo model: its actuators, and contacts and joint stops that are springs and dampers.

Actuators are known by their numbers and transmission, never by their place in a list.  A *position* actuator pulls
towards its control, a *velocity* actuator towards a speed, a *motor* gives what it is told; anything else is
*general*.  Lengths of transmissions (joint, tendon, site ...) are MuJoCo's ``actuator_length``, so a tendon that
closes a gripper is handled as a joint is.

Springs of contacts and stops: MJCF has no attribute for a stiffness in N/m: its ``solref`` is per mass.  So the
numbers of the asset (``stiffness`` and ``damping`` of physics materials, ``ke`` and ``kd`` of shapes and contact
pairs, ``limit_stiffness`` and ``limit_damping`` of dofs) are set here, with the inverse masses that MuJoCo estimates
when it compiles.

MuJoCo's constraints have a reference acceleration ``-b v - k x`` and a regularisation ``R = (1 - d) / d * A``, where
``A`` is that inverse mass; the force is ``(-b v - k x - a) / R``.  A spring and damper taken at the end of the time
step, ``f = -ke (x + dt v') - kd v'`` with ``v' = v + dt a``, is exactly of this form:

    R = 1 / (dt (dt ke + kd)),   b = 1 / dt,   k = ke R,   d = A / (A + R)

It rests at ``x = f / ke`` and is stable for any stiffness.  MuJoCo keeps ``d`` within 0.0001 and 0.9999.
"""

from __future__ import annotations

import enum
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import Array
from simwright.engines.layout import Layout
from simwright.engines.mujoco.queries import MjModel, compute_forward
from simwright.formats.mjcf.memory import CompiledAsset, MujocoNames
from simwright.formats.mjcf.writer.kept import KeptAttributes
from simwright.model.asset import Asset, Shape
from simwright.model.joint import Joint, Motion
from simwright.model.material import PhysicsMaterial

_FIXED_GAIN, _AFFINE = 0, (0, 1)
"""mjGAIN_FIXED; mjBIAS_NONE and mjBIAS_AFFINE."""


class ActuatorKind(enum.StrEnum):
    """What the control of an actuator means."""

    POSITION = "position"
    VELOCITY = "velocity"
    MOTOR = "motor"
    GENERAL = "general"


@dataclass(frozen=True, slots=True)
class ActuatorInfo:
    """One actuator.  ``joint`` is the id of the joint it drives, -1 for other transmissions.

    ``low`` and ``high`` bound the control (infinite where nothing does); ``scale`` is control per unit of length of its
    transmission: 1 for a plain position actuator, 255 / stroke for a gripper that is told a byte.
    """

    index: int
    name: str
    kind: ActuatorKind
    transmission: str
    joint: int
    low: float
    high: float
    scale: float = 1.0
    offset: float = 0.0


def list_actuators(model: MjModel, count: int | None = None) -> list[ActuatorInfo]:
    """The first ``count`` actuators of a model (all by default)."""
    return [_describe(model, index) for index in range(model.nu if count is None else count)]


def hold_controls(model: MjModel, qpos: Array) -> Array:
    """Controls that keep a robot where it is: positions of its transmissions for position actuators, 0 for others."""
    data = compute_forward(model, qpos)
    ctrl = np.zeros(model.nu)
    for actuator in list_actuators(model):
        if actuator.kind is ActuatorKind.POSITION:
            wanted = actuator.scale * float(data.actuator_length[actuator.index]) + actuator.offset
            ctrl[actuator.index] = min(max(wanted, actuator.low), actuator.high)
    return ctrl


def make_motor(model: MjModel, actuator: ActuatorInfo) -> None:
    """Let an actuator of a joint give what it is told [N m or N], bounded by the force it had."""
    import mujoco

    index = actuator.index
    model.actuator_gainprm[index] = 0.0
    model.actuator_gainprm[index, 0] = 1.0
    model.actuator_biasprm[index] = 0.0
    model.actuator_biastype[index] = int(mujoco.mjtBias.mjBIAS_NONE)
    # the old bounds were positions: a motor's control is a force
    limited = bool(model.actuator_forcelimited[index])
    model.actuator_ctrllimited[index] = limited
    if limited:
        model.actuator_ctrlrange[index] = model.actuator_forcerange[index]


def _describe(model: MjModel, index: int) -> ActuatorInfo:
    import mujoco

    trn = mujoco.mjtTrn
    kinds = {
        trn.mjTRN_JOINT: "joint",
        trn.mjTRN_JOINTINPARENT: "joint",
        trn.mjTRN_TENDON: "tendon",
        trn.mjTRN_SITE: "site",
        trn.mjTRN_SLIDERCRANK: "slidercrank",
        trn.mjTRN_BODY: "body",
    }
    transmission = kinds.get(trn(int(model.actuator_trntype[index])), "other")
    joint = int(model.actuator_trnid[index, 0]) if transmission == "joint" else -1
    low, high = (float(v) for v in model.actuator_ctrlrange[index])
    if not model.actuator_ctrllimited[index]:
        # the range of an unlimited actuator is whatever the file happened to say
        low, high = -np.inf, np.inf
    kind, scale, offset = _classify(model, index)
    return ActuatorInfo(
        index, model.actuator(index).name, kind, transmission, joint, low, high, scale, offset
    )


def _classify(model: MjModel, index: int) -> tuple[ActuatorKind, float, float]:
    """Kind, and what control holds a length: ``ctrl = scale * length + offset``."""
    import mujoco

    gain, bias = model.actuator_gainprm[index], model.actuator_biasprm[index]
    if model.actuator_gaintype[index] != mujoco.mjtGain.mjGAIN_FIXED or gain[0] == 0.0:
        return ActuatorKind.GENERAL, 1.0, 0.0
    if model.actuator_biastype[index] == mujoco.mjtBias.mjBIAS_NONE:
        return ActuatorKind.MOTOR, 1.0, 0.0
    if model.actuator_biastype[index] != mujoco.mjtBias.mjBIAS_AFFINE:
        return ActuatorKind.GENERAL, 1.0, 0.0
    if bias[1] * gain[0] < 0.0:
        # at rest: gain * ctrl + bias0 + bias1 * length = 0
        return ActuatorKind.POSITION, float(-bias[1] / gain[0]), float(-bias[0] / gain[0])
    if bias[1] == 0.0 and bias[2] * gain[0] < 0.0:
        return ActuatorKind.VELOCITY, 1.0, 0.0
    return ActuatorKind.GENERAL, 1.0, 0.0


@dataclass(frozen=True, slots=True)
class Servos:
    """Actuators that follow targets: ``control = (effort / gear - b0 - b1 position - b2 velocity) / gain``."""

    dofs: npt.NDArray[np.int64]
    """Their entries in velocities of the layout."""
    columns: npt.NDArray[np.int64]
    """Their columns in MuJoCo's controls."""
    law: Array
    """Rows of effort, b0, position and velocity factors."""


def name_controls(model: MjModel, names: MujocoNames) -> tuple[str, ...]:
    """Names of the controls, in MuJoCo's order: those of the asset, and of drives by their dof.

    An actuator with several controls (MuJoCo 4) has one entry per control: ``name[0]``, ``name[1]`` ...
    """
    ours = {made: name for name, made in (*names.drives.items(), *names.actuators.items())}
    found = []
    for number in range(int(getattr(model, "nactuator", model.nu))):
        name = str(model.actuator(number).name)
        count = int(model.actuator_ctrlnum[number]) if hasattr(model, "actuator_ctrlnum") else 1
        name = ours.get(name, name)
        found += [name] if count == 1 else [f"{name}[{i}]" for i in range(count)]
    return tuple(found)


def find_servos(layout: Layout, asset: Asset, compiled: CompiledAsset) -> Servos:
    """Drives, and actuators of the asset that push one hinge or slide by a fixed gain and an affine bias."""
    model, names = compiled.model, compiled.names
    by_target: dict[str, list[str]] = {}
    for actuator in asset.actuators:
        if actuator.transmission == "joint" and actuator.name in names.actuators:
            by_target.setdefault(actuator.target, []).append(names.actuators[actuator.name])
    dofs, columns, laws = [], [], []
    for freedom in layout.freedoms:
        if freedom.motion not in (Motion.HINGE, Motion.SLIDE):
            continue
        drive = names.drives.get(freedom.name)
        candidates = by_target.get(freedom.name, []) if drive is None else [drive]
        # the first of several that can give any force: a muscle or a PID controller before it cannot
        servo = next(filter(None, (_read_servo(model, name) for name in candidates)), None)
        if servo is not None:
            dofs.append(freedom.v)
            columns.append(servo[0])
            laws.append(servo[1])
    law = np.array(laws).reshape(-1, 4).T
    return Servos(np.array(dofs, dtype=np.int64), np.array(columns, dtype=np.int64), law)


def _read_servo(model: MjModel, name: str) -> tuple[int, Array] | None:
    """The control of an actuator and the row of its law, as ``Servos`` has them; None if it cannot give any force."""
    row = model.actuator(name).id
    gain, bias = model.actuator_gainprm[row], model.actuator_biasprm[row]
    gear = float(model.actuator_gear[row, 0])
    is_servo = (
        int(model.actuator_gaintype[row]) == _FIXED_GAIN and int(model.actuator_biastype[row]) in _AFFINE
    )
    if not is_servo or not gain[0] or not gear:
        return None
    column = int(model.actuator_ctrladr[row]) if hasattr(model, "actuator_ctrladr") else row
    return column, np.array((1.0 / gear, -bias[0], -bias[1] * gear, -bias[2] * gear)) / gain[0]


Number: TypeAlias = Array | np.float64 | float
LOOSE, TIGHT = 1e-4, 0.9999
"""The least and the largest impedance of MuJoCo."""
_HOLDING = 0.999
"""Impedance of loops and followers that are to be nearly rigid."""


def make_reference(ke: Number, kd: Number, inverse_mass: Number, dt: float) -> tuple[Array, Array]:
    """``solref`` (n, 2) and impedance (n,) of springs ``ke`` [N/m] and dampers ``kd`` [N s/m]; angles alike."""
    ke, kd = np.asarray(ke, dtype=np.float64), np.asarray(kd, dtype=np.float64)
    regular = 1.0 / np.maximum(dt * (dt * ke + kd), 1e-12)
    impedance = np.clip(inverse_mass / np.maximum(inverse_mass + regular, 1e-300), LOOSE, TIGHT)
    reference = np.stack((ke * regular * impedance, impedance / dt), axis=-1)
    return -np.maximum(reference, 1e-12), impedance


def make_impedance(impedance: Array) -> Array:
    """``solimp`` (n, 5) that is the same at every depth."""
    rows = np.tile((0.0, 0.0, 1.0, 0.5, 1.0), (*np.shape(impedance), 1))
    rows[..., 0] = rows[..., 1] = impedance
    return np.asarray(rows)


def set_springs(model: MjModel, asset: Asset, layout: Layout, names: MujocoNames) -> None:
    """Stops, contacts of geoms and contacts of pairs, where the asset says how stiff they are and MJCF does not."""
    solver, dt = KeptAttributes(asset), float(model.opt.timestep)
    _set_stops(model, layout, names, solver, dt)
    for shape, (ke, kd) in _list_springs(asset, solver):
        for name in names.geoms.get(shape, ()):
            geom = model.geom(name).id
            # the partner is taken to be as heavy: MuJoCo mixes the two afterwards
            weight = 2.0 * model.body_invweight0[model.geom_bodyid[geom], 0]
            reference, impedance = make_reference(ke, kd, weight, dt)
            model.geom_solref[geom], model.geom_solimp[geom] = reference, make_impedance(impedance)
    _set_pairs(model, asset, names, dt)


def _set_pairs(model: MjModel, asset: Asset, names: MujocoNames, dt: float) -> None:
    pairs = [pair for pair in asset.contact_pairs if "ke" in pair.settings]
    if not pairs:
        return
    rows = {
        frozenset(ends): row
        for row, ends in enumerate(zip(model.pair_geom1.tolist(), model.pair_geom2.tolist(), strict=True))
    }
    geoms = {shape: [model.geom(name).id for name in made] for shape, made in names.geoms.items()}
    for pair in pairs:
        for a, b in itertools.product(geoms.get(pair.a, ()), geoms.get(pair.b, ())):
            row = rows.get(frozenset((a, b)))
            if row is None:
                continue
            weight = model.body_invweight0[model.geom_bodyid[[a, b]], 0].sum()
            reference, impedance = make_reference(pair.settings["ke"], pair.settings["kd"], weight, dt)
            model.pair_solref[row], model.pair_solimp[row] = reference, make_impedance(impedance)


def _set_stops(model: MjModel, layout: Layout, names: MujocoNames, solver: KeptAttributes, dt: float) -> None:
    """Stops of hinges and slides whose stiffness the asset says in N/m or N m/rad."""
    for freedom in layout.freedoms:
        dof = freedom.dof
        if dof is None or freedom.motion not in (Motion.HINGE, Motion.SLIDE):
            continue
        ke, kd = dof.limit_stiffness or 0.0, dof.limit_damping or 0.0
        # a stop without numbers, or one that does not give, is left to MuJoCo's own softness
        if not (ke > 0.0 or kd > 0.0) or not (math.isfinite(ke) and math.isfinite(kd)):
            continue
        if freedom.joint is not None and _has_reference(solver, freedom.joint, freedom.name):
            continue
        # a screw is a hinge and a slide in MuJoCo: the first of them has the limits
        for name in names.joints.get(freedom.name, ())[:1]:
            joint = model.joint(name)
            weight = np.array(model.dof_invweight0[int(joint.dofadr[0])])
            reference, impedance = make_reference(np.array(ke), np.array(kd), weight, dt)
            model.jnt_solref[joint.id], model.jnt_solimp[joint.id] = reference, make_impedance(impedance)


def _has_reference(solver: KeptAttributes, joint: Joint, name: str) -> bool:
    """Did the source say the softness of stops in MuJoCo's own words?"""
    return (
        solver.get(joint, "joint", "solreflimit") is not None
        or solver.take(f"joint/{name}", "solreflimit") is not None
    )


def _list_springs(asset: Asset, solver: KeptAttributes) -> Iterator[tuple[str, tuple[Array, Array]]]:
    """Stiffness and damping of colliders that have them, by shape."""
    materials = {material.name: material for material in asset.physics_materials}
    for shape in asset.shapes:
        # what the source says in MuJoCo's own words has been written by the MJCF writer
        if not (shape.collision and shape.enabled) or solver.get(shape, "geom", "solref") is not None:
            continue
        material = materials.get(shape.physics_material)
        if material is not None and solver.get(material, "physics_material", "solref") is not None:
            continue
        ke, kd = _choose_spring(shape, material)
        if ke is not None and ke > 0.0 and math.isfinite(ke):
            yield shape.name, (np.array(float(ke)), np.array(float(kd or 0.0)))


def _choose_spring(shape: Shape, material: PhysicsMaterial | None) -> tuple[float | None, float | None]:
    """Stiffness and damping, each of the material or of the shape; ``contact_first`` says that the shape counts."""
    own = (shape.settings.get("ke"), shape.settings.get("kd"))
    given = (None, None) if material is None else (material.stiffness, material.damping)
    first, second = (own, given) if shape.settings.get("contact_first") else (given, own)
    ke, kd = (a if a is not None else b for a, b in zip(first, second, strict=True))
    return ke, kd


def stiffen(model: MjModel) -> None:
    """Hold loops, followers, distances and dry friction as stiffly as the time step allows."""
    dt = float(model.opt.timestep)
    model.dof_solref[:] = (-1.0, -TIGHT / dt)
    model.dof_solimp[:] = make_impedance(np.array(TIGHT))
    holding = make_impedance(np.array(_HOLDING))
    model.eq_solref[:], model.eq_solimp[:] = (2.0 * dt, 1.0), holding
    model.tendon_solref_lim[:], model.tendon_solimp_lim[:] = (2.0 * dt, 1.0), holding
