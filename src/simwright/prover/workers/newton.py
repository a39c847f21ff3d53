# SPDX-License-Identifier: Apache-2.0
"""Newton: what its USD importer makes of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import newton
import numpy as np
import warp as wp

from .seen import (
    Configuration,
    Evaluated,
    Moment,
    MotionOrder,
    Moved,
    Seen,
    SeenActuator,
    SeenFreedom,
    WorldSettings,
    bound,
    find_position,
    find_speed,
    join_blocks,
    label_of,
    name_of,
    pack_inertia,
    record,
    serve,
)

_KINDS = {
    newton.JointType.REVOLUTE: "hinge",
    newton.JointType.PRISMATIC: "slide",
    newton.JointType.BALL: "ball",
    newton.JointType.FREE: "free",
}
_COLUMNS = (
    "target_ke", "target_kd", "effort_limit", "armature", "friction", "damping", "limit_lower", "limit_upper",
)  # fmt: skip
_SCALAR = ("hinge", "slide")
_EQUAL_JOINTS = 2
"""mjEQ_JOINT of MuJoCo."""


_XPBD_ITERATIONS = 20
"""Two, the default, let joints of arms come apart."""


class NewtonRobot:
    """A finalized model that is asked."""

    def __init__(self, model: Any, solver: str) -> None:
        self.model, self.solver = model, solver
        self.engine = f"Newton {newton.__version__}"

    def describe(self) -> Seen:
        """What does not depend on the configuration."""
        model, seen = self.model, Seen(self.engine)
        if not model.body_count:  # Newton 1.7 has no arrays then, instead of empty ones
            return seen
        bodies = [name_of(label) for label in model.body_label]
        seen.masses = dict(zip(bodies, model.body_mass.numpy().tolist(), strict=True))
        tensors = zip(model.body_com.numpy(), model.body_inertia.numpy(), strict=True)
        seen.inertias = {body: pack_inertia(*row) for body, row in zip(bodies, tensors, strict=True)}
        rows = _list_freedoms(model, bodies)
        tree = model.joint_articulation.numpy()
        # joints that close loops are in no articulation, and their freedoms in no mass matrix
        seen.freedoms = [freedom for joint, freedom in rows if tree[joint] >= 0]
        floating = list(dict.fromkeys(freedom.body for _, freedom in rows if freedom.kind == "free"))
        floating += [
            body for number, body in enumerate(bodies) if number not in set(model.joint_child.numpy())
        ]
        # what forces do not move is held, as a mocap body of MuJoCo is
        flags = dict(zip(bodies, model.body_flags.numpy().tolist(), strict=True))
        seen.floating = [body for body in floating if not flags[body] & int(newton.BodyFlags.KINEMATIC)]
        seen.actuators = _list_actuators(model, [freedom for _, freedom in rows])
        seen.mimics = _list_mimics(model)
        seen.filters = _list_filters(model, bodies)
        return seen

    def evaluate(self, configuration: Configuration) -> Evaluated:
        """Poses, mass matrix and bias forces in a configuration."""
        model = self.model
        if not model.body_count:
            return Evaluated({})
        self._place(configuration)
        state = model.state()
        newton.eval_fk(model, model.joint_q, model.joint_qd, state)
        return Evaluated(_read_poses(model, state), _read_mass_matrix(model, state))

    def move(self, order: MotionOrder) -> Moved:
        """Do a motion by one of Newton's solvers."""
        model = self.model
        places = model.joint_q.numpy()
        self._place(order.start)
        before, after, control = model.state(), model.state(), model.control()
        newton.eval_fk(model, model.joint_q, model.joint_qd, before)
        solver = _SOLVERS[self.solver](model)
        self._set_targets(control, order)
        # its MuJoCo finds contacts itself
        collides = model.shape_count > 0 and self.solver != ""
        contacts = model.contacts() if collides else None
        # solvers of bodies do not tell coordinates of joints
        found, speeds = wp.zeros_like(model.joint_q), wp.zeros_like(model.joint_qd)
        alone = [at for _, at in self._list_alone()]

        def advance(count: int) -> None:
            nonlocal before, after
            for _ in range(count):
                before.clear_forces()
                if contacts is not None:
                    model.collide(before, contacts)
                solver.step(before, after, control, contacts, order.step)
                before, after = after, before

        def read() -> Moment:
            if self.solver == "xpbd":
                newton.eval_ik(model, before, found, speeds)
                coordinates = found.numpy()
            else:
                coordinates = before.joint_q.numpy()
            return [None if at is None else float(coordinates[at]) for at in alone], _read_poses(
                model, before
            )

        moved = record(order, advance, read)
        model.joint_q.assign(places)
        return moved

    def _set_targets(self, control: Any, order: MotionOrder) -> None:
        wanted = control.joint_target_q.numpy()
        wide = len(wanted) == self.model.joint_coord_count
        starts = self.model.joint_q_start.numpy() if wide else self.model.joint_qd_start.numpy()
        types, children = self.model.joint_type.numpy(), self.model.joint_child.numpy()
        for joint, label in enumerate(self.model.joint_label):
            if _KINDS.get(newton.JointType(int(types[joint]))) in _SCALAR:
                body = name_of(self.model.body_label[children[joint]])
                wanted[starts[joint]] = find_position(order.targets, name_of(label), body)
        control.joint_target_q.assign(wanted)

    def _list_alone(self) -> list[tuple[int, int | None]]:
        """For every freedom in the order of ``describe``: its joint, and where its coordinate is."""
        model = self.model
        starts, speeds, types, tree = (
            getattr(model, name).numpy()
            for name in ("joint_q_start", "joint_qd_start", "joint_type", "joint_articulation")
        )
        found: list[tuple[int, int | None]] = []
        for joint in range(model.joint_count):
            alone = _KINDS.get(newton.JointType(int(types[joint]))) in _SCALAR
            width = int(speeds[joint + 1] - speeds[joint]) if tree[joint] >= 0 else 0
            found += [(joint, int(starts[joint]) if alone else None)] * width
        return found

    def _place(self, configuration: Configuration) -> None:
        model = self.model
        places, speeds = model.joint_q.numpy(), model.joint_qd.numpy()
        starts, rates, types, children = (
            getattr(model, name).numpy()
            for name in ("joint_q_start", "joint_qd_start", "joint_type", "joint_child")
        )
        for joint, label in enumerate(model.joint_label):
            kind = _KINDS.get(newton.JointType(int(types[joint])), "axis")
            if kind in _SCALAR:
                body = name_of(model.body_label[children[joint]])
                places[starts[joint]] = find_position(configuration, name_of(label), body)
                speeds[rates[joint]] = find_speed(configuration, name_of(label), body)
            elif kind in ("ball", "axis"):
                # the file may have it begin elsewhere than in the reference pose
                places[starts[joint] : starts[joint + 1]] = (0.0, 0.0, 0.0, 1.0) if kind == "ball" else 0.0
                speeds[rates[joint] : rates[joint + 1]] = 0.0
        model.joint_q.assign(places)
        model.joint_qd.assign(speeds)


