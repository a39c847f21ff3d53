# SPDX-License-Identifier: Apache-2.0
"""What a world says: gravity, wind, magnetic field and the step of the physics engine."""

from __future__ import annotations

from simwright.formats.sdf.writer.draft import Draft, add
from simwright.formats.sdf.writer.kept import restore, restore_plugins

ENGINES = ("ode", "bullet", "simbody", "dart", "tpe", "ignored")
_SAID = ("real_time_factor", "physics_engine")


def write_world(draft: Draft) -> None:
    """The settings of the world, where the file is one."""
    world, node = draft.asset.environment, draft.top.node
    if not draft.top.is_world:
        rows = {"time step": world.timestep, "wind": world.wind, "magnetic field": world.magnetic_field}
        for what, value in rows.items():
            said = [draft.asset.name] if value is not None else []
            draft.lose(f"{what} of a model", said, "write a world: --world", moves=what != "magnetic field")
        return
    for tag, values in (("gravity", world.gravity), ("magnetic_field", world.magnetic_field)):
        if values is not None:
            add(node, tag, values)
    if world.wind is not None:
        add(add(node, "wind"), "linear_velocity", world.wind)
    factor, engine = (world.settings.get(key) for key in _SAID)
    if world.timestep is not None or factor is not None or engine:
        physics = add(node, "physics", name="default", type=engine if engine in ENGINES else "ode")
        if world.timestep is not None:
            add(physics, "max_step_size", float(world.timestep))
        if factor is not None:
            add(physics, "real_time_factor", float(factor))
    roots = [owner for owner in draft.kept if owner.startswith("/") and owner.count("/") == 1]
    for owner in (draft.asset.name, *roots):
        restore(draft, node, "world", owner)
        restore_plugins(draft, node, owner)
