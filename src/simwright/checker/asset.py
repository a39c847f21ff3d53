# SPDX-License-Identifier: Apache-2.0
"""Checking one asset: an open stage, or a file; in its default state and, on request, in every variant state.

Composition problems are findings like those of the rules.  A file that cannot be opened gives one error
finding and a result that is marked as failed; nothing is raised for what is in a file.

The variant sweep selects every variant of every set, one at a time, on a stage of its own.  All other sets stay as
the asset selects them, so the number of states is the sum of the variants and not their product.  A finding that the
default state has too is not repeated.
"""

from __future__ import annotations

import dataclasses
import glob
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pxr import Ar, Sdf, Tf

from simwright.checker.entry_points import suggest_conversion
from simwright.checker.facts.layer_walk import gather_layer
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.result import AssetResult
from simwright.checker.rule import Rule
from simwright.checker.run import all_rules, run_rules
from simwright.checker.settings import CheckSettings
from simwright.checker.suppress import gather_suppressions, split_suppressed
from simwright.core.diag import (
    CATALOGUE,
    Diagnostic,
    Level,
    Reporter,
    Where,
    declare,
    diagnostic_from_error,
    relocate,
    sort_diagnostics,
)
from simwright.core.errors import InputError, SimwrightError
from simwright.core.gate import Gate
from simwright.usd.arcs import MAX_LAYERS
from simwright.usd.complaints import explain_errors, report_composition
from simwright.usd.guard import LAYER_SUFFIXES
from simwright.usd.guard import check_file as guard_file
from simwright.usd.locate import Locator
from simwright.usd.open import open_again, open_stage
from simwright.usd.plugins import register_plugins
from simwright.usd.silence import capture

if TYPE_CHECKING:
    from simwright.core.packages import PackageMap


# any exception of a check becomes this finding, because one bad asset must not end a run over a folder
CHECK_FAILED = declare(
    "check-failed",
    Level.ERROR,
    "the check of this asset failed: {reason}",
    hint="the other assets were checked; please report it",
    doc="Checking an asset ended in an exception. It is a bug of Simwright, not of the asset.",
)


def check_stage(
    stage: Any,
    *,
    rules: Iterable[Rule] | None = None,
    settings: CheckSettings | None = None,
    variants: bool = False,
    path: str = "",
) -> AssetResult:
    """The findings of a stage that is open, also one that exists in memory only; it is not changed.

    ``variants`` checks every variant state as well.  ``path`` is the name used in the result.
    """
    register_plugins()
    reporter = Reporter()
    # OpenUSD prints composition problems; here they are findings with a place
    with capture():
        report_composition(stage, set(), reporter, Locator())
    return _check(stage, reporter, _Request(rules, settings, variants), path or _name_stage(stage))


def check_file(
    path: str | os.PathLike[str],
    *,
    rules: Iterable[Rule] | None = None,
    settings: CheckSettings | None = None,
    variants: bool = False,
    packages: PackageMap | None = None,
    with_files: bool = False,
) -> AssetResult:
    """The findings of a .usda, .usdc, .usd or .usdz file; ``with_files`` also lists what it depends on."""
    name = os.fspath(path)
    reporter = Reporter()
    request = _Request(rules, settings, variants, with_files)
    try:
        stage = open_stage(name, packages=packages, reporter=reporter)
        return _check(stage, reporter, request, name, Gate.around(name, packages))
    except SimwrightError as error:
        finding = diagnostic_from_error(error)
        if not finding.where.file:
            finding = relocate(finding, Where(name, prim=finding.where.prim))
        if finding.kind == "parse-error" and (advice := suggest_conversion(name)):
            finding = dataclasses.replace(finding, hint=advice)
        return AssetResult(name, sort_diagnostics([*reporter, finding]), failed=True)
    except Exception as error:  # noqa: BLE001 - one asset that breaks us must not hide the others
        reporter.report(CHECK_FAILED, Where(name), reason=f"{type(error).__name__}: {error}")
        return AssetResult(name, sort_diagnostics(reporter), failed=True)


