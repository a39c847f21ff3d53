# SPDX-License-Identifier: Apache-2.0
"""PhysX: what its USD parser makes of a file.

Tensor bindings are deprecated in ovphysx 0.7, but only they have the mass matrix.
"""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import ovphysx
import ovstage
from ovphysx import PhysX
from ovphysx.config import PhysXConfig
from ovphysx.types import TensorType

from .seen import (
    Configuration,
    Evaluated,
    Moment,
    MotionOrder,
    Moved,
    Seen,
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

_EVERYWHERE = "/**"
_BASE_FREEDOMS = 6


class PhysxRobot:
    """An attached stage that is asked, articulation by articulation: a binding of several has no names of its own."""

    def __init__(self, physx: Any) -> None:
        self.physx = physx
        self.engine = f"PhysX (ovphysx {ovphysx.__version__})"
        self.roots = list(_bind(physx, _EVERYWHERE, "ARTICULATION_ROOT_POSE").prim_paths)

    def describe(self) -> Seen:
        """What does not depend on the configuration."""
        seen = Seen(self.engine)
        for path in self.roots:
            matrix = _bind(self.physx, path, "ARTICULATION_MASS_MATRIX")
            names = [name_of(name) for name in matrix.body_names]
            masses, frames, tensors = (
                _read(_bind(self.physx, path, f"ARTICULATION_BODY_{name}"))[0]
                for name in ("MASS", "COM_POSE", "INERTIA")
            )
            seen.masses |= dict(zip(names, masses.tolist(), strict=True))
            for name, frame, tensor in zip(names, frames, tensors, strict=True):
                seen.inertias[name] = pack_inertia(frame[:3], tensor)
            if not matrix.is_fixed_base:
                seen.floating.append(names[0])
                seen.freedoms += [
                    SeenFreedom(f"{names[0]}_free", names[0], "free") for _ in range(_BASE_FREEDOMS)
                ]
            seen.freedoms += _describe_freedoms(self.physx, path, matrix)
        for path, mass in self._list_loose():
            # links of articulations are among them, the first one under the path of the articulation root
            if path not in self.roots and name_of(path) not in seen.masses:
                seen.masses[name_of(path)] = mass
                seen.floating.append(name_of(path))
        seen.blank["mimics"] = "ovphysx 0.7 does not report which joints follow others"
        return seen

    def evaluate(self, configuration: Configuration) -> Evaluated:
        """What does; a body outside of articulations is not a row of any mass matrix."""
        poses: dict[str, list[float]] = {}
        blocks, bias = [], []
        for path in self.roots:
            matrix = _bind(self.physx, path, "ARTICULATION_MASS_MATRIX")
            if not matrix.is_fixed_base:
                self._place_root(path, matrix, configuration)
            _place(self.physx, path, matrix, configuration)
            links = _read(_bind(self.physx, path, "ARTICULATION_LINK_POSE"))[0]
            poses |= {
                name_of(name): _turn_pose(row) for name, row in zip(matrix.body_names, links, strict=True)
            }
            blocks.append(_read(matrix)[0])
            gravity, speeds = (
                _read(_bind(self.physx, path, f"ARTICULATION_{name}"))[0]
                for name in ("GRAVITY_FORCE", "CORIOLIS_AND_CENTRIFUGAL_FORCE")
            )
            bias += (gravity + speeds).tolist()
        return Evaluated(poses, join_blocks(blocks), bias)

    def move(self, order: MotionOrder) -> Moved:
        """Do a motion; bodies outside of articulations begin where they are when it is the first one."""
        alone: list[tuple[str, int] | None] = []
        positions = {}
        for path in self.roots:
            matrix = _bind(self.physx, path, "ARTICULATION_MASS_MATRIX")
            if not matrix.is_fixed_base:
                alone += [None] * _BASE_FREEDOMS
                self._place_root(path, matrix, order.start)
            _place(self.physx, path, matrix, order.start)
            _set_targets(self.physx, path, matrix, order.targets)
            if matrix.dof_count:
                positions[path] = _bind(self.physx, path, "ARTICULATION_DOF_POSITION")
            alone += [
                (path, number) if ":" not in name else None for number, name in enumerate(matrix.dof_names)
            ]
        loose = _bind(self.physx, _EVERYWHERE, "RIGID_BODY_POSE")
        # links of articulations are among them
        if loose.count and not self.roots:
            _place_loose(self.physx, loose, order.start)

        def advance(count: int) -> None:
            for _ in range(count):
                self.physx.step_sync(order.step)

        def read() -> Moment:
            rows = {path: _read(binding)[0] for path, binding in positions.items()}
            return [None if at is None else float(rows[at[0]][at[1]]) for at in alone], self._read_poses(
                loose
            )

        return record(order, advance, read)

    def _read_poses(self, loose: Any) -> dict[str, list[float]]:
        found = {}
        for path, row in zip(loose.prim_paths, _read(loose), strict=True) if loose.count else ():
            found[name_of(path)] = _turn_pose(row)
        for path in self.roots:
            matrix = _bind(self.physx, path, "ARTICULATION_MASS_MATRIX")
            links = _read(_bind(self.physx, path, "ARTICULATION_LINK_POSE"))[0]
            found |= {
                name_of(name): _turn_pose(row) for name, row in zip(matrix.body_names, links, strict=True)
            }
        return found

    def _place_root(self, path: str, matrix: Any, configuration: Configuration) -> None:
        """Put a base that floats where it belongs, at rest.

        The first read makes a step of a nanosecond, in which shapes that overlap and joints beyond their limits push
        it: it has moved, and has a velocity that Coriolis forces would be told of.
        """
        pose = configuration.get("roots", {}).get(name_of(matrix.body_names[0]))
        if pose is not None:
            row = np.array([[*pose[:3], *pose[4:], pose[3]]], dtype=np.float32)
            _bind(self.physx, path, "ARTICULATION_ROOT_POSE").write(row)
        _bind(self.physx, path, "ARTICULATION_ROOT_VELOCITY").write(np.zeros((1, 6), dtype=np.float32))

    def _list_loose(self) -> list[tuple[str, float]]:
        bodies = _bind(self.physx, _EVERYWHERE, "RIGID_BODY_MASS")
        return list(zip(bodies.prim_paths, _read(bodies).tolist(), strict=True)) if bodies.count else []


def open_file(file: Path, world: WorldSettings) -> PhysxRobot:
    """Open the stage; the file has its own gravity and ground."""
    del world
    warnings.simplefilter("ignore", DeprecationWarning)
    return PhysxRobot(_open(file))


_opened: list[tuple[Any, Any]] = []
"""The engine and the stage that is attached to it: there can be one of each in a process."""


_bindings: dict[tuple[str, str], Any] = {}
"""Those of the stage that is open.  One that is left to live makes every later step slower, of other stages too: after
three robots, the fourth takes ten times as long (ovphysx 0.7)."""


def _open(file: Path) -> Any:
    while _bindings:
        _bindings.popitem()[1].destroy()
    if _opened:
        physx, _ = _opened.pop()
        physx.wait_task(physx.detach_ovstage())
    else:
        PhysX.set_cpu_mode(True)
        # threads wait for each other at every step, which takes most of the time for one robot on a busy machine
        physx = PhysX(config=PhysXConfig(num_threads=0))
        ovstage.population.register_usd_schemas(_list_schemas())
    stage = ovstage.Stage("seen")
    ovstage.population.open_usd(stage, str(file), ordinal=1, domains=ovstage.PopulationDomain.ALL)
    stage.advance_write_floor(ordinal=1).wait()
    physx.wait_task(physx.attach_ovstage(stage, read_ordinal=1))
    physx.wait_all()
    _opened.append((physx, stage))
    return physx


def _list_schemas() -> list[str]:
    """Folders of schemas; importing ``physx_usd_schemas`` would ask for ``pxr``, which is not here."""
    spec = importlib.util.find_spec("physx_usd_schemas")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("physx-usd-schemas is not installed")
    root = Path(next(iter(spec.submodule_search_locations)))
    schemas = [root / name / "resources" for name in ("PhysxSchema", "OmniUsdPhysicsDeformableSchema")]
    return [str(folder) for folder in (*schemas, ovphysx.newton_schema_root())]


def _describe_freedoms(physx: Any, path: str, matrix: Any) -> list[SeenFreedom]:
    if not matrix.dof_count:
        return []
    stiffness, damping, force, armature, limits, friction = (
        _read(_bind(physx, path, f"ARTICULATION_DOF_{name}"))[0]
        for name in ("STIFFNESS", "DAMPING", "MAX_FORCE", "ARMATURE", "LIMIT", "FRICTION_PROPERTIES")
    )
    bodies = dict(zip(matrix.joint_names, matrix.body_names[1:], strict=True))
    found = []
    for number, name in enumerate(matrix.dof_names):
        joint, axis, _ = name.partition(":")  # axes of a joint that has several are called joint:0, joint:1
        found.append(
            SeenFreedom(
                name_of(joint),
                name_of(bodies[joint]),
                "axis" if axis else "scalar",
                limit=(bound(limits[number][0]), bound(limits[number][1])),
                stiffness=float(stiffness[number]),
                damping=float(damping[number]),
                max_force=bound(force[number]),
                armature=float(armature[number]),
                friction=float(friction[number][0]),
                passive_damping=float(friction[number][2]),
                label=label_of(joint),
            )
        )
    return found


def _place(physx: Any, path: str, matrix: Any, configuration: Configuration) -> None:
    if not matrix.dof_count:
        return
    bodies = dict(zip(matrix.joint_names, matrix.body_names[1:], strict=True))
    for word, find in (("POSITION", find_position), ("VELOCITY", find_speed)):
        wanted = [
            0.0 if name not in bodies else find(configuration, name_of(name), name_of(bodies[name]))
            for name in matrix.dof_names  # an axis of a joint that has several is not the name of a joint
        ]
        _bind(physx, path, f"ARTICULATION_DOF_{word}").write(np.array([wanted], dtype=np.float32))


def _set_targets(physx: Any, path: str, matrix: Any, targets: Configuration) -> None:
    """Command the drives that have a target; what others hold, such as springs, stays."""
    if not matrix.dof_count:
        return
    bodies = dict(zip(matrix.joint_names, matrix.body_names[1:], strict=True))
    binding = _bind(physx, path, "ARTICULATION_DOF_POSITION_TARGET")
    wanted = _read(binding)
    for number, name in enumerate(matrix.dof_names):
        joint, body = name_of(name), name_of(bodies.get(name, ""))
        if joint in targets.get("joints", {}) or body in targets.get("bodies", {}):
            wanted[0][number] = find_position(targets, joint, body)
    binding.write(wanted)


def _place_loose(physx: Any, loose: Any, start: Configuration) -> None:
    """Bodies of no articulation where they are in the reference pose, at rest."""
    places, speeds = _read(loose), _bind(physx, _EVERYWHERE, "RIGID_BODY_VELOCITY")
    for number, path in enumerate(loose.prim_paths):
        pose = start.get("roots", {}).get(name_of(path))
        if pose is not None:
            places[number] = [*pose[:3], *pose[4:], pose[3]]
    loose.write(places)
    speeds.write(np.zeros(speeds.shape, dtype=np.float32))


def _turn_pose(row: Any) -> list[float]:
    """From x, y, z, w to w, x, y, z."""
    return [float(row[number]) for number in (0, 1, 2, 6, 3, 4, 5)]


def _bind(physx: Any, pattern: str, name: str) -> Any:
    if (pattern, name) not in _bindings:
        binding = physx.create_tensor_binding(pattern=pattern, tensor_type=TensorType[name])
        _bindings[pattern, name] = binding
    return _bindings[pattern, name]


def _read(binding: Any) -> Any:
    values = np.zeros(binding.shape, dtype=np.float32)
    binding.read(values)
    return values


if __name__ == "__main__":
    serve(open_file)
