# SPDX-License-Identifier: Apache-2.0
"""The engine layers ``newton.usda``, ``physx.usda``, ``mujoco.usda`` and ``gazebo.usda`` (REP-0158 1.4).

Written here: dynamics of joints, Newton's mimics, initial states and custom attributes, options of the world; what is
left of sensors is in ``sensors``.
MuJoCo's own prims are in ``mujoco``; attributes the asset was read with, and values by the rows of the resolvers, are
in ``extras``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from pxr import Gf, Sdf

from simwright.core.diag import Reporter
from simwright.core.math3d import DEGREE
from simwright.formats.usd.writer.contacts import write_pairs
from simwright.formats.usd.writer.extras import (
    ROWS,
    move_extras,
    write_key,
    write_settings,
)
from simwright.formats.usd.writer.joints import SINGLE
from simwright.formats.usd.writer.layer import (
    LayerWriter,
    find_type,
    make_attribute_name,
    write_plain,
    write_typed,
)
from simwright.formats.usd.writer.messages import NOT_CARRIED, SETTING_LOST
from simwright.formats.usd.writer.mujoco import (
    write_couplings,
    write_keyframes,
    write_markers,
    write_mjc_actuators,
    write_tendons,
)
from simwright.formats.usd.writer.plan import WritePlan, find_articulation_root
from simwright.formats.usd.writer.sensors import write_left
from simwright.model.asset import Articulation, Asset
from simwright.model.elements import Environment
from simwright.model.extras import CustomAttribute, is_fallback
from simwright.model.filtering import find_components, list_articulated
from simwright.model.geometry import Mesh
from simwright.model.joint import Dof, Mimic, Motion
from simwright.resolve import newton
from simwright.resolve.table import PrimType

_TYPES = {
    "bool": "bool", "int": "int", "int64": "int64", "float": "double", "string": "string", "vec2": "double2",
    "vec3": "double3", "vec4": "double4", "ivec2": "int2", "ivec3": "int3", "ivec4": "int4", "quat": "quatd",
    "mat2": "matrix2d", "mat3": "matrix3d", "mat4": "matrix4d",
}  # fmt: skip


def write_custom(plan: WritePlan, layer: LayerWriter, reporter: Reporter) -> None:
    """Declarations and values; an element without a prim is reported."""
    lost = []
    for custom in plan.asset.custom_attributes:
        name = ":".join(part for part in ("newton", custom.namespace, custom.name) if part)
        _write(layer, plan.root, name, custom.type, custom.default)
        words = {"assignment": custom.assignment, "frequency": custom.frequency}
        layer.over(plan.root).attributes[name].SetInfo("customData", words)
        places = _find_places(plan, custom)
        for element, value in custom.values.items():
            path = places.get(element)
            if path and path != plan.root:
                _write_value(layer, path, name, custom, value)
            else:
                lost.append(custom)
    if lost:
        first = lost[0]
        reporter.report(
            NOT_CARRIED, first.source, count=len(lost), what="custom attributes", first=first.name
        )


def _find_places(plan: WritePlan, custom: CustomAttribute) -> dict[str, str]:
    match custom.frequency:
        case "body":
            return plan.bodies
        case "shape":
            return {**plan.visuals, **plan.colliders}
        case "articulation":
            return {a.name: _find_articulation(plan, a) for a in plan.asset.articulations}
    free = {joint.name: plan.bodies.get(joint.child, "") for joint in plan.asset.joints}
    return {**free, **plan.joints}


def _find_articulation(plan: WritePlan, articulation: Articulation) -> str:
    members = list_articulated(plan.asset, articulation, plan.tree)
    return find_articulation_root(plan, find_components(plan.tree)[members[0]]) if members else ""


def _write_value(layer: LayerWriter, path: str, name: str, custom: CustomAttribute, value: Any) -> None:
    """One value, or a list with one per coordinate; a list of equal ones is said once."""
    is_listed = custom.frequency in ("joint_dof", "joint_coord") and isinstance(value, list)
    if not is_listed:
        _write(layer, path, name, custom.type, value)
    # a reader spreads one value over all freedoms
    elif all(item == value[0] for item in value):
        _write(layer, path, name, custom.type, value[0])
    else:
        _write(layer, path, name, f"{custom.type}[]", value)


def _write(layer: LayerWriter, path: str, name: str, type_: str, value: Any) -> None:
    kind = _TYPES[type_.removesuffix("[]")]
    if type_.endswith("[]"):
        array = f"{kind}[]"
        items = [_make(kind, item) for item in value]
        layer.set(path, name, array, Sdf.ValueTypeNames.Find(array).type.pythonClass(items), custom=True)
    else:
        layer.set(path, name, kind, _make(kind, value), custom=True)


def _make(kind: str, value: Any) -> Any:
    """A value as OpenUSD wants it; quaternions are w, x, y, z, matrices rows."""
    if kind in ("bool", "int", "int64", "double", "string"):
        return value
    if kind == "quatd":
        return Gf.Quatd(value[0], Gf.Vec3d(*value[1:]))
    numbers = [v for row in value for v in row] if kind.startswith("matrix") else value
    return Sdf.ValueTypeNames.Find(kind).type.pythonClass(*numbers)


_GRAVITY = (0.0, 0.0, -9.81)
_STEP = 0.002
_MAGNETIC = (0.0, -0.5, 0.0)
"""MuJoCo's own, which need no word."""
_FLAGS = {"disable": False, "enable": True}
# options are the words of the source's simulator; MuJoCo's for all else
_SPACES = {"sdf": "gazebo", "urdf": "gazebo"}


