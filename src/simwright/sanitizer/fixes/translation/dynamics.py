# SPDX-License-Identifier: Apache-2.0
"""Mimic joints, motors and inertia: engines' words as ExtendedPhysics APIs and UsdPhysics mass properties.

Newton's, MuJoCo's and PhysX's rules for joints that follow others; MjcActuator and NewtonActuator prims.  The engine
keeps its own words beside the neutral ones.  What the neutral motor cannot say (activation ranges, sites) is said in
the engine's words alone; a law that it cannot say leaves the prim as it is.

``newton:inertia`` becomes physics:diagonalInertia and physics:principalAxes.  Newton's six values are xx, yy, zz, xy,
xz, yz about the centre of mass, and come before the diagonal where both are there.  A diagonal that says the same stays
as it is; six values that no body can have are not read where there is one, and moments that no body can have become the
nearest that one can, with a note of what they were.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    find_neutral_place,
    is_angular,
    list_apis,
    list_targets,
    read_authored,
    write_number,
)
from simwright.sanitizer.layering.moving import RoleLayers
from simwright.sanitizer.layering.roles import EXTENDED
from simwright.sanitizer.layering.splitting import NEUTRAL_MOTOR
from simwright.sanitizer.layering.stacks import find_stack
from simwright.sanitizer.moments import DIAGONAL, write_possible
from simwright.usd.edit import Editor, Refused

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


def translate_follower(editor: Editor, prim: Usd.Prim) -> Reasons:
    """Ask for the neutral rule; gives the properties and schemas that only an engine has, and why."""
    apis = list_apis(prim)
    reasons: Reasons = {}
    if _UNKNOWN in apis and MIMIC_API not in apis:
        reasons[_UNKNOWN] = "no engine has published what its attributes mean"
    if prim.IsA(UsdPhysics.FixedJoint):
        _drop_idle_rules(editor, prim, apis)
        return reasons
    sayings = _list_rules(prim, apis, reasons)
    if not sayings:
        return reasons
    # MuJoCo's schema beside another one's rule holds only what that cannot say
    if not prim.HasRelationship("mjc:target"):
        reasons.pop(_MJC, None)
    wanted = _read_neutral(prim) if MIMIC_API in apis else None
    if wanted is None:
        # the first that is valid decides what the others have to say
        wanted = sayings[0]
        problem = attempt(editor, lambda: _write_rule(editor, prim, sayings[0]))
        if problem:
            return reasons | dict.fromkeys((sayings[0].api, *sayings[0].names), problem)
    for saying in sayings:
        if not saying.says(wanted):
            problem = f"{MIMIC_API} says another rule; decide which is right"
            reasons |= dict.fromkeys((saying.api, *saying.names), problem)
    return reasons


def _list_rules(prim: Usd.Prim, apis: list[str], reasons: Reasons) -> list[_MimicRule]:
    """The rules that engines are told, in the order of dialects; what cannot be read goes to ``reasons``."""
    sayings: list[_MimicRule] = []
    for dialect in DIALECTS:
        for api in [api for api in apis if api.partition(":")[0] == dialect.api]:
            try:
                sayings.append(_read_rule(prim, dialect, api.partition(":")[2]))
            except Refused as reason:
                reasons[api] = str(reason)
    return sayings


def _drop_idle_rules(editor: Editor, prim: Usd.Prim, apis: list[str]) -> None:
    """A fixed joint cannot follow: URDF files have such rules, and they say nothing to any engine."""
    for dialect in DIALECTS:
        for api in [api for api in apis if api.partition(":")[0] == dialect.api and dialect.api != _MJC]:
            for name in (dialect.leader, dialect.offset, dialect.multiplier, dialect.enabled):
                word = dialect.name(name, api.partition(":")[2]) if name else ""
                if word and word in prim.GetAuthoredPropertyNames():
                    editor.remove_property(prim, word)
            editor.remove_api(prim, api)


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
        raise Refused(f"{name} is not a relationship")
    home = find_neutral_place(editor, prim, spec.owner)
    apply_schema(editor, prim, home, MIMIC_API)
    editor.set_spec_targets(home, LEADER, spec.targetPathList.GetAddedOrExplicitItems())
    authored = set(prim.GetAuthoredPropertyNames())
    # what the engine is told in so many words is said in neutral ones too, also where it is the fallback
    _, offset, multiplier, *enabled = saying.names
    if offset in authored:
        write_number(editor, home, OFFSET, saying.rule.offset)
    if multiplier in authored or saying.rule.multiplier != MIMIC_FALLBACK.multiplier:
        write_number(editor, home, MULTIPLIER, saying.rule.multiplier)
    if authored.intersection(enabled):
        editor.set_spec_value(home, ENABLED, Sdf.ValueTypeNames.Bool, saying.enabled)


MJC, NEWTON = "MjcActuator", "NewtonActuator"
_CLAMP_API = "NewtonPositionBasedClampingAPI"
_NEUTRAL_CLAMP_API = "ExtendedPhysicsPositionBasedClampingAPI"
_COLUMNS = ("lookupPositions", "lookupEfforts")
_KNOWN_APIS = frozenset({"NewtonPDControlAPI", "NewtonMaxEffortClampingAPI", _CLAMP_API})


def translate_motor(editor: Editor, prim: Usd.Prim, survey: EngineSurvey) -> Reasons:
    """Write an engine's actuator prim as our API too; returns the words that this cannot say, with the reason."""
    kind = str(prim.GetTypeName())
    if kind not in (MJC, NEWTON):
        reason = "it is on a prim that is not a NewtonActuator"
        return {_CLAMP_API: reason} if _CLAMP_API in list_apis(prim) else {}
    if ACTUATOR_API in list_apis(prim):
        return {}
    read = _read_mjc if kind == MJC else _read_newton

    def ask() -> None:
        try:
            _write_motor(editor, prim, survey, read)
        except Untranslatable as reason:
            raise Refused(str(reason)) from None

    reason = attempt(editor, ask)
    words = (kind, _CLAMP_API, "mjc:target", "newton:targets", *(f"newton:{column}" for column in _COLUMNS))
    return dict.fromkeys(words, reason) if reason else {}


