# SPDX-License-Identifier: Apache-2.0
"""Where an asset comes from, in the one place where every tool finds it: assetInfo ros (REP-0158 1.2.5)."""

from __future__ import annotations

import re
from typing import Any

from pxr import Usd

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import Wishes, fix
from simwright.usd.edit import Editor, Refused

_ADDRESS = "package://"
_FOUND = re.compile(r"^(?P<place>assetInfo|customData|customLayerData|an attribute) '(?P<key>[^']+)' tells")


@fix("assetinfo-ros", wishes=("package-uri",), phase=0)
def move_origin(editor: Editor, finding: Diagnostic, wishes: Wishes) -> None:
    """A package address as ``package_uri``, any other as ``source_uri``; what stood elsewhere goes."""
    prim = editor.find_prim(finding.where.prim)
    info = dict(prim.GetMetadata("assetInfo") or {})
    match = _FOUND.match(finding.message)
    if match is None:
        _correct(editor, prim, info, wishes.find("package-uri"))
        return
    place, key = match["place"], match["key"]
    value = _take(editor, prim, info, place, key)
    word = "package_uri" if value.startswith(_ADDRESS) else "source_uri"
    _write(editor, prim, info, {word: value})


def _correct(editor: Editor, prim: Usd.Prim, info: dict[str, Any], given: str) -> None:
    """An entry of the wrong form: the one that was given, else the text under a name that allows any."""
    ros = info.get("ros")
    if given and not given.startswith(_ADDRESS):
        raise Refused(f"{given!r} is no package:// address")
    if isinstance(ros, dict):
        left = {key: value for key, value in ros.items() if key != "package_uri"}
        wrong = str(ros.get("package_uri", ""))
    else:
        left, wrong = {}, str(ros)
    words = {"package_uri": given} if given else {"source_uri" if "/" in wrong else "package": wrong}
    _write(editor, prim, info, {**left, **words})


def _take(editor: Editor, prim: Usd.Prim, info: dict[str, Any], place: str, key: str) -> str:
    """The origin, taken from where it stands."""
    if place == "assetInfo":
        return str(info.pop(key))
    if place == "customData":
        spec = next((s for s in editor.list_prim_specs(prim) if key in s.customData), None)
        if spec is None:
            raise Refused("it is said in a layer of another asset")
        values = dict(spec.customData)
        text = str(values.pop(key))
        _set_or_clear(editor, spec, "customData", values)
        return text
    if place == "customLayerData":
        values = dict(editor.root.customLayerData)
        text = str(values.pop(key))
        _set_or_clear(editor, editor.root.pseudoRoot, "customLayerData", values)
        return text
    text = str(prim.GetAttribute(key).Get())
    editor.remove_property(prim, key)
    return text


def _write(editor: Editor, prim: Usd.Prim, info: dict[str, Any], ros: dict[str, Any]) -> None:
    spec = next(
        (s for s in editor.list_prim_specs(prim) if s.HasInfo("assetInfo")), None
    ) or editor.choose_home(prim)
    editor.set_prim_info(spec, "assetInfo", {**info, "ros": ros})


def _set_or_clear(editor: Editor, spec: Any, key: str, values: dict[str, Any]) -> None:
    if values:
        editor.set_prim_info(spec, key, values)
    else:
        editor.add(spec.layer, spec.path, f"no {key}", lambda: spec.ClearInfo(key))
