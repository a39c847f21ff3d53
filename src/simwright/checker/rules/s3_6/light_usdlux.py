# SPDX-License-Identifier: Apache-2.0
"""Lights are core UsdLux lights with their own inputs.

Why: a light of a renderer's own type is dark everywhere else, and so is a UsdLux light whose numbers are written under
names that the schema does not read.

Fails: `def PxrEnvDayLight "sun"`; `def SphereLight` with `float intensity = 500`, the name before OpenUSD 21.02.
Passes: `def SphereLight` with `float inputs:intensity = 500`.

Reading: extra inputs of a renderer on a UsdLux light do not replace it: a warning.

Fix: unsafe for values under their old names, which take effect then.  How bright a renderer's own light is cannot
be told in general.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.types import find_bases
from simwright.checker.facts.vendors import vendor_of_property
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level

_LIGHT = re.compile(r"(?:^|[a-z\d_])Light(?:$|[A-Z_\d])|Light$")
_RENDERERS = ("ri:", "arnold:", "karma:", "redshift:", "cycles:", "vray:", "primvars:arnold:", "primvars:ri:")
# UsdLux moved its attributes to inputs: in OpenUSD 21.02
_OLD = ("intensity", "exposure", "color", "radius", "angle", "width", "height", "length", "texture:file")


@rule(
    "light-usdlux",
    "3.6",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="call the value what the schema calls it",
)
def light_usdlux(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Types first: a kind of prim is asked once, not every prim."""
    strange = {kind[0] for kind in snapshot.kinds() if _is_strange(kind[0])}
    if not strange and not any("LightAPI" in kind[1] for kind in snapshot.kinds()):
        return
    for node in snapshot.nodes:
        if node.type in strange:
            yield Finding(
                f"{node.type} is not a UsdLux light",
                hint="use DistantLight, SphereLight (with ShapingAPI for a spot) or DomeLight",
                at=node,
            )
        elif "LightAPI" in node.apis:
            yield from _check_inputs(node)


def _is_strange(type_name: str) -> bool:
    """Is it called a light, but not of UsdLux?  PluginLight is a door to renderers' own lights."""
    if type_name == "PluginLight":
        return True
    # an unregistered type is a kind of nothing but itself
    return bool(_LIGHT.search(type_name)) and find_bases(type_name) == {type_name}


def _check_inputs(node: PrimNode) -> Iterator[Finding]:
    known = set(node.prim.GetPrimDefinition().GetPropertyNames())
    names = node.property_names()
    old = [name for name in names if name not in known and name in _OLD and f"inputs:{name}" in known]
    for name in old:
        if f"inputs:{name}" not in names:
            yield Finding(
                f"{name} is not read by a {node.type}: it is called inputs:{name}",
                hint=f"rename it to inputs:{name}",
                at=node,
                prop=name,
            )
    extra = [
        name
        for name in names
        if name not in known
        and (name.startswith(("inputs:", *_RENDERERS)) or vendor_of_property(name) is not None)
    ]
    if extra:
        yield Finding(
            f"the light has settings that are not of UsdLux: {', '.join(extra[:4])}",
            hint="say what matters in UsdLux inputs; keep renderer settings out of the distributed asset",
            at=node,
            prop=extra[0],
            level=Level.WARNING,
        )
