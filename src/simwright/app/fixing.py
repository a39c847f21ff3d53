# SPDX-License-Identifier: Apache-2.0
"""Fixing one asset or several with the settings of their project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from simwright.check.config import Config, find_config, read_config
from simwright.core.errors import UsageError

if TYPE_CHECKING:
    from simwright.sanitizer.result import FixResult


@dataclass(frozen=True, slots=True)
class FixRequest:
    """What the user asked for; the words of :func:`simwright.fix`."""

    select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    unsafe: bool = False
    in_place: bool = False
    dry_run: bool = False
    diff: bool = False
    values: Mapping[str, str] = field(default_factory=dict)
    packages: Mapping[str, Path] = field(default_factory=dict)
    config: Path | None = None


def fix_one(source: str, target: str | None, request: FixRequest) -> FixResult:
    """Fix one asset."""
    from simwright.app.api import fix

    config = _load_config(source, request)
    return fix(
        source,
        target,
        select=request.select or config.select,
        ignore=[*config.ignore, *request.ignore],
        unsafe=request.unsafe,
        in_place=request.in_place,
        dry_run=request.dry_run,
        diff=request.diff,
        values={**_read_values(config), **request.values},
        settings=config.settings,
        packages=request.packages,
    )


def fix_in_place(inputs: Sequence[str], request: FixRequest) -> list[FixResult]:
    """Fix every asset that the inputs mean, where it is."""
    from simwright.check.entry_points import find_assets

    assert request.in_place
    return [fix_one(path, None, request) for path in find_assets(inputs)]


def check_ways(target: str | None, *, in_place: bool, dry_run: bool) -> None:
    """One of the three ways has to be chosen; a dry run may stand with the other two."""
    if target is not None and in_place:
        raise UsageError("-o and --in-place exclude each other", hint="choose one of them")
    if target is None and not in_place and not dry_run:
        raise UsageError(
            "say where the fixed asset goes",
            hint="-o OUT for a new folder, --in-place, or --dry-run to look first",
        )


def _read_values(config: Config) -> dict[str, str]:
    """Values of the project, every one of which some fix asks for."""
    from simwright.sanitizer.values import check_name

    for value in config.fix:
        check_name(value.name, value.where)
    return {value.name: value.text for value in config.fix}


def _load_config(source: str, request: FixRequest) -> Config:
    file = request.config or find_config([source])
    return read_config(file) if file else Config()