def check_opened(
    stage: Any,
    complaints: Iterable[Diagnostic],
    *,
    rules: Iterable[Rule] | None = None,
    settings: CheckSettings | None = None,
    memory: dict[str, Any] | None = None,
    gate: Gate | None = None,
) -> AssetResult:
    """The findings of a stage that was opened from a file, with the diagnostics of opening it.

    ``gate`` says which files may be looked at.
    ``memory`` keeps what was found out about meshes for the next check of the same stage; empty it when meshes change.
    """
    reporter = Reporter()
    reporter.extend(complaints)
    name = _name_stage(stage)
    try:
        return _check(stage, reporter, _Request(rules, settings, variants=False, memory=memory), name, gate)
    except SimwrightError as error:
        return AssetResult(name, sort_diagnostics([*reporter, diagnostic_from_error(error)]), failed=True)
    except Exception as error:  # noqa: BLE001 - as for a file
        reporter.report(CHECK_FAILED, Where(name), reason=f"{type(error).__name__}: {error}")
        return AssetResult(name, sort_diagnostics(reporter), failed=True)


class _Request:
    """The options of one check."""

    __slots__ = ("memory", "rules", "settings", "variants", "with_files")

    def __init__(
        self,
        rules: Iterable[Rule] | None,
        settings: CheckSettings | None,
        variants: bool,
        with_files: bool = False,
        memory: dict[str, Any] | None = None,
    ) -> None:
        self.memory = memory
        self.rules = list(all_rules() if rules is None else rules)
        self.settings = settings or CheckSettings()
        self.variants = variants
        self.with_files = with_files


def _check(
    stage: Any, reporter: Reporter, request: _Request, path: str, gate: Gate | None = None
) -> AssetResult:
    with explain_errors(Path(path)), capture():
        snapshot = StageSnapshot(stage, request.settings, path=path, gate=gate)
        try:
            if request.memory is not None:
                snapshot.remember_meshes(request.memory)
            suppressions = gather_suppressions(snapshot, list_codes(), reporter, Locator())
            found: list[Diagnostic] = [*reporter, *run_rules(snapshot, request.rules)]
            if request.variants:
                found += list(sweep_variants(snapshot, request.rules, found))
            kept, silenced = split_suppressed(found, suppressions)
            files = list_files(snapshot) if request.with_files else []
        finally:
            snapshot.close()
    return AssetResult(path, sort_diagnostics(kept), silenced, files=files)


def list_codes() -> frozenset[str]:
    """Codes of every rule and of every other finding that a check can give."""
    return _gather_codes(len(CATALOGUE))


@lru_cache(maxsize=1)
def _gather_codes(_: int) -> frozenset[str]:
    # modules that are imported later may declare more
    return frozenset(CATALOGUE).union(rule.code for rule in all_rules())


def _name_stage(stage: Any) -> str:
    layer = stage.GetRootLayer()
    return str(layer.realPath or layer.identifier)


_UDIM = "<UDIM>"


def list_files(snapshot: StageSnapshot) -> list[str]:
    """Absolute paths, sorted; a folder stands for the names in it (tiles of a texture)."""
    files: set[str] = set()
    with capture(), Ar.ResolverContextBinder(snapshot.stage.GetPathResolverContext()):
        facts = {item.layer.identifier: item for item in snapshot.layers}
        # layers of variants that are not selected are not on the stage: follow the texts of the layers
        # instead
        queue = [item.layer for item in snapshot.layers]
        seen = set(facts)
        while queue and len(seen) <= MAX_LAYERS:
            layer = queue.pop()
            _add_file(files, layer.realPath)
            own = facts.get(layer.identifier) or gather_layer(layer)
            for text in _list_mentions(layer, (item.text for item in own.asset_paths)):
                other = _follow(files, layer, text, snapshot.gate)
                if other is not None and other.identifier not in seen:
                    seen.add(other.identifier)
                    queue.append(other)
    return sorted(files)


def _list_mentions(layer: Any, values: Iterable[str]) -> Iterator[str]:
    yield from layer.GetCompositionAssetDependencies()
    yield from layer.GetExternalAssetDependencies()
    yield from values


