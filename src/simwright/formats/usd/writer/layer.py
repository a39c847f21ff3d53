# SPDX-License-Identifier: Apache-2.0
"""One layer being written: prims, attributes, relationships and arcs, units stated (REP-0158 1.1).

Specs are authored directly, without a stage: the same calls give the same bytes.  ``write_plain`` and ``write_typed``
find the attribute type from a Python value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
from pxr import Gf, Sdf, Vt

from simwright.core.math3d import Pose
from simwright.core.names import make_identifier
from simwright.usd.notes import EXACT, SPACE, find_exact

_VECTORS = {
    "float2": Gf.Vec2f, "float3": Gf.Vec3f, "float4": Gf.Vec4f, "double2": Gf.Vec2d, "double3": Gf.Vec3d,
    "point3f": Gf.Vec3f, "vector3f": Gf.Vec3f, "color3f": Gf.Vec3f, "texCoord2f": Gf.Vec2f, "normal3f": Gf.Vec3f,
}  # fmt: skip
_QUATERNIONS = {"quatf": (Gf.Quatf, Gf.Vec3f), "quatd": (Gf.Quatd, Gf.Vec3d)}
_ARRAYS = {
    "int[]": (Vt.IntArray, np.int32),
    "double[]": (Vt.DoubleArray, np.float64),
    "float[]": (Vt.FloatArray, np.float32),
    "point3f[]": (Vt.Vec3fArray, np.float32),
    "normal3f[]": (Vt.Vec3fArray, np.float32),
    "color3f[]": (Vt.Vec3fArray, np.float32),
    "float3[]": (Vt.Vec3fArray, np.float32),
    "texCoord2f[]": (Vt.Vec2fArray, np.float32),
}
_NOISE = 1e-14
"""Positions [m] and parts of unit quaternions below this are what rounding left of zero."""


class LayerWriter:
    """A layer and the words to write it with.  ``is_used`` tells whether anything was said below the root.

    With ``exact``, doubles that an attribute rounds are noted beside it (see ``simwright.usd.notes``).
    """

    def __init__(self, root: str, doc: str, *, exact: bool = False) -> None:
        self._exact = exact
        # anonymous: a file name would be looked up among open layers
        self.sdf = Sdf.Layer.CreateAnonymous(".usda")
        self.sdf.documentation = doc
        self.sdf.defaultPrim = root.strip("/")
        # time codes are seconds, so that samples of other layers need no scaling
        self.sdf.timeCodesPerSecond = 1.0
        for key, value in (("metersPerUnit", 1.0), ("kilogramsPerUnit", 1.0), ("upAxis", "Z")):
            self.sdf.pseudoRoot.SetInfo(key, value)
        self.is_used = False
        # spares looking a spec up by its path for every attribute, and for every value of one
        self._prims: dict[str, Sdf.PrimSpec] = {}
        self._attributes: dict[tuple[str, str], Sdf.AttributeSpec] = {}

    def over(self, path: str) -> Sdf.PrimSpec:
        """The spec of a prim; a new one, and new ones above it, only add opinions."""
        spec = self._prims.get(path)
        if spec is None:
            spec = self.sdf.GetPrimAtPath(path)
            if spec is None:
                spec = Sdf.CreatePrimInLayer(self.sdf, path)
                self.is_used = True
            self._prims[path] = spec
        return spec

    def define(self, path: str, kind: str = "Xform") -> Sdf.PrimSpec:
        """A prim of a type that is made here."""
        spec = self.over(path)
        spec.specifier = Sdf.SpecifierDef
        spec.typeName = kind
        return spec

    def apply(self, path: str, *apis: str) -> None:
        """Apply API schemas, each once."""
        spec = self.over(path)
        # prepended, so that weaker layers keep the schemas they apply
        known = spec.GetInfo("apiSchemas").prependedItems if spec.HasInfo("apiSchemas") else []
        items = [*known, *(api for api in apis if api not in known)]
        spec.SetInfo("apiSchemas", Sdf.TokenListOp.Create(prependedItems=items))
        self.is_used = True

    def set(
        self, path: str, name: str, kind: str, value: Any, *, uniform: bool = False, custom: bool = False
    ) -> None:
        """An attribute with its value; None declares it only."""
        spec = self._attributes.get((path, name))
        if spec is None:
            variability = Sdf.VariabilityUniform if uniform else Sdf.VariabilityVarying
            spec = Sdf.AttributeSpec(self.over(path), name, _find_value_type(kind), variability, custom)
            self._attributes[path, name] = spec
        if value is not None:
            spec.default = make_value(kind, value)
            if self._exact:
                self._note_exact(spec, kind, value)
        self.is_used = True

    def _note_exact(self, spec: Sdf.AttributeSpec, kind: str, value: Any) -> None:
        wide = find_exact(kind, value)
        if wide is not None:
            spec.SetInfo("customData", {EXACT: wide})

    def note(self, path: str, **values: Any) -> None:
        """Note what no attribute of a prim says; see ``simwright.usd.notes``."""
        if not values:
            return
        spec = self.over(path)
        known = dict(spec.customData.get(SPACE, {}))
        words = {**known, **{key: _make_note(value) for key, value in values.items()}}
        spec.SetInfo("customData", {**spec.customData, SPACE: words})
        self.is_used = True

    def read_note(self, path: str, key: str) -> Any:
        """What is noted so far, None if nothing."""
        spec = self.sdf.GetPrimAtPath(path)
        return None if spec is None else dict(spec.customData.get(SPACE, {})).get(key)

    def relate(self, path: str, name: str, targets: Iterable[str], *, custom: bool = False) -> None:
        """A relationship to prims."""
        prim = self.over(path)
        spec = prim.relationships.get(name) or Sdf.RelationshipSpec(prim, name, custom)
        spec.targetPathList.explicitItems = [Sdf.Path(target) for target in targets]
        self.is_used = True

    def place(self, path: str, pose: Pose, scale: Sequence[float] | None = None) -> None:
        """The one transform stack there is: translate, orient, and a scale on leaves (REP-0158 1.1)."""
        self.set(path, "xformOp:translate", "double3", [0.0 if abs(v) < _NOISE else v for v in pose.p])
        self.set(path, "xformOp:orient", "quatd", [0.0 if abs(v) < _NOISE else v for v in pose.q])
        # doubles: poses of links are multiplied down the tree
        order = ["xformOp:translate", "xformOp:orient"]
        if scale is not None:
            self.set(path, "xformOp:scale", "double3", scale)
            order.append("xformOp:scale")
        self.set(path, "xformOpOrder", "token[]", order, uniform=True)

    def name(self, path: str, label: str) -> None:
        """Keep a name that the prim's own could not be."""
        # a path may end inside a variant: {set=name}prim
        if label and label != path.rpartition("/")[2].rpartition("}")[2]:
            self.over(path).SetInfo("displayName", label)

    def refer(self, path: str, files: Iterable[str]) -> None:
        """References, the strongest first."""
        items = [Sdf.Reference(f"./{file}") for file in files]
        self.over(path).referenceList.prependedItems = items

    def load(self, path: str, file: str, target: str = "") -> None:
        """A payload."""
        self.over(path).payloadList.prependedItems = [
            Sdf.Payload(f"./{file}", Sdf.Path(target) if target else Sdf.Path.emptyPath)
        ]

    def inherit(self, path: str, classes: Iterable[str]) -> None:
        """Classes to inherit from, the strongest first."""
        self.over(path).inheritPathList.prependedItems = [Sdf.Path(name) for name in classes]

    def vary(self, path: str, variant_set: str, variant: str) -> str:
        """The path inside a variant of a prim, to put its content under."""
        self.over(path)
        Sdf.CreateVariantInLayer(self.sdf, path, variant_set, variant)
        return f"{path}{{{variant_set}={variant}}}"

    def select(self, path: str, variant_set: str, variant: str) -> None:
        """The variant that is shown by default."""
        self.over(path).variantSelections[variant_set] = variant


