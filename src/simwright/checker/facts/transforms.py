# SPDX-License-Identifier: Apache-2.0
"""Transform stacks of prims for rules: which ops, in what order, with what values at every time (REP-0158 1.1).

``xformOpOrder`` is read as the token array it is: ``GetOrderedXformOps`` is ten times slower from Python, and
most prims have no ops or two.  Prims with ops other than translate and orient are found through the layers,
so that a clean asset costs nothing.

``!resetXformStack!`` drops what stands before it, as OpenUSD does; ``!invert!`` marks an inverse op.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from struct import Struct
from typing import TYPE_CHECKING, Any

from pxr import Gf, Tf, Usd, Vt

from simwright.checker.facts.owners import find_owners
from simwright.usd.questions import attribute_of, items_of, value_of
from simwright.usd.silence import capture
from simwright.usd.xform import PrimTransform, read_local, split_rows

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import PrimNode, StageSnapshot

RESET = "!resetXformStack!"
INVERT = "!invert!"
ORDER = "xformOpOrder"
_PREFIX = "xformOp:"
EULER_KINDS = frozenset({
    "rotateX", "rotateY", "rotateZ", "rotateXYZ", "rotateXZY", "rotateYXZ", "rotateYZX", "rotateZXY", "rotateZYX",
})  # fmt: skip
SCALE_KINDS = frozenset({"scale", "scaleX", "scaleY", "scaleZ"})
UNIT_TOLERANCE = 1e-6
"""How far from 1 a scale may be: room for float noise such as 0.9999999."""
MATRIX_TOLERANCE = 1e-5
"""The same for a scale that is worked out of a matrix."""
_KEPT = 4096
"""Prims whose local transforms are kept once they were worked out."""
ANGLE_TOLERANCE = 1e-3
"""Rotations below this are none [deg]."""


@dataclass(frozen=True, slots=True)
class XformOp:
    """One entry of xformOpOrder: ``!invert!xformOp:translate:pivot`` is kind translate, suffix pivot, inverse."""

    name: str
    """Name of the attribute."""
    kind: str
    suffix: str = ""
    inverse: bool = False

    @property
    def token(self) -> str:
        """As xformOpOrder has it."""
        return INVERT + self.name if self.inverse else self.name

    @property
    def is_plain(self) -> bool:
        """Neither suffixed nor inverse?"""
        return not self.suffix and not self.inverse

    @property
    def is_euler(self) -> bool:
        """A rotation by angles?"""
        return self.kind in EULER_KINDS

    @property
    def is_scale(self) -> bool:
        """A scale, of all axes or of one?"""
        return self.kind in SCALE_KINDS


@dataclass(frozen=True, slots=True)
class OpStack:
    """The ops of a prim, outermost first; ``resets`` when the parent's transform is ignored."""

    ops: tuple[XformOp, ...] = ()
    resets: bool = False

    @property
    def tokens(self) -> str:
        """As text for messages: ``[translate, orient]``."""
        words = [RESET] if self.resets else []
        words += [op.token.replace(_PREFIX, "") for op in self.ops]
        return f"[{', '.join(words)}]"


NO_OPS = OpStack()


@dataclass(slots=True)
class TransformFacts:
    """Transform stacks read so far, and the prims with matrices, Euler angles, scales or suffixed ops."""

    stacks: dict[int, OpStack] = field(default_factory=dict)
    parsed: dict[tuple[str, ...], OpStack] = field(default_factory=dict)
    last: tuple[Any, OpStack] | None = None
    local: dict[int, list[PrimTransform]] = field(default_factory=dict)
    """Local transforms at all times, of some prims."""
    matrices: list[tuple[PrimNode, XformOp]] = field(default_factory=list)
    eulers: list[tuple[PrimNode, XformOp]] = field(default_factory=list)
    scales: list[tuple[PrimNode, XformOp]] = field(default_factory=list)
    suffixed: list[tuple[PrimNode, XformOp]] = field(default_factory=list)
    names: frozenset[str] = frozenset()
    """Names of prims that a layer gives ops other than translate and orient."""
    renamed: bool = False
    """Some of those prims have another name on the stage."""

    def may_have(self, node: PrimNode) -> bool:
        """May a prim have attributes of ops other than translate and orient?  False is certain."""
        return self.renamed or node.name in self.names


