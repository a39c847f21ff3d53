# SPDX-License-Identifier: Apache-2.0
"""Questions to a compiled MuJoCo model: names, poses, Jacobians, inertia, contacts.

Whoever works with compiled models outside of this folder asks here, steps through
:class:`~simwright.engines.mujoco.batch.ModelBatch`, and never imports MuJoCo.  :class:`MjModel` and :class:`MjData` are
the parts of MuJoCo's own classes that are used.  Nothing here changes a model, but for :func:`update_constants` and,
for a while, :func:`leave_out_contacts`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import Array, Pose, VectorLike, quat_from_matrix

Ints = npt.NDArray[np.int32]

FREE, BALL, SLIDE, HINGE = range(4)
"""Types of joints (``mjtJoint``); slides and hinges have a single coordinate."""
BOX = 6
"""The type of boxes (``mjtGeom``)."""
IMPLICITFAST = 3
"""The integrator that takes damping implicitly (``mjtIntegrator``)."""
_FAR = 1e9


# only what is used: a new MuJoCo that renames one of these is found by the type checker
class MjModel(Protocol):
    """A compiled model; named access (``joint(name)`` ...) gives MuJoCo's own views."""

    nq: int
    nv: int
    nu: int
    nbody: int
    njnt: int
    ngeom: int
    nsite: int
    nflex: int
    ntendon: int
    nsensor: int
    ncam: int
    nkey: int
    nmocap: int
    nuserdata: int
    nsensordata: int
    nbuffer: int
    opt: Any
    vis: Any
    stat: Any
    qpos0: Array
    eq_active0: npt.NDArray[np.bool_]
    body_parentid: Ints
    body_rootid: Ints
    body_weldid: Ints
    body_jntnum: Ints
    body_jntadr: Ints
    body_dofnum: Ints
    body_pos: Array
    body_quat: Array
    body_mass: Array
    body_inertia: Array
    jnt_type: Ints
    jnt_qposadr: Ints
    jnt_dofadr: Ints
    jnt_bodyid: Ints
    jnt_limited: Ints
    jnt_range: Array
    jnt_pos: Array
    jnt_axis: Array
    jnt_actfrclimited: Ints
    jnt_actfrcrange: Array
    jnt_solref: Array
    jnt_solimp: Array
    dof_damping: Array
    dof_frictionloss: Array
    dof_invweight0: Array
    dof_solref: Array
    dof_solimp: Array
    body_invweight0: Array
    eq_solref: Array
    eq_solimp: Array
    geom_type: Ints
    geom_group: Ints
    geom_dataid: Ints
    geom_matid: Ints
    geom_rgba: Array
    geom_quat: Array
    mesh_vert: Array
    mesh_vertadr: Ints
    mesh_vertnum: Ints
    geom_bodyid: Ints
    geom_contype: Ints
    geom_conaffinity: Ints
    geom_aabb: Array
    geom_size: Array
    geom_friction: Array
    geom_condim: Ints
    geom_solref: Array
    geom_solimp: Array
    pair_geom1: Ints
    pair_geom2: Ints
    pair_dim: Ints
    pair_solref: Array
    pair_solimp: Array
    actuator_ctrladr: Ints
    actuator_ctrlnum: Ints
    site_bodyid: Ints
    site_pos: Array
    site_quat: Array
    cam_bodyid: Ints
    cam_pos: Array
    cam_quat: Array
    cam_fovy: Array
    light_bodyid: Ints
    light_pos: Array
    light_diffuse: Array
    actuator_trntype: Ints
    actuator_trnid: Ints
    actuator_gaintype: Ints
    actuator_gainprm: Array
    actuator_biastype: Ints
    actuator_biasprm: Array
    actuator_gear: Array
    actuator_ctrllimited: Ints
    actuator_ctrlrange: Array
    actuator_forcelimited: Ints
    actuator_forcerange: Array
    tendon_solref_lim: Array
    tendon_solimp_lim: Array
    tendon_adr: Ints
    tendon_num: Ints
    wrap_type: Ints
    wrap_objid: Ints
    key_qpos: Array
    key_ctrl: Array

    def body(self, which: int | str, /) -> Any: ...  # noqa: D102 - MuJoCo's
    def joint(self, which: int | str, /) -> Any: ...  # noqa: D102 - MuJoCo's
    def geom(self, which: int | str, /) -> Any: ...  # noqa: D102 - MuJoCo's
    def site(self, which: int | str, /) -> Any: ...  # noqa: D102 - MuJoCo's
    def sensor(self, which: int | str, /) -> Any: ...  # noqa: D102 - MuJoCo's
    def camera(self, which: int | str, /) -> Any: ...  # noqa: D102 - MuJoCo's
    def actuator(self, which: int | str, /) -> Any: ...  # noqa: D102 - MuJoCo's
    def material(self, which: int | str, /) -> Any: ...  # noqa: D102 - MuJoCo's
    def key(self, which: int | str, /) -> Any: ...  # noqa: D102 - MuJoCo's


