# SPDX-License-Identifier: Apache-2.0
"""Mimic joints, motors and inertia: engines' words as ExtendedPhysics APIs and UsdPhysics mass properties.

Newton's, MuJoCo's and PhysX's rules for joints that follow others; MjcActuator and NewtonActuator prims, which become a
Scope.  What the neutral motor cannot say (activation ranges, sites) stays on the prim in the engine's words; a law that
it cannot say leaves the prim as it is.

``newton:inertia`` becomes physics:diagonalInertia and physics:principalAxes.  Newton's six values are xx, yy, zz, xy,
xz, yz about the centre of mass, and come before the diagonal where both are there.  A diagonal that says the same stays
as it is; six values that no body can have are not read where there is one, and moments that no body can have become the
nearest that one can, with a note of what they were.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from pxr import Gf, Sdf, Usd, UsdPhysics

from simwright.core.math3d import DEGREE, matrix_from_quat
from simwright.model.inertia import matrix_from_six, principal_axes
from simwright.resolve.translation import (
    ACTUATOR_API,
    DIALECTS,
    ENABLED,
    LEADER,
    MIMIC_API,
    MIMIC_FALLBACK,
    MJC_LAW,
    MULTIPLIER,
    NEWTON_LAW,
    OFFSET,
    SPACE,
    TARGETS,
    Dialect,
    MimicCoefficients,
    Motor,
    Untranslatable,
    are_same,
    read_mjc_motor,
    read_newton_motor,
)
from simwright.sanitizer.fixes.translation.engine_words import (
    EngineSurvey,
    Reasons,
    apply_schema,
    attempt,
    is_angular,
    list_apis,
    list_targets,
    read_authored,
    write_number,
)
from simwright.sanitizer.moments import DIAGONAL, write_possible
from simwright.usd.edit import Editor, Refused

_HIGHER = ("mjc:coef2", "mjc:coef3", "mjc:coef4")
_UNKNOWN = "MimicJointAPI"
_MJC = "MjcEqualityJointAPI"


@dataclass(slots=True)
class _MimicRule:
    """A rule in neutral numbers, and the engine's words for it."""

    dialect: Dialect
    axis: str
    leader: Sdf.Path
    rule: MimicCoefficients
    enabled: bool

    @property
    def names(self) -> list[str]:
        """The engine's properties that make up the rule."""
        dialect = self.dialect
        words = (dialect.leader, dialect.offset, dialect.multiplier, dialect.enabled)
        return [dialect.name(word, self.axis) for word in words if word]

    @property
    def api(self) -> str:
        """The applied schema, with its instance."""
        return f"{self.dialect.api}:{self.axis}" if self.axis else self.dialect.api

    def says(self, other: _MimicRule) -> bool:
        """Is it the same rule, in neutral numbers?"""
        same = are_same(self.rule.offset, other.rule.offset) and are_same(
            self.rule.multiplier, other.rule.multiplier
        )
        return same and self.leader == other.leader and self.enabled == other.enabled


def translate_follower(editor: Editor, prim: Usd.Prim) -> tuple[set[str], Reasons]:
    """Ask for the neutral rule; gives the properties and schemas that go, and why others stay."""
    apis = list_apis(prim)
    reasons: Reasons = {}
    if _UNKNOWN in apis and MIMIC_API not in apis:
        reasons[_UNKNOWN] = "no engine has published what its attributes mean"
    sayings: list[_MimicRule] = []
    for dialect in DIALECTS:
        for api in [api for api in apis if api.partition(":")[0] == dialect.api]:
            try:
                sayings.append(_read_rule(prim, dialect, api.partition(":")[2]))
            except Refused as reason:
                reasons[api] = str(reason)
    # one function: all rules are read first, since the first that is valid decides what the others have to
    # say
    if not sayings:
        return _drop_companion(editor, prim, set(), reasons)
    wanted = _read_neutral(prim) if MIMIC_API in apis else None
    if wanted is None:
        wanted = sayings[0]
        problem = attempt(editor, lambda: _write_rule(editor, prim, sayings[0]))
        if problem:
            return set(), reasons | dict.fromkeys((sayings[0].api, *sayings[0].names), problem)
    gone: set[str] = set()
    for saying in sayings:
        reasons |= _drop_if_same(editor, prim, saying, wanted, gone)
    return _drop_companion(editor, prim, gone, reasons)


def _drop_if_same(
    editor: Editor, prim: Usd.Prim, saying: _MimicRule, wanted: _MimicRule, gone: set[str]
) -> Reasons:
    """Take an engine's words away where they say what is wanted."""
    reasons: Reasons = {}
    problem = f"{MIMIC_API} says another rule; decide which is right"
    if saying.says(wanted):
        problem = attempt(editor, lambda: _drop_rule(editor, prim, saying, gone, reasons))
    return dict.fromkeys((saying.api, *saying.names), problem) if problem else reasons


