# SPDX-License-Identifier: Apache-2.0
"""The ways into a Newton builder: a USD stage, a file of any format, an asset."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from simwright.core.diag import Reporter, Where
from simwright.core.errors import MissingExtraError, UsageError
from simwright.core.math3d import Pose
from simwright.engines.newton.build import fill_builder
from simwright.engines.newton.choices import NAMES, Choices, choose_parts, settle_choices
from simwright.engines.newton.frames import find_base
from simwright.engines.newton.messages import listen
from simwright.engines.newton.registered import has_registered
from simwright.engines.newton.result import Imported
from simwright.engines.newton.roots import check_roots
from simwright.formats.format import ReadOptions
from simwright.formats.table import find_near, read_asset
from simwright.model.asset import Asset
from simwright.resolve.resolver import DEFAULT_ORDER, SchemaResolver


def add_usd(
    builder: Any,
    path: str | os.PathLike[str],
    *,
    xform: Pose | None = None,
    reporter: Reporter | None = None,
    **options: Any,
) -> Imported:
    """Import a USD stage into a builder; ``options`` are fields of :class:`ReadOptions` and :class:`Choices`."""
    return add_file(builder, path, format_name="usd", xform=xform, reporter=reporter, **options)


def add_file(
    builder: Any,
    path: str | os.PathLike[str],
    *,
    format_name: str | None = None,
    xform: Pose | None = None,
    reporter: Reporter | None = None,
    **options: Any,
) -> Imported:
    """Import a file of any format Simwright reads into a builder; options as in :func:`add_usd`."""
    import_newton()
    reporter = Reporter() if reporter is None else reporter
    choices = {name: options.pop(name) for name in sorted(NAMES & options.keys())}
    options.setdefault("packages", find_near(path))
    try:
        reading = ReadOptions(**options)
    except TypeError as error:
        raise UsageError(f"no such option: {error}", hint=f"known are {', '.join(sorted(NAMES))}") from None
    asset = read_asset(path, format_name=format_name, options=reading, reporter=reporter)
    stage = None
    if asset.provenance.format == "usd" and (has_registered(builder) or choices.get("override_root_xform")):
        from simwright.usd.open import open_stage

        stage = open_stage(
            Path(path), packages=reading.packages, variants=reading.variants, reporter=Reporter()
        )
    resolvers = reading.resolvers
    return add_asset(
        builder, asset, xform=xform, reporter=reporter, stage=stage, resolvers=resolvers, **choices
    )


def add_asset(
    builder: Any,
    asset: Asset,
    *,
    xform: Pose | None = None,
    reporter: Reporter | None = None,
    stage: Any = None,
    resolvers: Sequence[str | SchemaResolver] = DEFAULT_ORDER,
    **choices: Any,
) -> Imported:
    """Fill a builder from an asset, which stands at ``xform``; what has no place is reported.

    The asset is turned onto the builder's up axis.  Every tree of joints becomes an articulation, so that the
    builder can be finalized; bodies that nothing holds get a free joint.  ``stage`` is the open stage the asset
    was read from, with ``resolvers``: attributes that the builder has registered are read from its prims.
    ``choices`` are fields of :class:`Choices`.
    """
    import_newton()
    reporter = Reporter() if reporter is None else reporter
    settled = settle_choices(Choices(**choices), asset)
    check_roots(builder, settled, xform)
    result = Imported(asset=choose_parts(asset, settled), reporter=reporter, resolvers=tuple(resolvers))
    with_mjc = any(getattr(solver, "name", solver) == "mjc" for solver in resolvers)
    with listen(reporter, Where(asset.provenance.file)):
        fill_builder(builder, result, find_base(builder, xform), settled, stage, with_mjc=with_mjc)
    return result


def import_newton() -> ModuleType:
    """The package, or the line that installs it."""
    try:
        import warp

        warp.config.quiet = True  # before Newton is imported, which prints what Warp finds
        import newton
    except ImportError:
        raise MissingExtraError("newton", "newton", "filling a Newton builder") from None
    module: ModuleType = newton
    return module
