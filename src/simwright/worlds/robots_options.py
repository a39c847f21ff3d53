# SPDX-License-Identifier: Apache-2.0
"""Planners, executors, grasp generators and sensors a robot may name: one table of properties each.

A property without a default has to be given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from simwright.core.registry import Registry, import_object
from simwright.worlds import messages
from simwright.worlds.document import Refusal, WorldEntry, suggest
from simwright.worlds.entities import ActionOptions, ComponentOptions
from simwright.worlds.read_state import WorldReading


class _Required:
    """Marks a property that has to be given."""

    def __init__(self, sort: type) -> None:
        self.sort = sort


_NUMBER = _Required(float)
_TEXT = _Required(str)
Table = Mapping[str, Mapping[str, Any]]

_STEP = {"collision_check_step_dist": 0.025}
PLANNERS: Table = {
    "astar": {
        "grid_resolution": _NUMBER,
        "grid_inflation_radius": _NUMBER,
        "heuristic": "euclidean",
        "diagonal_motion": True,
        "compress_path": False,
    },
    "rrt": {
        "bidirectional": False,
        "rrt_connect": False,
        "rrt_star": False,
        **_STEP,
        "max_connection_dist": 0.25,
        "max_nodes_sampled": 1000,
        "max_time": 2.0,
        "rewire_radius": 1.0,
        "compress_path": False,
    },
    "prm": {"max_nodes": 50, "max_connection_dist": 2.0, **_STEP, "compress_path": False},
    "world_graph": {**_STEP, "max_connection_dist": None, "compress_path": False},
}
EXECUTORS: Table = {
    "constant_velocity": {
        "dt": 0.1,
        "linear_velocity": 1.0,
        "max_angular_velocity": None,
        "validate_during_execution": False,
        "validation_dt": 0.5,
        "validation_step_dist": 0.025,
        "lidar_sensor_name": "",
        "lidar_sensor_measurement_dt": 0.25,
    },
}
GRASPS: Table = {
    "parallel_grasp": {
        "max_width": _NUMBER,
        "depth": _NUMBER,
        "height": _NUMBER,
        "width_clearance": 0.0,
        "depth_clearance": 0.0,
    },
}
# a period in seconds, whatever the name says
_SENSOR = {"update_rate_s": _NUMBER, "angle_units": _TEXT, "min_angle": _NUMBER, "max_angle": _NUMBER}
SENSORS: Table = {
    "lidar": {**_SENSOR, "angular_resolution": _NUMBER, "max_range_m": _NUMBER},
    "fov": {**_SENSOR, "max_range_m": _NUMBER},
}
# where types are found that are not in the tables here
# by name, not imported: planners and sensors import this module
_REGISTRIES = {
    "path planner": "simwright.worlds.planning.planner:PLANNERS",
    "path executor": "simwright.worlds.execution.executor:EXECUTORS",
    "grasp generator": "simwright.worlds.acting.manipulation:GRASPS",
    "sensor": "simwright.worlds.sensing.sensor:SENSORS",
}
HEURISTICS = ("euclidean", "manhattan", "none")
MAX_COUNT = 1_000_000
"""Nodes that a tree or a road map may have."""
_SWITCHES = {"diagonal_motion", "compress_path", "bidirectional", "rrt_connect", "rrt_star"}
_COUNTS = {"max_nodes", "max_nodes_sampled"}
_POSITIVE = {
    *("grid_resolution", "collision_check_step_dist", "max_connection_dist", "dt", "linear_velocity"),
    *("max_angular_velocity", "validation_dt", "validation_step_dist", "lidar_sensor_measurement_dt"),
}
_OPTIONAL = {"max_connection_dist", "max_angular_velocity"}
_NOT_NEGATIVE = {"grid_inflation_radius", "rewire_radius", "max_time", "max_width", "depth", "height"}
ACTIONS = ("navigate", "pick", "place", "detect", "open", "close")
_ACTION_KEYS = frozenset({"delay", "success_probability", "rng_seed", "battery_usage"})


def read_planner(reading: WorldReading, robot: WorldEntry) -> ComponentOptions | None:
    """The path planner; an unknown type is an error."""
    entry = robot.child("path_planner")
    return None if entry is None else _read_options(reading, entry, PLANNERS, "path planner")


def read_executor(reading: WorldReading, robot: WorldEntry) -> ComponentOptions | None:
    """The path executor, with defaults where none is named; None for an unknown type."""
    entry = robot.child("path_executor")
    if entry is None:
        return ComponentOptions("constant_velocity", dict(EXECUTORS["constant_velocity"]))
    return _read_tolerant(reading, entry, EXECUTORS, "path executor", "type")


def read_grasping(reading: WorldReading, robot: WorldEntry, name: str) -> ComponentOptions | None:
    """The grasp generator, under the key that PyRoboSim reads or the one that it documents."""
    entry = robot.child("grasping")
    if entry is not None:
        return _read_tolerant(reading, entry, GRASPS, "grasp generator", "generator")
    # the manual of PyRoboSim documents this key, its code reads the other one
    entry = robot.child("grasp_generator")
    if entry is None or reading.reference:
        return None
    reading.report(messages.GRASP_KEY, entry.find_where(), name=name)
    return _read_tolerant(reading, entry, GRASPS, "grasp generator", "type")


def read_sensors(reading: WorldReading, robot: WorldEntry) -> dict[str, ComponentOptions]:
    """The sensors by name."""
    section = robot.child("sensors")
    if section is None:
        return {}
    found = {}
    for name in section.data:
        entry = section.child(name)
        if entry is None:
            raise section.refuse_sort(None, "a mapping with a type", name)
        options = _read_options(reading, entry, SENSORS, "sensor")
        if options.type in SENSORS:
            _check_sensor(entry, options)
        found[name] = options
    return found


def read_actions(reading: WorldReading, robot: WorldEntry) -> dict[str, ActionOptions]:
    """Options of actions by name."""
    section = robot.child("action_execution_options")
    if section is None:
        return {}
    reading.check_loose_keys(section, ACTIONS)
    found = {}
    for name in section.data:
        entry = section.child(name) or WorldEntry(section.document, (*section.path, name), {})
        reading.check_keys(entry, _ACTION_KEYS)
        seed = entry.get("rng_seed")
        if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
            raise entry.refuse_sort(seed, "a whole number that is not negative", "rng_seed")
        if not reading.reference:
            _check_action(entry)
        found[name] = ActionOptions(
            delay=entry.number("delay", 0.0),
            success_probability=entry.number("success_probability", 1.0),
            rng_seed=seed,
            battery_usage=entry.number("battery_usage", 0.0),
        )
    return found


def _check_action(entry: WorldEntry) -> None:
    for key in ("delay", "battery_usage"):
        if entry.number(key, 0.0) < 0.0:
            raise entry.refuse_sort(entry.number(key), "not negative", key)
    if not 0.0 <= entry.number("success_probability", 1.0) <= 1.0:
        raise entry.refuse_sort(entry.number("success_probability"), "from 0 to 1", "success_probability")


def angles_in_radians(options: ComponentOptions, key: str) -> float:
    """An angle of a sensor [rad]."""
    value = float(options[key])
    return math.radians(value) if options["angle_units"] == "degrees" else value


def find_wrong_property(values: Mapping[str, Any]) -> tuple[str, str] | None:
    """A property that nothing can work with, and what it has to be; None where all is well."""
    for key, value in values.items():
        for keys, is_good, wanted in _CHECKS:
            if key in keys and not is_good(value) and not (value is None and key in _OPTIONAL):
                return key, wanted
    return None


def _is_number(value: Any) -> bool:
    # a bool is an int to Python; YAML's `yes` is not a distance
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


# which properties are checked, how, and what the message says that they have to be
_CHECKS: tuple[tuple[set[str], Callable[[Any], bool], str], ...] = (
    (_SWITCHES, lambda value: isinstance(value, bool), "true or false"),
    ({"heuristic"}, lambda value: value in HEURISTICS, f"one of {', '.join(HEURISTICS)}"),
    (_COUNTS, lambda value: _is_number(value) and 0 <= value <= MAX_COUNT, f"a number up to {MAX_COUNT:,}"),
    (_POSITIVE, lambda value: _is_number(value) and value > 0.0, "positive"),
    (_NOT_NEGATIVE, lambda value: _is_number(value) and value >= 0.0, "not negative"),
)


def _read_options(
    reading: WorldReading, entry: WorldEntry, table: Table, what: str, type_key: str = "type"
) -> ComponentOptions:
    kind = entry.text(type_key)
    # the tables first: asking a registry loads the class and what it imports
    properties = table.get(kind) or _find_plugin(what, kind)
    if properties is None:
        raise Refusal(
            messages.MISSING_PART,
            entry.find_where(type_key),
            place=entry.spell(type_key),
            what=what,
            name=kind,
            meant=suggest(kind, table),
        )
    reading.check_keys(entry, frozenset({type_key, *properties}))
    values = {key: _read_value(entry, key, default) for key, default in properties.items()}
    wrong = None if reading.reference else find_wrong_property(values)
    if wrong is not None:
        raise entry.refuse_sort(values[wrong[0]], wrong[1], wrong[0])
    return ComponentOptions(kind, values)


def _read_tolerant(
    reading: WorldReading, entry: WorldEntry, table: Table, what: str, type_key: str
) -> ComponentOptions | None:
    """The same, where PyRoboSim warns of an unknown type and goes on without."""
    kind = entry.text(type_key)
    if kind in table or _find_plugin(what, kind) is not None:
        return _read_options(reading, entry, table, what, type_key)
    reading.report(
        messages.UNUSED_OPTION,
        entry.find_where(type_key),
        place=entry.spell(type_key),
        reason=f"there is no {what} {kind!r}, so the robot has none",
        meant=suggest(kind, table),
    )
    return None


def _find_plugin(what: str, kind: str) -> Mapping[str, Any] | None:
    """Names and defaults of the properties of a type that another package brings."""
    registry = import_object(_REGISTRIES[what])
    assert isinstance(registry, Registry)
    return dict(registry.get(kind).PROPERTIES) if kind in registry else None


def _read_value(entry: WorldEntry, key: str, default: Any) -> Any:
    sort = default.sort if isinstance(default, _Required) else type(default)
    required = isinstance(default, _Required)
    if sort is bool:
        return entry.flag(key, bool(default))
    if sort is str:
        return entry.text(key, None if required else default)
    if required:
        return entry.number(key)
    if key not in entry:
        return default
    value = entry.number(key)
    # 1e3 is a float to YAML, and as good a count as 1000
    return round(value) if sort is int and value == round(value) else value


def _check_sensor(entry: WorldEntry, options: ComponentOptions) -> None:
    units = options["angle_units"]
    if units not in {"radians", "degrees"}:
        raise Refusal(messages.BAD_UNITS, entry.find_where("angle_units"), found=units)
    if options["max_angle"] <= options["min_angle"]:
        raise entry.refuse_sort(options["max_angle"], "larger than min_angle", "max_angle")
    if options["max_range_m"] <= 0.0:
        raise entry.refuse_sort(options["max_range_m"], "positive", "max_range_m")
    if options.type == "lidar" and options["angular_resolution"] <= 0.0:
        raise entry.refuse_sort(options["angular_resolution"], "positive", "angular_resolution")
