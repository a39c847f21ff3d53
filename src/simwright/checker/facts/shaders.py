# SPDX-License-Identifier: Apache-2.0
"""Single shaders: what they are and what their inputs say (REP-0158 3.1)."""

from __future__ import annotations

import re
from typing import Any

from pxr import Sdf, Usd, UsdShade

_RENDERERS = re.compile(
    r"(ND_|mtlx|mdl|osl|Pxr|arnold|ai[A-Z]|karma|kma|redshift|rs[A-Z]|VRay|vray|cycles|Omni|hou)"
)


def identify_shader(prim: Usd.Prim) -> str:
    """``info:id`` of a shader, or ``MDL file.mdl`` and the like for one that is given by source."""
    source = _read_source(prim)
    if source == UsdShade.Tokens.id:
        attribute = prim.GetAttribute("info:id")
        return str(attribute.Get() or "") if attribute else ""
    for name in prim.GetAuthoredPropertyNames():
        parts = name.split(":")
        if parts[0] == "info" and parts[-1] == source:
            value = prim.GetAttribute(name).Get()
            language = parts[1].upper() if len(parts) > 2 else "source"
            return f"{language} {value.path}" if isinstance(value, Sdf.AssetPath) else f"{language} code"
    return f"a shader by {source}"


def _read_source(prim: Usd.Prim) -> str:
    attribute = prim.GetAttribute("info:implementationSource")
    return str(attribute.Get() or "") if attribute else str(UsdShade.Tokens.id)


def is_proprietary(prim: Usd.Prim) -> bool:
    """Is a shader of one renderer or shading language: given by source, or by an id such as ``ND_...``?"""
    if _read_source(prim) != UsdShade.Tokens.id:
        return True
    return bool(_RENDERERS.match(identify_shader(prim)))


def read_input(prim: Usd.Prim, name: str) -> Any:
    """Value of a shader input, through the material's interface; None if computed or not authored."""
    given = UsdShade.Shader(prim).GetInput(name)
    if not given:
        return None
    for attribute in given.GetValueProducingAttributes():
        if UsdShade.Input.IsInput(attribute):
            return attribute.Get()
    return None
