# SPDX-License-Identifier: Apache-2.0
"""A loaded scene in an engine: its worlds as assets, and states that come back into the same arrays.

::

    loaded = simwright.load_scene("scene.yaml", num_worlds=64)
    with open_scene(loaded, Settings(dt=0.002), engine="mujoco") as simulation:
        simulation.advance(loaded.state, loaded.control, steps=500)

After loading, editing and replicating, the arrays are an asset for each kind of world
(:func:`~simwright.scenes.exporting.export_world`) and a state for each world.  The engine gets those; this module
translates between the arrays and the engine's flat coordinates (:mod:`simwright.engines.layout`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from simwright.core.diag import Diagnostic, Reporter
from simwright.core.errors import UsageError
from simwright.core.math3d import Array, quats_conjugate, quats_rotate, to_wxyz
from simwright.engines.flat import FlatDofPlace, FlatMap
from simwright.engines.layout import Layout
from simwright.engines.protocol import Closeable, Engine, Settings, Simulation, UnstableError, WorldSet
from simwright.engines.table import DEFAULT_ENGINE, load_engine
from simwright.runtime.arrays import AnyArray
from simwright.runtime.kinds import TargetMode
from simwright.runtime.kinematics import eval_fk
from simwright.runtime.model import Model
from simwright.runtime.state import Control, State
from simwright.scenes.document_settings import SimulationSettings
from simwright.scenes.exporting import ExportedWorld, export_world
from simwright.scenes.exporting_parts import DEFAULT_TAU, FLOATS, group_worlds
from simwright.scenes.load import LoadedScene
from simwright.scenes.messages import SOLVER_IGNORED

Watch = Callable[[int, State], None]
"""Called with the number of steps since the scene was opened, and the state then."""
DEFAULT_DT = 0.002
_NO_VELOCITY = (TargetMode.POSITION, TargetMode.EFFORT)
_NO_POSITION = (TargetMode.VELOCITY, TargetMode.EFFORT)


def open_scene(
    loaded: LoadedScene | Model,
    settings: Settings | None = None,
    reporter: Reporter | None = None,
    *,
    engine: str = DEFAULT_ENGINE,
    served: ExportedWorld | None = None,
) -> SceneSimulation:
    """Open the worlds of a scene in an engine.

    Options that ``settings`` leaves out are those that the engine has for scenes; the time step is the scene's, or
    0.002 s.  ``served`` is its one world with what it is to ROS, of :func:`~simwright.scenes.exporting.export_served`.
    """
    adapter = load_engine(engine)
    settings = settings or Settings()
    settings.check(adapter.capabilities)
    model = loaded.model if isinstance(loaded, LoadedScene) else loaded
    reporter = Reporter() if reporter is None else reporter
    settings = settle_scene(loaded, settings, adapter, reporter)
    # equal worlds are compiled once; they differ in their states only
    groups = group_worlds(model)
    exported = (
        [served]
        if served is not None
        else [
            export_world(
                model,
                rows[0],
                pairs=adapter.capabilities.contact_pairs,
                tau=None if "contact_tau_d" in adapter.capabilities.options else DEFAULT_TAU,
                # what is lost is the same for every kind of world: said once
                reporter=reporter if not kind else None,
            )
            for kind, rows in enumerate(groups)
        ]
    )
    kinds = np.zeros(model.world_count, dtype=np.int64)
    for kind, rows in enumerate(groups):
        kinds[rows] = kind
    scene = WorldSet(tuple(world.asset for world in exported), tuple(kinds.tolist()))
    inner = adapter.open(scene, settings, reporter)
    return SceneSimulation(model, inner, ArrayMap(model, exported[0], inner.layout))


def settle_scene(
    loaded: LoadedScene | Model, settings: Settings, adapter: Engine, reporter: Reporter | None = None
) -> Settings:
    """Settings with what the scene says, and what the engine has for scenes, where nothing is said.

    Options of ``simulation.solver`` are those of a SAP solver: an engine that has them gets them, of the others it is
    told that they do nothing.
    """
    # a bare model has no document
    simulation = loaded.scene.simulation if isinstance(loaded, LoadedScene) else SimulationSettings()
    said, known = simulation.dt, adapter.capabilities.options
    solver = simulation.solver.list_said()
    ignored = sorted(name for name in solver if name not in known)
    if ignored and reporter is not None:
        reporter.report(SOLVER_IGNORED, engine=adapter.capabilities.title, options=", ".join(ignored))
    used = {name: value for name, value in solver.items() if name in known}
    return Settings(
        dt=settings.dt if settings.dt is not None else float(said or DEFAULT_DT),
        solver=settings.solver,
        # what the caller says is stronger than what the engine suggests for scenes
        options={**adapter.capabilities.scene_options, **used, **settings.options},
        threads=settings.threads,
        device=settings.device,
    )


class ArrayMap:
    """Translates between the arrays of a model and the engine's flat coordinates."""

    def __init__(self, model: Model, exported: ExportedWorld, layout: Layout) -> None:
        self.model = model
        one = exported.model
        known = {freedom.name: freedom for freedom in layout.freedoms}
        by_name = {joint.name: joint for joint in exported.asset.joints}
        places: list[FlatDofPlace] = []
        shift = np.zeros((model.world_count, model.per_world["joint_coord"]))
        offsets = model.world_offset.astype(np.float64)
        for joint, name in enumerate(exported.joints):
            # joints that close loops have no coordinates in any engine
            if one.joint_articulation[joint] < 0 or name not in by_name:
                continue
            q, qd = int(one.joint_q_start[joint]), int(one.joint_qd_start[joint])
            centre = one.body_com[int(one.joint_child[joint])]
            for number, dof in enumerate(by_name[name].dofs):
                places.append(FlatDofPlace(known[dof.name], q + number, qd + number, centre))
            if one.joint_type[joint] in FLOATS and one.joint_parent[joint] < 0:
                # in the engine every world stands at the origin: contacts are looked for world by world
                shift[:, q : q + 3] = quats_rotate(
                    quats_conjugate(to_wxyz(one.joint_X_p[joint, 3:])), offsets
                )
        self._shift = shift
        """What the places of worlds add to ``joint_q`` of bodies that float against the world (worlds x joint_q)."""
        widths = model.per_world["joint_coord"], model.per_world["joint_dof"]
        self._flat = FlatMap(layout, places, widths)
        bodies = {name: row for row, name in enumerate(exported.bodies)}
        self._bodies = np.array([bodies[name] for name in layout.bodies], dtype=np.int64)

    def to_engine(self, q: AnyArray, qd: AnyArray, rows: Any) -> tuple[Array, Array]:
        """Positions and velocities of the engine from ``joint_q`` and ``joint_qd`` of some worlds."""
        return self._flat.to_layout(q.astype(np.float64) - self._shift[rows], qd.astype(np.float64))

    def from_engine(self, place: Array, rate: Array) -> tuple[Array, Array]:
        """``joint_q`` and ``joint_qd`` of all worlds from the engine's positions and velocities."""
        q, qd = self._flat.from_layout(place, rate)
        return q + self._shift, qd

    def spread_dofs(self, values: AnyArray) -> Array:
        """An array with an entry for each freedom of all worlds, as the engine counts freedoms."""
        return self._flat.spread(values.reshape(self.model.world_count, -1).astype(np.float64))

    def spread_bodies(self, values: AnyArray) -> Array:
        """An array with a row for each body of all worlds, as the engine counts bodies."""
        rows = values.reshape(self.model.world_count, -1, *values.shape[1:]).astype(np.float64)
        return np.asarray(rows[:, self._bodies])


