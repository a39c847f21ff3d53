# SPDX-License-Identifier: Apache-2.0
"""The variant sweep: every variant of every set, one at a time, on a stage of its own.

All other sets stay as the asset selects them, so the number of states is the sum of the variants and not
their product.  Selections go to a session layer of a private stage; the caller's stage is not touched.  A
finding that the default state has too is not repeated.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pxr import Sdf

from simwright.checker.facts.snapshot import Snapshot
from simwright.checker.rule import Rule
from simwright.checker.run import run_rules
from simwright.core.diag import Diagnostic, Level, Reporter, Where, declare
from simwright.usd.complaints import report_composition
from simwright.usd.locate import Locator
from simwright.usd.open import open_again
from simwright.usd.silence import capture

MAX_STATES = 100
"""Most variant states that one asset is checked in."""

STATES_LEFT_OUT = declare(
    "check-variants-left-out",
    Level.WARNING,
    "the asset has {total} further variant states; only the first {limit} were checked",
    hint="check the assets with many variants on their own",
    doc="The variant sweep is bounded; states beyond the limit were not looked at.",
)


@dataclass(frozen=True, slots=True)
class State:
    """One variant selected on one prim."""

    prim: str
    set_name: str
    variant: str

    def __str__(self) -> str:
        return f"{self.prim} {{{self.set_name}={self.variant}}}"


def sweep_variants(
    snapshot: Snapshot, rules: Iterable[Rule], default: Iterable[Diagnostic], *, limit: int = MAX_STATES
) -> Iterator[Diagnostic]:
    """What the rules find in other variant states and not in the default one, labelled with the state."""
    states = list_states(snapshot)
    rules = list(rules)
    known = {_identify(finding) for finding in default}
    for state in states[:limit]:
        for finding in _check_state(snapshot, state, rules):
            identity = _identify(finding)
            if identity not in known:
                known.add(identity)
                yield _label(finding, state)
    if len(states) > limit:
        reporter = Reporter()
        where = Where(snapshot.root_layer.realPath or snapshot.root_layer.identifier)
        reporter.report(STATES_LEFT_OUT, where, total=len(states), limit=limit)
        yield from reporter


def list_states(snapshot: Snapshot) -> list[State]:
    """Every variant that is not selected now, of every set of every prim outside of prototypes."""
    states = []
    for node in snapshot.nodes:
        if node.in_prototype or not node.prim.HasVariantSets():
            continue
        sets = node.prim.GetVariantSets()
        for name in sets.GetNames():
            variants = sets.GetVariantSet(name)
            current = variants.GetVariantSelection()
            states += [State(node.path, name, v) for v in variants.GetVariantNames() if v != current]
    return states


def _check_state(snapshot: Snapshot, state: State, rules: list[Rule]) -> list[Diagnostic]:
    session = Sdf.Layer.CreateAnonymous("variants")
    session.TransferContent(snapshot.stage.GetSessionLayer())
    reporter = Reporter()
    with capture():
        spec = Sdf.CreatePrimInLayer(session, state.prim)
        spec.variantSelections[state.set_name] = state.variant
        stage = open_again(snapshot.stage, session)
        report_composition(stage, set(), reporter, Locator())
        inner = Snapshot(stage, snapshot.settings, path=snapshot.path, gate=snapshot.gate)
        reporter.extend(run_rules(inner, rules))
        inner.close()
    return reporter.found


def _identify(finding: Diagnostic) -> tuple[str, str, Where]:
    return finding.kind, finding.message, finding.where


def _label(finding: Diagnostic, state: State) -> Diagnostic:
    return dataclasses.replace(
        finding,
        message=f"{finding.message} (with {state})",
        data={**finding.data, "variant": {"prim": state.prim, "set": state.set_name, "name": state.variant}},
    )
