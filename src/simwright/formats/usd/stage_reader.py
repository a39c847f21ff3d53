# SPDX-License-Identifier: Apache-2.0
"""One stage being read: typed values, world placement, and the names given to prims so far.

Every element file of this folder takes a :class:`StageReader` and adds to its ``asset``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from pxr import Gf, Tf, Usd, UsdGeom

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.gate import Gate
from simwright.core.math3d import IDENTITY, Array, Pose, matrices_from_quats
from simwright.formats.usd.prims import FoundPrim, OpinionCache, PrimSchemas, may_share
from simwright.formats.usd.transforms import are_sound, mend_transforms
from simwright.formats.usd.units import Units
from simwright.model.asset import Asset
from simwright.model.geometry import Geometry, Mesh
from simwright.model.joint import WORLD
from simwright.model.mass import DEFAULT_DENSITY
from simwright.resolve.resolver import DEFAULT_ORDER, ResolverOrder, make_resolvers
from simwright.usd.notes import NOTES, PRIMS, SINGLE, find_decimal, find_decimals, find_marks, read_exact
from simwright.usd.questions import (
    attribute_of,
    forwarded_targets_of,
    imaginary_of,
    is_authored,
    path_of,
    relationship_of,
    unpack_of,
    value_of,
)

TRANSFORM_REFUSED = declare(
    "usd-transform-refused",
    Level.ERROR,
    "the transform of {name} cannot be read ({why}); it stands where the prim above it does",
    hint="correct xformOpOrder: every entry names an xformOp attribute of the prim",
    doc="xformOpOrder names an operation that is not valid or does not exist. The other prims are read.",
    section="1.1",
    loss=True,
)
VALUE_INVALID = declare(
    "usd-value-invalid",
    Level.ERROR,
    "{name} is {value}, which is not {expected}; {default} is used",
    hint="author a valid value, or block the attribute",
    doc="A physics attribute holds a value that its schema does not allow.",
)


PrimLike: TypeAlias = Usd.Prim | FoundPrim
"""What has attributes.  A FoundPrim answers from what the walk noted; a prim is looked up there first."""


@dataclass(frozen=True, slots=True, eq=False)
class BodyFrame:
    """A body's name, its rigid pose and the scale of its prim, which goes to all that sits on it.

    ``number`` is its row in the tables of the source, -1 (the last row) for the world; ``is_exact`` tells that
    pose and scale are all there is to its placement (no shear, nothing flat), ``is_plain`` that the scale is one.
    """

    name: str
    pose: Pose
    scale: Array
    number: int = -1
    is_exact: bool = False
    is_plain: bool = False


@dataclass(slots=True, eq=False)
class MetPrims:
    """The prims that reading a stage has met, by path and in its order, and their places in the world.

    For who asks more of the same stage: what a :class:`FoundPrim` knows need not be asked of OpenUSD again.  Empty
    where another stage had to be read in its place (time samples).
    """

    founds: dict[str, FoundPrim] = field(default_factory=dict)
    xforms: UsdGeom.XformCache | None = None
    walked: Sequence[tuple[Usd.Prim, PrimSchemas]] = ()
    """All prims of the stage with their sorts, the root first, if somebody has looked at them before."""


# tuples, not arrays: they are compared and unpacked thousands of times, which numpy is slow at
ZERO = (0.0, 0.0, 0.0)
WORLD_FRAME = BodyFrame(WORLD, IDENTITY, np.ones(3))
# None is a value that is remembered: an attribute that is declared without one
_MISSING = object()
_NO_NOTE: dict[str, Any] = {}


@dataclass(slots=True, eq=False)
class StageReader:
    """A stage, the time it is read at, its units, and the tables that link prim paths to the model.

    ``order`` says whose solver attributes count; ``authored`` holds them, by prim path and attribute.
    ``noted`` tells that layers have notes on prims (see ``simwright.usd.notes``), ``exact`` that there are doubles
    beside floats, ``annotated`` that there is any note.  ``animated`` tells that layers have time samples; ``played``
    is the stage with them, None where a time was chosen.  ``gate`` is what files that the stage names have to pass.
    ``default_density``, ``hidden_shapes``, ``visuals`` and ``lock_unlimited_axes`` are those of ``ReadOptions``.
    """

    stage: Usd.Stage
    file: str
    time: Usd.TimeCode
    units: Units
    reporter: Reporter
    asset: Asset
    gate: Gate
    default_density: float = DEFAULT_DENSITY
    hidden_shapes: bool = False
    visuals: bool = True
    read_elsewhere: frozenset[str] = frozenset()
    lock_unlimited_axes: bool = False
    order: ResolverOrder = field(default_factory=lambda: ResolverOrder(make_resolvers(DEFAULT_ORDER)))
    authored: dict[str, dict[str, Any]] = field(default_factory=dict)
    xforms: Any = None
    timed: bool = False
    animated: bool = False
    played: Usd.Stage | None = None
    walked: Sequence[tuple[Usd.Prim, PrimSchemas]] = ()
    noted: bool = False
    exact: bool = False
    annotated: bool = False
    opinion_cache: OpinionCache = field(default_factory=OpinionCache)
    founds: dict[str, FoundPrim] = field(default_factory=dict)
    by_prim: dict[Usd.Prim, FoundPrim] = field(default_factory=dict)
    notes: dict[str, dict[str, Any]] = field(default_factory=dict)
    body_rotations: Array = field(default_factory=lambda: np.eye(3)[None])
    body_positions: Array = field(default_factory=lambda: np.zeros((1, 3)))
    bodies: dict[str, BodyFrame] = field(default_factory=dict)
    shapes: dict[str, str] = field(default_factory=dict)
    joints: dict[str, str] = field(default_factory=dict)
    sites: dict[str, str] = field(default_factory=dict)
    tendons: dict[str, str] = field(default_factory=dict)
    publishers: dict[str, str] = field(default_factory=dict)
    faulty: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    colored: dict[str, FoundPrim | None] = field(default_factory=dict)
    meshes: dict[Any, Mesh] = field(default_factory=dict)
    broken: set[Where] = field(default_factory=set)
    uv_names: set[str] = field(default_factory=set)
    masses: dict[str, Any] = field(default_factory=dict)
    primitives: dict[tuple[type[Geometry], tuple[float, ...]], Geometry] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.xforms = UsdGeom.XformCache(self.time)
        self.timed = not self.time.IsDefault()
        # prims share opinions only where layers are composed; comparing specs costs more than reading
        # otherwise
        self.opinion_cache = OpinionCache(may_share(self.stage, self.time))
        layers = self.stage.GetUsedLayers()
        marks = find_marks(layers)
        self.noted = not marks.isdisjoint((NOTES, PRIMS))
        self.exact = NOTES in marks
        self.annotated = bool(marks)

    def where(self, at: PrimLike, prop: str = "") -> Where:
        """The place of a prim or of one of its properties."""
        path = at.path if isinstance(at, FoundPrim) else path_of(at).pathString
        return Where(self.file, None, None, path, prop)

    # two steps, since hashing a Usd.Prim is cheaper than making its path text
    def _find(self, prim: Usd.Prim) -> FoundPrim | None:
        found = self.by_prim.get(prim)
        if found is None:
            found = self.founds.get(path_of(prim).pathString)
            if found is not None:
                self.by_prim[prim] = found
        return found

    def body_of(self, owner: str) -> BodyFrame:
        """The frame of the body with this path, the world's for none."""
        return self.bodies.get(owner, WORLD_FRAME)

    def find_shape(self, path: str) -> str:
        """The shape at a path, or the only one below it, as of an instance of a mesh; empty for none or several."""
        if path in self.shapes:
            return self.shapes[path]
        below = [name for place, name in self.shapes.items() if place.startswith(f"{path}/")]
        return below[0] if len(below) == 1 else ""

    def world_matrix(self, at: PrimLike) -> Array:
        """4x4 column-vector matrix of a prim in the asset frame [m], authored scale included."""
        prim = at.prim if isinstance(at, FoundPrim) else at
        stacked = np.frombuffer(self._place(prim)).reshape(1, 4, 4)
        if not are_sound(stacked):
            stacked = mend_transforms(self, [prim], stacked)
        return self.units.convert_matrix(stacked[0].T)

    def _place(self, prim: Usd.Prim) -> Gf.Matrix4d:
        """The world matrix of a prim; one whose transform OpenUSD refuses stands where the prim above it does."""
        try:
            return self.xforms.GetLocalToWorldTransform(prim)
        except Tf.ErrorException as error:
            if prim.IsPseudoRoot():
                return Gf.Matrix4d(1.0)
            above = self._place(prim.GetParent())
            names = prim.GetAttribute("xformOpOrder").Get() or ()
            words = [str(name).removeprefix("!invert!") for name in names]
            missing = [word for word in words if not word.startswith("!") and not prim.HasAttribute(word)]
            if not missing:
                local, resets = self.xforms.GetLocalTransformation(prim)
                return local if resets else local * above
            path = path_of(prim).pathString
            if path not in self.faulty:
                self.faulty.add(path)
                why = str(error).strip().rpartition(": ")[2]
                self.reporter.report(TRANSFORM_REFUSED, self.where(prim), name=path, why=why)
            return above

    def world_matrices(self, founds: Sequence[FoundPrim]) -> Array:
        """``(n, 4, 4)``: :meth:`world_matrix` of many prims at once."""
        if not founds:
            return np.empty((0, 4, 4))
        # from the memory of all matrices: an array of matrices would be made number by number
        stacked = np.frombuffer(b"".join([self._place(found.prim) for found in founds])).reshape(-1, 4, 4)
        if not are_sound(stacked):
            stacked = mend_transforms(self, [found.prim for found in founds], stacked)
        return self.units.convert_matrices(stacked.transpose(0, 2, 1))

    def add_frames(self, frames: Mapping[str, BodyFrame]) -> None:
        """Make bodies known by their paths; the frames carry the numbers they come in."""
        self.bodies.update(frames)
        poses = [frame.pose for frame in self.bodies.values()]
        # the last row is the world, so that its number -1 indexes it
        self.body_rotations = matrices_from_quats(np.array([*(pose.q for pose in poses), IDENTITY.q]))
        self.body_positions = np.array([*(pose.p for pose in poses), IDENTITY.p])

    def place_on(self, bodies: Sequence[BodyFrame], worlds: Array) -> Array:
        """``(n, 4, 4)`` matrices in the frames of their bodies."""
        if not bodies:
            return worlds
        rows = [body.number for body in bodies]
        turns = self.body_rotations[rows].transpose(0, 2, 1)
        moved = worlds.copy()
        moved[:, :3, 3] -= self.body_positions[rows]
        moved[:, :3] = turns @ moved[:, :3]
        return moved

    def get(self, at: PrimLike, name: str, default: Any = None) -> Any:
        """Value of an attribute at the reading time, its schema's fallback, or the default."""
        found = at if type(at) is FoundPrim else self._find(at)
        if found is None or found.authored is None:
            prim: Usd.Prim = at if found is None else found.prim
            value = self._read_value(attribute_of(prim, name))
        elif name in found.authored:
            known = found.opinions.values
            value = known.get(name, _MISSING)
            if value is _MISSING:
                attribute = attribute_of(found.prim, name)
                if self.exact:
                    value = self._read_value(attribute)
                # what _read_value does, without a call: most values are read here
                else:
                    value = value_of(attribute, self.time)
                    if type(value) is float and not value.is_integer():
                        value = find_decimal(value)
                known[name] = value
        # a fallback is a matter of the schema alone, so it is read from the first prim that asks
        elif name in found.schemas.builtin:
            known = found.schemas.fallbacks
            value = known.get(name, _MISSING)
            if value is _MISSING:
                value = known[name] = value_of(attribute_of(found.prim, name), self.time)
        else:
            return default
        return default if value is None else value

    def get_all(self, found: FoundPrim, rows: Sequence[tuple[str, Any, Any]]) -> list[Any]:
        """:meth:`get` of many authored attributes of one prim; each row begins with a name."""
        if found.authored is None or self.exact:
            return [self.get(found, name) for name, _, _ in rows]
        known, prim, time = found.opinions.values, found.prim, self.time
        values = []
        for name, _, _ in rows:
            value = known.get(name, _MISSING)
            if value is _MISSING:
                value = value_of(attribute_of(prim, name), time)
                if type(value) is float and not value.is_integer():
                    value = find_decimal(value)
                known[name] = value
            values.append(value)
        return values

    def _read_value(self, attribute: Usd.Attribute) -> Any:
        value = value_of(attribute, self.time)
        if self.exact:
            # the double that Simwright noted beside a float, while the float is still its rounding
            noted = read_exact(attribute, value)
            return value if noted is None else noted
        # a float 0.1 comes as 0.10000000149: the shortest decimal that rounds to it is what the author wrote
        return find_decimal(value) if type(value) is float else value

    def note(self, found: FoundPrim) -> dict[str, Any]:
        """The notes on a prim that was met; not to be changed."""
        return self.notes.get(found.path, _NO_NOTE)

    def get_authored(self, at: PrimLike, name: str) -> Any:
        """Value of an attribute if someone authored one, else None."""
        found = at if type(at) is FoundPrim else self._find(at)
        if found is None or found.authored is None:
            return self._read_authored_mass(at if found is None else found.prim, name)
        if name not in found.authored:
            return None
        said = found.opinions.said
        if name not in said:
            said[name] = self._read_authored_mass(found.prim, name)
        return said[name]

    def _read_authored_mass(self, prim: Usd.Prim, name: str) -> Any:
        attribute = attribute_of(prim, name)
        return self._read_value(attribute) if is_authored(attribute) else None

    def release(self) -> Asset:
        """The asset, and let go of it and of all that only reading needs.

        Meshes that are loaded later keep the rest alive.  They must not hold the asset that holds them: a stage
        would stay open until the collector comes round.
        """
        self.founds.clear()
        self.by_prim.clear()
        self.colored.clear()
        self.notes.clear()
        self.meshes.clear()
        self.opinion_cache = OpinionCache()
        asset, self.asset = self.asset, Asset("")
        return asset

    def get_number(self, at: PrimLike, name: str, default: float) -> float:
        """A number that may be infinite; anything that is not a number is reported."""
        value = self.get(at, name, default)
        if type(value) is float and value == value:  # noqa: PLR0124 - not NaN
            return value
        if isinstance(value, (int, float)) and value == value:  # noqa: PLR0124
            return float(value)
        return float(self._reject(at, name, value, "a number", default))

    def get_size(self, at: PrimLike, name: str, default: float) -> float:
        """A finite number; anything else is reported."""
        value = self.get_number(at, name, default)
        return value if math.isfinite(value) else float(self._reject(at, name, value, "finite", default))

    def get_extent(self, at: PrimLike, name: str, default: float) -> float:
        """The size of a geometry; a negative one is reported and taken without its sign."""
        value = self.get(at, name, default)
        if type(value) is float and 0.0 <= value < math.inf:  # as nearly all are
            return value
        value = self.get_size(at, name, default)
        return value if value >= 0.0 else abs(float(self._reject(at, name, value, "0 or more", -value)))

    def get_text(self, at: PrimLike, name: str, default: str = "") -> str:
        """A token, string or path as text."""
        return str(self.get(at, name, default))

    def get_flag(self, at: PrimLike, name: str, default: bool) -> bool:
        """A switch."""
        return bool(self.get(at, name, default))

    def get_optional(self, at: PrimLike, name: str) -> float | None:
        """An authored number, None if there is none; what is not a number is reported."""
        value = self.get_authored(at, name)
        if value is None or (isinstance(value, (int, float)) and not math.isnan(value)):
            return None if value is None else float(value)
        self._reject(at, name, value, "a number", None)
        return None

    def get_floats(self, at: PrimLike, name: str, default: Sequence[float]) -> tuple[float, ...]:
        """As many numbers as the default has, which may be infinite; else the default, reported."""
        found = at if type(at) is FoundPrim else self._find(at)
        if found is None or found.authored is None:
            return self._read_floats(at, name, default) or tuple(default)
        if name in found.authored:
            known = found.opinions.numbers
        elif name in found.schemas.builtin:
            known = found.schemas.numbers
        else:
            return tuple(default)
        numbers = known.get(name)
        if numbers is None:
            numbers = self._read_floats(found, name, default)
            # what was wrong is not remembered: each prim is to be reported
            if numbers:
                known[name] = numbers
        return numbers or tuple(default)

    def _read_floats(self, at: PrimLike, name: str, default: Sequence[float]) -> tuple[float, ...]:
        """The numbers; none where there are none, or (reported) not as many."""
        value = self.get(at, name)
        if value is None:
            return ()
        kind = type(value)
        unpack = unpack_of.get(kind)
        numbers = as_floats(value) if unpack is None or kind in _INTEGERS else unpack(value)
        if kind in _SINGLES and not self.exact:
            numbers = find_decimals(numbers)
        # a sum that is a number has none in it that is not
        total = sum(numbers)
        if len(numbers) == len(default) and (total == total or not any(map(math.isnan, numbers))):  # noqa: PLR0124
            return numbers
        self._reject(at, name, value, f"made of {len(default)} numbers", default)
        return ()

    def get_finite(self, at: PrimLike, name: str, default: Sequence[float]) -> tuple[float, ...]:
        """The same, all of them finite."""
        numbers = self.get_floats(at, name, default)
        # a finite sum has finite parts; the others may have overflowed
        if math.isfinite(sum(numbers)) or all(map(math.isfinite, numbers)):
            return numbers
        return tuple(self._reject(at, name, np.array(numbers), "finite", default))

    def get_choice(self, at: PrimLike, name: str, choices: Collection[str], default: str) -> str:
        """A token that has to be one of several; another one is reported."""
        value = self.get_text(at, name, default)
        return (
            value if value in choices else str(self._reject(at, name, value, " or ".join(choices), default))
        )

    def get_array(self, at: PrimLike, name: str, default: Sequence[float]) -> Array:
        """:meth:`get_floats` as an array."""
        return np.array(self.get_floats(at, name, default))

    def get_vector(self, at: PrimLike, name: str) -> Array:
        """A finite 3-vector, zero where there is none."""
        return np.array(self.get_finite(at, name, ZERO))

    def get_targets(self, at: PrimLike, name: str) -> list[str]:
        """Paths a relationship points to, forwarded."""
        found = at if type(at) is FoundPrim else self._find(at)
        prim: Usd.Prim = at
        if found is not None:
            if found.authored is not None and name not in found.authored:
                return []
            prim = found.prim
        relationship = relationship_of(prim, name)
        return [path.pathString for path in forwarded_targets_of(relationship)] if relationship else []

    def _reject(self, at: PrimLike, name: str, value: Any, expected: str, default: Any) -> Any:
        shown = "nothing" if default is None else " ".join(str(v) for v in np.atleast_1d(default))
        self.reporter.report(
            VALUE_INVALID, self.where(at, name), name=name, value=value, expected=expected, default=shown
        )
        return default


