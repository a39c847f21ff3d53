# SPDX-License-Identifier: Apache-2.0
"""Controllers: outside the bodies they move, with a drive at their joints; one starts (REP-0158 4.2.1, 4.2.3).

Frame ids of sensors and controllers belong to their topic.
"""

from __future__ import annotations

import re

from pxr import Sdf, Usd

from simwright.core.diag import Diagnostic
from simwright.core.names import make_identifier
from simwright.sanitizer.fixer import UserValues, fix
from simwright.usd.edit import Editor, Refused
from simwright.usd.overrides import find_context, find_top
from simwright.usd.relocation import claim_name, make_prim, move_apis, move_prim
from simwright.usd.submission_words import split_words

_AXES = {"PhysicsRevoluteJoint": "angular", "PhysicsPrismaticJoint": "linear"}
_STARTS = "control:starts_enabled"
_BOOL = Sdf.ValueTypeNames.Bool


@fix("ctrl-drive")
def apply_drive(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """A drive without gains takes commands and does nothing; its gains are for a person to choose."""
    prim = editor.find_prim(finding.where.prim)
    axis = _AXES.get(str(prim.GetTypeName()))
    if axis is None:
        raise Refused("which axis is driven has to be decided")
    drives = [api for api in prim.GetAppliedSchemas() if api.startswith("PhysicsDriveAPI:")]
    # gains of another axis have other units; moving them would invent a controller
    if any(name.startswith("drive:") for name in prim.GetAuthoredPropertyNames()):
        raise Refused(f"it has numbers for another axis ({', '.join(drives)}); decide what they are for")
    for api in drives:
        editor.remove_api(prim, api)
    editor.add_api(prim, f"PhysicsDriveAPI:{axis}")
    for name in ("stiffness", "damping"):
        editor.set_value(prim, f"drive:{axis}:physics:{name}", Sdf.ValueTypeNames.Float, 0.0)


@fix("ctrl-no-conflict", changes=("ros",))
def start_disabled(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The first controller of a joint starts, the others wait."""
    prim = editor.find_prim(finding.where.prim)
    known = [name for name in prim.GetAuthoredPropertyNames() if name.endswith(":starts_enabled")]
    for name in known or [_STARTS]:
        editor.set_value(prim, name, _BOOL, False)
        if not known:
            _mark_custom(editor, finding.where.prim)


def _mark_custom(editor: Editor, path: str) -> None:
    """No schema declares the name."""
    home = editor.choose_home(editor.find_prim(path))
    place = home.path.AppendProperty(_STARTS)

    def apply() -> None:
        home.layer.GetAttributeAtPath(place).custom = True

    editor.add(home.layer, place, f"custom {_STARTS}", apply)


_SCOPE = "Controllers"
_PREFIX = "RosControl"


@fix("ctrl-decoupled", changes=("ros", "frames"), phase=0)
def leave_bodies(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """A prim that is there for its controllers alone moves as a whole; from any other, each controller does."""
    prim = editor.find_prim(finding.where.prim)
    applied = prim.GetPrimTypeInfo().GetAppliedAPISchemas()  # without those that come with others
    apis = [name for name in applied if name.startswith(_PREFIX)]
    if not apis:
        raise Refused("the controller no longer exists")
    top = find_context(prim) or find_top(editor, prim)
    if prim == top:
        raise Refused("the robot's root is a body; give the robot a prim above its bodies")
    scope = _open_scope(editor, top)
    if str(finding.data.get("body", "")) != prim.GetPath().pathString and _has_only_controllers(prim, apis):
        target = scope.AppendChild(claim_name(editor, scope, prim.GetName()))
        move_prim(editor, prim, target)
        editor.expected.repositioned.add(target.pathString)
        return
    for api in apis:
        name = claim_name(editor, scope, name_controller(api))
        move_apis(editor, prim, [api], scope.AppendChild(name))


def name_controller(api: str) -> str:
    """A prim name for a controller: ``diff_drive`` for RosControlDiffDriveAPI."""
    words = api.removeprefix(_PREFIX).partition(":")[0].removesuffix("API")
    return make_identifier(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", words).lower(), "controller")


def _open_scope(editor: Editor, top: Usd.Prim) -> Sdf.Path:
    path = top.GetPath().AppendChild(_SCOPE)
    if not editor.stage.GetPrimAtPath(path) and path.pathString not in editor.expected.added:
        make_prim(editor, top, path, "Scope")
    return path


def _has_only_controllers(prim: Usd.Prim, apis: list[str]) -> bool:
    others = [name for name in prim.GetPrimTypeInfo().GetAppliedAPISchemas() if name not in apis]
    return not others and not prim.GetAllChildren() and str(prim.GetTypeName()) in ("", "Xform", "Scope")


_TOPIC = "RosTopicAPI"
_OVERRIDE = "ros:topic:override_frame_id"
_KINDS = Sdf.ValueTypeNames


@fix("ext-no-transport", changes=("ros", "sensors", "frames"), phase=0)
def move_transport(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """A frame id goes to the one topic that the prim leads to; for a new topic more has to be known."""
    prim = editor.stage.GetPrimAtPath(finding.where.prim)
    name = finding.where.prop
    if not prim or prim.GetSpecifier() == Sdf.SpecifierClass:
        raise Refused("it is declared by a schema class, which has to be written anew")
    attribute = prim.GetAttribute(name)
    if not attribute or not attribute.HasAuthoredValue():
        return
    value = attribute.Get()
    if not isinstance(value, str) or "frame" not in split_words(name):
        raise Refused("topic, type, role and rate have to be chosen")
    _move_frame(editor, prim, name, value)


def _move_frame(editor: Editor, prim: Usd.Prim, name: str, value: str) -> None:
    topics = _find_topics(prim)
    # a frame id that is given to the wrong topic mislabels its messages
    if len(topics) != 1:
        raise Refused(f"the prim leads to {len(topics)} topics; decide whose frame id it is")
    known = topics[0].GetAttribute(_OVERRIDE)
    if known and known.HasAuthoredValue() and known.Get() != value:
        raise Refused(f"{topics[0].GetPath()} has another frame id")
    editor.set_value(topics[0], _OVERRIDE, _KINDS.String, value, uniform=True)
    editor.remove_property(prim, name)


def _find_topics(prim: Usd.Prim) -> list[Usd.Prim]:
    stage = prim.GetStage()
    found: dict[str, Usd.Prim] = {}
    for relationship in prim.GetAuthoredRelationships():
        for path in relationship.GetTargets():
            target = stage.GetPrimAtPath(path)
            if target and _TOPIC in target.GetAppliedSchemas():
                found[str(path)] = target
    return list(found.values())
