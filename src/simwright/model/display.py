# SPDX-License-Identifier: Apache-2.0
"""How the model shows itself: one line in a terminal, tables in a notebook.  Never an array, never a page."""

from __future__ import annotations

import dataclasses
import enum
import html
import math
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import Pose
from simwright.core.registry import Registry

if TYPE_CHECKING:
    from simwright.model.asset import Asset
    from simwright.model.joint import Dof

LONGEST = 180
"""Characters of a line."""
_ROWS = 60
_QUIET = frozenset({"name", "path", "source"})


class Shown:
    """A dataclass that shows itself in one line: ``<Site 'tool0': body 'flange', pose at (0, 0, 0.1)>``.

    Dataclasses that inherit it say ``repr=False``.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        name = getattr(self, "name", None)
        head = type(self).__name__ + (f" {_cut(repr(name), 60)}" if isinstance(name, str) else "")
        facts = ", ".join(self.list_facts())
        return f"<{_cut(f'{head}: {facts}' if facts else head, LONGEST)}>"

    def list_facts(self) -> list[str]:
        """What is worth saying, in a few words each: here, all that is not as it is by default."""
        return list_differences(self)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 3]}..."


def list_differences(element: Any) -> list[str]:
    """Fields that are not as they are by default, as words and short values."""
    facts = []
    for field in dataclasses.fields(element):
        value = getattr(element, field.name)
        if field.name not in _QUIET and not _is_default(field, value):
            facts.append(f"{field.name.replace('_', ' ')} {show_value(value)}".rstrip())
    return facts


def _is_default(field: dataclasses.Field[Any], value: Any) -> bool:
    if isinstance(value, (list, dict, tuple, str)) and not value:
        return True
    if field.default is not dataclasses.MISSING:
        default = field.default
    elif field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
    else:
        return value is None
    if value is default:
        return True
    # == of arrays is an array
    if isinstance(value, np.ndarray) or isinstance(default, np.ndarray):
        return bool(np.array_equal(value, default))
    return type(value) is type(default) and bool(value == default)


def show_value(value: Any) -> str:
    """A value in a few characters."""
    match value:
        case bool():  # before int, which it is too
            return "yes" if value else "no"
        case enum.Enum():  # before str: most of our enumerations are both
            return str(value.value)
        case str():
            return repr(_cut(value, 40))
        case float() | np.floating():
            return show_number(float(value))
        case int() | np.integer():
            return str(value)
        case Pose():
            return f"at {show_vector(value.p)}"
        case np.ndarray():
            return _show_array(value)
        case list() | tuple() | dict() | frozenset() | set():
            return _show_collection(value)
    return _cut(repr(value), 60)


def _show_array(values: npt.NDArray[Any]) -> str:
    """Up to four numbers, else the shape."""
    if values.size <= 4 and values.ndim == 1:
        return show_vector(values)
    return f"[{' x '.join(str(n) for n in values.shape)}]"


def _show_collection(values: Collection[Any]) -> str:
    """A tuple of up to four numbers, else how many there are."""
    if isinstance(values, tuple) and len(values) <= 4 and all(isinstance(v, (float, int)) for v in values):
        return show_vector(values)
    return f"({len(values)})"


def show_number(value: float) -> str:
    """Four digits; what is only rounding shows as zero."""
    return "0" if abs(value) < 1e-12 else f"{value:.4g}"


def show_vector(values: Iterable[float]) -> str:
    """``(0, 0, 1)``."""
    return f"({', '.join(show_number(float(value)) for value in values)})"


def show_mass(asset: Asset) -> str:
    """Sum of the masses that bodies say, empty where none does; shapes are not looked at."""
    said = [body.inertial.mass for body in asset.bodies if body.inertial is not None]
    if not said:
        return ""
    start = "" if len(said) == len(asset.bodies) else "at least "
    return f"{start}{show_number(sum(said))} kg"


def show_limits(dof: Dof) -> str:
    """``-2.9 to 2.9 rad``; "no limits" for one that has none."""
    if not dof.is_limited:
        return "no limits"
    unit = "m" if dof.motion.value == "slide" else "rad"
    low, high = (show_number(end) if math.isfinite(end) else "unlimited" for end in (dof.lower, dof.upper))
    return f"{low} to {high} {unit}"


def show_file(source: str) -> str:
    """The last name of a path."""
    return PurePath(source).name or source


def count_words(asset: Asset) -> list[str]:
    """``12 bodies``, ``11 joints (9 DOF)``, ``66 shapes``, ``18.0 kg``: what there is of each."""
    freedoms = sum(joint.velocities for joint in asset.joints)
    words = [_count(len(asset.bodies), "body", "bodies")]
    words.append(f"{_count(len(asset.joints), 'joint')} ({freedoms} DOF)")
    words.append(_count(len(asset.shapes), "shape"))
    words += [_count(len(getattr(asset, f)), f[:-1]) for f in ("actuators", "sensors") if getattr(asset, f)]
    return [*words, *filter(None, (show_mass(asset),))]


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def make_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """An HTML table; every text is escaped, and rows beyond the first sixty are only counted."""
    cells = "".join(f"<th>{html.escape(word)}</th>" for word in head)
    lines = [f"<tr>{cells}</tr>"]
    texts = ("".join(f"<td>{html.escape(text)}</td>" for text in row) for row in rows[:_ROWS])
    lines += [f"<tr>{text}</tr>" for text in texts]
    if len(rows) > _ROWS:
        lines.append(f'<tr><td colspan="{len(head)}">... and {len(rows) - _ROWS} more</td></tr>')
    return f"<table><caption>{html.escape(title)}</caption>{''.join(lines)}</table>"


NOTEBOOK: Registry[Callable[..., Any]] = Registry("part of a notebook", "", {})
"""What can show an asset besides tables, added by the tiers that can draw: ``picture`` and ``page``."""


def show_beside(name: str, asset: Asset) -> str:
    """HTML of one of those; nothing where none is there."""
    return str(NOTEBOOK.get(name)(asset)) if name in NOTEBOOK else ""


def make_page(asset: Asset) -> str:
    """The asset as HTML: what there is, joints and bodies."""
    # two tables whose rows are written out, which counts as branches
    origin = f" from {asset.provenance.file}" if asset.provenance.file else ""
    parts = [
        f"<p><b>{html.escape(asset.name)}</b>{html.escape(origin)}: {html.escape(', '.join(count_words(asset)))}</p>"
    ]
    joints = [
        (
            joint.name,
            joint.kind.value,
            joint.parent or "world",
            joint.child or "world",
            ", ".join(show_vector(dof.axis) for dof in joint.dofs if dof.motion.value in ("hinge", "slide")),
            ", ".join(show_limits(dof) for dof in joint.dofs),
        )
        for joint in asset.joints
    ]
    if joints:
        parts.append(make_table("Joints", ("name", "type", "parent", "child", "axis", "limits"), joints))
    shapes: dict[str, int] = {}
    for shape in asset.shapes:
        shapes[shape.body] = shapes.get(shape.body, 0) + 1
    bodies = [
        (
            body.name,
            "from its shapes" if body.inertial is None else f"{show_number(body.inertial.mass)} kg",
            show_vector(body.pose.p),
            str(shapes.get(body.name, 0)),
        )
        for body in asset.bodies
    ]
    if bodies:
        parts.append(make_table("Bodies", ("name", "mass", "position [m]", "shapes"), bodies))
    return "".join(parts)
