# SPDX-License-Identifier: Apache-2.0
"""Assets to look at: a page in the browser.

- ``configuration``: joint coordinates that a person changes; mimics follow, loops close
- ``drawing``: what is drawn of each body: looks, colliders, masses, axes, frames
- ``page``: the page (viser), served on this machine only, for those who have its address
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simwright.core.diag import Diagnostic
    from simwright.model.asset import Asset
    from simwright.view.page import ViewPage


def open_page(
    asset: Asset,
    findings: Sequence[Diagnostic] = (),
    *,
    coordinates: Mapping[str, float] | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
) -> ViewPage:
    """Serve the page of an asset, with joints at these coordinates [rad or m]; ``close`` of the result ends it.

    ``port`` 0 takes one that is free; the ``address`` of the result is what to open.
    """
    # imported here: the page needs viser, which is an extra
    from simwright.view.configuration import Configuration
    from simwright.view.drawing import draw_asset
    from simwright.view.page import ViewPage

    configuration = Configuration(asset)
    configuration.move(coordinates or {})
    drawing = draw_asset(asset, configuration.tree, configuration.pose())
    return ViewPage(configuration, drawing, findings, host=host, port=port)
