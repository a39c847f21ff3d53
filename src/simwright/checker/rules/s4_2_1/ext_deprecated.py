# SPDX-License-Identifier: Apache-2.0
"""An extension schema that core OpenUSD has ratified gives way to the core schema.

Why: extensions are for what core does not have yet.  When it has, engines read the core schema, and the extension is
deprecated; an asset that keeps it is read by fewer and fewer of them.

Fails: ExtendedPhysicsMimicAPI, once core has PhysicsMimicAPI and the registry's table says so.
Passes: every extension that core has not ratified, which today are all.

Fix: unsafe.  The core schema is applied instead, and properties get the prefix `physics:`, in every layer.

Reading: the table is part of the registry (`simwright.usd.registry.RATIFIED`), and empty as long as core OpenUSD has
ratified nothing.  The setting `ratified` adds to it, as in `ratified = ["ExtendedPhysicsMimicAPI:PhysicsMimicAPI"]`, to
try a migration before it is due.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.extensions import EXTENSION_APIS
from simwright.checker.facts.schemas import known_classes, list_ratified
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.usd.registry import find_core_name


@rule(
    "ext-deprecated",
    "4.2.1",
    "must",
    on=EXTENSION_APIS,
    fix="unsafe",
    fix_title="apply the core schema, and call the properties as it does",
)
def ext_deprecated(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Every API of the table, with the new names of the properties that the prim authors."""
    ratified = list_ratified(snapshot.settings)
    for api in node.apis if ratified else ():
        core = ratified.get(api)
        if not core:
            continue
        own = {prop.name for prop in known_classes()[api].properties}
        names = {name: find_core_name(name) for name in node.property_names() if name in own}
        shown = ", ".join(f"{old} is {new}" for old, new in sorted(names.items())[:2])
        yield Finding(
            f"{api} is deprecated: core OpenUSD has {core}",
            hint=f"apply {core} instead" + (f"; {shown}" if shown else ""),
            data={"api": api, "core": core, "names": names},
        )
