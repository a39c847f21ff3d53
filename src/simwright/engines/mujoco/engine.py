# SPDX-License-Identifier: Apache-2.0
"""MuJoCo in the table of engines: what it offers, how it is opened, and its worlds while they move.

An asset is written as MJCF in memory and compiled (:mod:`simwright.formats.mjcf.memory`); states are rows of MuJoCo's
own (:mod:`simwright.engines.mujoco.batch`), translated when they are asked for or set.  A file in MJCF therefore moves
as plain MuJoCo moves it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.diag import Reporter
from simwright.core.errors import UnknownNameError, UsageError
from simwright.core.math3d import Array, VectorLike, quats_rotate
from simwright.engines.layout import Layout
from simwright.engines.mujoco.actuation import find_servos, name_controls, set_springs, stiffen
from simwright.engines.mujoco.batch import ModelBatch
from simwright.engines.mujoco.coordinates import CoordinateMap, Index
from simwright.engines.mujoco.queries import MjData, MjModel, cast_rays, measure_velocities
from simwright.engines.mujoco.renderer import ModelRenderer
from simwright.engines.protocol import (
    LARGEST,
    Capabilities,
    Contact,
    EngineAdapter,
    Settings,
    Simulation,
    WorldSet,
    as_world_set,
    make_error,
    report_unheld,
)
from simwright.formats.mjcf import FORMAT
from simwright.formats.mjcf.memory import CompiledAsset, compile_asset
from simwright.model.asset import Asset
from simwright.model.joint import WORLD, Motion

CAPABILITIES = Capabilities(
    name="mujoco",
    title="MuJoCo",
    reads="mjcf",
    solvers={
        "newton": "Newton's method: few steps, exact",
        "cg": "conjugate gradients: large models",
        "pgs": "projected Gauss-Seidel: rough",
    },
    options={
        "integrator": "euler, rk4, implicit or implicitfast",
        "cone": "pyramidal or elliptic friction",
        "impratio": "stiffness of friction over that of contact",
        "iterations": "most iterations of the solver",
        "tolerance": "at which the solver stops",
        "condim": "most directions of friction: 1 none, 3 sliding, 4 twisting, 6 rolling",
        "stiff": "yes: hold loops, followers and dry friction as stiffly as the time step allows",
    },
    # what the runtime arrays of scenes mean: springs in contact, nothing creeps, joints hold
    scene_options={
        "integrator": "implicitfast",
        "cone": "elliptic",
        "impratio": 100.0,
        "condim": "3",
        "stiff": "yes",
    },
    deterministic=True,
    parallel=True,
    contact_pairs=True,
)
_WORDS = {
    "integrator": ("euler", "rk4", "implicit", "implicitfast"),
    "cone": ("pyramidal", "elliptic"),
    "condim": ("1", "3", "4", "6"),
    "stiff": ("no", "yes"),
}
_NUMBERS = {"impratio": float, "iterations": int, "tolerance": float}
CHUNK = 256
"""Steps after which states are looked at: how far a simulation runs on after it became unstable."""


class MujocoEngine(EngineAdapter["MujocoSimulation"]):
    """Opens assets in MuJoCo: written as MJCF in memory, compiled, stepped on all cores."""

    capabilities = CAPABILITIES

    def open_worlds(
        self, source: Asset | WorldSet, worlds: int, settings: Settings, reporter: Reporter
    ) -> MujocoSimulation:
        """Compile the asset and start the threads."""
        options = read_options(settings.options)
        if settings.solver:
            options["solver"] = settings.solver
        return MujocoSimulation(as_world_set(source, worlds), settings, options, reporter)


def read_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Options with their types; a value that is none is an error that says what there is."""
    options: dict[str, Any] = {}
    for name, value in given.items():
        # numbers may come as text from the command line, words in capitals
        if name in _WORDS:
            word = str(value).lower()
            if word not in _WORDS[name]:
                raise UnknownNameError(f"{name} of mujoco", word, _WORDS[name])
            options[name] = word
            continue
        try:
            options[name] = _NUMBERS[name](value)
        except (TypeError, ValueError):
            raise UsageError(f"{name} is {value!r}", hint="a number") from None
        if not 0.0 < options[name] < float("inf"):
            raise UsageError(f"{name} is {value!r}", hint="a number above zero")
    return options


