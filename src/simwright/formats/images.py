# SPDX-License-Identifier: Apache-2.0
"""Numbers from image files: the samples of a height map or a floor plan.

Only the formats named here are opened, and only up to a size: an image is input like any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simwright.core.diag import Where
from simwright.core.errors import LimitError, ParseError
from simwright.core.files import MIB, check_readable
from simwright.core.math3d import Array

MAX_SAMPLES = 1 << 26
"""Most pixels of an image that is read as numbers."""
MAX_BYTES = 512 * MIB
_FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "PPM")


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Rows of an image, top first: one value per pixel, and the value that stands for white.

    ``full`` is None where values mean what they say (elevation models: floating point and 32 bits).
    """

    values: Array
    full: float | None


def load_samples(path: Path) -> Samples:
    """The first channel of an image; whatever is wrong with it is an InputError that names it."""
    from PIL import Image, UnidentifiedImageError

    where = Where(str(path))
    check_readable(path, MAX_BYTES)
    try:
        with Image.open(path, formats=_FORMATS) as image:
            width, height = image.size
            if width * height > MAX_SAMPLES:
                raise LimitError(
                    f"the image has {width} x {height} pixels; the limit is {MAX_SAMPLES}",
                    hint="make it smaller",
                    where=where,
                )
            return _take_samples(image)
    except UnidentifiedImageError:
        raise ParseError(
            f"{path.name!r} is no image of a known kind", hint=f"convert it to {_FORMATS[0]}", where=where
        ) from None
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ParseError(
            f"the image {path.name!r} cannot be read: {reason}", hint="is it complete?", where=where
        ) from None


def _take_samples(image: Any) -> Samples:
    mode = image.mode
    if mode in ("1", "P", "LA", "PA", "CMYK", "YCbCr", "HSV", "LAB"):
        image = image.convert("L" if mode in ("1", "LA") else "RGB")
    values = np.asarray(image, dtype=np.float64)
    if values.ndim == 3:
        values = values[:, :, 0]
    if image.mode.startswith("I;16"):
        return Samples(values, 65535.0)
    return Samples(values, None if image.mode in ("F", "I") else 255.0)
