# SPDX-License-Identifier: Apache-2.0
"""Checking one asset: an open stage, or a file.

Composition problems are findings like those of the rules.  A file that cannot be opened gives one error
finding and a result that is marked as failed; nothing is raised for what is in a file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from simwright.checker.dependencies import list_files
from simwright.checker.facts.snapshot import Snapshot
from simwright.checker.result import AssetResult
from simwright.checker.rule import Rule
from simwright.checker.run import all_rules, run_rules
from simwright.checker.settings import Settings
from simwright.checker.suppress import gather_suppressions, split_suppressed
from simwright.checker.variants import sweep_variants
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
from simwright.core.errors import SimwrightError
from simwright.core.gate import Gate
from simwright.usd.complaints import report_composition
from simwright.usd.locate import Locator
from simwright.usd.open import open_stage
from simwright.usd.plugins import register_plugins
from simwright.usd.silence import capture

if TYPE_CHECKING:
    from simwright.core.packages import PackageMap

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
    settings: Settings | None = None,
    variants: bool = False,
    path: str = "",
) -> AssetResult:
    """The findings of a stage that is open, also one that exists in memory only; it is not changed.

    ``variants`` checks every variant state as well.  ``path`` is the name used in the result.
    """
    register_plugins()
    reporter = Reporter()
    with capture():
        report_composition(stage, set(), reporter, Locator())
    return _check(stage, reporter, _Request(rules, settings, variants), path or _name_stage(stage))


def check_file(
    path: str | os.PathLike[str],
    *,
    rules: Iterable[Rule] | None = None,
    settings: Settings | None = None,
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
        return AssetResult(name, sort_diagnostics([*reporter, finding]), failed=True)
    except Exception as error:  # noqa: BLE001 - one asset that breaks us must not hide the others
        reporter.report(CHECK_FAILED, Where(name), reason=f"{type(error).__name__}: {error}")
        return AssetResult(name, sort_diagnostics(reporter), failed=True)


def check_opened(
    stage: Any,
    complaints: Iterable[Diagnostic],
    *,
    rules: Iterable[Rule] | None = None,
    settings: Settings | None = None,
    memory: dict[str, Any] | None = None,
    gate: Gate | None = None,
) -> AssetResult:
    """The findings of a stage that was opened from a file, with what opening it had to tell.

    ``gate`` says which files may be looked at.
    ``memory`` keeps what was found out about meshes for the next check of the same stage; empty it when meshes change.
    """
    reporter = Reporter()
    reporter.extend(complaints)
    name = _name_stage(stage)
    try:
        return _check(stage, reporter, _Request(rules, settings, variants=False, memory=memory), name, gate)
    except Exception as error:  # noqa: BLE001 - as for a file
        reporter.report(CHECK_FAILED, Where(name), reason=f"{type(error).__name__}: {error}")
        return AssetResult(name, sort_diagnostics(reporter), failed=True)


class _Request:
    """What was asked for."""

    __slots__ = ("memory", "rules", "settings", "variants", "with_files")

    def __init__(
        self,
        rules: Iterable[Rule] | None,
        settings: Settings | None,
        variants: bool,
        with_files: bool = False,
        memory: dict[str, Any] | None = None,
    ) -> None:
        self.memory = memory
        self.rules = list(all_rules() if rules is None else rules)
        self.settings = settings or Settings()
        self.variants = variants
        self.with_files = with_files


def _check(
    stage: Any, reporter: Reporter, request: _Request, path: str, gate: Gate | None = None
) -> AssetResult:
    with capture():
        snapshot = Snapshot(stage, request.settings, path=path, gate=gate)
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


def list_codes() -> set[str]:
    """Codes of every rule and of every other finding that a check can give."""
    return {rule.code for rule in all_rules()} | set(CATALOGUE)


def _name_stage(stage: Any) -> str:
    layer = stage.GetRootLayer()
    return str(layer.realPath or layer.identifier)