# options and flags of one prim
def write_world(plan: WritePlan, layers: dict[str, LayerWriter]) -> None:
    """Gravity, step, wind and solver settings that differ from the solver's default."""
    space = _SPACES.get(plan.asset.provenance.format, "mjc")
    layer, root = layers[space], plan.root
    values = _list_surroundings(plan.asset.environment)
    scene = str(plan.asset.provenance.info.get("physicsScene", ""))
    for name, value in plan.asset.environment.settings.items():
        if is_fallback(plan.asset.origins, scene, name):
            continue
        if name in _FLAGS and isinstance(value, list):
            for flag in value:
                layer.set(root, make_attribute_name(space, "flag", flag), "bool", _FLAGS[name], custom=True)
        else:
            values[name] = value
    for name, value in values.items():
        write_plain(layer, root, make_attribute_name(space, "option", name), value)
    options = values if space == "mjc" else {}
    if plan.is_for_mujoco and "integrator" not in options and _has_damped_drives(plan.asset):
        # as in MJCF: servos that damp are not stable with MuJoCo's own integrator, which treats them explicitly
        options = {**options, "integrator": "implicitfast"}
    if plan.is_for_mujoco or (plan.is_for_newton and space == "mjc"):
        _write_mjc_scene(plan, layers["mjc"], options)


def _has_damped_drives(asset: Asset) -> bool:
    drives = [dof.drive for joint in asset.joints for dof in joint.dofs]
    return any(drive is not None and drive.damping and not drive.acceleration for drive in drives)


def _list_surroundings(world: Environment) -> dict[str, Any]:
    """What is not as MuJoCo has it by default: gravity, wind, magnetic field, time step."""
    fields = {
        "gravity": (world.gravity, _GRAVITY),
        "wind": (world.wind, (0.0, 0.0, 0.0)),
        "magnetic": (world.magnetic_field, _MAGNETIC),
    }
    values: dict[str, Any] = {
        name: [float(v) for v in value]
        for name, (value, usual) in fields.items()
        if value is not None and not np.array_equal(value, usual)
    }
    if world.timestep is not None and world.timestep != _STEP:
        values["timestep"] = world.timestep
    return values


def _write_mjc_scene(plan: WritePlan, layer: LayerWriter, values: dict[str, Any]) -> None:
    """Options at a physics scene, where MuJoCo's own reader looks for them, and Newton (1.7) for its MuJoCo solver.

    Without them, a servo that needs another integrator than the usual one is unstable there.
    """
    path = f"{plan.root}/PhysicsScene"
    # words of another simulator are none of MuJoCo's
    settings = {} if plan.asset.provenance.format in _SPACES else plan.asset.environment.settings
    words = {
        make_attribute_name("mjc", "option", name): value.lower() if isinstance(value, str) else value
        for name, value in values.items()
        if name != "gravity"  # which is the scene's own
    }
    for name, on in _FLAGS.items():
        flags = settings.get(name)
        words |= (
            {make_attribute_name("mjc", "flag", flag): on for flag in flags}
            if isinstance(flags, list)
            else {}
        )
    if words:
        layer.define(path, "PhysicsScene")
        layer.apply(path, "MjcSceneAPI")
    for word, value in words.items():
        vector = isinstance(value, list) and word.endswith((":wind", ":magnetic"))
        kind = "double3" if vector else find_type(word, value)
        if kind is not None:
            layer.set(path, word, kind, value, uniform=True)