def read_transforms(snapshot: StageSnapshot) -> TransformFacts:
    """The stage's unusual ops, in order of traversal (gathered once)."""
    return snapshot.shared("transforms", _gather)


def read_stack(node: PrimNode, snapshot: StageSnapshot) -> OpStack:
    """The op stack of a node; empty for what is not Xformable (remembered)."""
    return _read_stack(node, read_transforms(snapshot))


def list_strays(node: PrimNode, snapshot: StageSnapshot) -> list[str]:
    """Transform ops that are authored but not in xformOpOrder, so that they have no effect."""
    used = {op.name for op in read_stack(node, snapshot).ops}
    return [name for name in node.property_names("xformOp") if name not in used]


def list_values(node: PrimNode, op: XformOp) -> list[Any]:
    """Values of an op: the default one and those at every time sample; blocked or absent ones are left out."""
    attribute = node.prim.GetAttribute(op.name)
    if not attribute:
        return []
    values = [attribute.Get(), *(attribute.Get(time) for time in attribute.GetTimeSamples())]
    return [value for value in values if value is not None]


def is_unit_scale(node: PrimNode, op: XformOp) -> bool:
    """Is a scale op 1 in every direction at every time, but for float noise?"""
    return all(
        abs(factor - 1.0) <= UNIT_TOLERANCE for value in list_values(node, op) for factor in _triple(value)
    )


def list_local(node: PrimNode, snapshot: StageSnapshot) -> list[PrimTransform]:
    """Local transforms: at the default time, and at every time sample of its ops."""
    book = read_transforms(snapshot)
    stack = _read_stack(node, book)
    if not stack.ops:
        return []
    known = book.local.get(id(node))
    if known is not None:
        return known
    times: set[float] = set()
    for op in stack.ops if snapshot.may_move else ():
        attribute = node.prim.GetAttribute(op.name)
        if attribute:
            times.update(attribute.GetTimeSamples())
    with capture():  # OpenUSD warns of ops whose attribute is missing; the rules say it themselves
        found = [_read_at(node, time) for time in (None, *sorted(times))]
    # several rules ask about a scaled prim; a stage of many is not to be held twice
    if len(book.local) < _KEPT:
        book.local[id(node)] = found
    return found


def read_in(node: PrimNode, base: PrimNode | None, snapshot: StageSnapshot) -> PrimTransform | None:
    """Transform of a node as seen from another (None is the stage); None when OpenUSD cannot work it out."""
    try:
        with capture():
            world = snapshot.xforms.GetLocalToWorldTransform(node.prim)
            if base is not None:
                inverse = _find_inverse(base, snapshot)
                if inverse is None:
                    return None
                world *= inverse
    except Tf.ErrorException:
        return None
    numbers = _MATRIX(world)
    return split_rows([numbers[row : row + 4] for row in (0, 4, 8, 12)])


_MATRIX = Struct("16d").unpack
"""The numbers of a ``Gf.Matrix4d``, row by row."""


def _find_inverse(base: PrimNode, snapshot: StageSnapshot) -> Gf.Matrix4d | None:
    """From the stage to a frame, which many prims are seen from."""
    known: dict[int, Gf.Matrix4d | None] = snapshot.shared("inverse frames", lambda _: {})
    if id(base) not in known:
        frame = snapshot.xforms.GetLocalToWorldTransform(base.prim)
        # a scale of zero somewhere above: nothing can be seen from that frame
        known[id(base)] = None if abs(frame.GetDeterminant()) < 1e-300 else frame.GetInverse()
    return known[id(base)]


def find_scale(node: PrimNode, snapshot: StageSnapshot) -> tuple[float, float, float] | None:
    """The first local scale that is not 1, as a scale op or hidden in a matrix; None when there is none."""
    if not _may_scale(node, snapshot):
        return None
    for found in list_local(node, snapshot):
        x, y, z = (float(v) for v in found.scale)
        if not all(abs(v - 1.0) <= MATRIX_TOLERANCE for v in (x, y, z)):
            return x, y, z
    return None


def find_rotation(node: PrimNode, snapshot: StageSnapshot) -> tuple[float, tuple[float, float, float]] | None:
    """The first local rotation that is one, as angle [deg] and axis; None when there is none."""
    for found in list_local(node, snapshot):
        angle, axis = split_rotation(tuple(float(v) for v in found.pose.q))
        if angle > ANGLE_TOLERANCE:
            return angle, axis
    return None


