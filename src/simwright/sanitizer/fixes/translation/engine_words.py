# SPDX-License-Identifier: Apache-2.0
"""What a prim says in the words of engines, and where; what a translation asks the editor for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pxr import Sdf, Usd, UsdGeom, UsdPhysics

from simwright.checker.facts.vendors import vendor_of_property, vendor_of_schema
from simwright.core.math3d import DEGREE
from simwright.resolve.table import Scale
from simwright.usd.edit import Editor, Refused

Reasons = dict[str, str]
"""Names of properties and schemas that have to stay, and why."""
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
        editor.known[_SURVEY] = _make_survey(editor.stage)
    survey: EngineSurvey = editor.known[_SURVEY]
    return survey


def _make_survey(stage: Usd.Stage) -> EngineSurvey:
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


def apply_schema(editor: Editor, prim: Usd.Prim, spec: Sdf.PrimSpec, name: str) -> None:
    """Apply a schema in one spec, unless the prim has it."""
    if name not in list_apis(prim):
        editor.add_spec_api(spec, name)
