# SPDX-License-Identifier: Apache-2.0
"""What PhysX sees: ``python -m scripts.engines.see_physx FILE.usda [CONFIGURATIONS.json]``.

Tensor bindings are deprecated in ovphysx 0.7, but only they have the mass matrix.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import ovphysx
import ovstage
from ovphysx import PhysX
from ovphysx.types import TensorType

from .seen import Configuration, Freedom, Seen, bound, find_position, join_blocks, name_of, serve

_EVERYWHERE = "/**"
_BASE_FREEDOMS = 6


def see(file: Path, configurations: Sequence[Configuration]) -> Seen:
    """Open the stage and ask every articulation; a binding of several of them has no names of its own."""
    warnings.simplefilter("ignore", DeprecationWarning)
    physx = _open(file)
    seen = Seen(f"PhysX (ovphysx {ovphysx.__version__})")
    roots = _bind(physx, _EVERYWHERE, "ARTICULATION_ROOT_POSE").prim_paths
    found: list[list[Any]] = [[] for _ in range(1 + len(configurations))]
    for path in roots:
        matrix = _bind(physx, path, "ARTICULATION_MASS_MATRIX")
        names = [name_of(name) for name in matrix.body_names]
        masses = _read(_bind(physx, path, "ARTICULATION_BODY_MASS"))[0]
        seen.masses |= dict(zip(names, masses.tolist(), strict=True))
        if not matrix.is_fixed_base:
            seen.floating.append(names[0])
            seen.freedoms += [Freedom(f"{names[0]}_free", names[0], "free") for _ in range(_BASE_FREEDOMS)]
        seen.freedoms += _describe_freedoms(physx, path, matrix)
        for blocks, positions in zip(found, ({}, *configurations), strict=True):
            blocks.append(_read_mass_matrix(physx, path, matrix, positions))
    bodies = _bind(physx, _EVERYWHERE, "RIGID_BODY_MASS")
    loose = zip(bodies.prim_paths, _read(bodies).tolist(), strict=True) if bodies.count else ()
    for path, mass in loose:
        # links of articulations are among them, the first one under the path of the articulation root
        if path not in roots and name_of(path) not in seen.masses:
            seen.masses[name_of(path)] = mass
            seen.floating.append(name_of(path))
    # a body outside of articulations is no row of any mass matrix
    seen.mass_matrices = [join_blocks(blocks) for blocks in found]
    return seen


def _open(file: Path) -> Any:
    PhysX.set_cpu_mode(True)
    physx = PhysX()
    ovstage.population.register_usd_schemas(_list_schemas())
    stage = ovstage.Stage("seen")
    ovstage.population.open_usd(stage, str(file), ordinal=1, domains=ovstage.PopulationDomain.ALL)
    stage.advance_write_floor(ordinal=1).wait()
    physx.wait_task(physx.attach_ovstage(stage, read_ordinal=1))
    physx.wait_all()
    return physx


def _list_schemas() -> list[str]:
    """Folders of schemas; importing ``physx_usd_schemas`` would ask for ``pxr``, which is not here."""
    spec = importlib.util.find_spec("physx_usd_schemas")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("physx-usd-schemas is not installed")
    root = Path(next(iter(spec.submodule_search_locations)))
    schemas = [root / name / "resources" for name in ("PhysxSchema", "OmniUsdPhysicsDeformableSchema")]
    return [str(folder) for folder in (*schemas, ovphysx.newton_schema_root())]


def _describe_freedoms(physx: Any, path: str, matrix: Any) -> list[Freedom]:
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
            Freedom(
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
            )
        )
    return found


def _read_mass_matrix(physx: Any, path: str, matrix: Any, positions: Configuration) -> Any:
    """In a pose; the first read of any makes a step of simulation, so that the pose is set every time after it."""
    first = _read(matrix)
    if matrix.dof_count:
        joints = _bind(physx, path, "ARTICULATION_DOF_POSITION")
        bodies = dict(zip(matrix.joint_names, matrix.body_names[1:], strict=True))
        wanted = [
            0.0 if name not in bodies else find_position(positions, name_of(name), name_of(bodies[name]))
            for name in matrix.dof_names  # an axis of a joint that has several is not the name of a joint
        ]
        joints.write(np.array([wanted], dtype=np.float32))
        first = _read(matrix)
    return first[0]


def _bind(physx: Any, pattern: str, name: str) -> Any:
    return physx.create_tensor_binding(pattern=pattern, tensor_type=TensorType[name])


def _read(binding: Any) -> Any:
    values = np.zeros(binding.shape, dtype=np.float32)
    binding.read(values)
    return values


if __name__ == "__main__":
    serve(see)
