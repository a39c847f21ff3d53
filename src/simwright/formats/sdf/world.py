# SPDX-License-Identifier: Apache-2.0
"""``<world>``: gravity, wind, magnetic field, physics step; what else a world says is kept as extras."""

from __future__ import annotations

from simwright.core.diag import Level, declare
from simwright.formats.sdf.context import Reading
from simwright.formats.sdf.document import Document
from simwright.formats.sdf.include import NOT_CARRIED
from simwright.formats.xml import Element

MORE_PHYSICS = declare(
    "sdf-more-physics",
    Level.INFO,
    "the world has {count} physics profiles; {name!r} is read",
    doc="Only the default physics profile of a world (else its first) is read.",
)

_TREE_TAGS = {
    "model", "include", "frame", "joint", "light", "plugin", "actor", "population", "state", "gui", "road",
}  # fmt: skip
_CARRIED = {"gravity", "magnetic_field", "wind", "physics"}
_KNOWN = {"scene", "atmosphere", "audio", "spherical_coordinates"}


def read_environment(reading: Reading, document: Document, world: Element) -> None:
    """The settings of a world; what it holds is read elsewhere."""
    environment = reading.asset.environment
    owner = reading.world_name
    physics = _choose_physics(reading, document, world)
    for source in (physics, world):  # up to 1.5 gravity is inside <physics>
        if source is not None and document.text(source, "gravity"):
            environment.gravity = document.values(source, "gravity", 3, (0.0, 0.0, -9.8))
        if source is not None and document.text(source, "magnetic_field"):
            environment.magnetic_field = document.values(source, "magnetic_field", 3, (0.0, 0.0, 0.0))
    wind = document.child(world, "wind")
    if wind is not None:
        environment.wind = document.values(wind, "linear_velocity", 3, (0.0, 0.0, 0.0))
        reading.keep_rest(document, wind, owner, {"linear_velocity"})
    if physics is not None:
        environment.timestep = document.quantity(physics, "max_step_size")
        factor = document.amount(physics, "real_time_factor")
        if factor is not None:
            environment.settings["real_time_factor"] = factor
        if physics.get("type"):
            environment.settings["physics_engine"] = physics.get("type")
        taken = {"max_step_size", "real_time_factor", "gravity", "magnetic_field"}
        reading.keep_rest(document, physics, owner, taken)
    reading.keep_rest(document, world, owner, _CARRIED | _TREE_TAGS, _KNOWN)


def _choose_physics(reading: Reading, document: Document, world: Element) -> Element | None:
    profiles = list(document.children(world, "physics"))
    if not profiles:
        return None
    chosen = next((p for p in profiles if document.flag_attribute(p, "default")), profiles[0])
    if len(profiles) > 1:
        where = document.where(chosen)
        data = {"count": len(profiles), "name": chosen.get("name", "")}
        reading.reporter.report(MORE_PHYSICS, where, **data)
    return chosen


def report_other_worlds(reading: Reading, document: Document, worlds: list[Element]) -> None:
    """Say which worlds after the first are not read."""
    for world in worlds[1:]:
        data = {
            "tag": "world",
            "name": world.get("name", ""),
            "reason": "a file is read up to its first world",
        }
        reading.reporter.report(NOT_CARRIED, document.where(world), **data)