def _read_poses(model: Any, state: Any) -> dict[str, list[float]]:
    return {
        name_of(label): [float(row[number]) for number in (0, 1, 2, 6, 3, 4, 5)]  # x, y, z, w in Newton
        for label, row in zip(model.body_label, state.body_q.numpy(), strict=True)
    }


def _make_mujoco_solver(model: Any) -> Any:
    solver = newton.solvers.SolverMuJoCo(model, use_mujoco_cpu=True)
    # Newton 1.7 changes the principal axes of compiled bodies; MuJoCo's trees of boxes about their shapes are in those
    # axes, so bodies of several shapes fell through the ground
    mujoco, _ = solver.import_mujoco()
    solver.mj_model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)
    return solver


def _make_xpbd_solver(model: Any) -> Any:
    return newton.solvers.SolverXPBD(model, iterations=_XPBD_ITERATIONS)


def _make_featherstone_solver(model: Any) -> Any:
    # it slows all bodies down a little unless told otherwise
    return newton.solvers.SolverFeatherstone(model, angular_damping=0.0)


_SOLVERS = {
    "": _make_mujoco_solver, "xpbd": _make_xpbd_solver, "featherstone": _make_featherstone_solver,
}  # fmt: skip


def open_file(file: Path, world: WorldSettings) -> NewtonRobot:
    """Import, as one who uses its MuJoCo solver would: with what it reads of ``mjc:`` words."""
    builder = newton.ModelBuilder()
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    builder.add_usd(str(file))
    return NewtonRobot(builder.finalize(device="cpu"), world.solver)


