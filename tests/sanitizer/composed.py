"""All that a stage says, prim by prim: two layouts of one asset have to say the same, to the last word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pxr import Usd

_ABOUT_LAYERS = (
    "apiSchemas", "references", "payload", "primOrder", "propertyOrder", "typeName", "specifier", "default",
    "inheritPaths", "subLayers",
)  # fmt: skip


def describe_file(file: Path | str, **variants: str) -> dict[str, dict[str, Any]]:
    """The stage of a file, with variants of the default prim selected."""
    stage = Usd.Stage.Open(str(file))
    for name, choice in variants.items():
        stage.GetDefaultPrim().GetVariantSet(name).SetVariantSelection(choice)
    prims = Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies(Usd.PrimAllPrimsPredicate))
    return {prim.GetPath().pathString: describe_prim(prim) for prim in prims}


def describe_prim(prim: Usd.Prim) -> dict[str, Any]:
    """Type, schemas, order of children, metadata and properties of a prim."""
    said: dict[str, Any] = {
        "type": str(prim.GetTypeName()),
        "specifier": str(prim.GetSpecifier()),
        "schemas": sorted(prim.GetPrimTypeInfo().GetAppliedAPISchemas()),
        "children": [child.GetName() for child in prim.GetAllChildren()],
        "metadata": _describe_metadata(prim),
    }
    for known in prim.GetAuthoredProperties():
        if isinstance(known, Usd.Relationship):
            said[known.GetName()] = (known.GetTargets(), _describe_metadata(known))
        else:
            samples = [(time, str(known.Get(time))) for time in known.GetTimeSamples()]
            said[known.GetName()] = (
                str(known.Get()),
                samples,
                known.GetConnections(),
                _describe_metadata(known),
            )
    return said


def _describe_metadata(thing: Any) -> dict[str, str]:
    found = thing.GetAllAuthoredMetadata().items()
    return {key: str(value) for key, value in found if key not in _ABOUT_LAYERS}
