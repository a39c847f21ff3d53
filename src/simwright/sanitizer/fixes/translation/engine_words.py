# SPDX-License-Identifier: Apache-2.0
"""What a prim says in the words of engines, and where; what a translation asks the editor for.

Also what engines are told before and after fixes: the proof names every engine that is told less.  The machine of the
neutral model may be the same while an engine, which reads its own words and no others, is told nothing any more.  So
all words of each engine are read through the rows of its resolver, in SI units; words without a row are only looked
for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pxr import Sdf, Usd, UsdGeom, UsdPhysics

from simwright.checker.facts.vendors import VENDOR_NAMESPACES, vendor_of_property, vendor_of_schema
from simwright.core.math3d import DEGREE
from simwright.resolve.resolver import DEFAULT_ORDER, find_resolver
from simwright.resolve.table import UNSET, PrimType, Row, Scale
from simwright.sanitizer.conversion.dimensions import Factors, PrimRole, find_dimension
from simwright.sanitizer.layering.stacks import find_stacks, is_proprietary
from simwright.usd.edit import Editor, Refused

Reasons = dict[str, str]
"""Names of properties and schemas that have to stay, and why."""
ENGINE_ROOTS = {
    "NewtonArticulationRootAPI": ("newton:selfCollisionEnabled", "newton:jointsAddMobility"),
    "PhysxArticulationAPI": ("physxArticulation:",),
}
"""What engines say of an articulation root, by schema; they look for it where the root is."""
_SURVEY = "words of engines"
_KINDS = Sdf.ValueTypeNames
_ANGULAR = ("PhysicsRevoluteJoint", "PhysicsSphericalJoint")
_LINEAR = ("PhysicsPrismaticJoint",)


@dataclass(slots=True)
class EngineSurvey:
    """Prims of a stage that say something in an engine's words, by the specs that do; units of the stage."""

    scale: Scale
    limits_itself: bool = True
    prims: dict[str, Usd.Prim] = field(default_factory=dict)
    holders: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def find(self, layer: str, path: str) -> list[Usd.Prim]:
        """The prims that a spec is about."""
        return [self.prims[place] for place in self.holders.get((layer, path), ())]


def survey_stage(editor: Editor) -> EngineSurvey:
    """The survey of an editor's stage, made once while nothing changes."""
    if _SURVEY not in editor.known:
        editor.known[_SURVEY] = make_survey(editor.stage)
    survey: EngineSurvey = editor.known[_SURVEY]
    return survey


def make_survey(stage: Usd.Stage) -> EngineSurvey:
    """The survey of a stage."""
    survey = EngineSurvey(
        Scale(UsdGeom.GetStageMetersPerUnit(stage), UsdPhysics.GetStageKilogramsPerUnit(stage), DEGREE)
    )
    roots = [stage.GetPseudoRoot(), *stage.GetPrototypes()]
    scene_seen = False
    for root in roots:
        for prim in Usd.PrimRange(root, Usd.PrimAllPrimsPredicate):
            # MuJoCo has one compiler section: the first scene counts
            if not scene_seen and prim.GetTypeName() == "PhysicsScene":
                scene_seen = True
                _read_compiler(prim, survey)
            if _speaks_engine(prim):
                path = str(prim.GetPath())
                survey.prims[path] = prim
                for spec in prim.GetPrimStack():
                    survey.holders.setdefault((spec.layer.identifier, str(spec.path)), []).append(path)
    return survey


def _read_compiler(scene: Usd.Prim, survey: EngineSurvey) -> None:
    """MuJoCo's settings for angles and ranges."""
    angle = scene.GetAttribute("mjc:compiler:angle")
    if angle and angle.Get() == "radian":
        survey.scale = Scale(survey.scale.length, survey.scale.mass, 1.0)
    limits = scene.GetAttribute("mjc:compiler:autoLimits")
    survey.limits_itself = not limits or limits.Get() is not False


def _speaks_engine(prim: Usd.Prim) -> bool:
    return (
        vendor_of_schema(str(prim.GetTypeName())) is not None
        or any(vendor_of_schema(api) or api == "MimicJointAPI" for api in list_apis(prim))
        or any(vendor_of_property(name) for name in prim.GetAuthoredPropertyNames())
    )


def list_apis(prim: Usd.Prim) -> list[str]:
    """Applied schemas, registered or not."""
    return [str(name) for name in prim.GetPrimTypeInfo().GetAppliedAPISchemas()]


