# SPDX-License-Identifier: Apache-2.0
"""The row of Newton in the table of engines: its MuJoCo, Featherstone and XPBD solvers, on the CPU or a GPU."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.diag import Reporter
from simwright.core.errors import UsageError
from simwright.core.math3d import Array, VectorLike, to_wxyz
from simwright.engines.flat import FlatDofPlace, FlatMap
from simwright.engines.layout import Layout, LayoutDof
from simwright.engines.newton.build import add_asset, import_newton
from simwright.engines.newton.result import Imported
from simwright.engines.newton.types import ModelBuilder
from simwright.engines.protocol import (
    Capabilities,
    EngineAdapter,
    Settings,
    Simulation,
    WorldSet,
    as_world_set,
    is_sound,
    make_error,
)
from simwright.model.asset import Asset, Environment
from simwright.model.joint import Motion

CAPABILITIES = Capabilities(
    name="newton",
    title="Newton",
    reads="model",
    solvers={
        "mujoco": "SolverMuJoCo: generalised coordinates, MuJoCo's contacts",
        "featherstone": "SolverFeatherstone: generalised coordinates, penalty contacts",
        "xpbd": "SolverXPBD: positions, drives and contacts as constraints",
    },
    options={
        "iterations": "iterations of the solver (mujoco, xpbd)",
        "ls_iterations": "iterations of its line search (mujoco)",
        "integrator": "euler, implicitfast or rk4 (mujoco)",
        "cone": "elliptic or pyramidal (mujoco)",
        "impratio": "stiffness of friction over that of contact (mujoco)",
        "njmax": "most constraints of a world (mujoco)",
        "nconmax": "most contacts of a world (mujoco)",
        "angular_damping": "share of spin that is lost in a second (featherstone, xpbd)",
        "friction_smoothing": "of penalty friction (featherstone)",
        "joint_linear_relaxation": "(xpbd)",
        "joint_angular_relaxation": "(xpbd)",
        "rigid_contact_relaxation": "(xpbd)",
    },
    devices=("cpu", "cuda"),
)
_DEFAULT_GRAVITY = (0.0, 0.0, -9.81)
DEFAULT_DT = 0.002
"""Time step of an asset that names none [s]."""
_CLASSES = {"mujoco": "SolverMuJoCo", "featherstone": "SolverFeatherstone", "xpbd": "SolverXPBD"}
_DEFAULTS: dict[str, dict[str, Any]] = {
    "mujoco": {"cone": "elliptic"},
    "featherstone": {"angular_damping": 0.0},
    "xpbd": {"iterations": 20},
}
_WHOLE = ("iterations", "ls_iterations", "njmax", "nconmax")
_WORDS = ("integrator", "cone")


class NewtonEngine(EngineAdapter["NewtonSimulation"]):
    """Opens assets in Newton: a builder is filled with one world and copied."""

    capabilities = CAPABILITIES

    def open_worlds(
        self, source: Asset | WorldSet, worlds: int, settings: Settings, reporter: Reporter
    ) -> NewtonSimulation:
        """Build Newton's model and solver."""
        import_newton()
        return NewtonSimulation(as_world_set(source, worlds), settings, reporter)


def search_all_pairs(solver: Any) -> None:
    """Let MuJoCo look for contacts of all shapes of two bodies that are near each other.

    Newton 1.7 gives the bodies of a compiled model other principal axes.  MuJoCo's trees of boxes about the shapes of a
    body are in those axes, so they are turned away from the shapes, and bodies of several shapes fall through a ground.
    """
    mujoco, _ = solver.import_mujoco()
    solver.mj_model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)


