# SPDX-License-Identifier: Apache-2.0
"""Shapes of each rigid piece, what is seen and what is touched apart, matched by what they are.

Equal shapes are matched first, then shapes of the same name, then what is left in order: so names may change and a
shape that is seen and touched may be two on the other side.
"""

from __future__ import annotations

from dataclasses import dataclass

from simwright.compare.difference import Figure, Item, Section
from simwright.compare.outline import Outline, measure_outlines, outline_shape
from simwright.compare.pairing import Pairing
from simwright.compare.side import Side
from simwright.compare.values import Ruler
from simwright.core.math3d import Pose
from simwright.core.names import make_identifier
from simwright.model.asset import Shape
from simwright.model.joint import WORLD

ROLES = {"visuals": "visual", "collisions": "collision"}


@dataclass(slots=True, eq=False)
class Standing:
    """A shape and its outline in the common frame of its rigid piece."""

    shape: Shape
    outline: Outline


@dataclass(slots=True, eq=False)
class ShapePair:
    """Two shapes that correspond, with the errors between their outlines."""

    a: Shape
    b: Shape
    errors: dict[str, float]


def compare_shapes(section: Section, pairing: Pairing, ruler: Ruler) -> None:
    """One role: ``section`` is called visuals or collisions."""
    pairs, left_a, left_b = pair_shapes(pairing, ruler, ROLES[section.name])
    section.compared = len(pairs)
    word = ROLES[section.name]
    worst: dict[str, tuple[float, str]] = {}
    for pair in pairs:
        element = f"{word} {pair.a.name!r}"
        for what, error in pair.errors.items():
            if what == "size" and word == "collision":
                continue  # a plane is touched everywhere, whatever is seen of it
            worst[what] = max(worst.get(what, (0.0, "")), (error, element), key=lambda entry: entry[0])
            if error > ruler.rtol:
                section.items.append(_describe(element, what, pair, error))
        if word == "collision":
            ruler.compare(section, element, "enabled", pair.a.enabled, pair.b.enabled)
            ruler.compare(section, element, "margin", pair.a.margin or 0.0, pair.b.margin or 0.0)
            ruler.compare(section, element, "gap", pair.a.gap or 0.0, pair.b.gap or 0.0)
    section.items += [Item(f"{word} {s.name!r}", _tell(s), s.name, None) for s in left_a]
    section.items += [Item(f"{word} {s.name!r}", _tell(s), None, s.name) for s in left_b]
    for what, (error, where) in worst.items():
        if error < float("inf"):
            section.figures.append(Figure(what, error, ruler.rtol, where))


def _tell(shape: Shape) -> str:
    return f"{shape.geometry.kind} on {shape.body or 'the world'}"


def _describe(element: str, what: str, pair: ShapePair, error: float) -> Item:
    if what == "kind":
        return Item(element, what, pair.a.geometry.kind, pair.b.geometry.kind, error=error)
    first, second = (outline_shape(shape, shape.pose) for shape in (pair.a, pair.b))
    if what in first.counts:
        return Item(element, what, first.counts[what], second.counts.get(what), error=error)
    if what in first.values and what not in ("heights", "second moments"):
        return Item(element, what, first.values[what][0], second.values[what][0], error=error)
    return Item(element, what, pair.a.name, pair.b.name, error=error)


def pair_shapes(
    pairing: Pairing, ruler: Ruler, role: str
) -> tuple[list[ShapePair], list[Shape], list[Shape]]:
    """Pairs of one role, and what only one side has; worked out once."""
    if role not in pairing.shapes:
        pairing.shapes[role] = _pair(pairing, ruler, role)
    found: tuple[list[ShapePair], list[Shape], list[Shape]] = pairing.shapes[role]
    return found


class _Matcher:
    """Takes pairs out of the shapes of one rigid piece."""

    def __init__(self, ruler: Ruler) -> None:
        self._ruler = ruler
        self.pairs: list[ShapePair] = []

    def match(self, a: list[Standing], b: list[Standing]) -> None:
        """Equal shapes first, then those of the same name, then those of the same kind; the rest stays."""
        for x in list(a):
            same = [y for y in b if max(self._measure(x, y).values()) <= self._ruler.rtol]
            if same:
                self._take(a, b, x, min(same, key=lambda y, x=x: not _is_named(x, y)))  # type: ignore[misc]
        for agree in (_is_named, _is_kind):
            for x in list(a):
                y = next((y for y in b if agree(x, y)), None)
                if y is not None:
                    self._take(a, b, x, y)

    def _measure(self, x: Standing, y: Standing) -> dict[str, float]:
        return measure_outlines(x.outline, y.outline, self._ruler.length)

    def _take(self, a: list[Standing], b: list[Standing], x: Standing, y: Standing) -> None:
        a.remove(x)
        b.remove(y)
        self.pairs.append(ShapePair(x.shape, y.shape, self._measure(x, y)))


def _pair(pairing: Pairing, ruler: Ruler, role: str) -> tuple[list[ShapePair], list[Shape], list[Shape]]:
    first = _stand(pairing.a, role, {group: anchor[1] for group, anchor in pairing.anchors.items()})
    second = _stand(pairing.b, role, {anchor[0]: anchor[2] for anchor in pairing.anchors.values()})
    matcher = _Matcher(ruler)
    for group, anchor in pairing.anchors.items():
        matcher.match(first.get(group, []), second.get(anchor[0], []))
    left_a, left_b = ([x.shape for shapes in side.values() for x in shapes] for side in (first, second))
    return matcher.pairs, left_a, left_b


def _stand(side: Side, role: str, frames: dict[str, Pose]) -> dict[str, list[Standing]]:
    result: dict[str, list[Standing]] = {}
    for shape in side.asset.shapes:
        if not getattr(shape, role):
            continue
        group, pose = side.place(shape.body, shape.pose)
        frame = frames.get(group)
        at = pose if frame is None else ~frame @ pose
        result.setdefault(group if shape.body else WORLD, []).append(
            Standing(shape, outline_shape(shape, at))
        )
    return result


def _is_named(x: Standing, y: Standing) -> bool:
    first, second = (make_identifier(standing.shape.name).lower() for standing in (x, y))
    return second in (first, f"{first}_visual") or first == f"{second}_visual"


def _is_kind(x: Standing, y: Standing) -> bool:
    return x.outline.kind == y.outline.kind
