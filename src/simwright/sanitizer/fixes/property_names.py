# SPDX-License-Identifier: Apache-2.0
"""Properties that are almost called what a schema calls them (REP-0158 4.1, 4.2.2), and tables in order.

A name that is not read is dead text; under its right name it is read.  That is what these fixes are for, so the parts
of the machine that they bring to life may change.

Of properties in ``physics:`` that no schema has, a person says whether they go or stay: ``remove`` takes them away,
``isolate`` keeps them under ``userProperties:``, the namespace for what only its author knows.
"""

from __future__ import annotations

from collections.abc import Callable

from pxr import Sdf

from simwright.checker.facts.schemas import known_properties
from simwright.checker.facts.vendors import VENDOR_NAMESPACES
from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import UserValues, fix
from simwright.usd.edit import Editor, Refused

_UNKNOWN_VALUE = "unknown-physics"
_USER_SPACE = "userProperties"


def handle_unknown(editor: Editor, spec: Sdf.PropertySpec, given: UserValues) -> None:
    """Do what the user says; refuse, with the two ways, where nothing is said."""
    choice = given.find(_UNKNOWN_VALUE)
    if choice == "remove":
        editor.remove_spec(spec)
    elif choice == "isolate":
        _isolate(editor, spec)
    elif choice:
        raise Refused(f"{_UNKNOWN_VALUE} is 'remove' or 'isolate', not {choice!r}")
    else:
        raise Refused(
            f"no schema has {spec.name}: --set {_UNKNOWN_VALUE}=remove takes such properties away, "
            f"=isolate keeps them as {_USER_SPACE}:{spec.name}"
        )


def _isolate(editor: Editor, spec: Sdf.PropertySpec) -> None:
    layer, old, owner = spec.layer, spec.path, spec.owner
    new = owner.path.AppendProperty(f"{_USER_SPACE}:{spec.name}")
    if layer.GetPropertyAtPath(new) is not None:
        raise Refused(f"{new.name} is there as well; decide which is right")

    def apply() -> None:
        Sdf.CopySpec(layer, old, layer, new)
        known = layer.GetPropertyAtPath(old)
        if known is not None:
            owner.RemoveProperty(known)
        layer.GetPropertyAtPath(new).custom = True

    editor.add(layer, old, f"{new.name} instead of {old.name}", apply)


_KINDS = Sdf.ValueTypeNames
_WAKING = (
    "joints",
    "limits",
    "constraints",
    "drives",
    "actuators",
    "masses",
    "motion",
    "materials",
    "contacts",
)
_POSITIONS = "ext_physics:clamp_position:lookupPositions"
_EFFORTS = "ext_physics:clamp_position:lookupEfforts"


@fix("xphys-no-core", values=(_UNKNOWN_VALUE,), changes=_WAKING)
def rename_core(editor: Editor, finding: Diagnostic, given: UserValues) -> None:
    """The one name of a schema that is meant; an engine's word goes to its engine; a schema that lacks is applied."""
    if "prim" in finding.data:
        _apply_owner(editor, str(finding.data["prim"]), finding.where.prop)
        return
    meant = [str(name) for name in finding.data.get("meant", ())]
    own = finding.where.prop.removeprefix("physics:")
    if not meant and own.partition(":")[0] in VENDOR_NAMESPACES:
        meant = [own]
    if not meant:
        handle_unknown(editor, _find_spec(editor, finding), given)
    elif len(meant) > 1:
        raise Refused(f"it can be {' or '.join(meant)}: rename it to the one that is meant")
    else:
        _rename(editor, finding, meant[0])


