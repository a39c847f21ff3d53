# SPDX-License-Identifier: Apache-2.0
"""From a rule to a ``UsdValidation`` validator.

Each validator is asked on its own, from several threads, about the same stage.  They share one snapshot of it,
which is thrown away when the stage changes or another stage comes.  Suppressions in the asset count here too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from pxr import Sdf, Tf, Usd, UsdValidation

from simwright.checker.asset import list_codes
from simwright.checker.facts.snapshot import Snapshot
from simwright.checker.rule import Rule
from simwright.checker.run import all_rules, run_rules
from simwright.checker.suppress import Suppression, gather_suppressions, split_suppressed
from simwright.core.diag import Diagnostic, Level, Reporter
from simwright.usd.locate import Locator

_TYPES = {
    Level.ERROR: UsdValidation.ValidationErrorType.Error,
    Level.WARNING: UsdValidation.ValidationErrorType.Warn,
    Level.INFO: UsdValidation.ValidationErrorType.Info,
}


class _View:
    """The snapshot of the stage that was asked about last."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._snapshot: Snapshot | None = None
        self._suppressions: list[Suppression] = []
        self._notice: Any = None

    def find(self, rule: Rule, stage: Usd.Stage) -> list[Diagnostic]:
        """What a rule finds on a stage; rules run one at a time, for they share what they compute."""
        with self._lock:
            if self._snapshot is None or self._snapshot.stage != stage:
                self._take(stage)
            assert self._snapshot is not None
            found = run_rules(self._snapshot, [rule])
            return split_suppressed(found, self._suppressions)[0]

    def _take(self, stage: Usd.Stage) -> None:
        self._snapshot = Snapshot(stage, path=stage.GetRootLayer().realPath)
        self._suppressions = gather_suppressions(self._snapshot, list_codes(), Reporter(), Locator())
        self._notice = Tf.Notice.Register(Usd.Notice.StageContentsChanged, self._forget, stage)

    def _forget(self, *_: Any) -> None:
        with self._lock:
            self._snapshot = None


_VIEW = _View()


def register_validators(plugin: str) -> None:
    """Give OpenUSD the function of every validator that the plugInfo.json of ``plugin`` names."""
    registry = UsdValidation.ValidationRegistry()
    if not hasattr(registry, "RegisterPluginStageValidator"):
        raise ImportError("this OpenUSD cannot run validators written in Python; install a newer usd-core")
    announced = {metadata.name for metadata in registry.GetValidatorMetadataForPlugin(plugin)}
    for rule in all_rules():
        name = f"{plugin}:{rule.code}"
        if name in announced:
            registry.RegisterPluginStageValidator(name, _make_task(rule))


def _make_task(rule: Rule) -> Callable[..., list[Any]]:
    def validate(stage: Usd.Stage, _time_range: Any = None) -> list[Any]:
        return [_make_error(finding, stage) for finding in _VIEW.find(rule, stage)]

    return validate


def _make_error(finding: Diagnostic, stage: Usd.Stage) -> Any:
    where = finding.where
    path = Sdf.Path(where.prim) if where.prim else Sdf.Path.absoluteRootPath
    if where.prop and path.IsPrimPath():
        path = path.AppendProperty(where.prop)
    place = f"{where.file}:{where.line}: " if where.line else ""
    advice = f" ({finding.hint})" if finding.hint else ""
    return UsdValidation.ValidationError(
        finding.kind,
        _TYPES[finding.level],
        [UsdValidation.ValidationErrorSite(stage, path)],
        f"{place}{finding.message}{advice}",
    )