class NewtonSimulation(Simulation):
    """Worlds moved by one of Newton's solvers; see :class:`~simwright.engines.protocol.Simulation`."""

    def __init__(self, scene: WorldSet, settings: Settings, reporter: Reporter) -> None:
        self._newton = newton = import_newton()
        before = len(reporter)
        self._solver_name = settings.solver or CAPABILITIES.default_solver
        generalised = self._solver_name == "mujoco"
        self.worlds, self.threads, self.sensors = scene.worlds, 1, ()
        self.layout = Layout(scene.assets[0])
        step = scene.assets[0].environment.timestep
        self.dt = settings.dt if settings.dt is not None else step or DEFAULT_DT
        self._build(scene, settings.device, reporter, register=generalised)
        options = _DEFAULTS[self._solver_name] | _read_options(settings)
        if generalised and settings.device == "cpu" and self.worlds == 1:
            # plain MuJoCo is much faster than its Warp version for a single world on the CPU
            options.setdefault("use_mujoco_cpu", True)
        try:
            self._solver = getattr(newton.solvers, _CLASSES[self._solver_name])(self._their, **options)
        # options are arguments of Newton's solver classes, which differ between versions
        except TypeError as error:
            raise UsageError(
                f"the solver {self._solver_name!r} of Newton refuses an option: {error}"
            ) from None
        except ImportError as error:
            raise UsageError(
                f"the solver {self._solver_name!r} of Newton cannot be loaded: {error}",
                hint="pip install 'newton[sim]'",
            ) from None
        if options.get("use_mujoco_cpu"):
            search_all_pairs(self._solver)
        self._now, self._next = self._their.state(), self._their.state()
        self._asked = self._their.control()
        # Newton's MuJoCo solver finds contacts itself
        self._pipeline = None if generalised else newton.CollisionPipeline(self._their)
        self._contacts = None if self._pipeline is None else self._pipeline.contacts()
        self._wrenches: Any = None
        self._held: tuple[Array, Array] | None = None
        newton.eval_fk(self._their, self._now.joint_q, self._now.joint_qd, self._now)
        self.findings = tuple(list(reporter)[before:])

    def _build(self, scene: WorldSet, device: str, reporter: Reporter, *, register: bool) -> None:
        """One builder for each kind of world, all worlds copied into one model."""
        pulls = [
            _DEFAULT_GRAVITY if asset.environment.gravity is None else asset.environment.gravity
            for asset in scene.assets
        ]
        ones, filled = [], []
        for kind, asset in enumerate(scene.assets):
            one = self._new_builder(pulls[kind], register=register)
            # gravity is set per world below: an import would set it for the whole builder
            placed = dataclasses.replace(asset, environment=Environment())
            filled.append(
                add_asset(
                    one,
                    placed,
                    reporter=reporter if not kind else None,
                    force_position_velocity_actuation=True,
                )
            )
            ones.append(one)
        whole = self._new_builder(pulls[0], register=register)
        for kind in scene.kinds:
            whole.add_world(ones[kind])
        self._their = whole.finalize(device=device)
        self._their.set_gravity([tuple(float(v) for v in pulls[kind]) for kind in scene.kinds])
        first, result = ones[0], filled[0]
        self._map = FlatMap(
            self.layout, self._find_places(first, result), (len(first.joint_q), len(first.joint_qd))
        )
        self._bodies = np.array([result.bodies[name] for name in self.layout.bodies], dtype=np.int64)
        self._targets = _find_targets(first)
        self._list_drives(first)

    def _new_builder(self, gravity: VectorLike, *, register: bool) -> ModelBuilder:
        """An empty builder; ``register`` lets it hold the attributes of the MuJoCo solver."""
        builder: ModelBuilder = self._newton.ModelBuilder()
        builder.gravity = tuple(float(v) for v in gravity)
        builder.rigid_gap = 0.0  # contacts begin where surfaces meet unless a shape says its own gap
        if register:
            self._newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
        return builder

    def _list_drives(self, first: ModelBuilder) -> None:
        """Names, dofs, modes and initial values of the controls: the driven hinges and slides of one world."""
        # names, dofs and modes have to stay in step: one pass over the driven dofs makes all of them
        driven = np.array([int(mode) != 0 for mode in first.joint_target_mode], dtype=bool)
        columns = [(f.name, f.v) for f in self.layout.freedoms if f.motion in (Motion.HINGE, Motion.SLIDE)]
        entry = dict(zip(self._map.entries.tolist(), self._map.dofs.tolist(), strict=True))
        chosen = [(name, v) for name, v in columns if v in entry and driven[entry[v]]]
        self.actuators = tuple(name for name, _ in chosen)
        self._columns = np.array([v for _, v in chosen], dtype=np.int64)
        modes = np.array([int(first.joint_target_mode[entry[v]]) for _, v in chosen], dtype=np.int64)
        self._modes = modes
        self._controls = np.zeros((self.worlds, len(chosen)))
        # Newton renamed joint_target_pos to joint_target_q; both are in use
        start = np.array(getattr(first, "joint_target_q", None) or getattr(first, "joint_target_pos", ()))
        for column, (_, v) in enumerate(chosen):
            if modes[column] in (1, 3):
                self._controls[:, column] = start[self._targets[entry[v]]]

    def _find_places(self, builder: ModelBuilder, result: Imported) -> list[FlatDofPlace]:
        """Where the freedoms of the layout are in one world; slides stand before hinges in a joint of several."""
        places = []
        for freedom in self.layout.freedoms:
            if freedom.joint is None:
                body = result.bodies[freedom.body]
                # the free joint that hold_root added
                joint = list(builder.joint_child).index(body)
                shift = 0
            else:
                joint = result.joints[freedom.joint.name]
                shift = _find_shift(freedom)
            q, qd = (int(starts[joint]) + shift for starts in (builder.joint_q_start, builder.joint_qd_start))
            places.append(FlatDofPlace(freedom, q, qd, builder.body_com[result.bodies[freedom.body]]))
        return places

    @property
    def positions(self) -> Array:
        """See the protocol."""
        return self._read()[0].copy()

    @property
    def velocities(self) -> Array:
        """See the protocol."""
        return self._read()[1].copy()

    def _read(self) -> tuple[Array, Array]:
        """Positions and velocities; kept until something moves."""
        if self._held is None:
            now = self._now
            if self._solver_name == "xpbd":  # it moves bodies; joint coordinates follow from them
                self._newton.eval_ik(self._their, now, now.joint_q, now.joint_qd)
            q, qd = (
                values.numpy().reshape(self.worlds, -1).astype(np.float64)
                for values in (now.joint_q, now.joint_qd)
            )
            self._held = self._map.to_layout(q, qd)
        return self._held

    def set_state(
        self,
        positions: Array | None = None,
        velocities: Array | None = None,
        worlds: Sequence[int] | None = None,
    ) -> None:
        """See the protocol."""
        rows = list(range(self.worlds)) if worlds is None else list(worlds)
        place, rate = (values.copy() for values in self._read())
        if positions is not None:
            place[rows] = positions
        if velocities is not None:
            rate[rows] = velocities
        now = self._now
        q, qd = self._map.from_layout(place[rows], rate[rows])
        for values, given in ((now.joint_q, q), (now.joint_qd, qd)):
            # on the CPU numpy() is a view of Warp's memory: a copy is changed and assigned
            held = values.numpy().reshape(self.worlds, -1).copy()
            held[rows] = given
            values.assign(held.ravel())
        self._held = None
        self._newton.eval_fk(self._their, now.joint_q, now.joint_qd, now)

    @property
    def controls(self) -> Array:
        """What drives aim at, or the effort of those that only push."""
        return self._controls.copy()

    def set_controls(self, controls: Array) -> None:
        """See the protocol."""
        self._controls[:] = controls
        spread = np.zeros((3, self.worlds, self.layout.nv))
        for kind, modes in enumerate(((1, 3), (2,), (4,))):
            chosen = np.isin(self._modes, modes)
            spread[kind][:, self._columns[chosen]] = self._controls[:, chosen]
        self.set_targets(*spread)

    def set_targets(
        self,
        positions: Array | None = None,
        velocities: Array | None = None,
        efforts: Array | None = None,
    ) -> None:
        """See the protocol."""
        nothing = np.zeros((self.worlds, self.layout.nv))
        place, rate, effort = (
            self._map.gather(nothing if values is None else np.asarray(values))
            for values in (positions, velocities, efforts)
        )
        asked = self._asked
        names = ("joint_target_q", "joint_target_qd")
        # older versions of Newton
        if getattr(asked, names[0], None) is None:
            names = ("joint_target_pos", "joint_target_vel")
        held = getattr(asked, names[0])
        values = held.numpy().reshape(self.worlds, -1).copy()
        refs = self._map.gather(self._refs[None])
        # older versions have a target for each velocity, newer ones for each coordinate
        if values.shape[1] == place.shape[1]:
            values[:] = place - refs
        else:
            known = np.flatnonzero(self._targets >= 0)
            values[:, self._targets[known]] = (place - refs)[:, known]
        held.assign(values.ravel())
        getattr(asked, names[1]).assign(rate.ravel())
        if asked.joint_act is not None:
            asked.joint_act.assign(effort.ravel())

    @property
    def _refs(self) -> Array:
        """References that Newton counts hinges and slides from, by freedom of the layout."""
        refs = np.zeros(self.layout.nv)
        for freedom in self.layout.freedoms:
            if freedom.dof is not None and freedom.motion in (Motion.HINGE, Motion.SLIDE):
                refs[freedom.v] = freedom.dof.ref
        return refs

    def apply_forces(self, forces: Array | None = None, wrenches: Array | None = None) -> None:
        """See the protocol."""
        count = int(self._asked.joint_f.shape[0]) // self.worlds
        given = np.zeros((self.worlds, count)) if forces is None else self._map.gather(np.asarray(forces))
        self._asked.joint_f.assign(given.ravel())
        self._wrenches = None
        if wrenches is not None and np.any(wrenches):
            rows = np.zeros((self.worlds, len(self._bodies), 6))
            rows[:, self._bodies] = wrenches
            self._wrenches = rows.reshape(-1, 6)

    def step(self, steps: int = 1) -> None:
        """See the protocol."""
        for _ in range(steps):
            # the two states are swapped in every step: forces are set anew on the one that is stepped
            self._now.clear_forces()
            if self._wrenches is not None:
                self._now.body_f.assign(self._wrenches)
            if self._pipeline is not None:
                self._pipeline.collide(self._now, self._contacts)
            self._solver.step(self._now, self._next, self._asked, self._contacts, self.dt)
            self._now, self._next = self._next, self._now
            self.count += 1
        self._held = None
        place, rate = self._read()
        for world in range(self.worlds):
            if not (is_sound(place[world]) and is_sound(rate[world])):
                raise make_error(self.layout, place[world], rate[world], world, self.count * self.dt)

    def body_poses(self) -> Array:
        """See the protocol."""
        poses = self._now.body_q.numpy().reshape(self.worlds, -1, 7).astype(np.float64)
        return to_wxyz(poses[:, self._bodies])

    def close(self) -> None:
        """Let the solver go."""
        self._solver = None