@cache
def _find_value_type(kind: str) -> Sdf.ValueTypeName:
    return Sdf.ValueTypeNames.Find(kind)


def _list_makers() -> dict[str, Callable[[Any], Any]]:
    """For each attribute type that Python has no type for: how a value of it is made."""

    def make_vector(vector: Any) -> Callable[[Any], Any]:
        return lambda value: vector(*map(float, value))

    def make_quaternion(quaternion: Any, vector: Any) -> Callable[[Any], Any]:
        def make(value: Any) -> Any:
            w, x, y, z = map(float, value)
            return quaternion(w, vector(x, y, z))

        return make

    def make_array(array: Any, number: Any) -> Callable[[Any], Any]:
        return lambda value: array.FromNumpy(np.ascontiguousarray(value, dtype=number))

    def make_words(array: Any) -> Callable[[Any], Any]:
        return lambda value: array([str(v) for v in value])

    makers = {kind: make_vector(vector) for kind, vector in _VECTORS.items()}
    makers["int2"] = lambda value: Gf.Vec2i(*map(int, value))
    makers |= {kind: make_quaternion(*types) for kind, types in _QUATERNIONS.items()}
    makers |= {kind: make_array(*types) for kind, types in _ARRAYS.items()}
    return makers | {"token[]": make_words(Vt.TokenArray), "string[]": make_words(Vt.StringArray)}


