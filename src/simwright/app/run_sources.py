# SPDX-License-Identifier: Apache-2.0
"""What can be run: scene files, robot files in any format, assets and scenes that are loaded already.

A source knows how it is opened in an engine, how a control sequence is put to it, and what of it is recorded.  A robot
file is run as it is: its own options, its own start, nothing added unless it is asked for.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from simwright.app.scenes import ENDINGS
from simwright.core.diag import Reporter, Where
from simwright.core.errors import NotFoundError, UnknownNameError, UsageError
from simwright.core.files import suggest_sibling
from simwright.core.gate import parse_folders
from simwright.core.math3d import Array, Pose
from simwright.core.packages import find_packages
from simwright.engines.layout import Layout, find_floating
from simwright.engines.protocol import Settings, Simulation
from simwright.engines.table import load_engine
from simwright.formats.format import ReadOptions
from simwright.formats.table import FORMATS, detect_format, read_asset
from simwright.model.asset import Asset, Keyframe, Shape, scaled
from simwright.model.geometry import Plane, box_bounds, find_lowest
from simwright.model.joint import WORLD, Joint, JointKind
from simwright.model.kinematics import build_tree, forward_kinematics
from simwright.scenes.control import ControlSequence, TimedRows, load_control
from simwright.scenes.document import read_scene
from simwright.scenes.exporting import ExportedWorld, export_served, export_world
from simwright.scenes.load import LoadedScene, assemble_scene
from simwright.scenes.replicate import place_worlds
from simwright.scenes.simulation import ArrayMap, SceneSimulation, open_scene, settle_scene

_GROUND = "ground"
_REACH = 100.0
"""Pictures show no more than this to each side of the middle [m]."""


class RunSource(Protocol):
    """Something that can be run."""

    name: str
    sequence: ControlSequence | None

    @property
    def asset(self) -> Asset | None:
        """The asset that is run, None for scenes."""
        ...

    @property
    def loaded(self) -> LoadedScene | None:
        """The scene that is run, None for robots."""
        ...

    def open(self, engine: str, settings: Settings, reporter: Reporter) -> Simulation:
        """Open it in an engine."""
        ...

    def settle(self, engine: str, settings: Settings) -> Settings:
        """The settings it is opened with, where its file says some."""
        ...

    def prepare_ros(self, engine: str) -> Asset:
        """The asset whose ROS side is served; one of several worlds is an error."""
        ...

    def take_equipped(self, asset: Asset) -> RunSource:
        """The same with the drives that the ROS side needs."""
        ...

    def start(self, simulation: Simulation, sequence: ControlSequence | None) -> None:
        """Put the initial state of a control sequence in place."""
        ...

    def command(self, simulation: Simulation, sequence: ControlSequence, time: float) -> None:
        """Put what a control sequence says at a time [s] in place."""
        ...

    def count(self) -> dict[str, int]:
        """Bodies, joints, dofs and shapes of one world."""
        ...

    def take(self, simulation: Simulation) -> tuple[Array, ...]:
        """What is recorded of a moment."""
        ...

    def list_arrays(self, moments: list[tuple[Array, ...]]) -> dict[str, Any]:
        """The arrays of a recording by name."""
        ...

    def show(self, moments: list[tuple[Array, ...]]) -> tuple[dict[str, Any], Callable[[int], Array]]:
        """What a painter needs, and the positions (worlds x nq) of each moment."""
        ...

    def finish(self, simulation: Simulation) -> None:
        """Bring what the source holds in line with the end of the run."""
        ...


def find_source(
    source: str | os.PathLike[str] | LoadedScene | Asset,
    num_worlds: int | None = None,
    *,
    floating: bool | None = None,
    ground: bool = False,
    keyframe: str = "",
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
    arguments: Mapping[str, str] | None = None,
    variants: Mapping[str, str] | None = None,
    allow_outside: Iterable[str | os.PathLike[str]] = (),
    reporter: Reporter,
) -> RunSource:
    """A scene file, a robot file, an asset, or a scene as it is."""
    file = "" if isinstance(source, (LoadedScene, Asset)) else os.fspath(source)
    if not file or file.lower().endswith(ENDINGS):
        _refuse_reading({"packages": packages, "arguments": arguments, "variants": variants}, bool(file))
    # one function: each sort of source is told apart from the ones before it, the costly look into
    # the file last
    if isinstance(source, LoadedScene):
        # the arrays of a loaded scene are laid out for its worlds; another number would need it loaded
        # again
        if num_worlds not in (None, source.model.world_count):
            raise UsageError("a loaded scene has its worlds", hint="load it with num_worlds")
        return SceneSource(source)
    if isinstance(source, Asset):
        asset, name = source, source.provenance.file or source.name
    else:
        path, name = Path(source), os.fspath(source)
        if not path.exists():
            raise NotFoundError(f"there is no file {name!r}", hint=suggest_sibling(path))
        if name.lower().endswith(ENDINGS):
            scene = read_scene(path, reporter=reporter)
            loaded = assemble_scene(scene, num_worlds=num_worlds, reporter=reporter)
            return SceneSource(loaded, load_control(scene))
        explicit = {word: Path(folder) for word, folder in (packages or {}).items()}
        # packages around the file count as well, as for simwright.load: robots name meshes by package://
        found = find_packages(explicit, near=[path.parent], allowed=parse_folders(allow_outside))
        options = ReadOptions(found, dict(arguments or {}), dict(variants or {}))
        asset = _read_robot(path, options, reporter)
    prepare = functools.partial(prepare_asset, floating=floating, ground=ground, keyframe=keyframe)
    return AssetSource(prepare(asset), name, num_worlds or 1, keyframe, prepare)


def _read_robot(path: Path, options: ReadOptions, reporter: Reporter) -> Asset:
    row = detect_format(path)
    # a 2D world is read like an asset but has nothing that moves by forces; simwright world run is for those
    if not row.reader or row.name == "world":
        readable = [name for name, one in FORMATS.items() if one.reader and name != "world"]
        raise UsageError(f"a {row.name} file cannot be run", hint=f"one of {', '.join(readable)} can")
    return read_asset(path, options=options, reporter=reporter)


def _refuse_reading(words: Mapping[str, object], is_file: bool) -> None:
    """Refuse what says how a robot file is read where there is none: it would have no effect."""
    said = [name for name, value in words.items() if value]
    if said:
        where = "a scene file names its own robots" if is_file else "what is given here was read before"
        hint = "run a robot file with them" if is_file else "give them to simwright.load"
        raise UsageError(f"{' and '.join(said)} say how a robot file is read, and {where}", hint=hint)


def prepare_asset(
    asset: Asset, *, floating: bool | None = None, ground: bool = False, keyframe: str = ""
) -> Asset:
    """The asset with its base let go or held, and with a ground, where that is asked for; else as it is.

    The ground is below everything at the start, which is the keyframe's if one is named.
    """
    if floating is None and not ground:
        return asset
    # a copy: the caller's asset is not to have a ground, or lose its joint, because it was run once
    asset = asset.copy()
    # three small changes of one copy, each independent of the others, so they stay together
    if floating is True:
        asset.joints = [
            joint
            for joint in asset.joints
            if joint.kind is not JointKind.FIXED
            or WORLD not in (joint.parent, joint.child)
            or joint.closes_loop
        ]
    elif floating is False:
        for joint in asset.joints:
            if joint.kind is JointKind.FLOATING and joint.parent == WORLD:
                # held where it starts, which is the free joint's initial coordinate and not its frame
                joint.parent_frame = joint.transform(joint.initial()) @ joint.child_frame
                joint.kind, joint.dofs = JointKind.FIXED, []
        # a base may float without any joint (URDF, OpenUSD): then there is none to turn into a fixed one
        for name in find_floating(asset, build_tree(asset)):
            base = asset.body(name)
            asset.joints.append(Joint(f"{name}_held", JointKind.FIXED, WORLD, name, base.pose))
    if ground:
        # below the lowest collider: a ground at zero would cut through robots whose origin is at the hip,
        # and push them up
        height = min(0.0, _find_lowest(asset, keyframe))
        place = Pose.of((0.0, 0.0, height))
        asset.shapes.append(Shape(_GROUND, Plane(None), WORLD, place, collision=True))
    return asset


def _find_lowest(asset: Asset, keyframe: str) -> float:
    """Height of the lowest point of colliders, at the start [m]."""
    poses = {WORLD: Pose.identity(), **_find_start(asset, keyframe)}
    found = [
        find_lowest(shape.geometry, poses[shape.body] @ shape.pose, scaled(shape))
        for shape in asset.shapes
        if shape.collision
    ]
    return min((height for height in found if height is not None), default=0.0)


def _find_start(asset: Asset, keyframe: str) -> dict[str, Pose]:
    """Where the bodies are at a keyframe; where the file has them if none is named, or there is none of that name."""
    kept = (
        next((key.positions for key in asset.keyframes if key.name == keyframe), None) if keyframe else None
    )
    if not kept:
        return forward_kinematics(asset)
    moved = asset.copy()
    coordinates: dict[str, list[float]] = {}
    for freedom in Layout(asset).freedoms:
        given = kept.get(freedom.name)
        if freedom.joint is None:
            if given is not None:
                moved.body(freedom.body).pose = Pose.of(given[:3], given[3:])
            continue
        values = coordinates.setdefault(freedom.joint.name, [])
        first, count = len(values), freedom.positions.stop - freedom.positions.start
        initial = np.ravel(freedom.joint.initial())[first : first + count]
        values.extend((initial if given is None else np.ravel(given)).tolist())
    return forward_kinematics(moved, coordinates)


class AssetSource:
    """One asset, in one or several worlds."""

    loaded: LoadedScene | None = None
    sequence: ControlSequence | None = None

    def __init__(
        self,
        asset: Asset,
        name: str,
        worlds: int = 1,
        keyframe: str = "",
        prepare: Callable[[Asset], Asset] = lambda asset: asset,
    ) -> None:
        self.asset: Asset = asset
        self.prepare = prepare
        """What was done to the asset of the file before."""
        self.name, self.worlds = name, worlds
        self._layout = Layout(asset)
        self._keyframe = self._find_keyframe(keyframe)

    def _find_keyframe(self, name: str) -> Keyframe | None:
        if not name:
            return None
        known = {key.name: key for key in self.asset.keyframes}
        if name not in known:
            raise UnknownNameError("keyframe", name, known)
        return known[name]

    def open(self, engine: str, settings: Settings, reporter: Reporter) -> Simulation:
        """See the protocol."""
        return load_engine(engine).open(self.asset, settings, reporter, worlds=self.worlds)

    def settle(self, engine: str, settings: Settings) -> Settings:
        """See the protocol."""
        del engine
        return settings

    def prepare_ros(self, engine: str) -> Asset:
        """See the protocol."""
        del engine
        _expect_one(self.worlds)
        return self.asset

    def take_equipped(self, asset: Asset) -> RunSource:
        """See the protocol."""
        return AssetSource(asset, self.name, 1, "" if self._keyframe is None else self._keyframe.name)

    def start(self, simulation: Simulation, sequence: ControlSequence | None) -> None:
        """A keyframe, then what the control sequence begins with."""
        if self._keyframe is not None:
            self._set_keyframe(simulation, self._keyframe)
        if sequence is not None:
            q, qd = sequence.make_initial(self._layout.nq, self._layout.nv)
            # one row for all worlds: a control sequence names dofs, not worlds
            places, rates = (None if row is None else np.tile(row, (self.worlds, 1)) for row in (q, qd))
            if places is not None or rates is not None:
                simulation.set_state(places, rates)

    def _set_keyframe(self, simulation: Simulation, key: Keyframe) -> None:
        q, v, controls = simulation.positions, simulation.velocities, simulation.controls
        for values, given, kind in ((q, key.positions, "positions"), (v, key.velocities, "velocities")):
            for freedom in self._layout.freedoms:
                if given.get(freedom.name) is not None:
                    values[:, getattr(freedom, kind)] = given[freedom.name]
        simulation.set_state(q, v)
        for name, value in key.controls.items():
            # not every engine has every actuator of the asset; a keyframe for one that is missing is no
            # error
            if name in simulation.actuators:
                controls[:, simulation.actuators.index(name)] = value
        simulation.set_controls(controls)

    def command(self, simulation: Simulation, sequence: ControlSequence, time: float) -> None:
        """Position targets by dof, raw controls by actuator."""
        if sequence.targets is not None:
            row = self._spread(sequence, sequence.targets, time)
            simulation.set_targets(np.tile(row, (self.worlds, 1)))
        if sequence.controls is not None:
            self._command_raw(simulation, sequence, time)

    def _spread(self, sequence: ControlSequence, table: TimedRows, time: float) -> Array:
        """A row of targets, as the engine counts freedoms."""
        row = table.sample(time)
        if table.names is None:
            if len(row) != self._layout.nv:
                raise UsageError(
                    f"a row of targets has {len(row)} values, the model has {self._layout.nv} degrees of freedom",
                    hint="name the columns (names: [...]), or give all of them in order",
                    where=Where(sequence.file),
                )
            return np.asarray(row, dtype=np.float64)
        # dofs that the sequence does not name are held at zero: their drives need a target as well
        values = np.zeros(self._layout.nv)
        for name, value in zip(table.names, row, strict=True):
            values[self._layout.find(name).v] = value
        return values

    def _command_raw(self, simulation: Simulation, sequence: ControlSequence, time: float) -> None:
        table = sequence.controls
        assert table is not None
        row, controls = table.sample(time), simulation.controls
        names = list(simulation.actuators) if table.names is None else table.names
        if len(row) != len(names):
            raise UsageError(
                f"a row of controls has {len(row)} values, the model {len(names)} actuators",
                hint="name the columns (names: [...]), or give all of them in order",
                where=Where(sequence.file),
            )
        for name, value in zip(names, row, strict=True):
            if name not in simulation.actuators:
                raise UnknownNameError("actuator", name, simulation.actuators, where=Where(sequence.file))
            controls[:, simulation.actuators.index(name)] = value
        simulation.set_controls(controls)

    def count(self) -> dict[str, int]:
        """See the protocol."""
        asset = self.asset
        return {
            "bodies": len(asset.bodies),
            "joints": len(asset.joints),
            "dofs": self._layout.nv,
            "shapes": len(asset.shapes),
        }

    def take(self, simulation: Simulation) -> tuple[Array, ...]:
        """Positions, velocities and poses of bodies."""
        return simulation.positions, simulation.velocities, simulation.body_poses()

    def list_arrays(self, moments: list[tuple[Array, ...]]) -> dict[str, Any]:
        """See docs/running.md."""
        places, rates, poses = (np.stack(values) for values in zip(*moments, strict=True))
        return {
            "positions": places,
            "velocities": rates,
            "body_poses": poses,
            "position_names": np.array(self._layout.list_position_names(), dtype=np.str_),
            "velocity_names": np.array(self._layout.list_velocity_names(), dtype=np.str_),
            "body_names": np.array(self._layout.bodies, dtype=np.str_),
            "world_count": np.array(self.worlds),
        }

    def show(self, moments: list[tuple[Array, ...]]) -> tuple[dict[str, Any], Callable[[int], Array]]:
        """Worlds stand side by side, as far apart as they are wide."""
        poses = np.stack([moment[2] for moment in moments])
        lower, upper = find_extent(self.asset, poses)
        # a fifth more, so that robots of neighbouring worlds do not touch in the picture
        wide = 1.2 * (upper - lower)
        offsets = place_worlds(self.worlds, (float(wide[0]), float(wide[1]), 0.0))
        # one ground for all worlds: planes of several would lie in each other
        grounds = [s.name for s in self.asset.shapes if s.body == WORLD and isinstance(s.geometry, Plane)]
        painted = {"asset": self.asset, "offsets": offsets, "shared": tuple(grounds)}
        return painted, lambda number: moments[number][0]

    def finish(self, simulation: Simulation) -> None:
        """Nothing is held here."""


def find_extent(asset: Asset, poses: Array) -> tuple[Array, Array]:
    """Corners of a box around everything that has an end [m], over all moments and worlds, within reason."""
    rows = {body.name: row for row, body in enumerate(asset.bodies)}
    # of an asset without bodies there is nothing to work a size out from
    places = poses.reshape(-1 if rows else 0, len(rows), 7)
    lows, highs = [], []
    for shape in asset.shapes:
        bounds = box_bounds(shape.geometry)
        if bounds is None:
            continue
        # a sphere around the origin of the shape: it holds at every rotation, without a box per moment
        corners = np.abs(np.stack(bounds) * scaled(shape)).max(axis=0)
        reach = float(np.linalg.norm(corners))
        if shape.body == WORLD:
            middle = shape.pose.p[None]
        else:
            middle, reach = places[:, rows[shape.body], :3], reach + float(np.linalg.norm(shape.pose.p))
        lows.append(middle.min(axis=0) - reach)
        highs.append(middle.max(axis=0) + reach)
    if not lows:
        flat = places[..., :3].reshape(-1, 3) if places.size else np.zeros((1, 3))
        lows, highs = [flat.min(axis=0) - 0.5], [flat.max(axis=0) + 0.5]
    lower, upper = np.min(lows, axis=0), np.max(highs, axis=0)
    # a body that flew off would otherwise put the camera kilometres away
    middle, half = (lower + upper) / 2, np.minimum((upper - lower) / 2, _REACH)
    return middle - half, middle + half


def _expect_one(worlds: int) -> None:
    if worlds != 1:
        raise UsageError(f"{worlds} worlds", hint="ROS is served by a single one: --num-worlds 1")


class SceneSource:
    """A loaded scene, whose arrays follow the simulation."""

    asset: Asset | None = None

    def __init__(self, loaded: LoadedScene, sequence: ControlSequence | None = None) -> None:
        self.loaded: LoadedScene = loaded
        self.sequence, self.name = sequence, loaded.source_path
        self._scene: SceneSimulation | None = None
        self._served: ExportedWorld | None = None

    def settle(self, engine: str, settings: Settings) -> Settings:
        """See the protocol."""
        return settle_scene(self.loaded, settings, load_engine(engine))

    def prepare_ros(self, engine: str) -> Asset:
        """See the protocol."""
        _expect_one(self.loaded.model.world_count)
        pairs = load_engine(engine).capabilities.contact_pairs
        self._served = export_served(self.loaded, pairs=pairs)
        return self._served.asset

    def take_equipped(self, asset: Asset) -> RunSource:
        """See the protocol."""
        assert self._served is not None
        self._served = dataclasses.replace(self._served, asset=asset)
        return self

    def open(self, engine: str, settings: Settings, reporter: Reporter) -> Simulation:
        """See the protocol."""
        self._scene = open_scene(self.loaded, settings, reporter, engine=engine, served=self._served)
        self._scene.load(self.loaded.state, self.loaded.control)
        return self._scene.inner

    def start(self, simulation: Simulation, sequence: ControlSequence | None) -> None:
        """See the protocol."""
        del simulation
        assert self._scene is not None
        model, state = self.loaded.model, self.loaded.state
        if sequence is not None:
            q, qd = sequence.make_initial(model.joint_coord_count, model.joint_dof_count, model.world_offset)
            if q is not None:
                state.joint_q[:] = q
            if qd is not None:
                state.joint_qd[:] = qd
        self._scene.load(state, self.loaded.control)

    def command(self, simulation: Simulation, sequence: ControlSequence, time: float) -> None:
        """Position targets of all freedoms."""
        del simulation
        assert self._scene is not None
        control = self.loaded.control
        if sequence.targets is not None:
            control.joint_target_pos[:] = sequence.sample(time, len(control.joint_target_pos))
        if sequence.controls is not None:
            raise UsageError(
                "scenes have no raw controls", hint="use joint_target_pos", where=Where(sequence.file)
            )
        self._scene.load(self.loaded.state, control)

    def count(self) -> dict[str, int]:
        """See the protocol."""
        sizes = self.loaded.model.per_world
        return {
            "bodies": sizes["body"],
            "joints": sizes["joint"],
            "dofs": sizes["joint_dof"],
            "shapes": sizes["shape"],
        }

    def take(self, simulation: Simulation) -> tuple[Array, ...]:
        """Coordinates as the arrays have them."""
        assert self._scene is not None
        # with ROS, what is simulated may have been opened again since
        self._scene.inner = simulation
        state = self.loaded.state
        self._scene.write(state, poses=False)
        places: Array = state.joint_q.copy()  # type: ignore[assignment] # single precision, as the arrays
        rates: Array = state.joint_qd.copy()  # type: ignore[assignment]
        return places, rates

    def list_arrays(self, moments: list[tuple[Array, ...]]) -> dict[str, Any]:
        """See docs/running.md."""
        from simwright.app.recording import pose_bodies

        model = self.loaded.model
        places, rates = (np.stack(values) for values in zip(*moments, strict=True))
        return {
            "joint_q": places,
            "joint_qd": rates,
            "body_q": pose_bodies(model, places),
            "joint_labels": np.array(list(model.joint_label), dtype=np.str_),
            "body_labels": np.array(list(model.body_label), dtype=np.str_),
            "joint_q_start": model.joint_q_start,
            "joint_qd_start": model.joint_qd_start,
            "world_count": np.array(model.world_count),
        }

    def show(self, moments: list[tuple[Array, ...]]) -> tuple[dict[str, Any], Callable[[int], Array]]:
        """See the protocol."""
        model = self.loaded.model
        # one world is enough for the painter, which repeats it at the offsets
        exported = export_world(model, visuals=True)
        arrays = ArrayMap(model, exported, Layout(exported.asset))
        # shapes after those of one world belong to all worlds, such as the ground
        shared = exported.shapes[model.per_world["shape"] :]
        worlds, rows = model.world_count, np.arange(model.world_count)

        def positions(number: int) -> Array:
            q = moments[number][0].reshape(worlds, -1)
            return arrays.to_engine(q, np.zeros((worlds, model.per_world["joint_dof"])), rows)[0]

        painted = {"asset": exported.asset, "offsets": model.world_offset, "shared": tuple(shared)}
        return painted, positions

    def finish(self, simulation: Simulation) -> None:
        """Bring the arrays in line with the engine."""
        assert self._scene is not None
        self._scene.inner = simulation
        self._scene.write(self.loaded.state, poses=True)