FILES = {"mjc": "mujoco.usda", "newton": "newton.usda", "physx": "physx.usda", "gazebo": "gazebo.usda"}
_BODY_FIELDS = {
    "rigid_body_linear_damping": "linear_damping",
    "rigid_body_angular_damping": "angular_damping",
    "gravity_scale": "gravity_scale",
}


def write_vendors(plan: WritePlan, reporter: Reporter) -> dict[str, LayerWriter]:
    """A layer per solver that has something to say, by file name."""
    layers = {
        space: LayerWriter(
            plan.root, f"What only {space} understands of {plan.asset.name}.", exact=plan.exact
        )
        for space in FILES
    }
    for body in plan.asset.bodies:
        path = plan.bodies[body.name]
        for key, field in _BODY_FIELDS.items():
            value = getattr(body, field)
            # PhysX brakes every turning body by 0.05 1/s unless told otherwise, which no other engine does
            if value is None and plan.is_for_physx and field == "angular_damping":
                value = 0.0
            # a scale of one is what every solver has
            if value is not None and not (key == "gravity_scale" and value == 1.0):
                write_key(layers, path, PrimType.BODY, key, value)
    write_dynamics(plan, layers)
    write_contact_friction(plan, layers)
    write_newton_mimics(plan, layers["newton"])
    write_newton_stops(plan, layers["mjc"])
    write_newton_hulls(plan, layers["newton"])
    mujoco = layers["mjc"]
    write_markers(plan, mujoco)
    write_tendons(plan, mujoco, reporter)
    write_mjc_actuators(plan, mujoco, reporter)
    write_pairs(plan, mujoco, reporter)
    write_keyframes(plan, mujoco, reporter)
    write_couplings(plan, mujoco)
    write_states(plan, layers["newton"], reporter)
    write_custom(plan, layers["newton"], reporter)
    write_left(plan, layers)
    write_world(plan, layers)
    # after the model's own attributes: settings may be about prims that those define
    write_settings(plan, layers)
    move_extras(plan, layers, reporter)
    return {FILES[space]: layer for space, layer in layers.items()}


_DYNAMICS = {
    "newton": ("armature", "friction", "damping", "velocity_limit"),
    "mjc": ("armature", "friction", "damping", "stiffness", "spring_ref", "effort_limit"),
}
"""What engines read of joints in their own words alone; the neutral layers say it too, and count when read."""


def write_dynamics(plan: WritePlan, layers: dict[str, LayerWriter]) -> None:
    """Armature, friction, damping and the like of joints, by the rows of each engine."""
    for path, dofs in _list_joint_prims(plan).items():
        angular = dofs[0].motion is not Motion.SLIDE
        for space, keys in _DYNAMICS.items():
            for row in ROWS[space]:
                if row.prim is not PrimType.JOINT or row.key not in keys:
                    continue
                value = _find_common(row.key, dofs)
                # zero and infinity are what every engine has by itself
                if not value or not math.isfinite(value):
                    continue
                for name, raw in row.write(value, angular=angular).items():
                    write_typed(layers[space], path, name, raw, row.schema)


def write_contact_friction(plan: WritePlan, layers: dict[str, LayerWriter]) -> None:
    """Resistance of contacts to spinning and rolling, by the rows of each engine: none reads the neutral words."""
    for material in plan.asset.physics_materials:
        values = {"mu_torsional": material.torsional_friction, "mu_rolling": material.rolling_friction}
        for space in _DYNAMICS:
            for row in ROWS[space]:
                value = values.get(row.key) if row.prim is PrimType.MATERIAL else None
                if value is None or value == row.default:
                    continue
                for name, raw in row.write(value).items():
                    write_typed(layers[space], plan.contacts[material.name], name, raw, row.schema)


def _list_joint_prims(plan: WritePlan) -> dict[str, list[Dof]]:
    """Freedoms by joint prim; what a prim says holds for all of them."""
    places: dict[str, list[Dof]] = {}
    for joint in plan.asset.joints:
        if joint.name in plan.joints:
            for dof in joint.dofs:
                places.setdefault(plan.freedoms[dof.name][0], []).append(dof)
    return places


def _find_common(key: str, dofs: list[Dof]) -> float | None:
    """The value that all freedoms have; None where they differ, or where a hinge and a slide differ in its unit."""
    values = {getattr(dof, key) for dof in dofs}
    turning = {dof.motion is not Motion.SLIDE for dof in dofs}
    if len(values) != 1 or len(turning) != 1 or (key == "spring_ref" and not dofs[0].stiffness):
        return None
    value = values.pop()
    return None if value is None else float(value)


_STOP = [0.02, 1.0]
"""Time constant [s] and damping ratio of the stops of joints in MuJoCo."""