def _follow(files: set[str], layer: Any, text: str, gate: Gate) -> Any:
    """Note the file behind an address; gives the layer if it is one.  What the gate refuses was not looked at."""
    if not text:
        return None
    anchored = Sdf.ComputeAssetPathRelativeToLayer(layer, text)
    if _UDIM in anchored:
        _add_tiles(files, anchored)
        return None
    # a file inside a .usdz changes with its package: the package is what to watch
    outer = Ar.SplitPackageRelativePathOuter(anchored)[0]
    resolved = Ar.GetResolver().Resolve(outer).GetPathString()
    if resolved and not gate.admits(resolved):
        return None
    _add_file(files, resolved or outer)
    if not resolved.lower().endswith(LAYER_SUFFIXES):
        return None
    try:
        known = Sdf.Layer.Find(anchored)
        if known:
            return known
        # a file that the stage did not open may be too large or malicious: the same limits hold
        guard_file(resolved)
        return Sdf.Layer.FindOrOpen(anchored)
    except (InputError, Tf.ErrorException):
        return None


def _add_file(files: set[str], path: str) -> None:
    outer = Ar.SplitPackageRelativePathOuter(path)[0] if "[" in path else path
    if Path(outer).is_absolute():
        files.add(outer)


def _add_tiles(files: set[str], pattern: str) -> None:
    folder = Path(pattern).parent
    if not folder.is_absolute():
        return
    # a new tile changes the result, so the list of names in the folder counts
    files.add(str(folder))
    head, _, tail = Path(pattern).name.partition(_UDIM)
    tiles = folder.glob(f"{glob.escape(head)}[0-9][0-9][0-9][0-9]{glob.escape(tail)}")
    files.update(map(str, tiles))


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
class SelectedVariant:
    """One variant selected on one prim."""

    prim: str
    set_name: str
    variant: str

    def __str__(self) -> str:
        return f"{self.prim} {{{self.set_name}={self.variant}}}"


def sweep_variants(
    snapshot: StageSnapshot, rules: Iterable[Rule], default: Iterable[Diagnostic], *, limit: int = MAX_STATES
) -> Iterator[Diagnostic]:
    """What the rules find in other variant states and not in the default one, labelled with the state."""
    states = list_states(snapshot)
    rules = list(rules)
    # most findings do not depend on the variant: telling them again for each state would bury the others
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


def list_states(snapshot: StageSnapshot) -> list[SelectedVariant]:
    """Every variant that is not selected now, of every set of every prim outside of prototypes."""
    states = []
    for node in snapshot.nodes:
        if node.in_prototype or not node.prim.HasVariantSets():
            continue
        sets = node.prim.GetVariantSets()
        for name in sets.GetNames():
            variants = sets.GetVariantSet(name)
            current = variants.GetVariantSelection()
            states += [
                SelectedVariant(node.path, name, v) for v in variants.GetVariantNames() if v != current
            ]
    return states


def _check_state(snapshot: StageSnapshot, state: SelectedVariant, rules: list[Rule]) -> list[Diagnostic]:
    session = Sdf.Layer.CreateAnonymous("variants")
    # the user's own session opinions are kept, below the selection that is tried
    session.TransferContent(snapshot.stage.GetSessionLayer())
    reporter = Reporter()
    with capture():
        spec = Sdf.CreatePrimInLayer(session, state.prim)
        spec.variantSelections[state.set_name] = state.variant
        stage = open_again(snapshot.stage, session)
        report_composition(stage, set(), reporter, Locator())
        inner = StageSnapshot(stage, snapshot.settings, path=snapshot.path, gate=snapshot.gate)
        reporter.extend(run_rules(inner, rules))
        inner.close()
    return reporter.found


def _identify(finding: Diagnostic) -> tuple[str, str, Where]:
    return finding.kind, finding.message, finding.where


def _label(finding: Diagnostic, state: SelectedVariant) -> Diagnostic:
    return dataclasses.replace(
        finding,
        message=f"{finding.message} (with {state})",
        data={**finding.data, "variant": {"prim": state.prim, "set": state.set_name, "name": state.variant}},
    )
