# SPDX-License-Identifier: Apache-2.0
"""Running rules over a snapshot: one walk, each node offered to the rules that subscribed to its kind."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Any

from pxr import Sdf, Tf

from simwright.checker import rules as rules_package
from simwright.checker.facts.snapshot import PrimKind, PrimNode, StageSnapshot
from simwright.checker.facts.types import find_bases
from simwright.checker.rule import Finding, Rule
from simwright.core.collector import pause_collector
from simwright.core.diag import Diagnostic, Kind, Level, Where, declare
from simwright.core.registry import Registry
from simwright.usd.complaints import list_reasons
from simwright.usd.locate import Locator

RULE_CRASHED = declare(
    "check-rule-crashed",
    Level.ERROR,
    "the rule {rule} failed on this asset: {reason}",
    hint="the other rules went on; please report it",
    doc="A rule raised an exception. It is a bug of Simwright or of a rule plugin, not of the asset.",
)

RULE_REFUSED = declare(
    "check-rule-refused",
    Level.ERROR,
    "the rule {rule} could not be checked: OpenUSD says {reason}",
    hint="correct the value that OpenUSD names, then check again",
    doc="OpenUSD refused a value of the asset, so a rule could not be checked.",
)

PLUGIN_RULES: Registry[Rule] = Registry("rule", "simwright.rules", {})
"""Rules of other packages, by entry point."""


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule: ours (each module of ``checker.rules`` holds one) and those of plugins, by section."""
    found: dict[str, Rule] = {}
    for module in pkgutil.walk_packages(rules_package.__path__, f"{rules_package.__name__}."):
        if module.ispkg:
            continue
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, Rule) and value.module == module.name:
                # codes are permanent and in users' configurations: two rules with one code would be told
                # apart by nobody
                assert value.code not in found, f"rule {value.code} is declared twice"
                found[value.code] = value
    for _, plugin in PLUGIN_RULES.items(None):
        if isinstance(plugin, Rule):
            # a plugin cannot replace a rule of ours
            found.setdefault(plugin.code, plugin)
    return tuple(sorted(found.values(), key=lambda r: (_section_key(r.section), r.code)))


def _section_key(section: str) -> tuple[int, ...]:
    return tuple(int(part) for part in section.split("."))