def read_authored(prim: Usd.Prim, names: Iterable[str]) -> dict[str, Any]:
    """Authored values by name; those that change over time are refused."""
    found = {}
    for name in names:
        attribute = prim.GetAttribute(name)
        if not attribute or not attribute.HasAuthoredValue():
            continue
        if attribute.ValueMightBeTimeVarying():
            raise Refused(f"{name} changes over time")
        value = attribute.Get()
        found[name] = value if not isinstance(value, float) else float(value)
    return found


def list_targets(prim: Usd.Prim, name: str) -> list[Sdf.Path]:
    """Where a relationship leads; nowhere if there is none."""
    relationship = prim.GetRelationship(name)
    return list(relationship.GetTargets()) if relationship else []


def list_angular(prim: Usd.Prim) -> tuple[bool, ...]:
    """Do the free axes of a joint turn, slide, or may there be both?"""
    if str(prim.GetTypeName()) in _ANGULAR:
        return (True,)
    return (False,) if str(prim.GetTypeName()) in _LINEAR else (True, False)


def is_angular(prim: Usd.Prim | None) -> bool | None:
    """Does the one axis of a joint turn?  None for other joints and prims."""
    kind = str(prim.GetTypeName()) if prim else ""
    return {"PhysicsRevoluteJoint": True, "PhysicsPrismaticJoint": False}.get(kind)


def list_attribute_specs(prim: Usd.Prim, name: str) -> Iterator[Sdf.AttributeSpec]:
    """The opinions about an attribute, strongest first."""
    for spec in prim.GetPrimStack():
        found = spec.layer.GetAttributeAtPath(spec.path.AppendProperty(name))
        if found is not None:
            yield found


def attempt(editor: Editor, ask: Callable[[], None]) -> str:
    """Ask for edits; where they are refused none of them is kept, and the reason is given."""
    mark = len(editor.edits)
    try:
        ask()
    except Refused as reason:
        editor.drop_edits(mark)
        return str(reason)
    return ""


def write_number(editor: Editor, spec: Sdf.PrimSpec, name: str, value: float) -> None:
    """A single-precision attribute in one spec."""
    editor.set_spec_value(spec, name, _KINDS.Float, math.copysign(value, 1.0) if value == 0.0 else value)


def find_neutral_place(editor: Editor, prim: Usd.Prim, spec: Sdf.PrimSpec) -> Sdf.PrimSpec:
    """Where a neutral word for one of an engine's goes: beside it, or out of the engine's own layer.

    Neutral schemas in the layer of an engine would be lost to all who leave that layer out.
    """
    stack = next((stack for stack in find_stacks(editor) if spec.layer in stack.layers), None)
    # a root layer brings the others in: whatever it says, it is not a layer of an engine alone
    if stack is None or spec.layer == stack.root or not is_proprietary(stack.read(spec.layer)):
        return spec
    layers = [layer for layer in stack.layers if not is_proprietary(stack.read(layer))]
    others = [known for layer in layers if (known := layer.GetPrimAtPath(spec.path)) is not None]
    if not others:
        raise Refused(f"no neutral layer beside {spec.layer.GetDisplayName()} speaks of {prim.GetPath()}")
    # where it is made what it is, if that is in the asset
    return next((known for known in others if known.specifier == Sdf.SpecifierDef), others[0])


def apply_schema(editor: Editor, prim: Usd.Prim, spec: Sdf.PrimSpec, name: str) -> None:
    """Apply a schema in one spec, unless the prim has it."""
    if name not in list_apis(prim):
        editor.add_spec_api(spec, name)


_SAME = 1e-5
"""Relative difference of numbers that say the same: single precision, through other units."""
_CORE_FORM = frozenset({"newton:inertia", "NewtonMassAPI"})
"""Words of an engine that it reads as well in the words of UsdPhysics, into which a fix turns them."""
_ROOT = (
    "the articulation root on the base link, without which MuJoCo's own USD reader (4.0.0) refuses an asset"
)

_OF_ROOTS = tuple(word for words in ENGINE_ROOTS.values() for word in words)

Told = dict[tuple[str, str], Any]
"""By path of a prim and word, or key of a resolver: the value, None for words that are only looked for."""


@dataclass(slots=True)
class EngineLoss:
    """What an engine was told and is not told any more, in words."""

    engine: str
    words: list[str] = field(default_factory=list)

    def tell(self) -> str:
        """The first few, and how many there are."""
        shown = ", ".join(self.words[:3])
        return shown if len(self.words) <= 3 else f"{shown} and {len(self.words) - 3} more"


