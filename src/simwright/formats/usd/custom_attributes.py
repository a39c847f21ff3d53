# SPDX-License-Identifier: Apache-2.0
"""Newton's custom attributes: declared on the physics scene, given values on bodies, shapes, joints, articulations.

A declaration is an attribute ``newton:name`` or ``newton:namespace:name`` whose custom data says where it is
stored (assignment) and what it counts over (frequency).  Elsewhere the same attribute gives an element its value.
Types of the model: bool, int (32 bit), int64, float, string, vec2-4, ivec2-4, quat (w, x, y, z, of unit length) and
mat2-4 (rows); with ``[]`` for arrays of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from pxr import Sdf, Usd

from simwright.core.diag import Level, declare
from simwright.core.math3d import Array
from simwright.formats.usd.attributes import make_plain
from simwright.formats.usd.prims import FoundPrim
from simwright.formats.usd.scan import StageScan
from simwright.formats.usd.stage_reader import StageReader
from simwright.model.extras import CustomAttribute
from simwright.model.joint import Joint
from simwright.usd.questions import scalar_type_of

_SCALARS = {
    "bool": "bool",
    "int": "int",
    "uchar": "int",
    "uint": "int64",
    "int64": "int64",
    "uint64": "int64",
    "half": "float",
    "float": "float",
    "double": "float",
    "timecode": "float",
    "string": "string",
    "token": "string",
    "asset": "string",
}
_ZEROS: dict[str, Any] = {"bool": False, "int": 0, "int64": 0, "float": 0.0, "string": ""}
# uint64 comes as int64, so its upper half does not fit
_LIMITS = {"int": 2**31, "int64": 2**63}


class CustomValueError(Exception):
    """A value does not fit the declared type; the message says how."""


def find_type(name: Sdf.ValueTypeName) -> str:
    """The model's word for a USD value type; empty if there is none."""
    word = _find_scalar(scalar_type_of(name))
    return f"{word}[]" if word and name.isArray else word


def _find_scalar(name: Sdf.ValueTypeName) -> str:
    if str(name) in _SCALARS:
        return _SCALARS[str(name)]
    kind = str(name.type.typeName)
    if kind.startswith("GfQuat"):
        return "quat"
    for prefix, word in (("GfVec", "vec"), ("GfMatrix", "mat")):
        if kind.startswith(prefix):
            size, letter = kind[len(prefix)], kind[-1]
            return f"{'i' if letter == 'i' else ''}{word}{size}"
    return ""


def convert_value(value: Any, type_: str) -> Any:
    """A USD value as one of the model's; CustomValueError where it does not fit."""
    plain = value.GetValue() if isinstance(value, Sdf.TimeCode) else make_plain(value)
    if type_.endswith("[]"):
        if not isinstance(plain, (list, tuple)) or isinstance(value, str):
            raise CustomValueError("it is not an array")
        return [_convert_item(item, type_[:-2]) for item in plain]
    return _convert_item(plain, type_)


def make_zero(type_: str) -> Any:
    """The value of a declaration without one: nothing, zero, or no turn."""
    if type_.endswith("[]"):
        return []
    if type_ in _ZEROS:
        return _ZEROS[type_]
    shape = _find_shape(type_)
    return _convert_item((1, 0, 0, 0) if type_ == "quat" else np.zeros(shape).tolist(), type_)


def _convert_item(value: Any, type_: str) -> Any:
    if type_ == "string":
        if not isinstance(value, str):
            raise CustomValueError("it is not text")
        return value
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if isinstance(value, str) or array.shape != _find_shape(type_):
        raise CustomValueError(f"it is no {type_}")
    if type_ == "bool":
        return bool(value)
    if type_ in _LIMITS:
        return _convert_integer(value, type_)
    if type_ == "float":
        return float(value)
    return _convert_array(array, type_)


def _convert_array(array: Array, type_: str) -> Any:
    """A vector, quaternion or matrix of the right shape, as tuples."""
    if type_ == "quat":
        return _normalize(array)
    if type_.startswith("mat"):
        return tuple(tuple(float(v) for v in row) for row in array)
    return tuple(int(v) for v in array) if type_.startswith("ivec") else tuple(float(v) for v in array)


def _find_shape(type_: str) -> tuple[int, ...]:
    if type_ in ("bool", "int", "int64", "float"):
        return ()
    if type_ == "quat":
        return (4,)
    size = int(type_[-1])
    return (size, size) if type_.startswith("mat") else (size,)


def _convert_integer(value: Any, type_: str) -> int:
    if not isinstance(value, int) and not float(value).is_integer():
        raise CustomValueError(f"it is not a whole number, which {type_} needs")
    if not -_LIMITS[type_] <= int(value) < _LIMITS[type_]:
        raise CustomValueError(f"it is too large for {type_}")
    return int(value)