def _write_motor(editor: Editor, prim: Usd.Prim, survey: EngineSurvey, read: Any) -> None:
    relation = "mjc:target" if str(prim.GetTypeName()) == MJC else "newton:targets"
    joint = _find_joint(prim, relation)
    motor, table = read(prim, joint, survey)
    home = _find_home(editor, prim)
    if home is None:
        return  # a spec was asked for; the next round fills it
    targets = editor.find_strongest(prim, relation)
    assert isinstance(targets, Sdf.RelationshipSpec)
    apply_schema(editor, prim, home, ACTUATOR_API)
    editor.set_spec_targets(home, TARGETS, targets.targetPathList.GetAddedOrExplicitItems())
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


def _find_joint(prim: Usd.Prim, relation: str) -> Usd.Prim:
    targets = list_targets(prim, relation)
    if len(targets) != 1:
        raise Refused(f"it has {len(targets)} targets; say which joint it drives")
    joint = prim.GetStage().GetPrimAtPath(targets[0])
    if is_angular(joint) is None:
        raise Refused(f"its target {targets[0]} is not a revolute or prismatic joint")
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


def _find_home(editor: Editor, prim: Usd.Prim) -> Sdf.PrimSpec | None:
    """The spec that the neutral motor goes to; None where it has to be made first, which is asked for."""
    spec = next((spec for spec in prim.GetPrimStack() if spec.typeName), None)
    if spec is None or spec.layer.identifier not in editor.own:
        raise Refused("the prim belongs to another asset, which has to be fixed itself")
    try:
        return find_neutral_place(editor, prim, spec)
    except Refused:
        _define_outside(editor, spec)
        return None


def _define_outside(editor: Editor, spec: Sdf.PrimSpec) -> None:
    """Ask for a prim that only the layer of an engine has, in a weaker layer: its type has to stay the engine's."""
    stack = find_stack(editor, spec.layer.identifier)
    key = f"extended physics of {stack.root.identifier}"
    homes: RoleLayers = editor.known.setdefault(key, RoleLayers(editor, stack))
    known = homes.find(EXTENDED)
    if known is not None and stack.layers.index(known) < stack.layers.index(spec.layer):
        names = known.GetDisplayName(), spec.layer.GetDisplayName()
        raise Refused(f"{names[0]} is stronger than {names[1]}; list it behind")
    path = spec.path

    def apply() -> None:
        made = Sdf.CreatePrimInLayer(homes.open(EXTENDED), path)
        made.specifier, made.typeName = Sdf.SpecifierDef, NEUTRAL_MOTOR
        homes.bring_in()
        homes.new.clear()

    editor.add(spec.layer, path, f"{NEUTRAL_MOTOR} in a neutral layer", apply)


SIX = "newton:inertia"
AXES = "physics:principalAxes"
_API = "NewtonMassAPI"
_SAME = 1e-7


def translate_inertia(editor: Editor, prim: Usd.Prim) -> Reasons:
    """Ask for the core form instead of six values, which Newton reads too; gives why they have to stay."""
    if not prim.GetAttribute(SIX).HasAuthoredValue():
        return {}
    if _API not in list_apis(prim) or not prim.HasAPI(UsdPhysics.RigidBodyAPI):
        return {SIX: "it has no effect: the prim is not a rigid body with NewtonMassAPI"}
    reason = attempt(editor, lambda: _ask(editor, prim))
    return {SIX: reason} if reason else {}


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
    # the schema goes with its last word
    if not {"newton:massModel", "newton:shellThickness"} & set(prim.GetAuthoredPropertyNames()):
        editor.remove_api(prim, _API)


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
