# SPDX-License-Identifier: Apache-2.0
"""Frame ids of sensors and controllers belong to their topic (REP-0158 4.2.1)."""

from __future__ import annotations

from pxr import Sdf, Usd

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import Wishes, fix
from simwright.usd.edit import Editor, Refused
from simwright.usd.submission_words import split_words

_TOPIC = "RosTopicAPI"
_OVERRIDE = "ros:topic:override_frame_id"
_KINDS = Sdf.ValueTypeNames


@fix("ext-no-transport", changes=("ros", "sensors", "frames"), phase=0)
def move_transport(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
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
