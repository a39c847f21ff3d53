# SPDX-License-Identifier: Apache-2.0
"""What an asset is: default prim, kind, assetInfo, instances (REP-0158 1.2, 3.5)."""

from __future__ import annotations

from pathlib import Path

from pxr import Usd

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import Wishes, fix
from simwright.usd.edit import Editor, Refused

_FIRST_VERSION = "1.0.0"


@fix("default-prim", phase=0)
def name_default_prim(editor: Editor, _finding: Diagnostic, wishes: Wishes) -> None:
    """The only root prim that is no setting, or the one that was named."""
    roots = [prim for prim in editor.stage.GetPseudoRoot().GetChildren() if prim.IsDefined()]
    found = [p.GetName() for p in roots if not str(p.GetTypeName()).startswith(("Physics", "Render"))]
    asked = wishes.find("default-prim")
    if asked and asked not in found:
        raise Refused(f"there is no root prim {asked!r}")
    if not asked and len(found) != 1:
        raise Refused(
            f"{', '.join(found) or 'none of the root prims'} can be meant; name one: default-prim=NAME"
        )
    editor.set_layer_info("defaultPrim", asked or found[0])


@fix("kind-component", phase=0)
def say_component(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The default prim of an asset without models below."""
    editor.set_prim_info(editor.choose_home(editor.find_prim(finding.where.prim)), "kind", "component")


@fix("kind-assembly", phase=0)
def say_assembly(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The default prim of an asset with models below."""
    editor.set_prim_info(editor.choose_home(editor.find_prim(finding.where.prim)), "kind", "assembly")


@fix("assetinfo-identifier", wishes=("identifier",), phase=0)
def write_identifier(editor: Editor, finding: Diagnostic, wishes: Wishes) -> None:
    """The one that was given, else the name of the entry file; with name and license if they were given."""
    given = {key: wishes.find(key) for key in ("name", "license") if wishes.find(key)}
    identifier = wishes.find("identifier") or Path(editor.root.realPath).name
    _write_info(editor, finding, {**given, "identifier": identifier})


@fix("assetinfo-version", wishes=("version",), phase=0)
def write_version(editor: Editor, finding: Diagnostic, wishes: Wishes) -> None:
    """The one that was given, else the first."""
    _write_info(editor, finding, {"version": wishes.find("version") or _FIRST_VERSION})


def _write_info(editor: Editor, finding: Diagnostic, values: dict[str, str]) -> None:
    spec = editor.choose_home(editor.find_prim(finding.where.prim))
    known = dict(spec.GetInfo("assetInfo")) if spec.HasInfo("assetInfo") else {}
    editor.set_prim_info(spec, "assetInfo", {**known, **values})


@fix("inst-arc", phase=0)
def drop_idle_flag(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The flag has no effect without an arc."""
    editor.clear_prim_info(editor.find_prim(finding.where.prim), "instanceable")


@fix("ns-no-instanceable", phase=0)
def stop_sharing_names(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """All instances of the prototype: the same prims, only without sharing."""
    stop_instancing(editor, editor.find_prim(finding.where.prim))


@fix("inst-no-phys-clone", phase=0)
def stop_sharing_physics(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The same for bodies and joints in a prototype."""
    stop_instancing(editor, editor.find_prim(finding.where.prim))


def stop_instancing(editor: Editor, prim: Usd.Prim) -> None:
    """Say ``instanceable = false`` where it is said to be true, for every prim with the same prototype."""
    if not prim.IsInstance():
        raise Refused("it is no instance")
    for instance in prim.GetPrototype().GetInstances():
        specs = [spec for spec in instance.GetPrimStack() if spec.HasInfo("instanceable")]
        spec = specs[0] if specs else editor.choose_home(instance)
        if spec.layer.identifier not in editor.own:
            spec = editor.choose_home(instance)
        editor.set_prim_info(spec, "instanceable", False)