def _find_shift(freedom: LayoutDof) -> int:
    """How far behind the start of its joint a hinge or slide stands."""
    assert freedom.joint is not None
    dofs = list(reversed(freedom.joint.dofs)) if freedom.inverted else list(freedom.joint.dofs)
    ordered = [d for d in dofs if d.motion is Motion.SLIDE] + [d for d in dofs if d.motion is Motion.HINGE]
    same = (number for number, dof in enumerate(ordered) if dof is freedom.dof)
    return next(same, 0)


def _find_targets(builder: ModelBuilder) -> npt.NDArray[np.int64]:
    """Where the position target of each freedom is; -1 for those of balls and free joints."""
    places = np.full(len(builder.joint_qd), -1, dtype=np.int64)
    q_starts, qd_starts = (
        (*builder.joint_q_start, len(builder.joint_q)),
        (*builder.joint_qd_start, len(builder.joint_qd)),
    )
    for joint in range(len(q_starts) - 1):
        start, end = int(q_starts[joint]), int(q_starts[joint + 1])
        first, last = int(qd_starts[joint]), int(qd_starts[joint + 1])
        if end - start == last - first:
            places[first:last] = np.arange(start, end)
    return places


def _read_options(settings: Settings) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for name, value in settings.options.items():
        try:
            options[name] = str(value) if name in _WORDS else int(value) if name in _WHOLE else float(value)
        except ValueError:
            raise UsageError(f"{name} is {value!r}", hint="a number") from None
    return options


ENGINE = NewtonEngine()
