# SPDX-License-Identifier: Apache-2.0
"""Suppressions inside an asset, each with a reason.

On a prim, for itself and everything below it::

    def Xform "Gripper" (
        customData = {
            dictionary simwright = {
                dictionary ignore = {
                    string "mass-positive" = "massless by design, see the data sheet"
                }
            }
        }
    )

In ``customLayerData`` of the root layer the same dictionary is for the whole asset.  A reason that is empty and
a code that does not exist are findings of their own, and suppress nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.result import Suppressed
from simwright.core.diag import Diagnostic, Level, Reporter, Where, declare
from simwright.core.errors import UnknownNameError
from simwright.usd.locate import Locator

SUPPRESSION_UNKNOWN = declare(
    "check-suppression-unknown",
    Level.WARNING,
    "the suppression names the rule {code!r}, which does not exist",
    hint="{advice}",
    doc="customData simwright:ignore names a code that is no rule and no finding of the checker.",
)
SUPPRESSION_UNREASONED = declare(
    "check-suppression-unreasoned",
    Level.WARNING,
    "the suppression of {code!r} gives no reason and is not applied",
    hint="write why the finding is acceptable as the value: string {code} = '...'",
    doc="A suppression in customData simwright:ignore has an empty reason, or one that is not text.",
)
SUPPRESSION_MALFORMED = declare(
    "check-suppression-malformed",
    Level.WARNING,
    "customData simwright:ignore is {value!r}, not a dictionary of rule codes and reasons",
    hint="write: dictionary ignore = {{ string CODE = 'reason' }}",
    doc="The suppressions of an asset are not written as a dictionary from code to reason.",
)

KEY = "simwright"
ENTRY = "ignore"


@dataclass(frozen=True, slots=True)
class Suppression:
    """One rule silenced at and below ``prim``; an empty ``prim`` means everywhere."""

    code: str
    reason: str
    prim: str = ""

    def covers(self, finding: Diagnostic) -> bool:
        """Is this finding meant?"""
        if finding.kind != self.code:
            return False
        at = finding.where.prim
        return not self.prim or at == self.prim or at.startswith(f"{self.prim}/")


def gather_suppressions(
    snapshot: StageSnapshot, known: Collection[str], reporter: Reporter, locator: Locator
) -> list[Suppression]:
    """Every suppression of an asset; those that are not right are reported."""
    found: list[Suppression] = []
    whole = snapshot.root_layer.customLayerData.get(KEY)
    if whole is not None:
        where = locator.where_spec(snapshot.root_layer, "/")
        place = Where(where.file, where.line, where.column)
        found += _read_entries(whole, "", place, known, reporter)
    for node in snapshot.nodes:
        # GetCustomDataByKey composes the whole dictionary; few prims have one
        if not node.prim.HasAuthoredMetadata("customData"):
            continue
        own = node.prim.GetCustomDataByKey(KEY)
        if own is not None:
            where = locator.where_prim(node.prim)
            place = Where(where.file, where.line, where.column, node.path)
            found += _read_entries(own, node.path, place, known, reporter)
    return found


def split_suppressed(
    findings: Iterable[Diagnostic], suppressions: Iterable[Suppression]
) -> tuple[list[Diagnostic], list[Suppressed]]:
    """Findings that stay, and those that a suppression covers."""
    by_code: dict[str, list[Suppression]] = {}
    for item in suppressions:
        by_code.setdefault(item.code, []).append(item)
    kept: list[Diagnostic] = []
    silenced: list[Suppressed] = []
    for finding in findings:
        match = next((item for item in by_code.get(finding.kind, ()) if item.covers(finding)), None)
        if match:
            silenced.append(Suppressed(finding, match.reason))
        else:
            kept.append(finding)
    return kept, silenced


def _read_entries(
    own: Any, prim: str, place: Where, known: Collection[str], reporter: Reporter
) -> Iterable[Suppression]:
    entries = own.get(ENTRY, {}) if isinstance(own, Mapping) else own
    if not isinstance(entries, Mapping):
        reporter.report(SUPPRESSION_MALFORMED, place, value=str(entries))
        return
    for code, reason in entries.items():
        if code not in known:
            advice = UnknownNameError("rule", code, known).hint
            reporter.report(SUPPRESSION_UNKNOWN, place, code=code, advice=advice)
        elif not isinstance(reason, str) or not reason.strip():
            reporter.report(SUPPRESSION_UNREASONED, place, code=code)
        else:
            yield Suppression(code, reason.strip(), prim)