def write_newton_stops(plan: WritePlan, layer: LayerWriter) -> None:
    """The stops that MuJoCo has by default, where nothing is said of them.

    Those of Newton (1.7) are springs without damping to speak of: 1 kg that falls by 10 cm onto one goes through it by
    6 cm and is thrown back to where it came from.  Its MuJoCo solver reads MuJoCo's word.
    """
    if not plan.is_for_newton:
        return
    for path, dofs in _list_joint_prims(plan).items():
        stopped = any(math.isfinite(end) for dof in dofs for end in (dof.lower, dof.upper))
        said = any(value is not None for dof in dofs for value in (dof.limit_stiffness, dof.limit_damping))
        if stopped and not said:
            layer.apply(path, "MjcJointAPI")
            layer.set(path, "mjc:solreflimit", "double[]", _STOP, uniform=True)


def write_newton_hulls(plan: WritePlan, layer: LayerWriter) -> None:
    """Hulls with all their corners, where nothing is said of them: Newton (1.7) leaves 64 of them."""
    if not plan.is_for_newton:
        return
    for shape in plan.asset.shapes:
        path = plan.colliders.get(shape.name, "")
        if path and isinstance(shape.geometry, Mesh) and "max_hull_vertices" not in shape.settings:
            layer.apply(path, "NewtonMeshCollisionAPI")
            layer.set(path, "newton:maxHullVertices", "int", -1)


def write_newton_mimics(plan: WritePlan, layer: LayerWriter) -> None:
    """Rules between two hinges or two slides, which NewtonMimicAPI is defined for."""
    dofs = {dof.name: dof for joint in plan.asset.joints for dof in joint.dofs}
    rules: dict[str, Mimic] = {}
    for mimic in plan.asset.mimics:
        _, word = plan.freedoms.get(mimic.follower, ("", ""))
        _, other = plan.freedoms.get(mimic.leader, ("", ""))
        if word in SINGLE and word == other and not any(mimic.polynomial):
            rules.setdefault(mimic.follower, mimic)
    for mimic in rules.values():
        path = plan.freedoms[mimic.follower][0]
        leader, offset, multiplier = _follow_chain(mimic, rules)
        layer.apply(path, "NewtonMimicAPI")
        layer.relate(path, "newton:mimicJoint", [plan.freedoms[leader][0]])
        unit = DEGREE if dofs[mimic.follower].motion is Motion.HINGE else 1.0
        if offset:
            layer.set(path, "newton:mimicCoef0", "float", offset / unit)
        layer.set(path, "newton:mimicCoef1", "float", multiplier)
        if not mimic.enabled:
            layer.set(path, "newton:mimicEnabled", "bool", False)


def _follow_chain(mimic: Mimic, rules: dict[str, Mimic]) -> tuple[str, float, float]:
    """The joint at the end of a chain of rules, offset and multiplier: Newton (1.7) refuses to follow a follower."""
    leader, offset, multiplier = mimic.leader, mimic.offset, mimic.multiplier
    passed = {mimic.follower}
    while leader in rules and leader not in passed and rules[leader].enabled:
        passed.add(leader)
        rule = rules[leader]
        leader, offset, multiplier = (
            rule.leader,
            offset + multiplier * rule.offset,
            multiplier * rule.multiplier,
        )
    if leader in passed:  # rules in a circle have no end
        return mimic.leader, mimic.offset, mimic.multiplier
    return leader, offset, multiplier


# position and velocity of every freedom by one rule
def write_states(plan: WritePlan, layer: LayerWriter, reporter: Reporter) -> None:
    """Where hinges and slides start, and how fast, in the words of Newton."""
    lost = []
    rows = {row.key: row for row in newton.ROWS if row.prim is PrimType.JOINT}
    for joint in plan.asset.joints:
        for dof in joint.dofs:
            path, word = plan.freedoms.get(dof.name, ("", ""))
            for key, usual in (("position", dof.neutral()), ("velocity", np.zeros(dof.velocities))):
                value = getattr(dof, key)
                if value is None or np.array_equal(np.atleast_1d(value), usual):
                    continue
                row = rows.get(f"{word}_{key}")
                if row is None:
                    if not (dof.motion is Motion.FREE and key == "position"):
                        lost.append(joint)
                    continue
                angular = dof.motion is Motion.HINGE
                for name, raw in row.write(float(np.ravel(value)[0]), angular=angular).items():
                    layer.set(path, name, "float", raw, custom=True)
    if lost:
        what = "the initial state of balls and free bodies"
        reporter.report(SETTING_LOST, lost[0].source, what=what, count=len(lost), first=lost[0].name)
