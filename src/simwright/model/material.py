# SPDX-License-Identifier: Apache-2.0
"""Materials: how a surface looks (:class:`RenderMaterial`) and how it touches (:class:`PhysicsMaterial`).

Colours are display colours everywhere in the model: of materials, shapes, vertices and lights, as URDF, SDFormat,
MJCF, OBJ and COLLADA files write them.  Formats with linear colours (OpenUSD, glTF) convert at their edge,
with the functions here: readers to display colours, writers to linear ones.  Exact to the last digits.

The curve between display colours (sRGB) and linear ones, which lights are multiplied with, is that of IEC 61966-2-1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from simwright.core.diag import NOWHERE, Where
from simwright.model.display import Shown

Rgb: TypeAlias = tuple[float, float, float]
_LINEAR_PART = 0.04045


def to_linear(value: float) -> float:
    """The linear value of a display value; what is outside 0 to 1 is left alone."""
    if not 0.0 < value < 1.0:
        return value
    return value / 12.92 if value <= _LINEAR_PART else float(((value + 0.055) / 1.055) ** 2.4)


def to_display(value: float) -> float:
    """The display value of a linear one: the inverse of :func:`to_linear`."""
    if not 0.0 < value < 1.0:
        return value
    return value * 12.92 if value <= _LINEAR_PART / 12.92 else float(1.055 * value ** (1.0 / 2.4) - 0.055)


def make_linear(color: Rgb) -> Rgb:
    """:func:`to_linear` of red, green and blue."""
    red, green, blue = color
    return to_linear(red), to_linear(green), to_linear(blue)


def make_display(color: Rgb) -> Rgb:
    """:func:`to_display` of red, green and blue."""
    red, green, blue = color
    return to_display(red), to_display(green), to_display(blue)


def make_all_linear(colors: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """:func:`to_linear` of every entry."""
    values = np.asarray(colors, dtype=np.float64)
    # clipped only for the power, which gives NaN below zero; values outside stay what they are
    inside = np.clip(values, 0.0, 1.0)
    curved = np.where(inside <= _LINEAR_PART, inside / 12.92, ((inside + 0.055) / 1.055) ** 2.4)
    return np.where((values > 0.0) & (values < 1.0), curved, values)


def make_all_display(colors: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """:func:`to_display` of every entry."""
    values = np.asarray(colors, dtype=np.float64)
    inside = np.clip(values, 0.0, 1.0)
    curved = np.where(inside <= _LINEAR_PART / 12.92, inside * 12.92, 1.055 * inside ** (1.0 / 2.4) - 0.055)
    return np.where((values > 0.0) & (values < 1.0), curved, values)


# UsdPreviewSurface's default diffuse colour
_GREY = to_display(0.18)


@dataclass(frozen=True, slots=True, repr=False)
class Texture(Shown):
    """An image and how it is sampled.  ``channel`` is one of rgb, rgba, r, g, b, a.

    ``color_space`` says what the values of the file are: display colours (``sRGB``), linear ones or data (``raw``), or
    the first for colours and the second for the rest (``auto``).  ``uv_set`` names the texture coordinates.

    Sampled values are multiplied with ``gain``, which is a display colour where the input is one, and ``bias`` added.
    """

    file: str
    channel: str = "rgb"
    color_space: str = "auto"
    wrap_s: str = "repeat"
    wrap_t: str = "repeat"
    scale: tuple[float, float] = (1.0, 1.0)
    offset: tuple[float, float] = (0.0, 0.0)
    rotation: float = 0.0
    uv_set: str = "st"
    gain: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    bias: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)


@dataclass(slots=True, repr=False)
class RenderMaterial(Shown):
    """Metallic-roughness surface, as UsdPreviewSurface and glTF have it, with display colours (sRGB).

    ``textures`` maps an input (``diffuse``, ``emissive``, ``metallic``, ``roughness``, ``normal``,
    ``occlusion``, ``opacity``, ``specular`` ...) to its image, which then replaces the constant.
    ``vertex_colors`` says that the diffuse colour is the one of the mesh's vertices.
    """

    name: str
    diffuse: Rgb = (_GREY, _GREY, _GREY)
    opacity: float = 1.0
    emissive: Rgb = (0.0, 0.0, 0.0)
    metallic: float = 0.0
    roughness: float = 0.5
    specular: Rgb | None = None
    clearcoat: float = 0.0
    clearcoat_roughness: float = 0.01
    ior: float = 1.5
    opacity_threshold: float = 0.0
    double_sided: bool = False
    vertex_colors: bool = False
    textures: dict[str, Texture] = field(default_factory=dict)
    source: Where = NOWHERE


@dataclass(slots=True, repr=False)
class LookVariant(Shown):
    """Another choice of looks for the same shapes: a variant of a variant set that changes materials only.

    ``materials`` maps a shape, or a shape and one of its face sets, to a material of the asset; what is not named keeps
    the look it has.
    """

    set_name: str
    name: str
    materials: dict[tuple[str, str], str] = field(default_factory=dict)


@dataclass(slots=True, repr=False)
class PhysicsMaterial(Shown):
    """Contact behaviour.  None means "not said": each engine's own default applies.

    Friction is dimensionless except ``torsional`` and ``rolling`` [m]; ``stiffness`` [N/m] and
    ``damping`` [N s/m] describe compliant contact; ``density`` [kg/m^3]; ``settings`` are further solver
    values by resolver key, SI (``kf`` [N s/m], ``ka`` [m], ``priority``, ``weight``).
    """

    name: str
    static_friction: float | None = None
    dynamic_friction: float | None = None
    torsional_friction: float | None = None
    rolling_friction: float | None = None
    restitution: float | None = None
    density: float | None = None
    stiffness: float | None = None
    damping: float | None = None
    friction_combine: str = ""
    restitution_combine: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    source: Where = NOWHERE

    def list_contact(self) -> dict[str, float | None]:
        """Friction and restitution by the names that builders have for them; sliding friction comes first."""
        # builders have one coefficient: that of sliding, which acts longer
        slide = self.dynamic_friction
        return {
            "mu": self.static_friction if slide is None else slide,
            "mu_torsional": self.torsional_friction,
            "mu_rolling": self.rolling_friction,
            "restitution": self.restitution,
        }
