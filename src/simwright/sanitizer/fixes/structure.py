# SPDX-License-Identifier: Apache-2.0
"""What an asset is: default prim, kind, assetInfo, variants, instances, one robot (REP-0158 1.2, 3.5).

Where an asset comes from is said in the one place where every tool finds it: assetInfo ros (1.2.5).  What a selected
variant (1.2.4) brings in was not there before, and is what the fix is for: the proof looks at the old asset with the
same selection made from outside.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pxr import Sdf, Usd, UsdGeom

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import UserValues, fix
from simwright.usd.edit import Editor, Refused
from simwright.usd.relocation import remove_prim

_FIRST_VERSION = "1.0.0"


@fix("default-prim", phase=0)
def name_default_prim(editor: Editor, _finding: Diagnostic, given: UserValues) -> None:
    """The only root prim that is not a setting, or the one that was named."""
    roots = [prim for prim in editor.stage.GetPseudoRoot().GetChildren() if prim.IsDefined()]
    # a PhysicsScene or RenderSettings beside the robot is not an asset
    found = [p.GetName() for p in roots if not str(p.GetTypeName()).startswith(("Physics", "Render"))]
    asked = given.find("default-prim")
    if asked and asked not in found:
        raise Refused(f"there is no root prim {asked!r}")
    if not asked and len(found) != 1:
        raise Refused(
            f"{', '.join(found) or 'none of the root prims'} can be meant; name one: default-prim=NAME"
        )
    editor.set_layer_info("defaultPrim", asked or found[0])


@fix("kind-component", phase=0)
def say_component(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The default prim of an asset without models below."""
    editor.set_prim_info(editor.choose_home(editor.find_prim(finding.where.prim)), "kind", "component")


