# SPDX-License-Identifier: Apache-2.0
"""MjcActuator and NewtonActuator prims as a Scope with ExtendedPhysicsActuatorAPI.

What the neutral motor cannot say (activation ranges, sites) stays on the prim in the engine's words; a law that it
cannot say leaves the prim as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pxr import Sdf, Usd

from simwright.core.units import DEGREE
from simwright.resolve.motors import (
    API,
    MJC_LAW,
    NEWTON_LAW,
    SPACE,
    TARGETS,
    Motor,
    Untranslatable,
    read_mjc_motor,
    read_newton_motor,
)
from simwright.sanitizer.fixes.translation.sayings import (
    Reasons,
    Survey,
    apply_schema,
    attempt,
    list_apis,
    list_targets,
    read_authored,
    turns,
    write_number,
)
from simwright.usd.edit import Editor, Refused

MJC, NEWTON = "MjcActuator", "NewtonActuator"
_TABLE = "NewtonPositionBasedClampingAPI"
_NEUTRAL_TABLE = "ExtendedPhysicsPositionBasedClampingAPI"
_COLUMNS = ("lookupPositions", "lookupEfforts")
_PLAIN = frozenset({"NewtonPDControlAPI", "NewtonMaxEffortClampingAPI", _TABLE})
_TYPE = "Scope"


def translate_motor(editor: Editor, prim: Usd.Prim, survey: Survey) -> tuple[set[str], Reasons]:
    """Ask for the neutral motor; gives the words that go, and why others stay."""
    kind = str(prim.GetTypeName())
    if kind not in (MJC, NEWTON):
        reason = "it is on a prim that is no NewtonActuator"
        return set(), {_TABLE: reason} if _TABLE in list_apis(prim) else {}
    gone: set[str] = set()
    read = _read_mjc if kind == MJC else _read_newton

    def ask() -> None:
        try:
            _write(editor, prim, survey, read, gone)
        except Untranslatable as reason:
            raise Refused(str(reason)) from None

    reason = attempt(editor, ask)
    if not reason:
        return gone, {}
    words = (kind, _TABLE, "mjc:target", "newton:targets", *(f"newton:{column}" for column in _COLUMNS))
    return set(), dict.fromkeys(words, reason)


def _write(editor: Editor, prim: Usd.Prim, survey: Survey, read: Any, gone: set[str]) -> None:
    relation = "mjc:target" if str(prim.GetTypeName()) == MJC else "newton:targets"
    joint = _find_joint(prim, relation)
    motor, table = read(prim, joint, survey)
    home = _find_home(editor, prim)
    targets = editor.find_strongest(prim, relation)
    assert isinstance(targets, Sdf.RelationshipSpec)
    apply_schema(editor, prim, home, API)
    _set_type(editor, prim)
    editor.set_spec_targets(targets.owner, TARGETS, targets.targetPathList.GetAddedOrExplicitItems())
    for key, value in motor.items():
        name = f"{SPACE}:{key}"
        if isinstance(value, str):
            editor.set_spec_value(home, name, Sdf.ValueTypeNames.Token, value, uniform=True)
        else:
            write_number(editor, home, name, value)
    if table:
        apply_schema(editor, prim, home, _NEUTRAL_TABLE)
        for column, values in table.items():
            name = f"ext_physics:clamp_position:{column}"
            editor.set_spec_value(home, name, Sdf.ValueTypeNames.FloatArray, values)
    _drop(editor, prim, relation, gone)


def _drop(editor: Editor, prim: Usd.Prim, relation: str, gone: set[str]) -> None:
    authored = set(prim.GetAuthoredPropertyNames())
    law: Iterable[str] = MJC_LAW
    if relation != "mjc:target":
        law = (*NEWTON_LAW, *(f"newton:{column}" for column in _COLUMNS))
        for api in sorted(_PLAIN & set(list_apis(prim))):
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
    if turns(joint) is None:
        raise Refused(f"its target {targets[0]} is no revolute or prismatic joint")
    return joint


def _read_mjc(prim: Usd.Prim, joint: Usd.Prim, survey: Survey) -> tuple[Motor, dict[str, list[float]]]:
    authored = read_authored(prim, (*MJC_LAW, "mjc:jointInParent"))
    if authored.get("mjc:jointInParent"):
        raise Untranslatable("it acts in the frame of the parent")
    angular = bool(turns(joint))
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


def _read_newton(prim: Usd.Prim, joint: Usd.Prim, _: Survey) -> tuple[Motor, dict[str, list[float]]]:
    apis = {api for api in list_apis(prim) if api.startswith("Newton")}
    if apis - _PLAIN or "NewtonPDControlAPI" not in apis:
        other = ", ".join(sorted(apis - _PLAIN)) or "no control law"
        raise Untranslatable(f"it has {other}, which has no neutral form")
    columns = [f"newton:{column}" for column in _COLUMNS]
    authored = read_authored(prim, (*NEWTON_LAW, *columns))
    angular = bool(turns(joint))
    motor = read_newton_motor(authored, angular=angular, limited="NewtonMaxEffortClampingAPI" in apis)
    return motor, _read_table(authored, angular) if _TABLE in apis else {}


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
            spec.typeName = _TYPE

        editor.add(spec.layer, spec.path, f"{_TYPE} instead of {spec.typeName}", apply)
