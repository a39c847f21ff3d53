# SPDX-License-Identifier: Apache-2.0
"""What the neutral model has no place for: flexes, skins and plugins, one finding per kind."""

from __future__ import annotations

from simwright.formats.mjcf.context import NOT_CARRIED, Context

_ADVICE = {
    "flex": "soft bodies have no neutral form; keep the MJCF for simulating them",
    "skin": "skins only change the look; the rigid shapes are kept",
    "plugin": "plugins are MuJoCo code; rebuild their effect in the target engine",
}


def report_losses(context: Context) -> None:
    """One finding for each kind of element that is left behind."""
    for family, advice in _ADVICE.items():
        count = context.count(family)
        if count:
            report_loss(context, family, list(range(count)), advice)


def report_loss(context: Context, family: str, indices: list[int], advice: str, what: str = "") -> None:
    """One finding for some elements of a family."""
    plural = "" if len(indices) == 1 else "es" if family == "flex" else "s"
    verb = "are" if what or len(indices) > 1 else "is"
    what = what or f"{len(indices)} {family}{plural}"
    shown = ", ".join(repr(context.name(family, i)) for i in indices[:5])
    names = shown + (", ..." if len(indices) > 5 else "")
    where = context.where(family, indices[0])
    context.reporter.report(NOT_CARRIED, where, what=what, verb=verb, names=names, advice=advice)
