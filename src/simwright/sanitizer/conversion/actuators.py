# SPDX-License-Identifier: Apache-2.0
"""MuJoCo's general actuators in other units: gain, bias and range of the command depend on what the law is."""

from __future__ import annotations

from typing import Any

from pxr import Sdf, Usd

from simwright.formats.usd.motors import Scale, has_units, pad, scale_law
from simwright.sanitizer.conversion.dimensions import FORCE, INERTIA, Factors, Role
from simwright.usd.edit import Editor, Refused

_LAW = (
    ("gain", "mjc:gainType", "fixed", "mjc:gainPrm", (1.0,)),
    ("bias", "mjc:biasType", "none", "mjc:biasPrm", ()),
    ("dynamics", "mjc:dynType", "none", "mjc:dynPrm", (1.0,)),
)


def rescale_actuator(editor: Editor, prim: Usd.Prim, role: Role, factors: Factors) -> None:
    """Ask for the law of an ``MjcActuator`` on a joint in other units."""
    effort = factors.of(INERTIA) if role.motion == "turn" else factors.of(FORCE)
    step = 1.0 if role.motion == "turn" else factors.length
    if effort == step == 1.0:
        return
    law = _read_law(prim)
    if role.motion not in ("turn", "slide") or not has_units(law):
        raise Refused(f"the law of {prim.GetPath()} has no unit that is known; convert the actuator by hand")
    scaled, command = scale_law(law, Scale(effort, step))
    for key, _, _, name, _ in _LAW[:2]:
        _replace(editor, prim, name, law[key], scaled[key])
    for end in ("min", "max"):
        name = f"mjc:ctrlRange:{end}"
        value = prim.GetAttribute(name).Get()
        if value and command != 1.0:
            editor.set_value(prim, name, prim.GetAttribute(name).GetTypeName(), value * command)


def _read_law(prim: Usd.Prim) -> dict[str, Any]:
    law: dict[str, Any] = {}
    for key, kind, plain, numbers, default in _LAW:
        law[f"{key}_type"] = str(prim.GetAttribute(kind).Get() or plain)
        values: Any = prim.GetAttribute(numbers).Get()
        law[key] = pad(tuple(float(v) for v in values) if values else default)
    return law


def _replace(editor: Editor, prim: Usd.Prim, name: str, old: list[float], new: list[float]) -> None:
    if old == new:
        return
    attribute = prim.GetAttribute(name)
    known: Any = attribute.Get() if attribute.HasAuthoredValue() else None
    size = max(len(known) if known else 0, 10 if known is None else 0)
    kind = attribute.GetTypeName() if attribute else Sdf.ValueTypeNames.DoubleArray
    editor.set_value(prim, name, kind, new[: size or 10], uniform=True)