def _read_rule(prim: Usd.Prim, dialect: Dialect, axis: str) -> _MimicRule:
    targets = list_targets(prim, dialect.name(dialect.leader, axis))
    if len(targets) != 1:
        raise Refused(f"it names {len(targets)} leaders; a joint follows one")
    follower, leader = is_angular(prim), is_angular(prim.GetStage().GetPrimAtPath(targets[0]))
    if follower is None or leader is None:
        raise Refused("the rule is between revolute and prismatic joints only")
    names = [
        dialect.name(word, axis) for word in (dialect.offset, dialect.multiplier, dialect.enabled) if word
    ]
    said = read_authored(prim, names)
    rule = MimicCoefficients(
        *(float(said.get(name, value)) for name, value in zip(names[:2], MIMIC_FALLBACK, strict=True))
    )
    enabled = bool(said.get(names[2], True)) if len(names) > 2 else True
    neutral = dialect.to_neutral(rule, follower=follower, leader=leader)
    return _MimicRule(dialect, axis, targets[0], neutral, enabled)


def _read_neutral(prim: Usd.Prim) -> _MimicRule | None:
    targets = list_targets(prim, LEADER)
    if len(targets) != 1:
        return None
    said: dict[str, Any] = read_authored(prim, (OFFSET, MULTIPLIER, ENABLED))
    rule = MimicCoefficients(
        float(said.get(OFFSET, MIMIC_FALLBACK.offset)), float(said.get(MULTIPLIER, MIMIC_FALLBACK.multiplier))
    )
    return _MimicRule(DIALECTS[0], "", targets[0], rule, bool(said.get(ENABLED, True)))


def _write_rule(editor: Editor, prim: Usd.Prim, saying: _MimicRule) -> None:
    """The neutral rule where the engine's leader is said."""
    name = saying.dialect.name(saying.dialect.leader, saying.axis)
    spec = editor.find_strongest(prim, name)
    if not isinstance(spec, Sdf.RelationshipSpec):
        raise Refused(f"{name} is no relationship")
    home = spec.owner
    apply_schema(editor, prim, home, MIMIC_API)
    editor.set_spec_targets(home, LEADER, spec.targetPathList.GetAddedOrExplicitItems())
    if saying.rule.offset != MIMIC_FALLBACK.offset:
        write_number(editor, home, OFFSET, saying.rule.offset)
    if saying.rule.multiplier != MIMIC_FALLBACK.multiplier:
        write_number(editor, home, MULTIPLIER, saying.rule.multiplier)
    if not saying.enabled:
        editor.set_spec_value(home, ENABLED, Sdf.ValueTypeNames.Bool, False)


def _drop_rule(editor: Editor, prim: Usd.Prim, saying: _MimicRule, gone: set[str], reasons: Reasons) -> None:
    """The engine's words; its schema stays where it says more."""
    authored = set(prim.GetAuthoredPropertyNames())
    soft = [saying.dialect.name(word, saying.axis) for word in saying.dialect.soft]
    kept = sorted(authored & {*soft, *(_HIGHER if saying.dialect.vendor == "mjc" else ())})
    for name in saying.names:
        if name in authored:
            editor.remove_property(prim, name)
            gone.add(name)
    # the schema goes only with its last word
    if kept:
        reasons[saying.api] = f"{kept[0]} has no neutral form"
    else:
        editor.remove_api(prim, saying.api)
        gone.add(saying.api)


def _drop_companion(
    editor: Editor, prim: Usd.Prim, gone: set[str], reasons: Reasons
) -> tuple[set[str], Reasons]:
    """MuJoCo's schema beside another one's rule holds only what that cannot say."""
    apis = list_apis(prim)
    is_beside = MIMIC_API in apis or "NewtonMimicAPI" in gone
    if _MJC not in apis or _MJC in gone or not is_beside or prim.HasRelationship("mjc:target"):
        return gone, reasons
    reasons.pop(_MJC, None)
    left = sorted(
        name for name in prim.GetAuthoredPropertyNames() if name.startswith("mjc:") and name not in gone
    )
    if left:
        reasons[_MJC] = f"{left[0]} has no neutral form"
        return gone, reasons
    editor.remove_api(prim, _MJC)
    return gone | {_MJC}, reasons


MJC, NEWTON = "MjcActuator", "NewtonActuator"
_CLAMP_API = "NewtonPositionBasedClampingAPI"
_NEUTRAL_CLAMP_API = "ExtendedPhysicsPositionBasedClampingAPI"
_COLUMNS = ("lookupPositions", "lookupEfforts")
_KNOWN_APIS = frozenset({"NewtonPDControlAPI", "NewtonMaxEffortClampingAPI", _CLAMP_API})
_NEUTRAL_TYPE = "Scope"


