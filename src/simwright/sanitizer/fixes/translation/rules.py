# SPDX-License-Identifier: Apache-2.0
"""The rules that ask for neutral words (REP-0158 1.2.1, 1.3, 1.4, 4.2.2): one prim, one name, one layer or all.

They need intent: an engine that reads only its own words loses what it knew.  The machine as the neutral model has it
stays the same, and the proof sees all of it.
"""

from __future__ import annotations

from collections.abc import Iterable

from pxr import Usd

from simwright.checker.facts.vendors import vendor_of_property, vendor_of_schema
from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import Wishes, fix
from simwright.sanitizer.fixes.translation.prims import translate_prim
from simwright.sanitizer.fixes.translation.sayings import Reasons, list_apis, survey_stage
from simwright.usd.edit import Editor, Refused


@fix("xphys-no-vendor", phase=0)
def translate_opinion(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The prim of one opinion, with all that it says."""
    prims = _find_prims(editor, finding)
    name = finding.where.prop or finding.message.partition(" ")[0]
    for prim in prims:
        reasons = translate_prim(editor, prim, survey_stage(editor))
        _refuse(reasons, name)


@fix("extphys-use", phase=0)
def translate_feature(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """A mimic joint or a motor."""
    prim = editor.find_prim(finding.where.prim)
    reasons = translate_prim(editor, prim, survey_stage(editor))
    _refuse(reasons, str(finding.data.get("vendor", "")))


@fix("proprietary-minimal", phase=0)
def translate_name(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """All prims that use a name."""
    name = str(finding.data["name"])
    _translate_all(
        editor, [prim for prim in survey_stage(editor).prims.values() if _uses(prim, name)], {name}
    )


@fix("isol-minimize", phase=0)
def translate_vendor(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """All that one engine is told."""
    vendor = str(finding.data["vendor"])
    _translate_all(editor, _list_speaking(editor, vendor), None)


@fix("xphys-lifecycle", phase=0)
def translate_layer(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """All that a layer tells an engine."""
    vendor = str(finding.data["vendor"])
    layer = editor.find_layer(finding.where.file).identifier
    survey = survey_stage(editor)
    paths = {path for (place, _), found in survey.holders.items() if place == layer for path in found}
    _translate_all(
        editor, [prim for prim in _list_speaking(editor, vendor) if str(prim.GetPath()) in paths], None
    )


def _translate_all(editor: Editor, prims: Iterable[Usd.Prim], names: set[str] | None) -> None:
    """Whatever can be translated; refused only where nothing can."""
    survey = survey_stage(editor)
    before = len(editor.edits)
    kept: Reasons = {}
    for prim in prims:
        for name, reason in translate_prim(editor, prim, survey).items():
            if names is None or name.partition(":")[0] in names or name in names:
                kept.setdefault(name, f"{name} of {prim.GetPath()}: {reason}")
    if len(editor.edits) == before and kept:
        raise Refused(next(iter(kept.values())))


def _refuse(reasons: Reasons, name: str) -> None:
    """Say why a name has to stay."""
    reason = reasons.get(name) or next(
        (text for key, text in reasons.items() if key.partition(":")[0] == name), ""
    )
    if reason:
        raise Refused(reason)


def _find_prims(editor: Editor, finding: Diagnostic) -> list[Usd.Prim]:
    """The prims that an opinion in a layer is about; an opinion that is gone already is about none."""
    editor.find_layer(finding.where.file)
    survey = survey_stage(editor)
    found = survey.find(finding.where.file, finding.where.prim)
    if not found and "{" in finding.where.prim:
        raise Refused("it is said in a variant that is not selected")
    return found


def _list_speaking(editor: Editor, vendor: str) -> list[Usd.Prim]:
    """Prims that tell an engine something."""
    return [
        prim
        for prim in survey_stage(editor).prims.values()
        if vendor_of_schema(str(prim.GetTypeName())) == vendor
        or any(vendor_of_schema(api) == vendor for api in list_apis(prim))
        or any(vendor_of_property(name) == vendor for name in prim.GetAuthoredPropertyNames())
    ]


def _uses(prim: Usd.Prim, name: str) -> bool:
    return (
        name in prim.GetAuthoredPropertyNames()
        or name == str(prim.GetTypeName())
        or any(api.partition(":")[0] == name for api in list_apis(prim))
    )