def _normalize(array: Array) -> tuple[float, ...]:
    length = math.sqrt(float(array @ array))
    if not 0.0 < length < math.inf:
        raise CustomValueError("it is a quaternion without a direction")
    return tuple(float(v) / length for v in array)


CUSTOM_DECLARATION = declare(
    "usd-custom-declaration",
    Level.ERROR,
    "{attribute} does not declare a custom attribute: {why}",
    hint='give it customData = {{ string assignment = "model", string frequency = "body" }} or other words of '
    "the two lists",
    doc="A custom attribute on the physics scene lacks its storage place or granularity, or names an unknown "
    "one, or is declared twice in different ways. Values given to it are not read.",
)
CUSTOM_VALUE = declare(
    "usd-custom-value",
    Level.ERROR,
    "{attribute} = {value} is not used: {why}",
    hint="author a value of the declared type {type}",
    doc="The value an element gives to a custom attribute does not fit its declaration; the default is used.",
)
CUSTOM_MISPLACED = declare(
    "usd-custom-misplaced",
    Level.WARNING,
    "{attribute} is declared per {frequency}, but this prim is not one; it has no effect",
    hint="author it on the prim of the {frequency}",
    doc="A custom attribute is given a value where nothing reads it.",
)

ASSIGNMENTS = ("model", "state", "control", "contact")
FREQUENCIES = (
    "body", "shape", "joint", "joint_dof", "joint_coord", "articulation", "once", "world",
)  # fmt: skip
_SPACE = "newton"
_SCHEMA_NAMES = frozenset(
    {
        "newton:maxSolverIterations",
        "newton:timeStepsPerSecond",
        "newton:gravityEnabled",
        "newton:joint_drive_gains_scaling",
        "newton:collapse_fixed_joints",
    }
)
# namespaces of Newton's solvers on the scene, which are settings and no declarations
_SCHEMA_SPACES = frozenset({"xpbd", "vbd", "kamino", "mpm"})
# a value may be an array of thousands
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class _CustomTarget:
    """What a prim is to custom attributes: an element, and its joint where it is one."""

    frequencies: frozenset[str]
    element: str
    joint: Joint | None = None
    inherited: bool = False


def read_custom(reader: StageReader, scan: StageScan) -> None:
    """Add the declared attributes with the values that elements give them."""
    root = _find_root(reader, scan)
    declared = _read_declarations(reader, scan, root)
    if not declared:
        return
    reader.asset.custom_attributes += declared.values()
    targets = _list_targets(reader)
    declaring = {scene.path for scene in scan.scenes} | ({root.path} if root is not None else set())
    for path in dict.fromkeys([*scan.all, *targets]):
        if path in declaring:
            continue
        prim = scan.all[path].prim if path in scan.all else reader.stage.GetPrimAtPath(path)
        for attribute in prim.GetAuthoredPropertiesInNamespace(_SPACE) if prim else ():
            custom = declared.get(attribute.GetName())
            if custom is not None and isinstance(attribute, Usd.Attribute):
                _assign(reader, attribute, custom, targets.get(path, []))


def _read_declarations(
    reader: StageReader, scan: StageScan, root: FoundPrim | None
) -> dict[str, CustomAttribute]:
    """Attributes that are declared on scenes, or at the root of an asset that has no scene, by name."""
    declared: dict[str, CustomAttribute] = {}
    for scene in scan.scenes:
        for attribute in scene.prim.GetAuthoredPropertiesInNamespace(_SPACE):
            if isinstance(attribute, Usd.Attribute):
                _declare(reader, scene, attribute, declared)
    for attribute in root.prim.GetAuthoredPropertiesInNamespace(_SPACE) if root is not None else ():
        if root is not None and {"assignment", "frequency"} <= attribute.GetCustomData().keys():
            _declare(reader, root, attribute, declared)
    return declared


def _find_root(reader: StageReader, scan: StageScan) -> FoundPrim | None:
    """The root of an asset with notes: it declares what has no scene to be declared on."""
    prim = reader.stage.GetDefaultPrim()
    return scan.all.get(str(prim.GetPath())) if prim and reader.noted else None


def _declare(
    reader: StageReader, scene: FoundPrim, attribute: Usd.Attribute, declared: dict[str, CustomAttribute]
) -> None:
    name = attribute.GetName()
    words = attribute.GetCustomData()
    # with custom data even a schema attribute declares
    if not words.keys() & {"assignment", "frequency"} and _is_schema(attribute):
        return
    try:
        custom = _read_declaration(reader, attribute, words)
    except CustomValueError as why:
        _report_declaration(reader, scene, name, str(why))
        return
    # several scenes may say the same; the first counts where they do not
    known = declared.setdefault(name, custom)
    if _describe(known) != _describe(custom):
        _report_declaration(reader, scene, name, f"it is declared otherwise on {known.source.prim}")