class MjData(Protocol):
    """What is computed of a state."""

    time: float
    qpos: Array
    qvel: Array
    qacc_warmstart: Array
    ctrl: Array
    qfrc_bias: Array
    qfrc_passive: Array
    qfrc_actuator: Array
    actuator_length: Array
    actuator_velocity: Array
    actuator_force: Array
    solver_niter: Ints
    sensordata: Array
    xpos: Array
    xquat: Array
    xmat: Array
    xipos: Array
    xanchor: Array
    xaxis: Array
    geom_xpos: Array
    geom_xmat: Array
    site_xpos: Array
    site_xmat: Array
    flexvert_xpos: Array
    ncon: int
    contact: Any
    warning: Any


def find_body(model: MjModel, name: str) -> int:
    """The id of a body; -1 where there is none of that name."""
    import mujoco

    return int(mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name))


def find_site(model: MjModel, name: str) -> int:
    """The id of a site; -1 where there is none of that name."""
    import mujoco

    return int(mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, name))


def list_tendon_joints(model: MjModel, tendon: int) -> list[int]:
    """The joints of a fixed tendon; none for a tendon in space."""
    import mujoco

    first = int(model.tendon_adr[tendon])
    wraps = slice(first, first + int(model.tendon_num[tendon]))
    if (model.wrap_type[wraps] != int(mujoco.mjtWrap.mjWRAP_JOINT)).any():
        return []
    return [int(joint) for joint in model.wrap_objid[wraps]]


def pose_bodies(model: MjModel, qpos: Array, data: MjData | None = None) -> MjData:
    """Bodies, geoms and sites where coordinates put them, ready for Jacobians; in ``data``, or in a new one."""
    import mujoco

    data = mujoco.MjData(model) if data is None else data
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    return data


def compute_forward(model: MjModel, qpos: Array, data: MjData | None = None) -> MjData:
    """All that MuJoCo computes of coordinates at rest: bias forces, lengths of actuators, contacts."""
    import mujoco

    data = mujoco.MjData(model) if data is None else data
    data.qpos[:] = qpos
    mujoco.mj_forward(model, data)
    return data


def compute_site_jacobians(model: MjModel, data: MjData, site: int) -> tuple[Array, Array]:
    """How velocities move and turn a site (3 x nv each); the bodies of ``data`` have to be posed."""
    import mujoco

    place, spin = np.zeros((3, model.nv)), np.zeros((3, model.nv))
    mujoco.mj_jacSite(model, data, place, spin, site)
    return place, spin


def compute_point_jacobian(model: MjModel, data: MjData, body: int, point: VectorLike) -> Array:
    """How velocities move a point of a body, given in the world (3 x nv); the bodies have to be posed."""
    import mujoco

    place = np.zeros((3, model.nv))
    mujoco.mj_jac(model, data, place, None, np.asarray(point, dtype=np.float64), body)
    return place


def compute_inertia(model: MjModel, data: MjData, dof: int) -> float:
    """What a degree of freedom feels of the mass matrix: its element on the diagonal [kg m^2 or kg]."""
    import mujoco

    unit, image = np.zeros(model.nv), np.zeros(model.nv)
    unit[dof] = 1.0
    mujoco.mj_mulM(model, data, image, unit)
    return float(image[dof])


def compute_mass_block(model: MjModel, data: MjData, dofs: Ints) -> Array:
    """The mass matrix of some degrees of freedom (n x n), the others held."""
    import mujoco

    unit, image = np.zeros(model.nv), np.zeros(model.nv)
    block = np.empty((len(dofs), len(dofs)))
    for row, dof in enumerate(dofs):
        unit[dof] = 1.0
        mujoco.mj_mulM(model, data, image, unit)
        unit[dof], block[row] = 0.0, image[dofs]
    return block


@contextlib.contextmanager
def leave_out_contacts(model: MjModel) -> Iterator[None]:
    """No contacts of a model, for a while."""
    import mujoco

    before = int(model.opt.disableflags)
    model.opt.disableflags = before | int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    try:
        yield
    finally:
        model.opt.disableflags = before


def measure_gap(model: MjModel, data: MjData, geom: int, other: int, most: float = _FAR) -> float:
    """How far apart two geoms are, negative inside each other; ``most`` where they are farther [m]."""
    import mujoco

    return float(mujoco.mj_geomDistance(model, data, geom, other, most, None))


def count_iterations(data: MjData) -> int:
    """How many iterations the solver made in the last step: of the island that took most."""
    return int(np.max(data.solver_niter))


def measure_bottom(model: MjModel, data: MjData, geom: int) -> float:
    """The lowest corner of a geom's own box [m]; the bodies have to be posed."""
    turn = np.asarray(data.geom_xmat[geom]).reshape(3, 3)
    center, half = model.geom_aabb[geom][:3], model.geom_aabb[geom][3:]
    return float((data.geom_xpos[geom] + turn @ center)[2] - np.abs(turn[2]) @ half)


