# SPDX-License-Identifier: Apache-2.0
"""Files of pictures: ``.png`` of one, ``.gif`` and ``.mp4`` of many, written whole or not at all."""

from __future__ import annotations

import importlib
import importlib.util
import io
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from simwright.core.errors import MissingExtraError
from simwright.core.files import PartFile, write_atomic

Pixels = npt.NDArray[np.uint8]
_QUALITY = 8
_COLORS = 255
_EXTRA = "video"


def import_video() -> Any:
    """The writer of videos, or the line that installs it."""
    for module in ("imageio", "imageio_ffmpeg"):
        if importlib.util.find_spec(module) is None:
            raise MissingExtraError(module.replace("_", "-"), _EXTRA, "a film (.mp4)")
    return importlib.import_module("imageio.v2")


class FilmFile(Protocol):
    """A film that is being written."""

    def add(self, picture: Pixels) -> None:
        """One more picture (height x width x 3)."""
        ...

    def finish(self) -> None:
        """Move the film to its place."""
        ...

    def discard(self) -> None:
        """Leave nothing behind, unless it is finished."""
        ...


def open_film(path: Path, rate: float) -> FilmFile:
    """A film of ``rate`` pictures in a second, by the ending of its name: ``.gif``, else ``.mp4``."""
    return GifFile(path, rate) if path.suffix.lower() == ".gif" else VideoFile(path, rate)


class VideoFile:
    """An ``.mp4`` (H.264): pictures go into a file beside the destination."""

    def __init__(self, path: Path, rate: float) -> None:
        video = import_video()
        self.path, self.frames = path, 0
        self._part = PartFile(path)
        self._writer = video.get_writer(
            str(self._part.path),
            fps=rate,
            codec="libx264",
            quality=_QUALITY,
            pixelformat="yuv420p",
            macro_block_size=2,
        )

    def add(self, picture: Pixels) -> None:
        """One more picture."""
        self._writer.append_data(picture)
        self.frames += 1

    def finish(self) -> None:
        """Move the film to its place."""
        self._writer.close()
        self._part.finish()

    def discard(self) -> None:
        """Leave nothing behind, unless it is finished."""
        self._writer.close()
        self._part.discard()


class GifFile:
    """A ``.gif`` that plays again and again, with the colours of its first picture."""

    def __init__(self, path: Path, rate: float) -> None:
        self.path, self.frames = path, 0
        self._rate = rate
        self._pictures: list[Any] = []

    def add(self, picture: Pixels) -> None:
        """One more picture."""
        from PIL import Image

        image = Image.fromarray(picture)
        if not self._pictures:
            shown = image.quantize(_COLORS, method=Image.Quantize.MEDIANCUT)
        else:
            # colours that stay make the film smaller, and nothing flickers
            shown = image.quantize(palette=self._pictures[0], dither=Image.Dither.FLOYDSTEINBERG)
        self._pictures.append(shown)
        self.frames += 1

    def finish(self) -> None:
        """Write the film."""
        if not self._pictures:
            return
        stream = io.BytesIO()
        first, *rest = self._pictures
        # hundredths of a second are what the format has
        lasts = max(20, round(100 / self._rate) * 10)
        first.save(stream, "GIF", save_all=True, append_images=rest, duration=lasts, loop=0, optimize=False)
        write_atomic(self.path, stream.getvalue())

    def discard(self) -> None:
        """There is no file yet."""
        self._pictures.clear()


def encode_png(picture: Pixels) -> bytes:
    """A picture (height x width x 3 or 4) as the content of a ``.png``."""
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(picture).save(stream, "PNG", optimize=True)
    return stream.getvalue()