def _report_declaration(reader: StageReader, scene: FoundPrim, name: str, why: str) -> None:
    reader.reporter.report(CUSTOM_DECLARATION, reader.where(scene.prim, name), attribute=name, why=why)


def _is_schema(attribute: Usd.Attribute) -> bool:
    """Is it an ordinary attribute of a scene schema?"""
    name = attribute.GetName()
    return not attribute.IsCustom() or name in _SCHEMA_NAMES or name.split(":")[1] in _SCHEMA_SPACES


def _describe(custom: CustomAttribute) -> tuple[Any, ...]:
    return custom.assignment, custom.frequency, custom.type, custom.default


def _read_declaration(
    reader: StageReader, attribute: Usd.Attribute, words: dict[str, Any]
) -> CustomAttribute:
    parts = attribute.GetName().split(":")[1:]
    if len(parts) > 2:
        raise CustomValueError("its name has more parts than newton:namespace:name")
    assignment = _choose_word(words, "assignment", ASSIGNMENTS)
    frequency = _choose_word(words, "frequency", FREQUENCIES)
    kind = find_type(attribute.GetTypeName())
    if not kind:
        raise CustomValueError(f"its type {attribute.GetTypeName()} has no place in an array")
    value = attribute.Get(reader.time)
    return CustomAttribute(
        name=parts[-1],
        assignment=assignment,
        frequency=frequency,
        type=kind,
        default=make_zero(kind) if value is None else convert_value(value, kind),
        namespace=parts[0] if len(parts) == 2 else "",
        source=reader.where(attribute.GetPrim(), attribute.GetName()),
    )


def _choose_word(words: dict[str, Any], key: str, known: tuple[str, ...]) -> str:
    if key not in words:
        raise CustomValueError(f"its customData says no {key}")
    word = str(words[key]).lower()
    if word not in known:
        raise CustomValueError(f"{key} {word!r} is none of {', '.join(known)}")
    return word


def _list_targets(reader: StageReader) -> dict[str, list[_CustomTarget]]:
    """What each prim is; articulations listen to the parent of their root as well."""
    targets: dict[str, list[_CustomTarget]] = {}
    for path, target in _make_targets(reader):
        targets.setdefault(path, []).append(target)
    return targets


def _make_targets(reader: StageReader) -> Iterator[tuple[str, _CustomTarget]]:
    asset = reader.asset
    for path, frame in reader.bodies.items():
        yield path, _CustomTarget(frozenset({"body"}), frame.name)
    for shape in asset.shapes:
        yield shape.path, _CustomTarget(frozenset({"shape"}), shape.name)
    for joint in asset.joints:
        yield joint.path, _CustomTarget(frozenset({"joint", "joint_dof", "joint_coord"}), joint.name, joint)
    for articulation in asset.articulations:
        yield articulation.path, _CustomTarget(frozenset({"articulation"}), articulation.name)
        parent = articulation.path.rpartition("/")[0]
        if parent:
            yield parent, _CustomTarget(frozenset({"articulation"}), articulation.name, inherited=True)


def _assign(
    reader: StageReader, attribute: Usd.Attribute, custom: CustomAttribute, targets: list[_CustomTarget]
) -> None:
    name, prim = attribute.GetName(), attribute.GetPrim()
    fitting = [target for target in targets if custom.frequency in target.frequencies]
    value = attribute.Get(reader.time)
    if not fitting or value is None:
        if value is not None:
            where = reader.where(prim, name)
            reader.reporter.report(CUSTOM_MISPLACED, where, attribute=name, frequency=custom.frequency)
        return
    for target in fitting:
        # the articulation prim itself wins over its parent
        if target.inherited and target.element in custom.values:
            continue
        try:
            custom.values[target.element] = _read_value(value, custom, target.joint)
        except CustomValueError as why:
            reader.reporter.report(
                CUSTOM_VALUE,
                reader.where(prim, name),
                attribute=name,
                value=str(make_plain(value))[:_SHOWN],
                why=why,
                type=custom.type,
            )


def _read_value(value: Any, custom: CustomAttribute, joint: Joint | None) -> Any:
    """One value, or a list with one per degree of freedom or coordinate of the joint."""
    if joint is None or custom.frequency == "joint":
        return convert_value(value, custom.type)
    count = joint.velocities if custom.frequency == "joint_dof" else joint.positions
    items = make_plain(value)
    # a list is one value per freedom; a tuple is one vector
    if isinstance(items, list) and not custom.type.endswith("[]"):
        if len(items) != count:
            raise CustomValueError(f"it has {len(items)} values, joint {joint.name!r} has {count}")
        return [convert_value(item, custom.type) for item in value]
    return [convert_value(value, custom.type)] * count
