# SPDX-License-Identifier: Apache-2.0
"""Questions about a single attribute that many rules ask: is it authored, with the declared type, as a number?

A registered schema answers ``GetTypeName`` with its own type whatever a layer wrote, so the declared type is
read from the layers.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pxr import Sdf, Usd

from simwright.checker.rule import Finding
from simwright.core.diag import Level
from simwright.usd.questions import imaginary_of, unpack_of

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import PrimNode


_EXAMPLES = {"string": '"{}"', "token": '"{}"'}


def strongest_spec(node: PrimNode, name: str) -> Sdf.AttributeSpec | None:
    """The strongest opinion of the asset about an attribute; the session layer is not the asset's."""
    attribute = node.prim.GetAttribute(name)
    if not attribute:
        return None
    # what a viewer overrides is not what the asset says
    session = node.prim.GetStage().GetSessionLayer()
    for spec in attribute.GetPropertyStack():
        if spec.layer != session and isinstance(spec, Sdf.AttributeSpec):
            return spec
    return None


def declared_type(node: PrimNode, name: str) -> str:
    """The type an attribute is declared with in the layers, "" if no layer mentions it."""
    spec = strongest_spec(node, name)
    return str(spec.typeName) if spec is not None else ""


def is_local(node: PrimNode, name: str) -> bool:
    """Is the strongest opinion in the stage's own layer stack, not behind a reference?"""
    spec = strongest_spec(node, name)
    return spec is not None and spec.layer in node.prim.GetStage().GetLayerStack(includeSessionLayers=False)


def check_declared(
    node: PrimNode, name: str, expected: str, *, level: Level | None = None
) -> Iterator[Finding]:
    """A finding if the attribute is declared with another type."""
    found = declared_type(node, name)
    if found and found != expected:
        yield Finding(
            f"{name} is declared as {found}, it must be {expected}",
            hint=f"declare it as {expected} {name}",
            at=node,
            prop=name,
            level=level,
            data={"found": found, "expected": expected},
        )


def check_required(node: PrimNode, name: str, expected: str, example: str) -> Iterator[Finding]:
    """A finding if the attribute is missing, empty or declared with another type."""
    value = node.authored(name)
    line = f"{expected} {name} = {_EXAMPLES.get(expected, '{}').format(example)}"
    if value is None:
        yield Finding(f"{name} is not authored, it is required", hint=f"add {line}", at=node, prop=name)
        return
    if isinstance(value, str) and not value.strip():
        yield Finding(
            f"{name} is empty, it is required", hint=f"write, for example, {line}", at=node, prop=name
        )
        return
    yield from check_declared(node, name, expected)


def check_token(
    node: PrimNode,
    name: str,
    allowed: Sequence[str],
    *,
    required: bool,
    aliases: dict[str, str] | None = None,
) -> Iterator[Finding]:
    """Findings of a token with allowed values: missing, wrong type, or another value."""
    value = node.authored(name)
    if value is None:
        if required:
            yield from check_required(node, name, "token", allowed[0])
        return
    if not isinstance(value, str) or value not in allowed:
        yield _unknown_token(node, name, value, allowed, aliases or {})
        return
    yield from check_declared(node, name, "token")


def _unknown_token(
    node: PrimNode, name: str, value: Any, allowed: Sequence[str], aliases: dict[str, str]
) -> Finding:
    text = value if isinstance(value, str) else ""
    plain = text.strip().lower().replace("-", "_").replace(" ", "_")
    close = difflib.get_close_matches(plain, allowed, n=1, cutoff=0.6)
    meant = plain if plain in allowed else aliases.get(plain, close[0] if close else "")
    choices = ", ".join(f'"{item}"' for item in allowed)
    return Finding(
        f"{name} is {value!r}, it must be one of {choices}",
        hint=f'write token {name} = "{meant or allowed[0]}"' + ("" if meant else " or another of them"),
        at=node,
        prop=name,
        data={"value": str(value), "meant": meant},
    )


def read_authored(node: PrimNode, name: str) -> Any:
    """An authored value; the first sample where it is only time-sampled."""
    if not node.may_say(name):
        return None
    value = node.authored(name)
    # exporters of animations write samples and no default
    return node.authored(name, Usd.TimeCode.EarliestTime()) if value is None else value


def read_number(node: PrimNode, name: str) -> float | None:
    """An authored number; None where there is none, or something else."""
    value = read_authored(node, name)
    # the usual case first: this is asked for every body and joint
    if type(value) is float:
        return value
    return float(value) if isinstance(value, int | float) else None


def read_vector(node: PrimNode, name: str) -> tuple[float, ...] | None:
    """Three or four authored numbers, a quaternion's real part first; None where there is something else."""
    value = read_authored(node, name)
    if value is None:
        return None
    unpack = imaginary_of.get(type(value))
    if unpack is not None:
        return (float(value.GetReal()), *unpack(value.GetImaginary()))
    unpack = unpack_of.get(type(value))
    try:
        return tuple(map(float, value if unpack is None else unpack(value)))
    except (TypeError, ValueError):
        return None
