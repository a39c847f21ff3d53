# SPDX-License-Identifier: Apache-2.0
"""Opening a stage: guarded, quiet, with our schemas, with packages, with variants chosen.

OpenUSD prints what it does not like and opens what it can.  :func:`open_stage` gives the same stage, but says
what is wrong through a :class:`~simwright.core.diag.Reporter`, and raises where nothing useful is left.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from weakref import WeakSet

from simwright.core.diag import Reporter, Where
from simwright.core.errors import ParseError, UnknownNameError
from simwright.core.gate import Gate
from simwright.core.packages import PackageMap
from simwright.core.swap import recover
from simwright.usd.arcs import (
    LAYER_OUTSIDE,
    LAYER_UNREADABLE,
    PACKAGE_UNKNOWN,
    LayerWalk,
    mute_for_all,
    walk_layers,
)
from simwright.usd.complaints import explain_errors, report_composition, report_messages
from simwright.usd.guard import check_file
from simwright.usd.locate import Locator
from simwright.usd.packages import context
from simwright.usd.plugins import register_plugins
from simwright.usd.silence import capture

_plain: WeakSet[Any] = WeakSet()
"""Stages whose layers bring in hardly anything more than once."""
_REPEATED = 2.0
_stages: WeakSet[Any] = WeakSet()
"""Stages of earlier that somebody still has: they follow what is read anew into layers that they use."""


def open_stage(
    path: str | Path,
    *,
    packages: PackageMap | None = None,
    variants: Mapping[str, str] | None = None,
    load: bool = True,
    reporter: Reporter | None = None,
    gate: Gate | None = None,
) -> Any:
    """The ``Usd.Stage`` of a .usda, .usdc, .usd or .usdz file.

    ``variants`` maps variant set names to the variants to select, in the session layer, on the default prim
    and everything below it.  ``load=False`` leaves payloads unloaded.  Composition errors are reported; a
    root layer that cannot be read, an unsafe address, or a file beyond the limits raises an InputError.  Layers that
    ``gate`` does not admit (without one: that of the asset the file lies in) are reported and muted.
    """
    from pxr import Ar, Usd

    # a fix that was interrupted while it replaced files is completed or undone before anybody reads them
    given = path if isinstance(path, Path) else Path(path)
    recover(given.parent, given.name)
    file = check_file(given)
    reporter = Reporter() if reporter is None else reporter
    packages = PackageMap() if packages is None else packages
    gate = gate or Gate.around(file, packages, reporter)
    register_plugins()
    locator = Locator()
    first = len(reporter.found)
    with capture() as messages:
        resolver_context = context(packages, file)
        with Ar.ResolverContextBinder(resolver_context):
            with explain_errors(given):
                walk = walk_layers(str(file.absolute()), gate, reporter, locator)
                if walk is None:
                    raise ParseError("OpenUSD cannot open this layer", where=Where(str(path)))
                walk.renew(_stages)
                _check_units(walk.layers[0].layer, locator)
                rule = Usd.Stage.LoadAll if load else Usd.Stage.LoadNone
                stage = open_without(walk.left_out, walk.layers[0].layer, resolver_context, rule)
            _check_used(stage, gate, walk)
            if walk.repeats < _REPEATED:
                _plain.add(stage)
        _select_variants(stage, variants or {}, Where(str(path)))
        # OpenUSD complains about these as well; one finding is enough
        skipped = {
            str(found.data["asset"]).split("//", 1)[-1].removeprefix("./")
            for found in reporter.found[first:]
            if found.kind in (PACKAGE_UNKNOWN.code, LAYER_UNREADABLE.code, LAYER_OUTSIDE.code)
        }
        report_composition(stage, skipped.union(walk.left_out), reporter, locator)
    # what OpenUSD says of a layer that is left out would tell what is in it
    told = [message for message in messages if not any(name in message.text for name in walk.left_out)]
    report_messages(told, reporter, str(path))
    return stage


def is_plain(stage: Any) -> bool:
    """Is it known that no part of a stage is there several times, as robots by the hundred are?"""
    return stage in _plain


def _check_units(layer: Any, locator: Locator) -> None:
    """Refuse a root layer whose units are no numbers: OpenUSD parses a path there, and fails where it is read."""
    from pxr import Sdf

    for name in ("metersPerUnit", "kilogramsPerUnit"):
        value = layer.pseudoRoot.GetInfo(name) if layer.pseudoRoot.HasInfo(name) else 1.0
        if not isinstance(value, (int, float)):
            where = locator.where_mention(layer, Sdf.Path.absoluteRootPath, f"{name} =")
            raise ParseError(
                f"{name} is {str(value)!r}, which is not a number", hint=f"write {name} = 1", where=where
            )


def open_without(muted: list[str], *source: Any, mask: Any = None) -> Any:
    """A stage that does without some layers, of which not a byte is read; the other arguments are those of OpenUSD.

    A stage can only be told what to leave out once it is there, so it starts with no prims.
    """
    from pxr import Sdf, Usd

    *place, rule = source
    whole = Usd.StagePopulationMask.All() if mask is None else mask
    if not muted:
        stage = Usd.Stage.Open(*source) if mask is None else Usd.Stage.OpenMasked(*place, mask, rule)
        _stages.add(stage)
        return stage
    if any(map(Sdf.Layer.Find, muted)):
        gc.collect()  # a stage of earlier, which nobody has but a cycle
    with mute_for_all(muted):
        stage = Usd.Stage.OpenMasked(*place, Usd.StagePopulationMask(), rule)
        stage.MuteAndUnmuteLayers(muted, [])
    stage.SetPopulationMask(whole)
    _stages.add(stage)
    return stage


def open_again(stage: Any, session: Any = None, *, load: bool = True, mask: Any = None) -> Any:
    """Another stage of the same root layer, with the same layers left out; ``session`` is its session layer."""
    from pxr import Usd

    rule = Usd.Stage.LoadAll if load else Usd.Stage.LoadNone
    source = (stage.GetRootLayer(), session or stage.GetSessionLayer(), stage.GetPathResolverContext())
    return open_without(list(stage.GetMutedLayers()), *source, rule, mask=mask)


def _check_used(stage: Any, gate: Gate, walk: LayerWalk) -> None:
    """Nothing was composed that the walk has not seen."""
    for layer in stage.GetUsedLayers():
        file = layer.realPath.partition("[")[0]
        if file and file not in walk.admitted:
            gate.admit(file, Where(str(stage.GetRootLayer().realPath)))


def _select_variants(stage: Any, variants: Mapping[str, str], where: Where) -> None:
    """Select in the session layer; a selection may bring in further sets, so each is looked for in turn."""
    from pxr import Usd

    with Usd.EditContext(stage, stage.GetSessionLayer()):
        for name, variant in variants.items():
            known: set[str] = set()
            choices: set[str] = set()
            found = False
            for prim in _prims_with_sets(stage):
                sets = prim.GetVariantSets()
                known.update(sets.GetNames())
                if not sets.HasVariantSet(name):
                    continue
                choices.update(sets.GetVariantSet(name).GetVariantNames())
                if variant in sets.GetVariantSet(name).GetVariantNames():
                    sets.GetVariantSet(name).SetVariantSelection(variant)
                    found = True
            if not choices:
                raise UnknownNameError("variant set", name, known, where=where)
            if not found:
                raise UnknownNameError(f"variant of {name!r}", variant, choices, where=where)


def list_variant_sets(stage: Any) -> dict[str, tuple[list[str], str]]:
    """Variant sets of a stage by name: their variants, and the one that is selected where the set is first found."""
    found: dict[str, tuple[list[str], str]] = {}
    for prim in _prims_with_sets(stage):
        sets = prim.GetVariantSets()
        for name in sets.GetNames():
            one = sets.GetVariantSet(name)
            variants, selected = found.get(name, ([], str(one.GetVariantSelection())))
            found[name] = (
                variants + [each for each in one.GetVariantNames() if each not in variants],
                selected,
            )
    return {name: (variants, selected) for name, (variants, selected) in found.items() if variants}


def _prims_with_sets(stage: Any) -> list[Any]:
    from pxr import Usd

    root = stage.GetDefaultPrim() or stage.GetPseudoRoot()
    return [prim for prim in Usd.PrimRange(root, Usd.PrimAllPrimsPredicate) if prim.HasVariantSets()]