def split_rotation(q: tuple[float, ...]) -> tuple[float, tuple[float, float, float]]:
    """Angle [deg], 0 to 180, and unit axis of a quaternion w, x, y, z; the axis of no rotation is Z."""
    # q and -q are the same rotation: take the shorter way round
    w, x, y, z = q if q[0] >= 0 else tuple(-v for v in q)
    length = math.sqrt(x * x + y * y + z * z)
    if length == 0.0 or not math.isfinite(length):
        return 0.0, (0.0, 0.0, 1.0)
    return math.degrees(2.0 * math.atan2(length, w)), (x / length, y / length, z / length)


def is_mirrored(node: PrimNode, snapshot: StageSnapshot) -> bool:
    """Does the local transform change left into right at any time?"""
    if not _may_scale(node, snapshot):
        return False
    return any(found.mirrored for found in list_local(node, snapshot))


def _gather(snapshot: StageSnapshot) -> TransformFacts:
    book = TransformFacts()
    _find_names(book, snapshot)
    if not book.names:
        return book
    for node in snapshot.nodes:
        if "Xformable" not in node.bases or not book.may_have(node):
            continue
        for op in _read_stack(node, book).ops:
            if op.kind == "transform":
                book.matrices.append((node, op))
            elif op.is_euler:
                book.eulers.append((node, op))
            elif op.is_scale:
                book.scales.append((node, op))
            if op.suffix:
                book.suffixed.append((node, op))
    return book


def _find_names(book: TransformFacts, snapshot: StageSnapshot) -> None:
    """Names of prims with unusual ops; a prim keeps its name unless an arc leads to it or it is relocated."""
    paths = (path for facts in snapshot.layers for path in facts.other_ops)
    book.names, book.renamed = find_owners(paths, snapshot)


def _may_scale(node: PrimNode, snapshot: StageSnapshot) -> bool:
    book = read_transforms(snapshot)
    if not book.may_have(node):
        return False
    return any(op.is_scale or op.kind == "transform" for op in _read_stack(node, book).ops)


def _read_stack(node: PrimNode, book: TransformFacts) -> OpStack:
    key = id(node)
    found = book.stacks.get(key)
    if found is None:
        found = _read_order(node, book) if "Xformable" in node.bases else NO_OPS
        book.stacks[key] = found
    return found


def _read_order(node: PrimNode, book: TransformFacts) -> OpStack:
    if not node.may_say(ORDER):
        return NO_OPS
    order = value_of(attribute_of(node.prim, ORDER))
    # of an unknown type in a damaged layer: OpenUSD moves the prim by nothing then
    if not isinstance(order, Vt.TokenArray) or not order:
        return NO_OPS
    # most prims say the same, and tokens are slow to take out of the array
    if book.last is not None and book.last[0] == order:
        return book.last[1]
    tokens = tuple(items_of(order))
    found = book.parsed.get(tokens)
    if found is None:
        found = book.parsed[tokens] = parse_order([str(token) for token in tokens])
    book.last = (order, found)
    return found


def parse_order(tokens: list[str]) -> OpStack:
    """The ops that an xformOpOrder names; what is not an op is kept, with its text as the kind."""
    resets = RESET in tokens
    if resets:
        # OpenUSD ignores everything before the last reset
        last = len(tokens) - 1 - tokens[::-1].index(RESET)
        tokens = tokens[last + 1 :]
    return OpStack(tuple(_parse_op(token) for token in tokens), resets)


def _parse_op(token: str) -> XformOp:
    name = token.removeprefix(INVERT)
    kind, _, suffix = name.removeprefix(_PREFIX).partition(":")
    return XformOp(name, kind if name.startswith(_PREFIX) else name, suffix, inverse=name != token)


def _read_at(node: PrimNode, time: float | None) -> PrimTransform:
    try:
        return read_local(node.prim, None if time is None else Usd.TimeCode(time))
    except Tf.ErrorException:  # an op of the wrong type: OpenUSD takes the identity for it
        return PrimTransform()


def _triple(value: Any) -> tuple[float, ...]:
    try:
        return tuple(map(float, items_of(value)))
    except (TypeError, ValueError):
        return (float(value),) if isinstance(value, (int, float)) else ()
