# SPDX-License-Identifier: Apache-2.0
"""The entry file has the name of the asset and is a .usda.

Why: who looks into a folder of ten layers should see at once which one to open.

Fails: main.usd with the default prim "rover".
Passes: rover.usda with the default prim "rover", or with assetInfo name "rover".

Reading: REP-0158 gives this as a convention, not as a strict demand.  A .usdz package is a container and keeps its
extension.

Fix: shown.  Renaming a file breaks those who refer to it; a new folder gets the right name by
`simwright fix main.usd -o out/rover.usda`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "entry-name",
    "1.2.1",
    "should",
    on="stage",
    heuristic=True,
    fix="shown",
    fix_title="rename the entry file",
)
def entry_name(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Compare the file's stem with the default prim and the assetInfo name."""
    node = snapshot.default_node
    real = snapshot.root_layer.realPath
    if node is None or not real:
        return
    file = PurePath(real)
    names = {node.name, str((node.prim.GetMetadata("assetInfo") or {}).get("name", ""))} - {""}
    if file.stem not in names:
        yield Finding(
            f"the entry file is {file.name}, the asset is called {node.name}",
            hint=f"name the entry file {node.name}.usda; simwright fix -o FOLDER/{node.name}.usda does",
            at=node,
        )
    # .usd may be text or binary: the name does not tell
    elif file.suffix not in (".usda", ".usdz"):
        yield Finding(
            f"the entry file {file.name} is not a .usda",
            hint=f"name the entry file {file.stem}.usda; simwright fix -o FOLDER/{file.stem}.usda does",
            at=node,
        )