def as_matrix(matrix: Gf.Matrix4d) -> Array:
    """A USD row-vector matrix as a column-vector array."""
    return np.array(matrix, dtype=np.float64).T


def as_rows(value: Any, width: int) -> Array:
    """An array of vectors as rows of numbers; no rows where the value is nothing of that kind."""
    try:
        return np.array([] if value is None else value, dtype=np.float64).reshape(-1, width)
    except (TypeError, ValueError):
        return np.zeros((0, width))


_INTEGERS = frozenset({Gf.Vec2i, Gf.Vec3i, Gf.Vec4i})
_SINGLES = frozenset(SINGLE)


def as_floats(value: Any) -> tuple[float, ...]:
    """A USD vector or quaternion (w, x, y, z) as numbers; none where the value is nothing of that kind."""
    kind = type(value)
    unpack = unpack_of.get(kind)
    if unpack is not None:
        return tuple(map(float, unpack(value))) if kind in _INTEGERS else unpack(value)
    unpack = imaginary_of.get(kind)
    if unpack is not None:
        return value.real, *unpack(value.imaginary)
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        return ()
    return tuple(array.tolist()) if array.ndim == 1 else ()


def find_prototype_path(prim: Usd.Prim) -> str:
    """A path that all instances of the same prim share."""
    return str((prim.GetPrimInPrototype() if prim.IsInstanceProxy() else prim).GetPath())