_MAKERS = _list_makers()


def make_value(kind: str, value: Any) -> Any:
    """A Python value as OpenUSD wants it for an attribute type; one that is so already stays."""
    # most of them first: thousands are written
    if kind in ("float", "double"):
        return float(value)
    make = _MAKERS.get(kind)
    return value if make is None or type(value).__module__.startswith("pxr.") else make(value)


def _make_note(value: Any) -> Any:
    """Lists as OpenUSD's arrays, all else as it is."""
    if not isinstance(value, (list, tuple)):
        return value
    if all(isinstance(v, str) for v in value):
        return Vt.StringArray(list(value))
    return Vt.DoubleArray([float(v) for v in value])


def join(parent: str, name: str) -> str:
    """The path of a child, also of a prim inside a variant."""
    return f"{parent}{name}" if parent.endswith("}") else f"{parent}/{name}"


JSON = "json"
"""Last word of an attribute whose text is JSON."""
_INTEGERS = 1 << 31


def write_plain(layer: LayerWriter, path: str, name: str, value: Any) -> None:
    """A custom attribute; nothing for nothing."""
    if value is None:
        return
    # a word of another tool may be no name of OpenUSD
    if not Sdf.Path.IsValidNamespacedIdentifier(name):
        name = ":".join(make_identifier(part) for part in name.replace(".", ":").split(":"))
    kind = find_kind(value)
    if kind:
        layer.set(path, name, kind, value, custom=True)
    else:
        layer.set(path, f"{name}:{JSON}", "string", json.dumps(value, sort_keys=True), custom=True)


def write_typed(layer: LayerWriter, path: str, name: str, value: Any, schema: str) -> None:
    """An attribute or relationship of a solver's schema, which is applied if it is known."""
    if schema:
        layer.apply(path, schema)
    kind = find_type(name, value)
    if kind == "rel":
        layer.relate(path, name, value, custom=not schema)
    elif kind is not None:
        layer.set(path, name, kind, value, custom=not schema)


# one function: a chain of types that excludes as it goes
def find_type(name: str, value: Any) -> str | None:
    """The attribute type for a value that was read; None where there is no sure one.  MuJoCo's numbers are doubles."""
    number = "double" if name.startswith("mjc:") else "float"
    if isinstance(value, (bool, int, float, str)):
        # by exact type, since a bool is an int to isinstance
        return {bool: "bool", int: "int", float: number, str: "token"}[type(value)]
    if not isinstance(value, (list, tuple)) or not value:
        return None
    if all(isinstance(v, str) for v in value):
        return "rel" if value[0].startswith("/") else "token[]"
    if not all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in value):
        return None
    if isinstance(value, tuple):
        return f"float{len(value)}" if len(value) in (2, 3, 4) else None
    return "int[]" if all(isinstance(v, int) for v in value) else f"{number}[]"


def find_kind(value: Any) -> str:
    """The attribute type for a Python value, doubles for numbers; empty where there is none."""
    match value:
        case bool():
            return "bool"
        case int():
            return "int" if abs(value) < _INTEGERS else "int64"
        case float():
            return "double"
        case str():
            return "string"
    return _find_array_kind(value) if isinstance(value, (list, tuple)) else ""


def _find_array_kind(value: list[Any] | tuple[Any, ...]) -> str:
    """Arrays of numbers are doubles unless all are small integers; an empty one is an array of doubles."""
    if value and all(isinstance(v, str) for v in value):
        return "string[]"
    if not all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in value):
        return ""
    whole = bool(value) and all(isinstance(v, int) and abs(v) < _INTEGERS for v in value)
    return "int[]" if whole else "double[]"


def make_attribute_name(*words: str) -> str:
    """A legal attribute name: words by colons, each an identifier."""
    parts = [part for word in words for part in re.split(r"[.:/]", word) if part]
    return ":".join(make_identifier(part) for part in parts)
