# SPDX-License-Identifier: Apache-2.0
"""``<keyframe>``: the states of the model, and the initial one where MuJoCo would start otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.core.math3d import quat_conjugate, quat_rotate
from simwright.formats.mjcf.writer.actuators import find_target_control
from simwright.formats.mjcf.writer.draft import Draft, Freedom, Limb
from simwright.model.asset import Keyframe
from simwright.model.joint import POSITIONS, VELOCITIES, Motion

INITIAL = "initial"


def write_keyframes(draft: Draft) -> None:
    """Keyframes in their order; the initial state last, if it is not MuJoCo's own."""
    controls = _list_controls(draft)
    for key in draft.asset.keyframes:
        _write_key(draft, key, controls)
    qpos, qvel, ctrl = _find_initial(draft, controls)
    rest = np.concatenate([_rest(limb, f) for limb, f in _list_freedoms(draft)] or [np.zeros(0)])
    values: dict[str, Any] = {
        "qpos": None if np.array_equal(qpos, rest) else qpos,
        "qvel": qvel if qvel.any() else None,
        "ctrl": ctrl if any(ctrl) else None,
    }
    if any(value is not None for value in values.values()):
        name = draft.claim("key", INITIAL)
        draft.note("initial", "", name)
        draft.add(draft.section("keyframe"), "key", {"name": name, **values})


def _list_freedoms(draft: Draft) -> list[tuple[Limb, Freedom]]:
    return [(limb, freedom) for limb in draft.limbs.values() for freedom in limb.freedoms]


def _list_controls(draft: Draft) -> list[str]:
    """Names of the written actuators in order, one of several controls as ``name[0]``, ``name[1]`` ..."""
    section = draft.root.find("actuator")
    counts = {draft.name("actuator", a.name): a.settings.get("controls") for a in draft.asset.actuators}
    names: list[str] = []
    for node in () if section is None else section:
        name = str(node.get("name"))
        count = counts.get(name)
        names += [name] if count is None else [f"{name}[{number}]" for number in range(count)]
    return names


def _rest(limb: Limb, freedom: Freedom) -> Any:
    """MuJoCo's own coordinates before anything moves."""
    match freedom.motion:
        case Motion.FREE:
            return np.concatenate((limb.pose.p, limb.pose.q))
        case Motion.BALL:
            return np.array((1.0, 0.0, 0.0, 0.0))
    return np.array((freedom.dof.ref if freedom.dof else 0.0,))


def _write_key(draft: Draft, key: Keyframe, controls: list[str]) -> None:
    qpos, qvel = [], []
    for limb, freedom in _list_freedoms(draft):
        name = freedom.dof.name if freedom.dof else freedom.name
        qpos.append(_fit(_convert(freedom, key.positions.get(name)), _rest(limb, freedom)))
        qvel.append(_fit(key.velocities.get(name), np.zeros(VELOCITIES[freedom.motion])))
    given: dict[str, float] = {}
    for name, value in key.controls.items():
        plain, bracket, number = name.partition("[")
        given[f"{draft.name('actuator', plain) or plain}{bracket}{number}"] = value
    ctrl = [given.get(name, 0.0) for name in controls]
    velocity = np.concatenate(qvel) if qvel else np.zeros(0)
    name = draft.claim("key", key.name)
    draft.note("keyframe", key.name, name)
    values: dict[str, Any] = {
        "name": name,
        "time": key.time or None,
        "qpos": np.concatenate(qpos) if qpos else None,
        "qvel": velocity if velocity.any() else None,
        "ctrl": ctrl if any(ctrl) else None,
        **_restore(draft, key),
    }
    draft.add(draft.section("keyframe"), "key", values)


def _restore(draft: Draft, key: Keyframe) -> dict[str, Any]:
    """What the model has no words for: inner states of actuators, places of bodies that are moved from outside."""
    found = {}
    for name in ("act", "mpos", "mquat"):
        value = draft.solver.take(f"key/{key.name}", name)
        if value is None and key.path:
            value = draft.solver.take(key.path, name)
        found[name] = None if value is None else np.ravel(value)
    return found


def _convert(freedom: Freedom, values: Any) -> Any:
    return None if values is None else freedom.convert(values)


def _fit(given: Any, default: Any) -> Any:
    values = default if given is None else np.atleast_1d(np.asarray(given, dtype=np.float64))
    return values if len(values) == len(default) else default


def _find_initial(draft: Draft, controls: list[str]) -> tuple[Any, Any, list[float]]:
    qpos, qvel = [np.zeros(0)], [np.zeros(0)]
    targets: dict[str, float] = {}
    for limb, freedom in _list_freedoms(draft):
        dof = freedom.dof
        start = None if dof is None or freedom.motion is Motion.FREE else dof.position
        qpos.append(_fit(_convert(freedom, start), _rest(limb, freedom)))
        assert len(qpos[-1]) == POSITIONS[freedom.motion]
        speed = None if dof is None else dof.velocity
        still = _find_velocity(limb, freedom)
        qvel.append(_fit(speed, still))
        if dof is not None and dof.drive is not None:
            targets[draft.names.get(("drive", freedom.name), "")] = find_target_control(dof.drive)
    ctrl = [targets.get(name, 0.0) for name in controls]
    return np.concatenate(qpos), np.concatenate(qvel), ctrl


def _find_velocity(limb: Limb, freedom: Freedom) -> Any:
    """Of a free body, as MuJoCo counts: linear in the world, angular in the body."""
    velocity = np.zeros(VELOCITIES[freedom.motion])
    if freedom.motion is Motion.FREE:
        body = limb.body
        if body.linear_velocity is not None:
            velocity[:3] = body.linear_velocity
        if body.angular_velocity is not None:
            velocity[3:] = quat_rotate(quat_conjugate(limb.pose.q), body.angular_velocity)
    return velocity