class SceneSimulation(Closeable):
    """Worlds of a scene that are open in an engine.  ``inner`` is the engine's own simulation."""

    def __init__(self, model: Model, inner: Simulation, arrays: ArrayMap) -> None:
        self.model, self.inner, self._map = model, inner, arrays
        self.worlds, self.dt, self.threads = inner.worlds, inner.dt, inner.threads
        # what was given out last: a state that is not equal to it was edited by the caller
        self._seen: tuple[AnyArray, AnyArray] | None = None
        mode = model.joint_target_mode
        self._follows_position = ~np.isin(mode, _NO_POSITION)
        self._follows_velocity = ~np.isin(mode, _NO_VELOCITY)
        self._driven = bool(np.any(mode != TargetMode.NONE))
        self._pushed = False

    @property
    def count(self) -> int:
        """Steps since the scene was opened."""
        return self.inner.count

    @property
    def findings(self) -> tuple[Diagnostic, ...]:
        """What the engine could not take."""
        return self.inner.findings

    def advance(
        self,
        state: State,
        control: Control,
        steps: int = 1,
        *,
        watch: Watch | None = None,
        every: int = 1,
        poses: bool = True,
    ) -> None:
        """Move a state on by time steps, in place, the control held.

        The engine keeps the state in double precision: motion goes on from there, and worlds whose ``joint_q`` or
        ``joint_qd`` were edited start from the edited values.  ``watch`` is called after each step whose number is a
        multiple of ``every``; it changes nothing about the motion.  Poses and velocities of bodies are brought in
        line with the joints at the end (and before each ``watch``) unless ``poses`` is False.
        """
        if steps < 0 or every < 1:
            raise UsageError(f"{steps} steps, watched every {every}", hint="steps from zero, every from one")
        self.load(state, control)

        def look(number: int) -> None:
            self.write(state, poses=poses)
            assert watch is not None
            watch(number, state)

        try:
            self.inner.advance(steps, watch=look if watch is not None else None, every=every)
        except UnstableError:
            # the caller sees the last good state, poses included
            self.write(state, poses=True)
            raise
        self.write(state, poses=poses)

    def load(self, state: State, control: Control) -> None:
        """Hand the engine the control, and coordinates that are not those given out last."""
        q = state.joint_q.reshape(self.worlds, -1)
        qd = state.joint_qd.reshape(self.worlds, -1)
        # single precision would otherwise be fed back in every step and the motion depend on how often one looks
        changed = np.ones(self.worlds, dtype=bool)
        if self._seen is not None:
            before_q, before_qd = (values.reshape(self.worlds, -1) for values in self._seen)
            changed = (q != before_q).any(axis=1) | (qd != before_qd).any(axis=1)
        rows = np.flatnonzero(changed)
        if len(rows):
            self.inner.set_state(*self._map.to_engine(q[rows], qd[rows], rows), rows.tolist())

        if self._driven:
            spread = self._map.spread_dofs
            self.inner.set_targets(
                # arrays hold targets also where the mode ignores them
                spread(np.where(self._follows_position, control.joint_target_pos, 0.0)),
                spread(np.where(self._follows_velocity, control.joint_target_vel, 0.0)),
                spread(control.joint_act),
            )
        pushed = bool(np.any(control.joint_f)) or bool(np.any(state.body_f))
        # forces hold until they are set again: zeros have to be sent once after the last push
        if pushed or self._pushed:
            self.inner.apply_forces(
                self._map.spread_dofs(control.joint_f), self._map.spread_bodies(state.body_f)
            )
        self._pushed = pushed

    def write(self, state: State, *, poses: bool = True) -> None:
        """Bring a state in line with the engine; ``poses`` also those of bodies."""
        q, qd = self._map.from_engine(self.inner.positions, self.inner.velocities)
        # a world that broke has numbers beyond single precision
        with np.errstate(over="ignore", invalid="ignore"):
            state.joint_q[:] = q.ravel()
            state.joint_qd[:] = qd.ravel()
        if poses:
            eval_fk(self.model, state)
        self._seen = (state.joint_q.copy(), state.joint_qd.copy())

    def close(self) -> None:
        """Give threads and memory back."""
        self.inner.close()


def step(simulation: SceneSimulation, state_in: State, state_out: State, control: Control) -> None:
    """One time step from one state to another; both keep their own arrays."""
    state_out.assign(state_in)
    simulation.advance(state_out, control, 1)
