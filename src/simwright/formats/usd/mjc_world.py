# SPDX-License-Identifier: Apache-2.0
"""MuJoCo's keyframes, pairs of colliders and tendon equalities, and options that an asset keeps at its root.

An asset brings no physics scene; the options of the file it was made from are attributes of its root.  A scene on the
stage comes first.
"""

from __future__ import annotations

import json
import math
from typing import Any

from simwright.core.diag import Level, declare
from simwright.core.math3d import vec3
from simwright.formats.usd.found import Found
from simwright.formats.usd.leftovers import make_plain
from simwright.formats.usd.naming import name_prims
from simwright.formats.usd.noted_joints import numbers, texts
from simwright.formats.usd.scan import Scan
from simwright.formats.usd.source import Source, as_rows
from simwright.model.asset import ContactPair, Keyframe
from simwright.model.joint import Dof, Equality, EqualityKind

KEYFRAME_SIZE = declare(
    "usd-keyframe-size",
    Level.ERROR,
    "{attribute} of keyframe {name!r} has {count} numbers, the asset {expected}; it is left out",
    hint="give a number for every coordinate or control, in the order of the joints and actuators",
    doc="A MuJoCo keyframe does not fit the joints and actuators that were read.",
    loss=True,
)
PAIR_INCOMPLETE = declare(
    "usd-contact-pair",
    Level.ERROR,
    "the contact pair {name!r} is left out: {target} is no collider",
    hint="point mjc:pair:geom1 and geom2 at colliders",
    doc="A pair of colliders with contact settings of its own names something else.",
    loss=True,
)

_PAIR = "mjc:pair:"
_JSON = ":json"
_VECTORS = {"gravity": "gravity", "wind": "wind", "magnetic": "magnetic_field"}
_SPACES = ("mjc", "gazebo")


def read_keyframes(source: Source, scan: Scan) -> None:
    """Keyframes, by the order of joints and actuators; after both are complete."""
    prims = [found for found in scan.all.values() if found.type == "MjcKeyframe"]
    names = name_prims(prims, noted=source.noted)
    dofs = [dof for joint in source.asset.joints for dof in joint.dofs]
    for found in prims:
        time = source.get_number(found, "mjc:time", 0.0)
        keyframe = Keyframe(names[found.path], time=time, path=found.path)
        for attribute, table, sizes in (
            ("mjc:qpos", keyframe.positions, [dof.positions for dof in dofs]),
            ("mjc:qvel", keyframe.velocities, [dof.velocities for dof in dofs]),
        ):
            table.update(_deal(_read_state(source, found, attribute, names, sum(sizes)), dofs, sizes))
        slots = texts(source.note(found).get("controls")) or [a.name for a in source.asset.actuators]
        controls = _read_state(source, found, "mjc:ctrl", names, len(slots))
        keyframe.controls |= dict(zip(slots, controls, strict=False))
        source.asset.keyframes.append(keyframe)


def _read_state(
    source: Source, found: Found, attribute: str, names: dict[str, str], expected: int
) -> list[float]:
    values = [float(v) for v in as_rows(source.get(found, attribute), 1)[:, 0]]
    if values and (len(values) != expected or not all(map(math.isfinite, values))):
        where = source.where(found, attribute)
        source.reporter.report(
            KEYFRAME_SIZE,
            where,
            attribute=attribute,
            name=names[found.path],
            count=len(values),
            expected=expected,
        )
        return []
    return values


def _deal(values: list[float], dofs: list[Dof], sizes: list[int]) -> dict[str, Any]:
    """Each freedom its numbers."""
    result: dict[str, Any] = {}
    start = 0
    for dof, size in zip(dofs, sizes, strict=True):
        part = values[start : start + size]
        start += size
        if len(part) == size:
            result[dof.name] = part[0] if size == 1 else part
    return result


def read_pairs(source: Source, scan: Scan) -> None:
    """Colliders that always touch."""
    prims = [
        f
        for f in scan.all.values()
        if f.may_author(f"{_PAIR}geom1") and f.prim.HasRelationship(f"{_PAIR}geom1")
    ]
    names = name_prims(prims, noted=source.noted)
    for found in prims:
        ends = [source.get_targets(found, f"{_PAIR}geom{number}")[:1] for number in (1, 2)]
        missing = next((end for end in ends if not end or end[0] not in source.shapes), None)
        if missing is not None:
            target = missing[0] if missing else "nothing"
            where = source.where(found)
            source.reporter.report(PAIR_INCOMPLETE, where, name=names[found.path], target=target)
            continue
        source.asset.contact_pairs.append(
            ContactPair(
                source.shapes[ends[0][0]],
                source.shapes[ends[1][0]],
                names[found.path],
                read_settings(source, found, _PAIR, {"geom1", "geom2"}),
                source.where(found),
            )
        )


def read_settings(source: Source, found: Found, prefix: str, skipped: set[str]) -> dict[str, Any]:
    """Custom attributes below a prefix, as they were before they were written."""
    settings: dict[str, Any] = {}
    names = found.prim.GetAuthoredPropertyNames() if found.authored is None else found.authored
    for name in sorted(name for name in names if name.startswith(prefix)):
        key = name[len(prefix) :]
        if key.removesuffix(_JSON) in skipped:
            continue
        value = make_plain(source.get(found, name))
        if key.endswith(_JSON) and isinstance(value, str):
            key, value = key.removesuffix(_JSON), _parse(value)
        if value is not None:
            settings[key.replace(":", ".")] = value
    return settings


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def read_tendon_equalities(source: Source, scan: Scan) -> None:
    """Tendons that are held to each other or to a length."""
    for path, name in source.tendons.items():
        found = scan.all[path]
        if not found.may_author("mjc:equality:coef"):
            continue
        targets = source.get_targets(found, "mjc:equality:tendon")
        polynomial = tuple(float(v) for v in as_rows(source.get(found, "mjc:equality:coef"), 1)[:, 0])
        if (targets and targets[0] not in source.tendons) or not all(map(math.isfinite, polynomial)):
            continue
        source.asset.equalities.append(
            Equality(
                name=source.get_text(found, "mjc:equality:name", name),
                kind=EqualityKind.TENDON,
                a=name,
                b=source.tendons[targets[0]] if targets else "",
                polynomial=polynomial,
                enabled=source.get_flag(found, "mjc:equality:active", True),
                source=source.where(found),
            )
        )


def read_root_options(source: Source, scan: Scan) -> None:
    """Options at the root of an asset, where no scene says them."""
    prim = source.stage.GetDefaultPrim()
    found = scan.all.get(str(prim.GetPath())) if prim and not scan.scenes else None
    world = source.asset.environment
    if found is None:
        return
    for space in _SPACES:
        for key, value in read_settings(source, found, f"{space}:option:", set()).items():
            if key in _VECTORS:
                vector = numbers(value, finite=True)
                setattr(world, _VECTORS[key], vec3(*vector) if len(vector) == 3 else None)
            elif key == "timestep":
                is_step = isinstance(value, int | float) and 0.0 < value < math.inf
                world.timestep = float(value) if is_step else None
            else:
                world.settings[key] = value
        for key, value in read_settings(source, found, f"{space}:flag:", set()).items():
            flags = world.settings.setdefault("enable" if value else "disable", [])
            flags.append(key)