def translate_motor(editor: Editor, prim: Usd.Prim, survey: EngineSurvey) -> tuple[set[str], Reasons]:
    """Ask for the neutral motor; gives the words that go, and why others stay."""
    kind = str(prim.GetTypeName())
    if kind not in (MJC, NEWTON):
        reason = "it is on a prim that is no NewtonActuator"
        return set(), {_CLAMP_API: reason} if _CLAMP_API in list_apis(prim) else {}
    gone: set[str] = set()
    read = _read_mjc if kind == MJC else _read_newton

    def ask() -> None:
        try:
            _write_motor(editor, prim, survey, read, gone)
        except Untranslatable as reason:
            raise Refused(str(reason)) from None

    reason = attempt(editor, ask)
    if not reason:
        return gone, {}
    words = (kind, _CLAMP_API, "mjc:target", "newton:targets", *(f"newton:{column}" for column in _COLUMNS))
    return set(), dict.fromkeys(words, reason)


def _write_motor(editor: Editor, prim: Usd.Prim, survey: EngineSurvey, read: Any, gone: set[str]) -> None:
    relation = "mjc:target" if str(prim.GetTypeName()) == MJC else "newton:targets"
    joint = _find_joint(prim, relation)
    motor, table = read(prim, joint, survey)
    home = _find_home(editor, prim)
    targets = editor.find_strongest(prim, relation)
    assert isinstance(targets, Sdf.RelationshipSpec)
    apply_schema(editor, prim, home, ACTUATOR_API)
    _set_type(editor, prim)
    editor.set_spec_targets(targets.owner, TARGETS, targets.targetPathList.GetAddedOrExplicitItems())
    for key, value in motor.items():
        name = f"{SPACE}:{key}"
        if isinstance(value, str):
            editor.set_spec_value(home, name, Sdf.ValueTypeNames.Token, value, uniform=True)
        else:
            write_number(editor, home, name, value)
    if table:
        apply_schema(editor, prim, home, _NEUTRAL_CLAMP_API)
        for column, values in table.items():
            name = f"ext_physics:clamp_position:{column}"
            editor.set_spec_value(home, name, Sdf.ValueTypeNames.FloatArray, values)
    _drop_motor(editor, prim, relation, gone)


def _drop_motor(editor: Editor, prim: Usd.Prim, relation: str, gone: set[str]) -> None:
    authored = set(prim.GetAuthoredPropertyNames())
    law: Iterable[str] = MJC_LAW
    if relation != "mjc:target":
        law = (*NEWTON_LAW, *(f"newton:{column}" for column in _COLUMNS))
        for api in sorted(_KNOWN_APIS & set(list_apis(prim))):
            editor.remove_api(prim, api)
            gone.add(api)
    for name in (relation, *law):
        if name in authored:
            editor.remove_property(prim, name)
            gone.add(name)
    gone.add(str(prim.GetTypeName()))


def _find_joint(prim: Usd.Prim, relation: str) -> Usd.Prim:
    targets = list_targets(prim, relation)
    if len(targets) != 1:
        raise Refused(f"it has {len(targets)} targets; say which joint it drives")
    joint = prim.GetStage().GetPrimAtPath(targets[0])
    if is_angular(joint) is None:
        raise Refused(f"its target {targets[0]} is no revolute or prismatic joint")
    return joint


def _read_mjc(prim: Usd.Prim, joint: Usd.Prim, survey: EngineSurvey) -> tuple[Motor, dict[str, list[float]]]:
    authored = read_authored(prim, (*MJC_LAW, "mjc:jointInParent"))
    if authored.get("mjc:jointInParent"):
        raise Untranslatable("it acts in the frame of the parent")
    angular = bool(is_angular(joint))
    reach = _read_reach(joint, angular) if authored.get("mjc:inheritRange") else None
    return read_mjc_motor(authored, angular=angular, reach=reach, auto=survey.limits_itself), {}


def _read_reach(joint: Usd.Prim, angular: bool) -> tuple[float, float]:
    names = ("physics:lowerLimit", "physics:upperLimit", "mjc:ref")
    said = read_authored(joint, names)
    if said.get("mjc:ref"):
        raise Untranslatable("it takes its range from a joint that counts from another zero")
    degree = DEGREE if angular else 1.0
    low, high = (
        float(said.get(name, end)) * degree for name, end in zip(names, ("-inf", "inf"), strict=False)
    )
    return low, high