@fix("kind-assembly", phase=0)
def say_assembly(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The default prim of an asset with models below, and the robots in it that have no kind."""
    editor.set_prim_info(editor.choose_home(editor.find_prim(finding.where.prim)), "kind", "assembly")
    for path in finding.data.get("parts", ()):
        editor.set_prim_info(editor.choose_home(editor.find_prim(path)), "kind", "component")


@fix("assetinfo-identifier", values=("identifier",), phase=0)
def write_identifier(editor: Editor, finding: Diagnostic, given: UserValues) -> None:
    """The one that was given, else the name of the entry file; with name and license if they were given."""
    more = {key: given.find(key) for key in ("name", "license") if given.find(key)}
    identifier = given.find("identifier") or Path(editor.root.realPath).name
    _write_info(editor, finding, {**more, "identifier": identifier})


@fix("assetinfo-version", values=("version",), phase=0)
def write_version(editor: Editor, finding: Diagnostic, given: UserValues) -> None:
    """The one that was given, else the first."""
    _write_info(editor, finding, {"version": given.find("version") or _FIRST_VERSION})


def _write_info(editor: Editor, finding: Diagnostic, values: dict[str, str]) -> None:
    spec = editor.choose_home(editor.find_prim(finding.where.prim))
    known = dict(spec.GetInfo("assetInfo")) if spec.HasInfo("assetInfo") else {}
    editor.set_prim_info(spec, "assetInfo", {**known, **values})


@fix("inst-arc", phase=0)
def drop_idle_flag(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The flag has no effect without an arc."""
    editor.clear_prim_info(editor.find_prim(finding.where.prim), "instanceable")


@fix("ns-no-instanceable", phase=0)
def stop_sharing_names(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Stop instancing for all instances of the prototype: the same prims, only without sharing."""
    stop_instancing(editor, editor.find_prim(finding.where.prim))


@fix("inst-no-phys-clone", phase=0)
def stop_sharing_physics(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Stop instancing where bodies or joints are in a prototype."""
    stop_instancing(editor, editor.find_prim(finding.where.prim))


def stop_instancing(editor: Editor, prim: Usd.Prim) -> None:
    """Say ``instanceable = false`` where it is said to be true, for every prim with the same prototype."""
    if prim.IsA(UsdGeom.PointInstancer):
        raise Refused(
            "a point instancer can only scatter shapes: place robots by references, or leave one of them"
        )
    if not prim.IsInstance():
        raise Refused("it is not an instance")
    for instance in prim.GetPrototype().GetInstances():
        # where it is said, so that the stronger opinion does not win again
        specs = [spec for spec in instance.GetPrimStack() if spec.HasInfo("instanceable")]
        spec = specs[0] if specs else editor.choose_home(instance)
        if spec.layer.identifier not in editor.own:
            spec = editor.choose_home(instance)
        editor.set_prim_info(spec, "instanceable", False)


@fix("kind-hierarchy", phase=0)
def mend_hierarchy(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Models inside a component become subcomponents; a prim above models becomes a group."""
    nested = [str(path) for path in finding.data.get("nested", ())]
    for path in nested:
        _set_kind(editor, path, "subcomponent")
    if not nested:
        _set_kind(editor, finding.where.prim, "group")


def _set_kind(editor: Editor, path: str, kind: str) -> None:
    prim = editor.find_prim(path)
    if not prim.IsInstanceProxy():
        editor.set_prim_info(editor.choose_home(prim), "kind", kind)
        return
    specs = [spec for spec in prim.GetPrimInPrototype().GetPrimStack() if spec.HasInfo("kind")]
    if not specs or specs[0].layer.identifier not in editor.own:
        raise Refused("it is inside an instance of another asset")
    editor.set_prim_info(specs[0], "kind", kind)


@fix("variant-default", phase=0)
def select_variant(editor: Editor, finding: Diagnostic, given: UserValues) -> None:
    """The variant that was asked for (``variant.SET=NAME``), else the first."""
    name = str(finding.data.get("set", ""))
    variants = [str(variant) for variant in finding.data.get("variants", [])]
    asked = given.find(f"variant.{name}")
    if not variants:
        raise Refused("the set has no variants")
    if asked and asked not in variants:
        raise Refused(f"{asked!r} is none of {', '.join(variants)}")
    prim = editor.find_prim(finding.where.prim)
    home = editor.choose_home(prim)
    chosen = asked or variants[0]
    editor.add(
        home.layer, home.path, f"variants: {name} = {chosen}", lambda: _select_in_spec(home, name, chosen)
    )
    editor.expected.variants[prim.GetPath().pathString, name] = chosen


def _select_in_spec(spec: Sdf.PrimSpec, name: str, chosen: str) -> None:
    spec.variantSelections[name] = chosen


_ADDRESS = "package://"
_FOUND_ELSEWHERE = re.compile(
    r"^(?P<place>assetInfo|customData|customLayerData|an attribute) '(?P<key>[^']+)' tells"
)


@fix("assetinfo-ros", values=("package-uri",), phase=0)
def move_provenance(editor: Editor, finding: Diagnostic, given: UserValues) -> None:
    """A package address as ``package_uri``, any other as ``source_uri``; what stood elsewhere goes."""
    prim = editor.find_prim(finding.where.prim)
    info = dict(prim.GetMetadata("assetInfo") or {})
    match = _FOUND_ELSEWHERE.match(finding.message)
    if match is None:
        _correct_entry(editor, prim, info, given.find("package-uri"))
        return
    place, key = match["place"], match["key"]
    value = _take_origin(editor, prim, info, place, key)
    word = "package_uri" if value.startswith(_ADDRESS) else "source_uri"
    _write_ros_info(editor, prim, info, {word: value})


def _correct_entry(editor: Editor, prim: Usd.Prim, info: dict[str, Any], given: str) -> None:
    """An entry of the wrong form: the one that was given, else the text under a name that allows any."""
    ros = info.get("ros")
    if given and not given.startswith(_ADDRESS):
        raise Refused(f"{given!r} is not a package:// address")
    if isinstance(ros, dict):
        left = {key: value for key, value in ros.items() if key != "package_uri"}
        wrong = str(ros.get("package_uri", ""))
    else:
        left, wrong = {}, str(ros)
    words = {"package_uri": given} if given else {"source_uri" if "/" in wrong else "package": wrong}
    _write_ros_info(editor, prim, info, {**left, **words})


def _take_origin(editor: Editor, prim: Usd.Prim, info: dict[str, Any], place: str, key: str) -> str:
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


def _write_ros_info(editor: Editor, prim: Usd.Prim, info: dict[str, Any], ros: dict[str, Any]) -> None:
    spec = next(
        (s for s in editor.list_prim_specs(prim) if s.HasInfo("assetInfo")), None
    ) or editor.choose_home(prim)
    editor.set_prim_info(spec, "assetInfo", {**info, "ros": ros})


def _set_or_clear(editor: Editor, spec: Any, key: str, values: dict[str, Any]) -> None:
    if values:
        editor.set_prim_info(spec, key, values)
    else:
        editor.add(spec.layer, spec.path, f"no {key}", lambda: spec.ClearInfo(key))


_SINGLE_CHANGES = (
    "bodies", "joints", "order", "poses", "masses", "motion", "limits", "drives", "visuals", "collisions",
    "materials", "contacts", "constraints", "sensors", "frames", "ros",
)  # fmt: skip


@fix("canonical-single", "no-baked-clones", changes=_SINGLE_CHANGES, phase=0)
def keep_first(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Remove all copies but the first, each with the prims that hold it and nothing else."""
    copies = [Sdf.Path(path) for path in finding.data.get("copies", ())]
    if len(copies) < 2:
        raise Refused("the copies are not known")
    for base in copies[1:]:
        holder = find_holder(base, copies)
        if editor.stage.GetPrimAtPath(holder):
            remove_prim(editor, editor.find_prim(holder.pathString))


def find_holder(base: Sdf.Path, copies: list[Sdf.Path]) -> Sdf.Path:
    """The outermost prim at or above a base body that holds no other copy."""
    holder = base
    while True:
        above = holder.GetParentPath()
        if above.IsAbsoluteRootPath() or any(other != base and other.HasPrefix(above) for other in copies):
            return holder
        holder = above
