# SPDX-License-Identifier: Apache-2.0
"""Custom attributes: declared on the physics scene, given values on bodies, shapes, joints and articulations.

A declaration is an attribute ``newton:name`` or ``newton:namespace:name`` whose custom data says where it is
stored (assignment) and what it counts over (frequency).  Elsewhere the same attribute gives an element its
value.  A scene that says the same twice says it once; one that contradicts another is reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pxr import Usd

from simwright.core.diag import Level, declare
from simwright.formats.usd.custom_types import WrongValueError, convert_value, find_type, make_zero
from simwright.formats.usd.leftovers import make_plain
from simwright.formats.usd.scan import Found, Scan
from simwright.formats.usd.source import Source
from simwright.model.extras import CustomAttribute
from simwright.model.joint import Joint

CUSTOM_DECLARATION = declare(
    "usd-custom-declaration",
    Level.ERROR,
    "{attribute} does not declare a custom attribute: {why}",
    hint='give it customData = {{ string assignment = "model", string frequency = "body" }} or other words of '
    "the two lists",
    doc="A custom attribute on the physics scene lacks its storage place or granularity, or names an unknown "
    "one, or is declared twice in different ways. Values given to it are not read.",
)
CUSTOM_VALUE = declare(
    "usd-custom-value",
    Level.ERROR,
    "{attribute} = {value} is not used: {why}",
    hint="author a value of the declared type {type}",
    doc="The value an element gives to a custom attribute does not fit its declaration; the default is used.",
)
CUSTOM_MISPLACED = declare(
    "usd-custom-misplaced",
    Level.WARNING,
    "{attribute} counts over {frequency}, but stands on a prim that is none; it has no effect",
    hint="author it on the prim of the {frequency}",
    doc="A custom attribute is given a value where nothing reads it.",
)

ASSIGNMENTS = ("model", "state", "control", "contact")
FREQUENCIES = (
    "body", "shape", "joint", "joint_dof", "joint_coord", "articulation", "once", "world",
)  # fmt: skip
_SPACE = "newton"
_SCHEMA_NAMES = frozenset(
    {
        "newton:maxSolverIterations",
        "newton:timeStepsPerSecond",
        "newton:gravityEnabled",
        "newton:joint_drive_gains_scaling",
        "newton:collapse_fixed_joints",
    }
)
_SCHEMA_SPACES = frozenset({"xpbd", "vbd", "kamino", "mpm"})
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class _Role:
    """What a prim is to custom attributes: an element, and its joint where it is one."""

    frequencies: frozenset[str]
    element: str
    joint: Joint | None = None
    inherited: bool = False


def read_custom(source: Source, scan: Scan) -> None:
    """Add the declared attributes with the values that elements give them."""
    declared: dict[str, CustomAttribute] = {}
    for scene in scan.scenes:
        for attribute in scene.prim.GetAuthoredPropertiesInNamespace(_SPACE):
            if isinstance(attribute, Usd.Attribute):
                _declare(source, scene, attribute, declared)
    root = _find_root(source, scan)
    for attribute in root.prim.GetAuthoredPropertiesInNamespace(_SPACE) if root is not None else ():
        if root is not None and {"assignment", "frequency"} <= attribute.GetCustomData().keys():
            _declare(source, root, attribute, declared)
    if not declared:
        return
    source.asset.custom_attributes += declared.values()
    roles = _list_roles(source)
    scenes = {scene.path for scene in scan.scenes} | ({root.path} if root is not None else set())
    for path in dict.fromkeys([*scan.all, *roles]):
        if path in scenes:
            continue
        prim = scan.all[path].prim if path in scan.all else source.stage.GetPrimAtPath(path)
        for attribute in prim.GetAuthoredPropertiesInNamespace(_SPACE) if prim else ():
            custom = declared.get(attribute.GetName())
            if custom is not None and isinstance(attribute, Usd.Attribute):
                _assign(source, attribute, custom, roles.get(path, []))


def _find_root(source: Source, scan: Scan) -> Found | None:
    """The root of an asset with notes: it declares what has no scene to be declared on."""
    prim = source.stage.GetDefaultPrim()
    return scan.all.get(str(prim.GetPath())) if prim and source.noted else None


def _declare(
    source: Source, scene: Found, attribute: Usd.Attribute, declared: dict[str, CustomAttribute]
) -> None:
    name = attribute.GetName()
    words = attribute.GetCustomData()
    if not words.keys() & {"assignment", "frequency"} and _is_schema(attribute):
        return
    try:
        custom = _read_declaration(source, attribute, words)
    except WrongValueError as why:
        _report_declaration(source, scene, name, str(why))
        return
    known = declared.setdefault(name, custom)
    if _describe(known) != _describe(custom):
        _report_declaration(source, scene, name, f"it is declared otherwise on {known.source.prim}")


def _report_declaration(source: Source, scene: Found, name: str, why: str) -> None:
    source.reporter.report(CUSTOM_DECLARATION, source.where(scene.prim, name), attribute=name, why=why)


def _is_schema(attribute: Usd.Attribute) -> bool:
    """Is it an ordinary attribute of a scene schema?"""
    name = attribute.GetName()
    return not attribute.IsCustom() or name in _SCHEMA_NAMES or name.split(":")[1] in _SCHEMA_SPACES


def _describe(custom: CustomAttribute) -> tuple[Any, ...]:
    return custom.assignment, custom.frequency, custom.type, custom.default


def _read_declaration(source: Source, attribute: Usd.Attribute, words: dict[str, Any]) -> CustomAttribute:
    parts = attribute.GetName().split(":")[1:]
    if len(parts) > 2:
        raise WrongValueError("its name has more parts than newton:namespace:name")
    assignment = _choose_word(words, "assignment", ASSIGNMENTS)
    frequency = _choose_word(words, "frequency", FREQUENCIES)
    kind = find_type(attribute.GetTypeName())
    if not kind:
        raise WrongValueError(f"its type {attribute.GetTypeName()} has no place in an array")
    value = attribute.Get(source.time)
    return CustomAttribute(
        name=parts[-1],
        assignment=assignment,
        frequency=frequency,
        type=kind,
        default=make_zero(kind) if value is None else convert_value(value, kind),
        namespace=parts[0] if len(parts) == 2 else "",
        source=source.where(attribute.GetPrim(), attribute.GetName()),
    )


def _choose_word(words: dict[str, Any], key: str, known: tuple[str, ...]) -> str:
    if key not in words:
        raise WrongValueError(f"its customData says no {key}")
    word = str(words[key]).lower()
    if word not in known:
        raise WrongValueError(f"{key} {word!r} is none of {', '.join(known)}")
    return word


def _list_roles(source: Source) -> dict[str, list[_Role]]:
    """What each prim is; articulations listen to the parent of their root as well."""
    roles: dict[str, list[_Role]] = {}
    for path, role in _make_roles(source):
        roles.setdefault(path, []).append(role)
    return roles


def _make_roles(source: Source) -> Iterator[tuple[str, _Role]]:
    asset = source.asset
    for path, frame in source.bodies.items():
        yield path, _Role(frozenset({"body"}), frame.name)
    for shape in asset.shapes:
        yield shape.path, _Role(frozenset({"shape"}), shape.name)
    for joint in asset.joints:
        yield joint.path, _Role(frozenset({"joint", "joint_dof", "joint_coord"}), joint.name, joint)
    for articulation in asset.articulations:
        yield articulation.path, _Role(frozenset({"articulation"}), articulation.name)
        parent = articulation.path.rpartition("/")[0]
        if parent:
            yield parent, _Role(frozenset({"articulation"}), articulation.name, inherited=True)


def _assign(source: Source, attribute: Usd.Attribute, custom: CustomAttribute, roles: list[_Role]) -> None:
    name, prim = attribute.GetName(), attribute.GetPrim()
    fitting = [role for role in roles if custom.frequency in role.frequencies]
    value = attribute.Get(source.time)
    if not fitting or value is None:
        if value is not None:
            where = source.where(prim, name)
            source.reporter.report(CUSTOM_MISPLACED, where, attribute=name, frequency=custom.frequency)
        return
    for role in fitting:
        if role.inherited and role.element in custom.values:
            continue
        try:
            custom.values[role.element] = _read_value(value, custom, role.joint)
        except WrongValueError as why:
            source.reporter.report(
                CUSTOM_VALUE,
                source.where(prim, name),
                attribute=name,
                value=str(make_plain(value))[:_SHOWN],
                why=why,
                type=custom.type,
            )


def _read_value(value: Any, custom: CustomAttribute, joint: Joint | None) -> Any:
    """One value, or a list with one per degree of freedom or coordinate of the joint."""
    if joint is None or custom.frequency == "joint":
        return convert_value(value, custom.type)
    count = joint.velocities if custom.frequency == "joint_dof" else joint.positions
    items = make_plain(value)
    if isinstance(items, list) and not custom.type.endswith("[]"):
        if len(items) != count:
            raise WrongValueError(f"it has {len(items)} values, joint {joint.name!r} has {count}")
        return [convert_value(item, custom.type) for item in value]
    return [convert_value(value, custom.type)] * count
