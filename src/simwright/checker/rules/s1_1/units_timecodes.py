# SPDX-License-Identifier: Apache-2.0
"""The root layer sets timeCodesPerSecond = 1.

Why: one time code is then one second, and a recorded trajectory plays at its real speed.  Without an opinion
OpenUSD takes framesPerSecond, and without that 24.

Fails: a root layer with `timeCodesPerSecond = 24`, or with `framesPerSecond = 1` only, or with neither.
Passes: a root layer with `timeCodesPerSecond = 1`.

Fix: safe where no layer has time samples and no start or end time is set; otherwise unsafe, because every
sample, clip and layer offset has to be retimed.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Fixable


@rule(
    "units-timecodes",
    "1.1",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="author timeCodesPerSecond = 1 and retime the samples",
)
def units_timecodes(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Ask the root layer itself: Sdf falls back to framesPerSecond, then to 24."""
    layer = snapshot.root_layer
    root = layer.pseudoRoot
    if not root.HasInfo("timeCodesPerSecond"):
        # Sdf falls back to framesPerSecond, then to 24
        rate = layer.timeCodesPerSecond
        source = "framesPerSecond" if root.HasInfo("framesPerSecond") else "the fallback"
        yield Finding(
            f"the root layer does not set timeCodesPerSecond; OpenUSD then takes {rate:g} ({source})",
            hint="add timeCodesPerSecond = 1 to the layer's metadata; retime samples, if there are any, to seconds",
            fix=None if _has_times(snapshot) else Fixable.SAFE,
        )
        return
    value = root.GetInfo("timeCodesPerSecond")
    if not abs(value - 1.0) <= 1e-9:
        has_times = _has_times(snapshot)
        advice = "convert time samples, start and end time" if has_times else "there are no times to convert"
        yield Finding(
            f"timeCodesPerSecond is {value:g}, it must be 1",
            hint=f"write timeCodesPerSecond = 1; {advice}",
            fix=None if has_times else Fixable.SAFE,
            words="timeCodesPerSecond =",
            data={"value": value},
        )


def _has_times(snapshot: StageSnapshot) -> bool:
    """Would another rate change anything: samples in any layer, or a time range?"""
    root = snapshot.root_layer.pseudoRoot
    if root.HasInfo("startTimeCode") or root.HasInfo("endTimeCode"):
        return True
    # clips hold their samples in layers that the stage's own stack does not list
    layers = snapshot.stage.GetUsedLayers(includeClipLayers=True)
    return any(layer.ListAllTimeSamples() for layer in layers)
