# SPDX-License-Identifier: Apache-2.0
"""Attributes that have time samples and nothing else, read without a chosen time: their first sample counts.

At the default time OpenUSD gives such attributes no value, so an animated body would jump to the origin.  The
stage of the caller is left alone: the first samples become defaults in a layer above a second stage.
"""

from __future__ import annotations

from pxr import Sdf, Usd

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.usd.open import open_again
from simwright.usd.silence import capture

SAMPLES_FIRST = declare(
    "usd-samples-first",
    Level.WARNING,
    "{count} attribute(s) have time samples but no default value, the first is {first}; the first sample "
    "of each is read",
    hint="choose the time code to read at",
    doc="The model holds one moment. Without a chosen time that is the default time, at which these "
    "attributes have no value.",
)
SAMPLES_INSTANCED = declare(
    "usd-samples-instanced",
    Level.WARNING,
    "{count} attribute(s) inside instances have time samples but no default value, the first is {first}; "
    "their schema's fallback is read",
    hint="choose the time code to read at",
    doc="Values inside instances cannot be changed from above, so the first sample cannot be put in.",
)

_UNSET = (Usd.ResolveInfoSourceNone, Usd.ResolveInfoSourceFallback)


def settle_samples(stage: Usd.Stage, file: str, reporter: Reporter) -> Usd.Stage:
    """The stage with the first samples as defaults; the same stage if there are none."""
    if not any(layer.ListAllTimeSamples() for layer in stage.GetUsedLayers()):
        return stage
    own, instanced = _find_sampled(stage)
    for kind, found in ((SAMPLES_FIRST, own), (SAMPLES_INSTANCED, instanced)):
        if found:
            first = found[0]
            where = Where(file, prim=str(first.GetPrimPath()), prop=first.name)
            reporter.report(kind, where, count=len(found), first=first)
    return _put_first(stage, own) if own else stage


def _find_sampled(stage: Usd.Stage) -> tuple[list[Sdf.Path], list[Sdf.Path]]:
    """Attributes with nothing but samples, outside and inside of instances."""
    own: list[Sdf.Path] = []
    instanced: list[Sdf.Path] = []
    everything = Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)
    for prim in Usd.PrimRange(stage.GetPseudoRoot(), everything):
        for attribute in prim.GetAuthoredAttributes():
            if attribute.GetNumTimeSamples() == 0:
                continue
            if attribute.GetResolveInfo(Usd.TimeCode.Default()).GetSource() in _UNSET:
                (instanced if prim.IsInstanceProxy() else own).append(attribute.GetPath())
    return own, instanced


def _put_first(stage: Usd.Stage, paths: list[Sdf.Path]) -> Usd.Stage:
    session = Sdf.Layer.CreateAnonymous("samples.usda")
    session.subLayerPaths = [stage.GetSessionLayer().identifier]
    with capture():
        twin = open_again(stage, session, load=False)
        twin.SetLoadRules(stage.GetLoadRules())
    values = [(path, stage.GetAttributeAtPath(path).Get(Usd.TimeCode.EarliestTime())) for path in paths]
    with Usd.EditContext(twin, session):
        for path, value in values:
            if value is not None:
                twin.GetAttributeAtPath(path).Set(value)
    return twin