@fix("xphys-prop-prefix", changes=_WAKING)
def add_prefix(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The prefix of extended physics."""
    meant = str(finding.data.get("meant", ""))
    if not meant:
        raise Refused("the concept that the class is about has to be named")
    prim = editor.find_prim(finding.where.prim)
    for spec in editor.list_specs(prim, finding.where.prop):
        rename_spec(editor, spec, meant)


@fix("ext-deprecated", changes=_WAKING)
def migrate(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The core schema instead of the extension that it came from, and its names, in every layer of the asset."""
    prim, names = editor.find_prim(finding.where.prim), finding.data["names"]
    homeless = [old for old, new in names.items() if not new]
    if homeless:
        raise Refused(f"{homeless[0]} has no place in core OpenUSD; decide what becomes of it")
    specs = [(spec, str(new)) for old, new in names.items() for spec in editor.list_specs(prim, str(old))]
    for spec, new in specs:
        rename_spec(editor, spec, new)
    editor.replace_api(prim, str(finding.data["api"]), str(finding.data["core"]))


@fix("schema-core", changes=("ros", "frames"))
def spell_ros(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Names and types as the schema has them."""
    data = finding.data
    if "api" in data:
        prim = editor.find_prim(finding.where.prim)
        editor.remove_api(prim, str(data["api"]))
        editor.add_api(prim, str(data["meant"]))
    elif data.get("meant"):
        _rename(editor, finding, str(data["meant"]))
    elif "type" in data:
        _retype(editor, finding, str(data["type"]))
    elif "samples" in data:
        _keep_first_sample(editor, finding)
    elif "tokens" in data:
        _spell_token(editor, finding, [str(token) for token in data["tokens"]])
    else:
        raise Refused("no schema has such a property; decide what it is for")


@fix("xphys-clamp-valid", changes=("actuators",))
def sort_table(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Pairs in the order of their positions."""
    prim = editor.find_prim(finding.where.prim)
    positions, efforts = (list(prim.GetAttribute(name).Get() or ()) for name in (_POSITIONS, _EFFORTS))
    if not positions or len(positions) != len(efforts):
        raise Refused("which effort belongs to which position is not known")
    if len(set(positions)) != len(positions):
        raise Refused("a position has two efforts; decide which is right")
    if positions == sorted(positions):
        raise Refused("the efforts have to be measured again")
    pairs = sorted(zip(positions, efforts, strict=True))
    editor.set_value(prim, _POSITIONS, _KINDS.FloatArray, [pair[0] for pair in pairs])
    editor.set_value(prim, _EFFORTS, _KINDS.FloatArray, [pair[1] for pair in pairs])


def rename_spec(editor: Editor, spec: Sdf.PropertySpec, name: str) -> None:
    """Another name for a property in one spec, with the type that the schema has for it."""
    layer, old, owner = spec.layer, spec.path, spec.owner
    new = owner.path.AppendProperty(name)
    if layer.GetPropertyAtPath(new) is not None:
        raise Refused(f"{name} is there as well; decide which is right")
    known = known_properties().get(name)
    found = str(spec.typeName) if isinstance(spec, Sdf.AttributeSpec) else "rel"
    # under its right name a value of another type would be an error of its own
    if known is not None and known.property.type != found:
        raise Refused(f"{name} is of type {known.property.type}, not {found}")

    def apply() -> None:
        Sdf.CopySpec(layer, old, layer, new)
        known_spec = layer.GetPropertyAtPath(old)
        if known_spec is not None:
            owner.RemoveProperty(known_spec)
        if known is not None:
            layer.GetPropertyAtPath(new).custom = False

    editor.add(layer, old, f"{name} instead of {spec.name}", apply)
    if known is not None:
        editor.add_spec_api(owner, known.owner.name)


def _rename(editor: Editor, finding: Diagnostic, name: str) -> None:
    rename_spec(editor, _find_spec(editor, finding), name)


def _find_spec(editor: Editor, finding: Diagnostic) -> Sdf.PropertySpec:
    layer = editor.find_layer(finding.where.file)
    spec = layer.GetPropertyAtPath(Sdf.Path(finding.where.prim).AppendProperty(finding.where.prop))
    if spec is None:
        raise Refused(f"{finding.where.prop} no longer exists")
    return spec


def _apply_owner(editor: Editor, path: str, name: str) -> None:
    """The schema of UsdPhysics that has a property, where it is clear which."""
    owners = {"physics:mass": "PhysicsMassAPI", "physics:density": "PhysicsMassAPI",
              "physics:centerOfMass": "PhysicsMassAPI", "physics:diagonalInertia": "PhysicsMassAPI",
              "physics:principalAxes": "PhysicsMassAPI", "physics:filteredPairs": "PhysicsFilteredPairsAPI",
              "physics:approximation": "PhysicsMeshCollisionAPI"}  # fmt: skip
    prim = editor.find_prim(path)
    if not prim.GetProperty(name).IsAuthored():
        return  # another fix took it away
    api = owners.get(name)
    if api is None:
        raise Refused("whether the prim is to be a body or a collider has to be decided")
    editor.add_api(prim, api)


def _retype(editor: Editor, finding: Diagnostic, kind: str) -> None:
    spec = _find_spec(editor, finding)
    convert = _CONVERSIONS.get(kind)
    if not isinstance(spec, Sdf.AttributeSpec) or convert is None or spec.HasInfo("timeSamples"):
        raise Refused(f"its value cannot be taken as {kind}")
    value = spec.default
    try:
        new = None if value is None else convert(value)
    except (TypeError, ValueError):
        raise Refused(f"{value!r} cannot be taken as {kind}") from None
    layer, path = spec.layer, spec.path

    def apply() -> None:
        from simwright.usd.edit import redeclare

        redeclare(layer.GetAttributeAtPath(path), Sdf.ValueTypeNames.Find(kind))
        if new is not None:
            layer.GetAttributeAtPath(path).default = new

    editor.add(layer, path, f"{kind} {spec.name}", apply)


def _keep_first_sample(editor: Editor, finding: Diagnostic) -> None:
    spec = _find_spec(editor, finding)
    layer, path = spec.layer, spec.path
    times = layer.ListTimeSamplesForPath(path)
    value = layer.QueryTimeSample(path, times[0]) if times else None
    if value is None:
        raise Refused("its first value is none")

    def apply() -> None:
        known = layer.GetAttributeAtPath(path)
        known.ClearInfo("timeSamples")
        if not known.HasDefaultValue():
            known.default = value

    editor.add(layer, path, f"{spec.name} without time samples", apply)


def _spell_token(editor: Editor, finding: Diagnostic, tokens: list[str]) -> None:
    spec = _find_spec(editor, finding)
    found = [token for token in tokens if _fold(token) == _fold(str(spec.default))]
    if len(found) != 1:
        raise Refused(f"{spec.default!r} is none of {', '.join(tokens)}")
    editor.set_spec_value(spec.owner, spec.name, _KINDS.Token, found[0], uniform=True)


def _fold(text: str) -> str:
    return text.lower().replace("_", "").replace("-", "").replace(" ", "")


def _to_bool(value: object) -> bool:
    if isinstance(value, bool | int) and value in (0, 1):
        return bool(value)
    raise ValueError


_CONVERSIONS: dict[str, Callable[[object], object]] = {
    "double": lambda value: float(str(value)) if not isinstance(value, bool) else _fail(),
    "int": lambda value: int(str(value)) if not isinstance(value, bool) else _fail(),
    "bool": _to_bool,
    "string": lambda value: value if isinstance(value, str) else _fail(),
    "token": lambda value: value if isinstance(value, str) else _fail(),
}


def _fail() -> object:
    raise ValueError
