# SPDX-License-Identifier: Apache-2.0
"""Materials: how a surface looks (:class:`RenderMaterial`) and how it touches (:class:`PhysicsMaterial`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from simwright.core.diag import NOWHERE, Where

Rgb: TypeAlias = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Texture:
    """An image and how it is sampled.  ``channel`` is one of rgb, rgba, r, g, b, a."""

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


@dataclass(slots=True)
class RenderMaterial:
    """Metallic-roughness surface, linear colours, as UsdPreviewSurface and glTF have it.

    ``textures`` maps an input (``diffuse``, ``emissive``, ``metallic``, ``roughness``, ``normal``,
    ``occlusion``, ``opacity``, ``specular`` ...) to its image, which then replaces the constant.
    """

    name: str
    diffuse: Rgb = (0.18, 0.18, 0.18)
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
    textures: dict[str, Texture] = field(default_factory=dict)
    source: Where = NOWHERE


@dataclass(slots=True)
class PhysicsMaterial:
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