def _read_newton(prim: Usd.Prim, joint: Usd.Prim, _: EngineSurvey) -> tuple[Motor, dict[str, list[float]]]:
    apis = {api for api in list_apis(prim) if api.startswith("Newton")}
    if apis - _KNOWN_APIS or "NewtonPDControlAPI" not in apis:
        other = ", ".join(sorted(apis - _KNOWN_APIS)) or "no control law"
        raise Untranslatable(f"it has {other}, which has no neutral form")
    columns = [f"newton:{column}" for column in _COLUMNS]
    authored = read_authored(prim, (*NEWTON_LAW, *columns))
    angular = bool(is_angular(joint))
    motor = read_newton_motor(authored, angular=angular, limited="NewtonMaxEffortClampingAPI" in apis)
    return motor, _read_table(authored, angular) if _CLAMP_API in apis else {}


def _read_table(authored: Mapping[str, Any], angular: bool) -> dict[str, list[float]]:
    degree = DEGREE if angular else 1.0
    positions, efforts = ([float(v) for v in authored.get(f"newton:{column}") or ()] for column in _COLUMNS)
    return {_COLUMNS[0]: [value / degree for value in positions], _COLUMNS[1]: efforts}


def _find_home(editor: Editor, prim: Usd.Prim) -> Sdf.PrimSpec:
    """The spec that makes the prim what it is."""
    spec = next((spec for spec in prim.GetPrimStack() if spec.typeName), None)
    if spec is None or spec.layer.identifier not in editor.own:
        raise Refused("the prim belongs to another asset, which has to be fixed itself")
    return spec


def _set_type(editor: Editor, prim: Usd.Prim) -> None:
    """Another prim type in every spec that says one."""
    for spec in [spec for spec in prim.GetPrimStack() if spec.typeName]:

        def apply(spec: Sdf.PrimSpec = spec) -> None:
            spec.typeName = _NEUTRAL_TYPE

        editor.add(spec.layer, spec.path, f"{_NEUTRAL_TYPE} instead of {spec.typeName}", apply)


SIX = "newton:inertia"
AXES = "physics:principalAxes"
_API = "NewtonMassAPI"
_SAME = 1e-7


def translate_inertia(editor: Editor, prim: Usd.Prim) -> tuple[set[str], Reasons]:
    """Ask for the core form; gives the words that go, and why others stay."""
    if not prim.GetAttribute(SIX).HasAuthoredValue():
        return set(), {}
    if _API not in list_apis(prim) or not prim.HasAPI(UsdPhysics.RigidBodyAPI):
        return set(), {SIX: "nobody reads it: the prim is no rigid body with NewtonMassAPI"}
    reason = attempt(editor, lambda: _ask(editor, prim))
    return (set(), {SIX: reason}) if reason else ({SIX}, {})


def _ask(editor: Editor, prim: Usd.Prim) -> None:
    said = read_authored(prim, (SIX,))[SIX]
    six = np.array(said, dtype=np.float64).reshape(-1)
    matrix = matrix_from_six(six) if len(six) == 6 and np.all(np.isfinite(six)) else np.zeros((3, 3))
    moments, axes = principal_axes(matrix)
    # Newton reads six values only where they are an inertia; rounding may leave a moment just below zero
    counts = moments.max() > 0.0 and moments.min() >= -1e-6 * moments.max()
    if not counts and np.any(six) and not prim.GetAttribute(DIAGONAL).HasAuthoredValue():
        raise Refused("no body has such an inertia; are its values in the order xx, yy, zz, xy, xz, yz?")
    if counts and not _says_same(prim, matrix):
        _write(editor, prim, moments, axes)
    editor.remove_property(prim, SIX)


def _write(editor: Editor, prim: Usd.Prim, moments: np.ndarray, axes: np.ndarray) -> None:
    spec = editor.find_strongest(prim, SIX)
    assert spec is not None
    apply_schema(editor, prim, spec.owner, "PhysicsMassAPI")
    known = editor.find_strongest(prim, DIAGONAL)
    write_possible(editor, prim, spec.owner if known is None else known.owner, moments)
    editor.set_value(prim, AXES, Sdf.ValueTypeNames.Quatf, Gf.Quatf(*(float(value) for value in axes)))


def _says_same(prim: Usd.Prim, matrix: np.ndarray) -> bool:
    """Does the diagonal beside it give the same matrix?"""
    said = read_authored(prim, (DIAGONAL, AXES))
    if "PhysicsMassAPI" not in list_apis(prim) or DIAGONAL not in said or min(said[DIAGONAL]) <= 0.0:
        return False
    turn = np.eye(3)
    if AXES in said and said[AXES].GetLength() > 0.0:
        quaternion = said[AXES]
        turn = matrix_from_quat(np.array([quaternion.real, *quaternion.imaginary], dtype=np.float64))
    there = turn @ np.diag(np.array(said[DIAGONAL], dtype=np.float64)) @ turn.T
    return bool(np.abs(there - matrix).max() <= _SAME * np.abs(matrix).max())
