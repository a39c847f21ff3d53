# SPDX-License-Identifier: Apache-2.0
"""Assets to look at: a page in the browser.

- ``comparing``: two assets on one page, with what differs between them
- ``configuration``: joint coordinates that a person changes; mimics follow, loops close
- ``contacts``: what touches what, as arrows
- ``drawing``: what is drawn of an asset: parts, once for all that are alike, and what lies over them
- ``fields``: what sensors see
- ``figure``: an asset in a scene, in layers that can be hidden, in one world or in many
- ``live``: the page of a simulation while it goes
- ``measuring``: where a line of sight meets shapes
- ``overlay``: lines and surfaces that move with bodies; limits of joints, where the joint is
- ``pace``: run, pause, steps, again from the beginning, speed
- ``page``: the page of an asset
- ``panel``: parts of the panel of controls: tree, findings, facts
- ``plan``: the page of a world while it goes
- ``plots``: signals over time
- ``replay``: recordings with a slider over their time
- ``serving``: a server on this machine only, for those who have its address
- ``splitting``: a binary glTF file as several with one primitive each
- ``stage``: floor, light, camera
- ``streaming``: poses of a simulation to all visitors, one message a picture
- ``words``: names of untrusted files as text of the page
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simwright.core.diag import Diagnostic
    from simwright.model.asset import Asset
    from simwright.view.page import VariantChoices, ViewPage


def open_page(
    asset: Asset,
    findings: Sequence[Diagnostic] = (),
    *,
    coordinates: Mapping[str, float] | None = None,
    variants: VariantChoices | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
) -> ViewPage:
    """Serve the page of an asset, with joints at these coordinates [rad or m]; ``close`` of the result ends it.

    ``port`` 0 takes one that is free; the ``address`` of the result is what to open.
    """
    # imported here: the page needs viser, which is an extra
    from simwright.view.page import ViewPage

    return ViewPage(asset, findings, coordinates=coordinates, variants=variants, host=host, port=port)
