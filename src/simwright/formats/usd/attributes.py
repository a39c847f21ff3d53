# SPDX-License-Identifier: Apache-2.0
"""Solver and custom attributes: read once, before anything is resolved, and kept with their place.

``read_attributes`` fills ``reader.authored`` (what resolvers look at) and ``asset.extras`` (what is carried as it is).
Also here: USD values as plain Python, custom attributes below a prefix, and prim types without a schema.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from pxr import Gf, Sdf, Usd, Vt

from simwright.core.diag import Level, declare
from simwright.formats.usd.prims import FoundPrim
from simwright.formats.usd.scan import StageScan
from simwright.formats.usd.stage_reader import VALUE_INVALID, StageReader
from simwright.resolve import usdphysics
from simwright.resolve.resolver import ResolverOrder
from simwright.resolve.table import ValueForm, fits
from simwright.usd.questions import has_relationship, imaginary_of, unpack_of

TRANSLATED = frozenset(
    {
        *(name for row in usdphysics.ROWS for name in row.attributes),
        *(f"ext_physics:mimic:{name}" for name in ("enabled", "joint", "multiplier", "offset")),
    }
)
"""Attributes that arrive in the model and so are no extras."""


TYPE_UNKNOWN = declare(
    "usd-type-unknown",
    Level.INFO,
    "{count} prim(s) of type {type} are of no schema known here, the first at {first}",
    hint="register the schema plugin, or express them with UsdPhysics and UsdGeom",
    doc="A prim type without a registered schema: another tool's joints, graphs or sensors.",
)

TYPE_MISNAMED = declare(
    "usd-type-misnamed",
    Level.WARNING,
    "{count} prim(s) have the type {type}, which does not exist; they are not read, the first at {first}",
    hint="the type is called {meant}",
    doc="A prim type that would be one of UsdPhysics with Physics before it, such as RevoluteJoint.",
    section="1.3",
    loss=True,
)

_SPACES = (
    # PhysX keeps initial joint states in a namespace of its own, "state"
    (re.compile(r"physx\w*|state"), "physx"),
    (re.compile(r"isaac\w*"), "isaac"),
    (re.compile(r"omni\w*"), "omni"),
    (re.compile(r"o3de\w*"), "o3de"),
    (re.compile(r"newton|mjc|mujoco|ext_physics|drive"), ""),
)
"""Namespace -> the space its attributes are kept in; empty: one of its own name."""
_ORDINARY = frozenset(
    {
        "primvars", "xformOp", "physics", "material", "inputs", "outputs", "info", "ui", "ros",
        "limit", "collection", "model", "skel", "proxyPrim", "light",
    }
)  # fmt: skip
_READ_TYPES = frozenset(
    {
        "NewtonActuator", "MjcActuator", "MjcTendon", "MjcKeyframe", "IsaacImuSensor", "IsaacContactSensor", "Lidar",
        "OmniLidar", "OmniRadar",
    }
)  # fmt: skip
"""Types without a registered schema that are read all the same."""
# extras are for settings; an array of millions of numbers is data that no solver attribute has
_MAX_VALUES = 100_000
_CUSTOM = "custom"
_JSON = ":json"
_FORMS = {
    **dict.fromkeys(("input", "object_type", "reference_type", "reference"), ValueForm.TEXT),
    **dict.fromkeys(("damping", "disableactuator", "max_solver_iterations"), ValueForm.NUMBER),
    "dampingpoly": ValueForm.NUMBERS,
}
"""Settings that writers reckon with: they must be what their name says."""
_NUMERIC = (Vt.DoubleArray, Vt.FloatArray, Vt.IntArray)


def read_attributes(reader: StageReader, scan: StageScan) -> None:
    """Read every solver and custom attribute once; a resolver table says what form its own must have."""
    spaces = _make_spaces(reader.order)
    # by the identity of opinions, which live as long as the scan
    shared: dict[int, _KeptAttributes] = {}
    for found in scan.all.values():
        kept = spaces.list(found)
        if not kept:
            continue
        reading = shared.get(id(found.opinions))
        if reading is None:
            reading = _read_kept(reader, found, kept)
            if reading.is_shared:
                shared[id(found.opinions)] = reading
        for space, values in reading.extras.items():
            reader.asset.extras.keep_prim(space, reader.file, found.path, values)
        if reading.authored:
            reader.authored[found.path] = reading.authored


@dataclass(slots=True, eq=False)
class _KeptAttributes:
    """The kept attributes of a prim: extras (names and values by space) and what resolvers are to see.

    ``is_shared`` tells that it holds for all prims of the same opinions.
    """

    extras: dict[str, list[tuple[str, Any]]] = field(default_factory=dict)
    authored: dict[str, Any] = field(default_factory=dict)
    is_shared: bool = True


def _read_kept(reader: StageReader, found: FoundPrim, kept: Kept) -> _KeptAttributes:
    reading = _KeptAttributes(is_shared=found.authored is not None)
    extras, authored = reading.extras, reading.authored
    number = ValueForm.NUMBER
    for (name, space, form), value in zip(kept, reader.get_all(found, kept), strict=True):
        # most are numbers that are to be numbers
        if type(value) is float:
            is_good = form is None or (form is number and value == value)  # noqa: PLR0124 - not NaN
        else:
            value = _make_kept(reader, found, name, value)  # noqa: PLW2901 - the same in plain Python
            if value is None:
                continue
            is_good = form is None
            if isinstance(value, (list, dict)):
                reading.is_shared = False  # may be edited, or holds targets
        if space:
            held = extras.get(space)
            if held is None:
                extras[space] = [(name, value)]
            else:
                held.append((name, value))
        if is_good or (form is not None and _check_form(reader, found, name, value, form)):
            authored[name] = value
        else:
            reading.is_shared = False  # each prim is to be reported
    return reading


def report_unknown_types(reader: StageReader, scan: StageScan) -> None:
    """Report prim types nobody knows."""
    unknown: dict[str, list[FoundPrim]] = {}
    for found in scan.list_sorts(lambda s: bool(s.is_unknown and s.type and s.type not in _READ_TYPES)):
        unknown.setdefault(found.type, []).append(found)
    for kind, prims in unknown.items():
        where, meant = reader.where(prims[0]), f"Physics{kind}"
        is_misnamed = Usd.SchemaRegistry.IsConcrete(Usd.SchemaRegistry.GetTypeFromSchemaTypeName(meant))
        finding = TYPE_MISNAMED if is_misnamed else TYPE_UNKNOWN
        reader.reporter.report(finding, where, type=kind, count=len(prims), first=prims[0].path, meant=meant)


Kept = list[tuple[str, str, ValueForm | None]]
"""Attributes with the space they are kept in (none for what is translated: it would come back twice, from the model and
as an extra) and what a resolver table says they have to hold."""


class _AttributeSpaces:
    """Which attributes of a prim are kept, and where.

    Prims of one sort with the same authored names share the answer, but for properties of unknown
    namespaces: whether those are custom is a matter of each prim.
    """

    def __init__(self, order: ResolverOrder) -> None:
        self._forms = order.forms()
        self._by_namespace: dict[str, str | None] = dict.fromkeys(_ORDINARY, "")
        for resolver in order.resolvers:
            for namespace in resolver.namespaces:
                self._by_namespace[namespace] = _find_space(namespace) or resolver.name

    def list(self, found: FoundPrim) -> Kept:
        """The attributes of a prim that are kept."""
        outline = found.opinions.outline
        known = outline.kept.get(self)
        if known is None:
            known = outline.kept[self] = self._divide(outline.names, outline.schemas.builtin)
        certain, doubtful = known
        if not doubtful:
            return certain
        # a schema that is not registered makes its attributes look unknown, but not custom
        return certain + [row for row in doubtful if found.prim.GetProperty(row[0]).IsCustom()]

    def _divide(self, names: frozenset[str], builtin: frozenset[str]) -> tuple[Kept, Kept]:
        certain: Kept = []
        doubtful: Kept = []
        for name in sorted(names):
            first, colon, _ = name.partition(":")
            space = self._find(first) if colon else None
            kept = "" if name in TRANSLATED else space or (first if colon else _CUSTOM)
            row = (name, kept, self._forms.get(name))
            if space:
                certain.append(row)
            elif space is None and name not in builtin:
                doubtful.append(row)
        return certain, doubtful

    def _find(self, namespace: str) -> str | None:
        """The space of a namespace, empty for an ordinary one, None for one nobody knows."""
        if namespace not in self._by_namespace:
            self._by_namespace[namespace] = _find_space(namespace)
        return self._by_namespace[namespace]


@lru_cache(maxsize=32)
def _make_spaces(order: ResolverOrder) -> _AttributeSpaces:
    return _AttributeSpaces(order)


def _find_space(namespace: str) -> str | None:
    for pattern, space in _SPACES:
        if pattern.fullmatch(namespace):
            return space or namespace
    return None


def _check_form(reader: StageReader, found: FoundPrim, name: str, value: Any, form: ValueForm) -> bool:
    if fits(form, value):
        return True
    where = reader.where(found, name)
    reader.reporter.report(
        VALUE_INVALID, where, name=name, value=value, expected=form.value, default="nothing"
    )
    return False


def _make_kept(reader: StageReader, found: FoundPrim, name: str, value: Any) -> Any:
    """A value in plain Python; that of a relationship are the paths it points to."""
    if value is None and has_relationship(found.prim, name):
        return reader.get_targets(found, name)
    return make_plain(value)


# one function: a chain by type, ordered by how often the types come
def make_plain(value: Any) -> Any:
    """A USD value as Python numbers, texts, tuples and lists; quaternions come as w, x, y, z."""
    if value is None or isinstance(value, (float, str, int)):
        return value
    if isinstance(value, _NUMERIC):
        return np.array(value)[:_MAX_VALUES].tolist()
    kind = type(value)
    if kind in unpack_of:
        return unpack_of[kind](value)
    if kind in imaginary_of:
        return (value.real, *imaginary_of[kind](value.imaginary))
    if isinstance(value, Sdf.AssetPath):
        return str(value.path)
    if isinstance(value, dict):
        return {str(key): make_plain(entry) for key, entry in value.items()}
    if isinstance(value, (Gf.Matrix2d, Gf.Matrix3d, Gf.Matrix4d)):
        return tuple(tuple(row) for row in np.array(value).tolist())
    if hasattr(kind, "dimension"):
        return tuple(np.array(value).tolist())
    if hasattr(value, "__len__") and hasattr(value, "__getitem__"):
        # by number: an OpenUSD array ends an iteration by an exception, which takes longer than all its entries
        return [make_plain(value[number]) for number in range(min(len(value), _MAX_VALUES))]
    return str(value)


def read_settings(reader: StageReader, found: FoundPrim, prefix: str, skipped: set[str]) -> dict[str, Any]:
    """Custom attributes below a prefix, as they were before they were written."""
    settings: dict[str, Any] = {}
    names = found.prim.GetAuthoredPropertyNames() if found.authored is None else found.authored
    for name in sorted(name for name in names if name.startswith(prefix)):
        key = name[len(prefix) :]
        if key.removesuffix(_JSON) in skipped:
            continue
        value = make_plain(reader.get(found, name))
        # values without an attribute type (nested lists, tables) were written as JSON text
        if key.endswith(_JSON) and isinstance(value, str):
            key, value = key.removesuffix(_JSON), _parse_json(value)
        form = _FORMS.get(key)
        if value is not None and (form is None or _check_form(reader, found, name, value, form)):
            settings[key.replace(":", ".")] = value
    return settings


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