def find_losses(before: Usd.Stage, after: Usd.Stage, follow: Callable[[str], str]) -> list[EngineLoss]:
    """Engines that are told less afterwards; ``follow`` leads from the path of a prim to the one it has now."""
    found = []
    told, still = read_told(before), read_told(after)
    for engine in sorted(told):
        loss = EngineLoss(engine)
        now = still.get(engine, {})
        for (path, word), value in told[engine].items():
            prim = after.GetPrimAtPath(follow(path))
            # a prim that no longer exists is the proof's to tell of
            if not prim:
                continue
            # what is in an instance is said once, in its prototype
            place = prim.GetPrimInPrototype() if prim.IsInstanceProxy() else prim
            if not _says(now, (str(place.GetPath()), word), value):
                loss.words.append(f"{word} of {path}")
        if loss.words:
            found.append(loss)
    return found


def read_told(stage: Usd.Stage) -> dict[str, Told]:
    """All that engines are told, by engine."""
    survey = make_survey(stage)
    found: dict[str, Told] = {}
    for path, prim in survey.prims.items():
        _read_root(prim, survey.scale, found)
        for name in (*list_apis(prim), str(prim.GetTypeName())):
            engine = vendor_of_schema(name)
            if engine and name not in _CORE_FORM and name not in ENGINE_ROOTS:
                found.setdefault(engine, {})[path, name] = None
        _read_words(prim, path, survey.scale, found)
    # MuJoCo's reader takes whatever has the root for a body
    if _has_root_on_body(stage):
        found.setdefault("mujoco", {})[str(stage.GetPseudoRoot().GetPath()), _ROOT] = None
    return found


def _read_root(prim: Usd.Prim, scale: Scale, found: dict[str, Told]) -> None:
    """What is said of an articulation, wherever its root is; in SI units."""
    for api, words in ENGINE_ROOTS.items():
        if api in list_apis(prim):
            told = found.setdefault(vendor_of_schema(api) or "", {})
            for name in (name for name in prim.GetAuthoredPropertyNames() if name.startswith(words)):
                value = prim.GetAttribute(name).Get()
                dimension = find_dimension(name, PrimRole())
                if isinstance(value, float) and dimension is not None:
                    value *= Factors(scale.length, scale.mass).of(dimension)
                told[str(prim.GetPath().GetPrefixes()[0]), name] = value


def _read_words(prim: Usd.Prim, path: str, scale: Scale, found: dict[str, Told]) -> None:
    authored = {
        name: prim.GetAttribute(name).Get() if prim.HasAttribute(name) else None
        for name in prim.GetAuthoredPropertyNames()
        if vendor_of_property(name) and not name.startswith(_OF_ROOTS)
    }
    if not authored:
        return
    angular = prim.IsA(UsdPhysics.Joint) and list_angular(prim)[0]
    known: set[str] = set()
    for solver in DEFAULT_ORDER:
        engine = VENDOR_NAMESPACES.get(solver, solver)
        for row in _list_rows(solver, prim):
            if authored.keys().isdisjoint(row.attributes):
                continue
            known.update(row.attributes)
            value = row.read(authored, scale, angular=angular)
            # "as you like" is what no words at all say
            if value is not None and value is not UNSET:
                found.setdefault(engine, {})[path, row.attributes[0]] = value
    for name in authored.keys() - known - _CORE_FORM:
        found.setdefault(vendor_of_property(name) or "", {})[path, name] = None


def _list_rows(solver: str, prim: Usd.Prim) -> list[Row]:
    """The rows that are about such a prim; words of motors, whose units depend on their joint, are only looked for."""
    kinds = {
        PrimType.JOINT: prim.IsA(UsdPhysics.Joint),
        PrimType.SHAPE: prim.HasAPI(UsdPhysics.CollisionAPI),
        PrimType.MATERIAL: prim.GetTypeName() == "Material",
        PrimType.BODY: prim.HasAPI(UsdPhysics.RigidBodyAPI),
        PrimType.SCENE: prim.GetTypeName() == "PhysicsScene",
    }
    return [row for row in find_resolver(solver).rows if kinds.get(row.prim)]


def _has_root_on_body(stage: Usd.Stage) -> bool:
    roots = [prim for prim in stage.Traverse() if prim.HasAPI(UsdPhysics.ArticulationRootAPI)]
    return bool(roots) and all(prim.HasAPI(UsdPhysics.RigidBodyAPI) for prim in roots)


def _says(told: Mapping[tuple[str, str], Any], key: tuple[str, str], value: Any) -> bool:
    if key not in told:
        return False
    return value is None or _are_same(value, told[key])


def _are_same(one: Any, other: Any) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other or math.isclose(one, other, rel_tol=_SAME, abs_tol=1e-12)
    if hasattr(one, "__len__") and hasattr(other, "__len__") and not isinstance(one, str):
        return len(one) == len(other) and all(map(_are_same, one, other))
    return bool(one == other)
