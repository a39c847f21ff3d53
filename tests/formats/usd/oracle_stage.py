"""Scene, solver attributes, custom attributes and resolved values, against those of Newton's import."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from oracle_values import ORDERS, Difference, agree, agree_value, read_literal

from simwright.model.asset import Asset
from simwright.resolve.resolver import ResolverOrder, make_resolvers, schema_attrs
from simwright.resolve.table import PrimType


def compare_scene(asset: Asset, oracle: dict[str, Any]) -> Iterator[Difference]:
    scene, environment = oracle["scene"], asset.environment
    path = scene["physics_scene_path"] or "/"
    assert scene["linear_unit"] == asset.provenance.info["metersPerUnit"]
    assert scene["mass_unit"] == asset.provenance.info["kilogramsPerUnit"]
    if environment.gravity is None:
        assert scene["physics_scene_path"] is None
        return
    iterations = asset.origins[path]["max_solver_iterations"].value
    if environment.settings.get("max_solver_iterations", -1) != iterations:
        yield Difference(path, "scene.settings", environment.settings, iterations)
    for field, value, theirs in (
        ("scene.gravity", environment.gravity, scene["gravity"]),
        ("scene.timestep", environment.timestep or 1e-3, scene["physics_dt"]),
        ("scene.iterations", iterations, scene["max_solver_iterations"]),
    ):
        if not agree(value, theirs, 1.0 if field == "scene.gravity" else 0.0):
            yield Difference(path, field, value, theirs)


def compare_attributes(asset: Asset, oracle: dict[str, Any], order: str) -> Iterator[Difference]:
    """Newton writes quaternions x, y, z, w."""
    ours = schema_attrs(asset, ORDERS[order])
    for solver, prims in oracle["schema_attrs"].items():
        mine = ours[solver]
        for prim in sorted(set(mine) | set(prims)):
            left, right = mine.get(prim, {}), prims.get(prim, {})
            for name in sorted(set(left) | set(right)):
                element = f"{prim}.{name}"
                if name not in left or name not in right:
                    yield Difference(element, f"attribute.{solver}", left.get(name), right.get(name))
                elif not agree_value(left[name], right[name]):
                    yield Difference(element, f"attribute.{solver}", left[name], right[name])


def compare_mujoco(asset: Asset, oracle: dict[str, Any]) -> Iterator[Difference]:
    """Attributes that Newton takes for its MuJoCo solver as they are authored, and its actuators."""
    kept = asset.extras.values().get("mjc", {})
    labels = read_column(oracle, "joint_dof_label")
    for index, value in read_column(oracle, "solreflimit").items():
        path = labels[index].partition(":")[0]
        ours = kept.get(path, {}).get("mjc:solreflimit")
        if ours is None or not agree(ours, value):
            yield Difference(path, "mujoco.solreflimit", ours, value)
    gears, ranges = read_column(oracle, "actuator_gear"), read_column(oracle, "actuator_ctrlrange")
    targets = read_column(oracle, "actuator_target_label")
    actuators = {actuator.path: actuator for actuator in asset.actuators}
    joints = {joint.path: joint.name for joint in asset.joints}
    for index, path in read_column(oracle, "actuator_label").items():
        actuator = actuators.get(path)
        if actuator is None:
            yield Difference(path, "actuator", None, path)
            continue
        gear = (*actuator.gear, *[0.0] * (6 - len(actuator.gear)))
        for field, value, theirs in (
            ("actuator.target", actuator.target, joints[targets[index]]),
            ("actuator.gear", gear, gears[index]),
            ("actuator.range", actuator.control_range, ranges[index]),
        ):
            if not agree(value, theirs):
                yield Difference(path, field, value, theirs)


def read_column(oracle: dict[str, Any], name: str) -> dict[str, Any]:
    """The values of one attribute of Newton's MuJoCo solver by index."""
    values: dict[str, Any] = oracle["custom_attributes"].get(f"mujoco:{name}", {}).get("values", {})
    return values


FREQUENCIES = {"BODY": "bodies", "JOINT": "joints", "ARTICULATION": "articulations", "SHAPE": "shapes"}


def compare_custom(asset: Asset, oracle: dict[str, Any]) -> Iterator[Difference]:
    """Attributes declared on the stage; those of Newton's MuJoCo solver are not declared there."""
    ours = {f"{a.namespace}:{a.name}" if a.namespace else a.name: a for a in asset.custom_attributes}
    theirs = {k: v for k, v in oracle["custom_attributes"].items() if v["namespace"] != "mujoco"}
    for key in sorted(set(theirs) - set(ours)):
        yield Difference(key, "custom", None, theirs[key])
    for key, row in theirs.items():
        if key not in ours:
            continue
        attribute = ours[key]
        declared = (attribute.frequency.upper(), attribute.assignment.upper())
        if declared != (row["frequency"], row["assignment"]):
            yield Difference(key, "custom.declared", declared, (row["frequency"], row["assignment"]))
        if not agree_value(attribute.default, row["default"]):
            yield Difference(key, "custom.default", attribute.default, row["default"])
        names = {element.name: element.path for element in getattr(asset, FREQUENCIES[row["frequency"]])}
        found = {names.get(name, name): value for name, value in attribute.values.items()}
        listed = oracle[FREQUENCIES[row["frequency"]]]
        expected = {listed[int(index)]["path"]: read_literal(value) for index, value in row["values"].items()}
        if set(found) != set(expected):
            yield Difference(key, "custom.elements", sorted(found), sorted(expected))
        for path in set(found) & set(expected):
            if not agree_value(found[path], expected[path]):
                yield Difference(key, "custom.value", found[path], expected[path])


def compare_resolved(asset: Asset, oracle: dict[str, Any], order: str) -> Iterator[Difference]:
    """The three layers of the resolvers (authored, importer, schema) where Newton asks without a default."""
    chain = ResolverOrder(make_resolvers(ORDERS[order]))
    authored: dict[str, dict[str, Any]] = {}
    for _, prim, attribute, extra in asset.extras:
        authored.setdefault(prim, {})[attribute] = extra.value

    def ask(path: str, prim: PrimType, key: str, default: Any = None) -> Any:
        return chain.resolve(authored.get(path, {}), prim, key, default=default).value

    scene = oracle["scene"]
    path = scene["physics_scene_path"]
    if path is not None:
        iterations = ask(path, PrimType.SCENE, "max_solver_iterations")
        steps = ask(path, PrimType.SCENE, "time_steps_per_second", 1000)
        for field, value, theirs in (
            ("resolved.iterations", iterations, scene["max_solver_iterations"]),
            ("resolved.timestep", 1.0 / steps, scene["physics_dt"]),
        ):
            if not agree(value, theirs):
                yield Difference(path, field, value, theirs)
    for row in oracle["shapes"]:
        if row["paths"] and "COLLIDE_SHAPES" in row["flag_names"]:
            gap, margin = (ask(row["path"], PrimType.SHAPE, key) for key in ("gap", "margin"))
            if not (agree(0.1 if gap is None else gap, row["gap"]) and agree(margin, row["margin"])):
                yield Difference(row["path"], "resolved.gap", (gap, margin), (row["gap"], row["margin"]))
