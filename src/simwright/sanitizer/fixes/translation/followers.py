# SPDX-License-Identifier: Apache-2.0
"""Joints that follow others: Newton's, MuJoCo's and PhysX's rules as ExtendedPhysicsMimicAPI."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pxr import Sdf, Usd

from simwright.resolve.followers import (
    API,
    DIALECTS,
    ENABLED,
    FALLBACK,
    LEADER,
    MULTIPLIER,
    OFFSET,
    Dialect,
    Rule,
)
from simwright.resolve.translation import are_same
from simwright.sanitizer.fixes.translation.sayings import (
    Reasons,
    apply_schema,
    attempt,
    list_apis,
    list_targets,
    read_authored,
    turns,
    write_number,
)
from simwright.usd.edit import Editor, Refused

_HIGHER = ("mjc:coef2", "mjc:coef3", "mjc:coef4")
_UNKNOWN = "MimicJointAPI"
_MJC = "MjcEqualityJointAPI"


@dataclass(slots=True)
class _Saying:
    """A rule in neutral numbers, and the engine's words for it."""

    dialect: Dialect
    axis: str
    leader: Sdf.Path
    rule: Rule
    enabled: bool

    @property
    def names(self) -> list[str]:
        """All properties that say it."""
        dialect = self.dialect
        words = (dialect.leader, dialect.offset, dialect.multiplier, dialect.enabled)
        return [dialect.name(word, self.axis) for word in words if word]

    @property
    def api(self) -> str:
        """The applied schema, with its instance."""
        return f"{self.dialect.api}:{self.axis}" if self.axis else self.dialect.api

    def says(self, other: _Saying) -> bool:
        """The same rule?"""
        same = are_same(self.rule.offset, other.rule.offset) and are_same(
            self.rule.multiplier, other.rule.multiplier
        )
        return same and self.leader == other.leader and self.enabled == other.enabled


def translate_follower(editor: Editor, prim: Usd.Prim) -> tuple[set[str], Reasons]:
    """Ask for the neutral rule; gives the properties and schemas that go, and why others stay."""
    apis = list_apis(prim)
    reasons: Reasons = {}
    if _UNKNOWN in apis and API not in apis:
        reasons[_UNKNOWN] = "no engine has published what its attributes mean"
    sayings: list[_Saying] = []
    for dialect in DIALECTS:
        for api in [api for api in apis if api.partition(":")[0] == dialect.api]:
            try:
                sayings.append(_read(prim, dialect, api.partition(":")[2]))
            except Refused as reason:
                reasons[api] = str(reason)
    if not sayings:
        return _drop_companion(editor, prim, set(), reasons)
    wanted = _read_neutral(prim) if API in apis else None
    if wanted is None:
        wanted = sayings[0]
        problem = attempt(editor, lambda: _write(editor, prim, sayings[0]))
        if problem:
            return set(), reasons | dict.fromkeys((sayings[0].api, *sayings[0].names), problem)
    gone: set[str] = set()
    for saying in sayings:
        reasons |= _settle(editor, prim, saying, wanted, gone)
    return _drop_companion(editor, prim, gone, reasons)


def _settle(editor: Editor, prim: Usd.Prim, saying: _Saying, wanted: _Saying, gone: set[str]) -> Reasons:
    """Take an engine's words away where they say what is wanted."""
    reasons: Reasons = {}
    problem = f"{API} says another rule; decide which is right"
    if saying.says(wanted):
        problem = attempt(editor, lambda: _drop(editor, prim, saying, gone, reasons))
    return dict.fromkeys((saying.api, *saying.names), problem) if problem else reasons


def _read(prim: Usd.Prim, dialect: Dialect, axis: str) -> _Saying:
    targets = list_targets(prim, dialect.name(dialect.leader, axis))
    if len(targets) != 1:
        raise Refused(f"it names {len(targets)} leaders; a joint follows one")
    follower, leader = turns(prim), turns(prim.GetStage().GetPrimAtPath(targets[0]))
    if follower is None or leader is None:
        raise Refused("the rule is between revolute and prismatic joints only")
    names = [
        dialect.name(word, axis) for word in (dialect.offset, dialect.multiplier, dialect.enabled) if word
    ]
    said = read_authored(prim, names)
    rule = Rule(*(float(said.get(name, value)) for name, value in zip(names[:2], FALLBACK, strict=True)))
    enabled = bool(said.get(names[2], True)) if len(names) > 2 else True
    neutral = dialect.to_neutral(rule, follower=follower, leader=leader)
    return _Saying(dialect, axis, targets[0], neutral, enabled)


def _read_neutral(prim: Usd.Prim) -> _Saying | None:
    targets = list_targets(prim, LEADER)
    if len(targets) != 1:
        return None
    said: dict[str, Any] = read_authored(prim, (OFFSET, MULTIPLIER, ENABLED))
    rule = Rule(float(said.get(OFFSET, FALLBACK.offset)), float(said.get(MULTIPLIER, FALLBACK.multiplier)))
    return _Saying(DIALECTS[0], "", targets[0], rule, bool(said.get(ENABLED, True)))


def _write(editor: Editor, prim: Usd.Prim, saying: _Saying) -> None:
    """The neutral rule where the engine's leader is said."""
    name = saying.dialect.name(saying.dialect.leader, saying.axis)
    spec = editor.find_strongest(prim, name)
    if not isinstance(spec, Sdf.RelationshipSpec):
        raise Refused(f"{name} is no relationship")
    home = spec.owner
    apply_schema(editor, prim, home, API)
    editor.set_spec_targets(home, LEADER, spec.targetPathList.GetAddedOrExplicitItems())
    if saying.rule.offset != FALLBACK.offset:
        write_number(editor, home, OFFSET, saying.rule.offset)
    if saying.rule.multiplier != FALLBACK.multiplier:
        write_number(editor, home, MULTIPLIER, saying.rule.multiplier)
    if not saying.enabled:
        editor.set_spec_value(home, ENABLED, Sdf.ValueTypeNames.Bool, False)


def _drop(editor: Editor, prim: Usd.Prim, saying: _Saying, gone: set[str], reasons: Reasons) -> None:
    """The engine's words; its schema stays where it says more."""
    authored = set(prim.GetAuthoredPropertyNames())
    soft = [saying.dialect.name(word, saying.axis) for word in saying.dialect.soft]
    kept = sorted(authored & {*soft, *(_HIGHER if saying.dialect.vendor == "mjc" else ())})
    for name in saying.names:
        if name in authored:
            editor.remove_property(prim, name)
            gone.add(name)
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
    is_beside = API in apis or "NewtonMimicAPI" in gone
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