def _list_mimics(model: Any) -> dict[str, list[Any]]:
    """Newton's own, a column of joints, and equalities of two joints as MuJoCo has them, which are read of ``mjc:``."""
    labels = [name_of(label) for label in model.joint_label]
    found: dict[str, list[Any]] = {}
    if model.joint_mimic_joint is not None:
        leaders, factors = model.joint_mimic_joint.numpy().tolist(), model.joint_mimic_coeffs.numpy().tolist()
        rows = zip(labels, leaders, factors, strict=True)
        found |= {label: [labels[leader], float(pair[1])] for label, leader, pair in rows if leader >= 0}
    words = model.mujoco
    for row in range(int(getattr(words, "equality_constraint_count", 0) or 0)):
        kind, enabled, follower, leader, factor = (
            getattr(words, f"equality_constraint_{name}").numpy()[row]
            for name in ("type", "enabled", "joint1", "joint2", "polycoef")
        )
        if kind == _EQUAL_JOINTS and enabled and leader >= 0:
            found[labels[int(follower)]] = [labels[int(leader)], float(factor[1])]
    return found


def _list_filters(model: Any, bodies: list[str]) -> list[list[str]]:
    """Pairs of bodies, of the pairs of their shapes that are left out."""
    names, owners = [*bodies, "world"], model.shape_body.numpy()  # -1 is the world
    pairs = {
        tuple(sorted((names[owners[a]], names[owners[b]]))) for a, b in model.shape_collision_filter_pairs
    }
    return sorted([one, other] for one, other in pairs if one != other)


def _list_freedoms(model: Any, bodies: list[str]) -> list[tuple[int, SeenFreedom]]:
    """Freedoms of all joints, each with the number of its joint."""
    columns = {name: getattr(model, f"joint_{name}").numpy() for name in _COLUMNS}
    # a model without joints has no such array
    springs = model.mujoco.dof_passive_stiffness.numpy() if len(columns["armature"]) else []
    types, children, starts = (
        getattr(model, name).numpy() for name in ("joint_type", "joint_child", "joint_qd_start")
    )
    found = []
    for joint, label in enumerate(model.joint_label):
        kind = _KINDS.get(newton.JointType(int(types[joint])))
        width = int(starts[joint + 1] - starts[joint])
        for dof in range(starts[joint], starts[joint + 1]):
            freedom = SeenFreedom(
                name_of(label),
                bodies[children[joint]],
                kind or ("axis" if width > 1 else "scalar"),
                limit=(bound(columns["limit_lower"][dof]), bound(columns["limit_upper"][dof])),
                stiffness=float(columns["target_ke"][dof]),
                damping=float(columns["target_kd"][dof]),
                max_force=bound(columns["effort_limit"][dof]),
                armature=float(columns["armature"][dof]),
                friction=float(columns["friction"][dof]),
                passive_damping=float(columns["damping"][dof]),
                passive_stiffness=float(np.ravel(springs[dof])[0]),
                label=label_of(label),
            )
            found.append((joint, freedom))
    return found


def _list_actuators(model: Any, freedoms: list[SeenFreedom]) -> list[SeenActuator]:
    """Rows of ``MjcActuator`` that stay motors of their own; others became drives of joints, with their force range."""
    words = model.mujoco
    labels = getattr(words, "actuator_target_label", None) or []
    found = []
    for row, label in enumerate(labels):
        forces = words.actuator_forcerange.numpy()[row]
        if int(words.ctrl_source.numpy()[row]) == int(newton.solvers.SolverMuJoCo.CtrlSource.JOINT_TARGET):
            freedom = freedoms[int(words.actuator_trnid.numpy()[row][0])]
            if forces[0] < forces[1]:
                own = freedom.max_force
                freedom.max_force = min(float(forces[1]), own) if own is not None else float(forces[1])
            continue
        found.append(
            SeenActuator(
                "",
                name_of(label),
                str(int(words.actuator_trntype.numpy()[row])),
                [float(value) for value in words.actuator_gainprm.numpy()[row][:3]],
                [float(value) for value in words.actuator_biasprm.numpy()[row][:3]],
                [float(value) for value in words.actuator_gear.numpy()[row]],
                int(words.actuator_dyntype.numpy()[row]) == 0
                and int(words.actuator_gaintype.numpy()[row]) == 0,
                (float(forces[0]), float(forces[1])) if forces[0] < forces[1] else None,
            )
        )
    return found


