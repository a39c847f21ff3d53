# SPDX-License-Identifier: Apache-2.0
"""Assets in notebooks: a picture above their tables, and their page in a frame."""

from __future__ import annotations

import base64
import html
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simwright.core.errors import SimwrightError
from simwright.core.visible import make_visible
from simwright.model.asset import Asset

if TYPE_CHECKING:
    from simwright.view.page import ViewPage

_SIZE = (800, 500)
_PASSES = 8


def draw_jpeg(asset: Asset, size: tuple[int, int], passes: int = _PASSES) -> bytes:
    """The content of a JPEG of an asset as it starts; nothing where it cannot be drawn here."""
    from PIL import Image

    from simwright.app.rendering import draw_plain

    try:
        pixels = draw_plain(asset, size, passes)
    # graphics are missing in many ways, and what goes with the picture is worth more
    except (SimwrightError, RuntimeError, OSError, ImportError, AttributeError, ValueError):
        return b""
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "JPEG", quality=84, optimize=True)
    return stream.getvalue()


def show_picture(asset: Asset) -> str:
    """A picture as HTML; nothing where it cannot be drawn, or where there is nothing to see."""
    picture = draw_jpeg(asset, _SIZE) if asset.shapes else b""
    if not picture:
        return ""
    content = base64.b64encode(picture).decode()
    label = html.escape(make_visible(asset.name), quote=True)
    return f'<img alt="{label}" width="640" src="data:image/jpeg;base64,{content}">'


@dataclass(frozen=True, slots=True)
class NotebookView:
    """A page that is served while it is looked at; shows itself as a frame of a notebook."""

    page: ViewPage
    height: int

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return self.page.address

    def close(self) -> None:
        """Stop serving."""
        self.page.close()

    def _repr_html_(self) -> str:
        address = html.escape(self.address, quote=True)
        frame = f'<iframe src="{address}" width="100%" height="{self.height}" style="border: 0"></iframe>'
        # browsers keep the cookie of the page only where the notebook has the same host, under whichever of its names
        follow = (
            "<script>(() => { const frame = document.currentScript.previousElementSibling;"
            "if (location.hostname === 'localhost') frame.src = frame.src.replace('//127.0.0.1:', '//localhost:');"
            "})()</script>"
        )
        return frame + follow


def open_view(asset: Asset, height: int = 600) -> NotebookView:
    """The page of an asset, to be shown by a notebook."""
    from simwright.view import open_page

    return NotebookView(open_page(asset), height)
