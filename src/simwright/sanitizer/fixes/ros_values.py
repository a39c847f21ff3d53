# SPDX-License-Identifier: Apache-2.0
"""ROS attributes in the type and spelling that the schemas ask for (REP-0158 2).

What a simulator understands today stays what it understands: only how it is written changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pxr import Sdf, Usd

from simwright.core.diag import Diagnostic, Level
from simwright.sanitizer.fixer import UserValues, fix
from simwright.usd.edit import Editor, Refused

_KINDS = Sdf.ValueTypeNames
_TRUE, _FALSE = ("true", "1", "yes", "on"), ("false", "0", "no", "off")


@fix("ctx-namespace-type", changes=("ros",))
def declare_namespace(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """A string, whatever it was declared as; time samples are for a person to decide."""
    if "expected" not in finding.data:
        raise Refused("a namespace with time samples: decide which one it is")
    _retype(editor, finding, _KINDS.String, _read_text)


@fix("starts-enabled", changes=("ros",))
def declare_enabled(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """0 and 1, "true" and "false" become bools."""
    _retype(editor, finding, _KINDS.Bool, _read_bool)


@fix("topic-rate", changes=("ros",))
def declare_rate(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """A number of another type becomes a double; a rate that nobody reads goes."""
    if finding.level is Level.INFO:
        editor.remove_property(editor.find_prim(finding.where.prim), finding.where.prop)
        return
    if "expected" not in finding.data:
        raise Refused("its publish rate is not given")
    _retype(editor, finding, _KINDS.Double, float)


@fix("topic-role", "qos-reliability", "qos-durability", "qos-history", changes=("ros",))
def spell_token(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The allowed value that is meant, as a token."""
    if "expected" in finding.data:
        _retype(editor, finding, _KINDS.Token, _read_text)
        return
    meant = str(finding.data.get("meant", ""))
    if not meant:
        raise Refused("which of the allowed values is meant is not known")
    editor.set_value(_find_said(editor, finding), finding.where.prop, _KINDS.Token, meant)


@fix("type-resolve", changes=("ros",))
def spell_type(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The three-part form of a type; another type is only suggested."""
    meant = str(finding.data.get("meant", ""))
    if finding.level is Level.WARNING or not meant:
        raise Refused(f"the type is not known{f'; is {meant} meant?' if meant else ''}")
    editor.set_value(_find_said(editor, finding), finding.where.prop, _KINDS.String, meant)


@fix("ns-composable", changes=("ros",))
def trim_namespace(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Slashes at the end and empty parts go; other characters are for the author to choose."""
    text = str(finding.data.get("value", ""))
    parts = [part for part in text.split("/") if part]
    good = ("/" if text.startswith("/") else "") + "/".join(parts)
    if good == text or good != finding.data.get("suggestion"):
        raise Refused(f"{text!r} has to get another name")
    editor.set_value(_find_said(editor, finding), finding.where.prop, _KINDS.String, good)


@fix("frame-id", changes=("ros", "frames"))
def trim_frame(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """tf2 drops a leading slash itself."""
    text = str(finding.data.get("value", ""))
    good = text.lstrip("/")
    if good == text or not good or any(character.isspace() for character in good):
        raise Refused(f"{text!r} has to get another name")
    editor.set_value(_find_said(editor, finding), finding.where.prop, _KINDS.String, good)


@fix("ctx-parentframe-outermost", changes=("ros",))
def drop_parent_frame(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """It has no effect on a nested context."""
    if finding.level is Level.INFO:
        raise Refused("the part says it for its own use")
    editor.remove_property(editor.find_prim(finding.where.prim), finding.where.prop)


@fix("qos-match-pub", changes=("ros",))
def drop_idle_quality(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Remove a setting that has no effect; declare a value of another type as bool."""
    if "expected" in finding.data:
        _retype(editor, finding, _KINDS.Bool, _read_bool)
    else:
        editor.remove_property(editor.find_prim(finding.where.prim), finding.where.prop)


@fix("name-absolute", changes=("ros",))
def make_name_relative(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Make a name relative to the robot's namespace: that is another topic, so it needs intent."""
    text = str(finding.data.get("value", "")).strip("/")
    if not text:
        raise Refused("the name has nothing but slashes")
    editor.set_value(_find_said(editor, finding), finding.where.prop, _KINDS.String, text)


@fix("name-valid", changes=("ros",))
def make_name_legal(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Replace what ROS does not allow in a name; whoever listens to it has to follow."""
    text, good = (str(finding.data.get(key, "")) for key in ("value", "suggestion"))
    if not good.strip("/") or good == text:
        raise Refused("the name has to be chosen anew")
    editor.set_value(_find_said(editor, finding), finding.where.prop, _KINDS.String, good)


@fix("topic-override-frame", changes=("ros",))
def drop_frame_override(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Messages get the frame of their prim; an id that is none is for the author to choose."""
    if "expected" in finding.data:
        _retype(editor, finding, _KINDS.String, _read_text)
    elif "frame" in finding.data:
        editor.remove_property(editor.find_prim(finding.where.prim), finding.where.prop)
    else:
        raise Refused(f"{finding.data.get('value')!r} has to become a frame id")


@fix("qos-map", changes=("ros",))
def keep_last_map(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Make a map topic transient local, so that late subscribers get the last map."""
    prim = editor.find_prim(finding.where.prim)
    if not prim.HasAPI("RosTopicAPI"):
        raise Refused("the topic is elsewhere now")
    editor.set_value(prim, finding.where.prop, _KINDS.Token, "transient_local")


@fix("frame-dynamic", changes=("ros", "frames"))
def say_moving(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """A frame with time samples above it is not static."""
    editor.set_value(editor.find_prim(finding.where.prim), "ros:frame:static", _KINDS.Bool, False)


def _find_said(editor: Editor, finding: Diagnostic) -> Usd.Prim:
    """The prim that says what is wrong; another fix may have moved the words to another one."""
    prim = editor.find_prim(finding.where.prim)
    if not prim.HasAttribute(finding.where.prop) or not prim.GetAttribute(finding.where.prop).IsAuthored():
        raise Refused(f"{finding.where.prop} is said elsewhere now")
    return prim


def _retype(
    editor: Editor, finding: Diagnostic, kind: Sdf.ValueTypeName, convert: Callable[[Any], Any]
) -> None:
    editor.retype(editor.find_prim(finding.where.prim), finding.where.prop, kind, convert)


def _read_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise Refused(f"{value!r} is not text")


def _read_bool(value: Any) -> bool:
    text = str(value).strip().lower()
    if isinstance(value, bool | int | float) and value in (0, 1):
        return bool(value)
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise Refused(f"{value!r} is neither true nor false")
