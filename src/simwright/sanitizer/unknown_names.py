# SPDX-License-Identifier: Apache-2.0
"""Properties in ``physics:`` that no schema has: nobody reads them, so a person says whether they go or stay.

``remove`` takes them away; ``isolate`` keeps them under ``userProperties:``, the namespace for what only its author
knows, from where they can be taken again.
"""

from __future__ import annotations

from pxr import Sdf

from simwright.sanitizer.fixer import Wishes
from simwright.usd.edit import Editor, Refused

WISH = "unknown-physics"
_HOME = "userProperties"


def settle_unknown(editor: Editor, spec: Sdf.PropertySpec, wishes: Wishes) -> None:
    """Do what the user says; refuse, with the two ways, where nothing is said."""
    wish = wishes.find(WISH)
    if wish == "remove":
        editor.remove_spec(spec)
    elif wish == "isolate":
        _isolate(editor, spec)
    elif wish:
        raise Refused(f"{WISH} is remove or isolate, not {wish}")
    else:
        raise Refused(
            f"no schema has {spec.name}: --set {WISH}=remove takes such properties away, =isolate keeps them as "
            f"{_HOME}:{spec.name}"
        )


def _isolate(editor: Editor, spec: Sdf.PropertySpec) -> None:
    layer, old, owner = spec.layer, spec.path, spec.owner
    new = owner.path.AppendProperty(f"{_HOME}:{spec.name}")
    if layer.GetPropertyAtPath(new) is not None:
        raise Refused(f"{new.name} is there as well; decide which is right")

    def apply() -> None:
        Sdf.CopySpec(layer, old, layer, new)
        known = layer.GetPropertyAtPath(old)
        if known is not None:
            owner.RemoveProperty(known)
        layer.GetPropertyAtPath(new).custom = True

    editor.add(layer, old, f"{new.name} instead of {old.name}", apply)