class Runner:
    """Runs a choice of rules; collects diagnostics."""

    def __init__(self, snapshot: StageSnapshot, rules: Iterable[Rule]) -> None:
        self.snapshot = snapshot
        self.rules = list(rules)
        self.locator = Locator.for_stage(snapshot.stage)
        self._file = self.locator.find_only_file(snapshot.stage)
        self.found: list[Diagnostic] = []
        self._crashed: set[str] = set()
        self._places: dict[tuple[PrimNode, str], Where] = {}
        """Where prims and properties are said: many rules find something at the same ones."""

    def run(self) -> list[Diagnostic]:
        """Everything the rules find, in no particular order."""
        with pause_collector():
            self._run(self.snapshot)
        return self.found

    def _run(self, snapshot: StageSnapshot) -> None:
        for rule in self._subscribed("stage"):
            self._collect(rule, snapshot)
        layer_rules = self._subscribed("layer")
        if layer_rules:
            for facts in snapshot.layers:
                for rule in layer_rules:
                    self._collect(rule, facts, snapshot, layer=facts.layer)
        # there are few kinds of prims and many prims: who wants what is decided per kind, and a rule looks at all prims
        # of a kind before the next one does, which is easier on the processor's caches
        plan = self._plan()
        for kind, nodes in snapshot.group_nodes().items():
            for rule in plan[kind]:
                check = rule.check
                for node in nodes:  # the hot loop: most checks find nothing
                    try:
                        for finding in check(node, snapshot) or ():
                            self.found.append(self._make_diagnostic(rule, finding, node, None))
                    except Exception as error:  # noqa: BLE001 - as in _collect
                        self._note_crash(rule, error)

    def _subscribed(self, subject: str) -> list[Rule]:
        return [rule for rule in self.rules if subject in rule.on]

    def _plan(self) -> dict[PrimKind, list[Rule]]:
        """For every kind of prim on the stage, the rules that want it."""
        rules = [rule for rule in self.rules if not {"stage", "layer"}.issuperset(rule.on)]
        topics = frozenset(topic for rule in rules for topic in rule.on)
        plan = {}
        for kind in self.snapshot.kinds():
            # many rules subscribe to the same few topics: each is held against a kind once
            wanted = _list_topics(kind, topics)
            plan[kind] = [rule for rule in rules if not wanted.isdisjoint(rule.on)]
        return plan

    def _collect(self, rule: Rule, *subject: Any, layer: Sdf.Layer | None = None) -> None:
        try:
            for finding in rule.check(*subject) or ():
                self.found.append(self._make_diagnostic(rule, finding, subject[0], layer))
        except Exception as error:  # noqa: BLE001 - a crash of one rule is one finding, the rest goes on
            self._note_crash(rule, error)

    def _note_crash(self, rule: Rule, error: Exception) -> None:
        # a rule that fails on one prim fails on thousands: one finding says it
        if rule.code not in self._crashed:
            self._crashed.add(rule.code)
            is_refusal = isinstance(error, Tf.ErrorException)
            self.found.append(self._make_crash(rule, error, RULE_REFUSED if is_refusal else RULE_CRASHED))

    def _make_diagnostic(
        self, rule: Rule, finding: Finding, subject: Any, layer: Sdf.Layer | None
    ) -> Diagnostic:
        at = finding.at if finding.at is not None else subject if isinstance(subject, PrimNode) else None
        level = rule.level
        # a finding may be milder than its rule, never harsher: the RFC word is the limit
        if finding.level is not None and finding.level.rank > level.rank:
            level = finding.level
        note = " (heuristic)" if rule.heuristic else ""
        return Diagnostic(
            kind=rule.code,
            level=level,
            message=finding.message + note,
            hint=finding.hint,
            where=self._locate(at, finding, finding.layer or layer),
            section=rule.section,
            data=finding.data,
            fix=rule.make_fix(finding.fix),
        )

    def _locate(
        self, at: PrimNode | Sdf.Path | str | None, finding: Finding, layer: Sdf.Layer | None
    ) -> Where:
        """File and line of the strongest opinion; for layer rules, of the spec in that layer."""
        if isinstance(at, PrimNode):
            # all opinions are in one crate file, which has no lines: no need to look for the spec
            if self._file:
                return Where(self._file, prim=at.path, prop=finding.prop)
            known = self._places.get((at, finding.prop))
            if known is None:
                where = self._locate_node(at, finding.prop)
                known = Where(where.file, where.line, where.column, at.path, finding.prop)
                self._places[at, finding.prop] = known
            return known
        holder = layer or self.snapshot.root_layer
        path = (
            at if isinstance(at, Sdf.Path) else Sdf.Path(at) if at is not None else Sdf.Path.absoluteRootPath
        )
        if finding.prop and path.IsPrimPath():
            path = path.AppendProperty(finding.prop)
        prim = path.GetPrimPath().pathString if path != Sdf.Path.absoluteRootPath else ""
        prop = path.name if path.IsPropertyPath() else finding.prop
        return Where(*self.locator.find_line(holder, path.pathString, finding.words), prim, prop)

    def _locate_node(self, node: PrimNode, prop: str) -> Where:
        if prop:
            found = node.prim.GetProperty(prop)
            if found and found.IsAuthored():
                return self.locator.where_property(found)
        return self.locator.where_prim(node.prim)

    def _make_crash(self, rule: Rule, error: Exception, kind: Kind) -> Diagnostic:
        reason = f"{type(error).__name__}: {error}" if kind is RULE_CRASHED else list_reasons(error)[0]
        data = {"rule": rule.code, "reason": reason}
        return Diagnostic(
            kind=kind.code,
            level=kind.level,
            message=kind.message.format(**data),
            hint=kind.hint,
            where=Where(self.snapshot.root_layer.realPath or self.snapshot.root_layer.identifier),
            section=rule.section,
            data=data,
        )


@lru_cache(maxsize=4096)
def _list_topics(kind: PrimKind, topics: frozenset[str]) -> frozenset[str]:
    """The subscriptions that match a kind of prim."""
    type_name, apis = kind
    heads = {api.partition(":")[0] for api in apis}
    bases = (f"isa:{base}" for base in find_bases(type_name))
    exact = topics.intersection(("prim", f"type:{type_name}", *bases, *(f"api:{head}" for head in heads)))
    starts = ((topic, topic.removeprefix("api:")[:-1]) for topic in topics if topic.endswith("*"))
    return exact.union(topic for topic, start in starts if any(head.startswith(start) for head in heads))


def run_rules(snapshot: StageSnapshot, rules: Iterable[Rule]) -> Iterator[Diagnostic]:
    """Findings of some rules on a snapshot."""
    yield from Runner(snapshot, rules).run()