def list_overlaps(model: MjModel, data: MjData) -> Ints:
    """Pairs of geoms that are inside each other (pairs x 2); the bodies have to be posed."""
    import mujoco

    mujoco.mj_collision(model, data)
    pairs = np.array([data.contact.geom1, data.contact.geom2], dtype=np.int32).T
    return np.asarray(pairs[np.asarray(data.contact.dist) < 0.0])


# rounds in which joints are stopped: stopping one may make another too fast
_STOPS = 6


def stop_joints(
    model: MjModel, qpos: Array, qvel: Array, dofs: Ints, limits: Array, *, scratch: MjData | None = None
) -> MjData:
    """Change velocities in place so that given degrees of freedom are no faster than their limits after a time step.

    As if the drives of those that are faster braked in that step, as hard as it takes: impulses at the joints, which
    the rest of the mechanism feels through the mass matrix, so that momentum goes nowhere else.  Coordinates are moved
    back by what the step moved them too far (exact for Euler and the implicit integrators).  Gives the
    scratch space for the next time.
    """
    import mujoco

    data: MjData = mujoco.MjData(model) if scratch is None else scratch
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_makeM(model, data)
    mujoco.mj_factorM(model, data)
    first, now = qvel.copy(), qvel.copy()
    active = np.zeros(len(dofs), dtype=bool)
    for _ in range(_STOPS):
        fast = np.abs(now[dofs]) > limits
        if not (fast & ~active).any():
            break
        active |= fast
        chosen = dofs[active]
        units, answers = np.zeros((len(chosen), model.nv)), np.zeros((len(chosen), model.nv))
        units[np.arange(len(chosen)), chosen] = 1.0
        mujoco.mj_solveM(model, data, answers, units)
        wanted = np.clip(first[chosen], -limits[active], limits[active]) - first[chosen]
        now = first + np.linalg.solve(answers[:, chosen], wanted) @ answers
    # rounding, and what the rounds left
    now[dofs] = np.clip(now[dofs], -limits, limits)
    mujoco.mj_integratePos(model, qpos, now - first, float(model.opt.timestep))
    qvel[:] = now
    return data


def measure_contact_force(model: MjModel, data: MjData, inside: npt.NDArray[np.bool_], last: int) -> float:
    """The sum of contact forces between bodies ``inside`` and those that are the world or have ids above ``last`` [N].

    They are those of the beginning of the last time step.
    """
    import mujoco

    total, force = 0.0, np.zeros(6)
    for number, pair in enumerate(np.asarray(data.contact.geom).tolist()):
        # soft bodies have no geom
        if min(pair) < 0:
            continue
        one, other = (int(model.geom_bodyid[geom]) for geom in pair)
        if (inside[one] and not 1 <= other <= last) or (inside[other] and not 1 <= one <= last):
            mujoco.mj_contactForce(model, data, number, force)
            total += float(np.sqrt(force[0] ** 2 + force[1] ** 2 + force[2] ** 2))
    return total


def measure_velocities(model: MjModel, data: MjData, bodies: Sequence[int]) -> Array:
    """Velocities of body origins and of their turning along the axes of the world (bodies x 6), computed forward."""
    import mujoco

    found, both = np.zeros((len(bodies), 6)), np.zeros(6)
    for row, body in enumerate(bodies):
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, both, 0)
        # MuJoCo has the turning first
        found[row, :3], found[row, 3:] = both[3:], both[:3]
    return found


def cast_rays(
    model: MjModel, data: MjData, origin: VectorLike, directions: Array, *, reach: float, ignore: int
) -> Array:
    """Distances along unit vectors (n x 3) to what is seen; infinite where nothing is within reach [m]."""
    import mujoco

    count = len(directions)
    distances, geoms = np.full(count, -1.0), np.full(count, -1, dtype=np.int32)
    # colliders that are only touched are in group 3
    groups = np.array((1, 1, 1, 0, 1, 1), dtype=np.uint8)
    vectors = np.ascontiguousarray(directions, dtype=np.float64).reshape(-1)
    point = np.asarray(origin, dtype=np.float64)
    # MuJoCo 3.4 has one argument more
    more = (None,) if "normal:" in str(mujoco.mj_multiRay.__doc__) else ()
    mujoco.mj_multiRay(
        model, data, point, vectors, groups, True, ignore, geoms, distances, *more, count, float(reach)
    )
    return np.where((distances < 0.0) | (distances > reach), np.inf, distances)


def update_constants(model: MjModel) -> None:
    """Compute again what MuJoCo derives from masses when it compiles."""
    import mujoco

    mujoco.mj_setConst(model, mujoco.MjData(model))


def read_site(data: MjData, site: int) -> Pose:
    """The pose of a site in the world."""
    return Pose.of(data.site_xpos[site], quat_from_matrix(np.asarray(data.site_xmat[site]).reshape(3, 3)))


def read_body(data: MjData, body: int) -> Pose:
    """The pose of a body in the world."""
    return Pose.of(data.xpos[body], data.xquat[body])