def _read_mass_matrix(model: Any, state: Any) -> list[list[float]]:
    """Newton's own, by articulation, each number from where the robot stands best for it.

    A mass matrix does not depend on where a robot stands, but what rounding leaves of it does: Newton (1.7) sums in
    single precision about the origin, and a wrist of 2 cm that is a metre away keeps four digits.  So it is asked about
    the robot in several places, with another link at the origin in each.
    """
    if model.articulation_count == 0:
        return []
    chains = [_list_dof_links(model, number) for number in range(model.articulation_count)]
    places = state.body_q.numpy()[:, :3].astype(np.float64)
    masses = model.body_mass.numpy()
    origins = [_choose_origins(places, masses, [link for link, _ in chain]) for chain in chains]
    asked = [
        _ask_mass_matrix(model, state, [np.zeros(3) if not len(o) else o[k % len(o)] for o in origins])
        for k in range(_ORIGINS)
    ]
    return join_blocks(
        [
            _choose_entries([found[number] for found in asked], places, origin, chain)
            for number, (chain, origin) in enumerate(zip(chains, origins, strict=True))
        ]
    )


_ORIGINS = 4


def _list_dof_links(model: Any, number: int) -> list[tuple[int, bool]]:
    """For every row of an articulation's matrix the link that its joint moves, and whether that floats."""
    joints = np.flatnonzero(model.joint_articulation.numpy() == number)
    starts, children = model.joint_qd_start.numpy(), model.joint_child.numpy()
    free = int(newton.JointType.FREE)
    kinds = model.joint_type.numpy()
    return [
        (int(children[joint]), int(kinds[joint]) == free)
        for joint in joints
        for _ in range(int(starts[joint + 1] - starts[joint]))
    ]


def _choose_origins(places: Any, masses: Any, links: list[int]) -> Any:
    """The lightest link that a joint moves, then always the one that is farthest from those that were chosen."""
    found = [places[min(links, key=lambda link: masses[link])]] if links else []
    while found and len(found) < _ORIGINS:
        gaps = [min(np.linalg.norm(places[link] - one) for one in found) for link in links]
        found.append(places[links[int(np.argmax(gaps))]])
    return found


def _ask_mass_matrix(model: Any, state: Any, origins: list[Any]) -> list[Any]:
    """The blocks of all articulations, each moved so that a point of it is at the origin."""
    frames, coordinates = model.joint_X_p.numpy(), model.joint_q.numpy()
    kept = frames.copy(), coordinates.copy()
    tree, parents = model.joint_articulation.numpy(), model.joint_parent.numpy()
    starts, kinds = model.joint_q_start.numpy(), model.joint_type.numpy()
    for joint in np.flatnonzero((tree >= 0) & (parents < 0)):
        is_free = int(kinds[joint]) == int(newton.JointType.FREE)
        moved = coordinates[starts[joint] : starts[joint] + 3] if is_free else frames[joint][:3]
        moved -= origins[tree[joint]]
    model.joint_X_p.assign(frames)
    model.joint_q.assign(coordinates)
    newton.eval_fk(model, model.joint_q, model.joint_qd, state)
    padded = newton.eval_mass_matrix(model, state).numpy()
    model.joint_X_p.assign(kept[0])
    model.joint_q.assign(kept[1])
    return [block.astype(np.float64) for block in padded]


def _choose_entries(blocks: list[Any], places: Any, origins: Any, chain: list[tuple[int, bool]]) -> Any:
    """Each number of a block from where the lighter of its two sides is nearest to the origin.

    Rows of a base that floats are all from one place, as an engine may count its speed at the origin.
    """
    size = len(chain)
    best = np.zeros(size, dtype=int)
    for row, (link, floats) in enumerate(chain):
        if not floats:
            best[row] = int(np.argmin([np.linalg.norm(places[link] - one) for one in origins]))
    first = blocks[0][:size, :size]
    diagonal = np.diag(first)
    lighter = np.where(diagonal[:, None] <= diagonal[None, :], best[:, None], best[None, :])
    floating = np.array([floats for _, floats in chain], dtype=bool)
    lighter[floating[:, None] | floating[None, :]] = 0
    chosen = first.copy()
    for number, block in enumerate(blocks):
        chosen[lighter == number] = block[:size, :size][lighter == number]
    return chosen


if __name__ == "__main__":
    serve(open_file)