ENGINE = MujocoEngine()


@dataclass(frozen=True, slots=True, eq=False)
class _WorldGroup:
    """Worlds (``rows``) that share a compiled model."""

    rows: Index
    asset: Asset
    compiled: CompiledAsset
    map: CoordinateMap

    @property
    def model(self) -> MjModel:
        model: MjModel = self.compiled.model
        return model


class MujocoSimulation(Simulation):
    """See :class:`~simwright.engines.protocol.Simulation`."""

    def __init__(
        self, scene: WorldSet, settings: Settings, options: Mapping[str, Any], reporter: Reporter
    ) -> None:
        before = len(reporter)
        self._renderers: dict[tuple[tuple[int, int], int], ModelRenderer] = {}
        self.worlds = scene.worlds
        self.layout = Layout(scene.assets[0])
        # one compiled model for each kind of world, not for each world
        kinds = np.array(scene.kinds)
        self.parts = [
            self._open_part(
                asset, np.flatnonzero(kinds == kind), settings, options, reporter if not kind else None
            )
            for kind, asset in enumerate(scene.assets)
        ]
        first = self.parts[0]
        models: list[MjModel] = [first.model] * self.worlds
        for part in self.parts[1:]:
            for row in part.rows.tolist():
                models[row] = part.model
        self.batch = ModelBatch(models, self.worlds, threads=settings.threads)
        self.threads = self.batch.threads
        self.dt = float(first.model.opt.timestep)
        names = first.compiled.names
        self.actuators = name_controls(first.model, names)
        self.sensors = tuple(names.sensors)
        for part in self.parts:
            self._start(part)
        self._servos = [find_servos(self.layout, part.asset, part.compiled) for part in self.parts]
        self.findings = tuple(list(reporter)[before:])

    def adopt(self, asset: Asset, compiled: CompiledAsset, batch: ModelBatch) -> None:
        """Take a model that somebody else has compiled, with the names it has for the elements of an asset."""
        self._renderers = {}
        self.worlds, self.layout, self.batch = len(batch.states), Layout(asset), batch
        self.parts = [
            _WorldGroup(
                np.arange(len(batch.states)), asset, compiled,
                CoordinateMap(self.layout, compiled.names, compiled.model),
            )
        ]  # fmt: skip
        self.threads, self.dt = batch.threads, float(compiled.model.opt.timestep)
        self.actuators = name_controls(compiled.model, compiled.names)
        self.sensors = tuple(compiled.names.sensors)
        self._servos = [find_servos(self.layout, asset, compiled)]

    def _open_part(
        self,
        asset: Asset,
        rows: Index,
        settings: Settings,
        options: Mapping[str, Any],
        reporter: Reporter | None,
    ) -> _WorldGroup:
        told = Reporter()
        # what MJCF has no place for at all; the writer tells the rest
        FORMAT.report_losses(asset, told)
        compiled = compile_asset(asset, told, sets_springs=True)
        if reporter is not None:
            report_unheld(told, reporter)
        # kinds differ in numbers only, but dofs hold those numbers
        layout = self.layout if reporter else Layout(asset)
        _set_options(compiled.model, settings, options)
        set_springs(compiled.model, asset, layout, compiled.names)
        # after springs: loops and followers have none of their own
        if options.get("stiff") == "yes":
            stiffen(compiled.model)
        return _WorldGroup(rows, asset, compiled, CoordinateMap(layout, compiled.names, compiled.model))

    def _start(self, part: _WorldGroup) -> None:
        """The initial state of the asset: the keyframe that the writer made for it, or MuJoCo's own start."""
        name = part.compiled.names.initial
        if name is None:
            return
        key = part.model.key(name)
        for part_name, values in (
            ("qpos", key.qpos),
            ("qvel", key.qvel),
            ("ctrl", key.ctrl),
            ("act", key.act),
        ):
            self.batch.view(part_name)[part.rows] = values

    @property
    def positions(self) -> Array:
        """See the protocol."""
        return self._collect(lambda part, qpos, _: part.map.positions(qpos), self.layout.nq)

    @property
    def velocities(self) -> Array:
        """See the protocol."""
        return self._collect(lambda part, qpos, qvel: part.map.velocities(qpos, qvel), self.layout.nv)

    def _collect(self, translate: Callable[[_WorldGroup, Array, Array], Array], width: int) -> Array:
        qpos, qvel = self.batch.view("qpos"), self.batch.view("qvel")
        # nearly always: no copy of all rows
        if len(self.parts) == 1:
            return np.asarray(translate(self.parts[0], qpos, qvel))
        values = np.zeros((self.worlds, width))
        for part in self.parts:
            values[part.rows] = translate(part, qpos[part.rows], qvel[part.rows])
        return values

    def set_state(
        self,
        positions: Array | None = None,
        velocities: Array | None = None,
        worlds: Sequence[int] | None = None,
    ) -> None:
        """See the protocol."""
        chosen = np.arange(self.worlds) if worlds is None else np.asarray(worlds, dtype=np.int64)
        qpos, qvel = self.batch.view("qpos"), self.batch.view("qvel")
        for part in self.parts:
            picked = np.flatnonzero(np.isin(chosen, part.rows))
            if not len(picked):
                continue
            rows = chosen[picked]
            # velocities of turned frames depend on positions: both go through the map
            q = part.map.positions(qpos[rows]) if positions is None else np.asarray(positions)[picked]
            v = (
                part.map.velocities(qpos[rows], qvel[rows])
                if velocities is None
                else np.asarray(velocities)[picked]
            )
            placed, rates = part.map.to_engine(q, v)
            # untouched positions keep their bits: the way over the layout and back would round them
            if positions is not None:
                qpos[rows] = placed
            qvel[rows] = rates

    @property
    def controls(self) -> Array:
        """See the protocol."""
        return self.batch.view("ctrl").copy()

    def set_controls(self, controls: Array) -> None:
        """See the protocol."""
        self.batch.view("ctrl")[:] = controls

    def set_targets(
        self,
        positions: Array | None = None,
        velocities: Array | None = None,
        efforts: Array | None = None,
    ) -> None:
        """See the protocol."""
        controls = self.batch.view("ctrl")
        for part, servos in zip(self.parts, self._servos, strict=True):
            if not len(servos.dofs):
                continue
            effort, constant, place, rate = servos.law
            # a target that is None counts as zero, see the protocol
            wanted = np.broadcast_to(constant, (len(part.rows), len(servos.dofs))).copy()
            for factor, values in ((place, positions), (rate, velocities), (effort, efforts)):
                if values is not None:
                    wanted += factor * np.asarray(values)[part.rows][:, servos.dofs]
            controls[np.ix_(part.rows, servos.columns)] = wanted

    def apply_forces(self, forces: Array | None = None, wrenches: Array | None = None) -> None:
        """See the protocol."""
        general, outer = self.batch.view("qfrc_applied"), self.batch.view("xfrc_applied")
        # forces hold until they are set again: the old ones have to go
        general[:], outer[:] = 0.0, 0.0
        for part in self.parts:
            on_bodies = np.zeros((len(part.rows), int(part.model.nbody), 6))
            ids = {name: part.model.body(made).id for name, made in part.compiled.names.bodies.items()}
            if wrenches is not None:
                places = [ids[name] for name in self.layout.bodies]
                on_bodies[:, places] += np.asarray(wrenches)[part.rows]
            if forces is not None:
                given = np.asarray(forces)[part.rows]
                # balls and free dofs have other axes in MuJoCo: they go as wrenches
                single = np.flatnonzero(part.map.dof_of >= 0)
                general[np.ix_(part.rows, part.map.dof_of[single])] = given[:, single]
                self._push(part, given, ids, on_bodies)
            outer[part.rows] = on_bodies.reshape(len(part.rows), -1)

    def _push(self, part: _WorldGroup, forces: Array, ids: Mapping[str, int], on_bodies: Array) -> None:
        """Forces of free dofs and torques of balls as wrenches on what they carry."""
        poses: dict[str, Array] = {}
        for freedom in self.layout.freedoms:
            if freedom.motion not in (Motion.BALL, Motion.FREE):
                continue
            force = forces[:, freedom.velocities]
            if not force.any():
                continue
            turn = freedom.near.q
            if freedom.parent != WORLD:  # along axes that move with the parent
                if not poses:
                    everything = self.body_poses()[part.rows]
                    poses.update(zip(self.layout.bodies, everything.swapaxes(0, 1), strict=True))
                carried = poses[freedom.parent][:, 3:]
                force = np.concatenate(
                    [quats_rotate(turn, force[:, i : i + 3]) for i in range(0, force.shape[1], 3)], axis=1
                )
                turn = carried
            body = ids[freedom.body]
            if freedom.motion is Motion.BALL:
                on_bodies[:, body, 3:] += quats_rotate(turn, force[:, :3])
            else:
                # MuJoCo applies xfrc at the centre of mass, where the protocol has forces of free dofs too
                on_bodies[:, body, :3] += quats_rotate(turn, force[:, :3])
                on_bodies[:, body, 3:] += quats_rotate(turn, force[:, 3:6])

    def step(self, steps: int = 1) -> None:
        """See the protocol."""
        while steps > 0:
            size = min(steps, CHUNK)
            # kept to go back to: which step broke is found by going again
            before = self.batch.states.copy()
            self.batch.step(size)
            if not self._is_sound():
                self._fail(before, size)
            self.count += size
            steps -= size

    def _is_sound(self) -> bool:
        qpos, qvel = self.batch.view("qpos"), self.batch.view("qvel")
        return bool(np.abs(qpos).max(initial=0.0) < LARGEST) and bool(np.abs(qvel).max(initial=0.0) < LARGEST)

    def _fail(self, before: Array, size: int) -> None:
        """Go again step by step, to the step at which a world left all bounds; raise, with the states before it."""
        qpos, qvel = self.batch.view("qpos"), self.batch.view("qvel")
        with np.errstate(invalid="ignore"):
            fine = (np.abs(qpos).max(axis=1, initial=0.0) < LARGEST) & (
                np.abs(qvel).max(axis=1, initial=0.0) < LARGEST
            )
        broken = np.flatnonzero(~fine).tolist()
        self.batch.states[:] = before
        # only the broken worlds, until the first breaks: the others are brought to the same step afterwards
        for number in range(1, size + 1):
            good = self.batch.states.copy()
            self.batch.step(1, broken)
            for world in broken:
                place, rate = qpos[world], qvel[world]
                if np.abs(place).max(initial=0.0) < LARGEST and np.abs(rate).max(initial=0.0) < LARGEST:
                    continue
                part = next(part for part in self.parts if world in part.rows)
                # translating numbers that are none warns
                with np.errstate(all="ignore"):
                    error = make_error(
                        self.layout,
                        part.map.positions(place[None])[0],
                        part.map.velocities(place[None], rate[None])[0],
                        world,
                        (self.count + number) * self.dt,
                    )
                self.batch.states[:] = good
                self.batch.step(number - 1, [w for w in range(self.worlds) if w not in broken])
                self.count += number - 1
                raise error
        raise AssertionError("a world that broke in many steps breaks in single ones")

    def body_poses(self) -> Array:
        """See the protocol."""
        ids = self.parts[0].map.body_ids
        poses = np.zeros((self.worlds, len(ids), 7))
        for world in range(self.worlds):
            data = self.batch.look(world)
            poses[world, :, :3], poses[world, :, 3:] = data.xpos[ids], data.xquat[ids]
        return poses

    def capture(self) -> Any:
        """See the protocol: activations and warm starts too."""
        return self.batch.states.copy()

    def restore(self, captured: Any) -> None:
        """See the protocol."""
        self.batch.states[:] = captured

    def read_sensors(self, world: int = 0) -> dict[str, Array]:
        """See the protocol."""
        data, model = self.batch.hold(world), self.batch.models[world]
        found = {}
        for name, made in self._find_part(world).compiled.names.sensors.items():
            rows = [model.sensor(one) for one in made]
            found[name] = np.concatenate(
                [data.sensordata[int(row.adr[0]) : int(row.adr[0] + row.dim[0])] for row in rows]
            )
        return found

    def mass_matrix(self, world: int = 0) -> Array:
        """See the protocol."""
        import mujoco

        data, model = self.batch.hold(world), self.batch.models[world]
        full = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, full)
        turn = self._find_part(world).map.jacobian(np.array(data.qpos))
        return np.asarray(turn.T @ full @ turn)

    def bias(self, world: int = 0) -> Array:
        """See the protocol."""
        import mujoco

        data, model = self.batch.hold(world), self.batch.models[world]
        held = self._find_part(world).map
        drift = held.drift(np.array(data.qpos), np.array(data.qvel))
        forces = np.array(data.qfrc_bias)
        if drift.any():
            moved = np.zeros(model.nv)
            mujoco.mj_mulM(model, data, moved, drift)
            forces += moved
        return held.pull(np.array(data.qpos), forces)

    def contacts(self, world: int = 0) -> list[Contact]:
        """See the protocol."""
        import mujoco

        data, model = self.batch.hold(world), self.batch.models[world]
        names = {
            model.body(made).id: name for name, made in self._find_part(world).compiled.names.bodies.items()
        }
        found, force = [], np.zeros(6)
        for number in range(data.ncon):
            contact = data.contact[number]
            # flexes have no geom; excluded contacts exert nothing
            if min(contact.geom) < 0 or contact.exclude:
                continue
            mujoco.mj_contactForce(model, data, number, force)
            a, b = (names.get(int(model.geom_bodyid[geom]), WORLD) for geom in contact.geom)
            x, y, z = (float(value) for value in contact.pos)
            nx, ny, nz = (float(value) for value in contact.frame[:3])
            found.append(
                Contact(
                    a, b, (x, y, z), (nx, ny, nz), float(contact.dist), float(force[0]),
                    float(np.linalg.norm(force[1:3])),
                )
            )  # fmt: skip
        return found

    def actuator_efforts(self, world: int = 0) -> Array:
        """See the protocol."""
        data = self.batch.hold(world)
        return self._find_part(world).map.pull(np.array(data.qpos), np.array(data.qfrc_actuator))

    def body_velocities(self, world: int = 0) -> Array:
        """See the protocol."""
        data, model = self.batch.hold(world), self.batch.models[world]
        return measure_velocities(model, data, self._find_part(world).map.body_ids)

    def cast_rays(
        self, origin: VectorLike, directions: Array, *, reach: float, ignore: str = "", world: int = 0
    ) -> Array:
        """See the protocol."""
        data, model = self.batch.look(world), self.batch.models[world]
        own = self._find_part(world).compiled.names.bodies.get(ignore)
        left_out = -1 if own is None else model.body(own).id
        return cast_rays(model, data, origin, directions, reach=reach, ignore=left_out)

    def render(
        self, camera: str, size: tuple[int, int], *, depth: bool = False, world: int = 0
    ) -> npt.NDArray[Any] | None:
        """See the protocol."""
        made = self._find_part(world).compiled.names.cameras.get(camera)
        if made is None:
            return None
        key = (size, id(self.batch.models[world]))
        if key not in self._renderers:
            self._renderers[key] = ModelRenderer(self.batch.models[world], *size)
        draw = self._renderers[key].render_depth if depth else self._renderers[key].render
        return draw(self.batch.hold(world), made)

    def hold(self, world: int = 0) -> MjData:
        """MuJoCo's own data of a world, computed forward; valid until the next call of the simulation."""
        return self.batch.hold(world)

    def _find_part(self, world: int) -> _WorldGroup:
        if len(self.parts) == 1:
            return self.parts[0]
        return next(part for part in self.parts if world in part.rows)

    def close(self) -> None:
        """Stop the threads, and give the graphics back."""
        for renderer in self._renderers.values():
            renderer.close()
        self._renderers.clear()
        self.batch.close()


def _set_options(model: MjModel, settings: Settings, options: Mapping[str, Any]) -> None:
    """What the user says instead of the file."""
    import mujoco

    opt = model.opt
    if settings.dt is not None:
        opt.timestep = settings.dt
    # words of the options are those of MuJoCo's enumerations
    for name, kind, prefix in (
        ("solver", mujoco.mjtSolver, "mjSOL_"),
        ("integrator", mujoco.mjtIntegrator, "mjINT_"),
        ("cone", mujoco.mjtCone, "mjCONE_"),
    ):
        if name in options:
            setattr(opt, name, getattr(kind, f"{prefix}{str(options[name]).upper()}"))
    for name in ("impratio", "iterations", "tolerance"):
        if name in options:
            setattr(opt, name, options[name])
    if "condim" in options:
        most = int(options["condim"])
        # only downwards: the file may have less, never more than is asked for
        model.geom_condim[:] = np.minimum(model.geom_condim, most)
        model.pair_dim[:] = np.minimum(model.pair_dim, most)
    # a world that breaks is found and told; MuJoCo would quietly start it anew
    opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
