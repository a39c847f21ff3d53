# SPDX-License-Identifier: Apache-2.0
"""The asset has an identifier.

Why: registries, caches and bug reports need a name for the asset that does not change with its folder.

Fails: assetInfo without identifier, an empty one, or an attribute called `assetInfo:identifier`.
Passes: `assetInfo = { string identifier = "package://my_robot/usd/robot.usda" }` on the default prim.

Reading: core OpenUSD gives it the type asset, REP-0158 string: both are accepted.

Fix: unsafe.  The author has to choose the identifier; a template may fill it.
"""

from __future__ import annotations

from collections.abc import Iterator

from pxr import Sdf

from simwright.checker.facts.assets import describe_asset_info, read_asset_info
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "assetinfo-identifier", "1.2.5", "must", on="stage", fix="unsafe", fix_title="write assetInfo identifier"
)
def assetinfo_identifier(snapshot: StageSnapshot) -> Iterator[Finding]:
    """The dictionary on the default prim; default-prim speaks where there is none."""
    info = read_asset_info(snapshot)
    if info is None:
        return
    value = info.get("identifier")
    # UsdModelAPI types it as an asset, REP-0158 shows a string
    if isinstance(value, (str, Sdf.AssetPath)):
        if str(value.path if isinstance(value, Sdf.AssetPath) else value).strip():
            return
        message = "assetInfo identifier is empty"
    elif value is None:
        message = "the default prim has no assetInfo identifier"
    else:
        message = f"assetInfo identifier is {value!r}, not a string"
    yield describe_asset_info(snapshot, "identifier", message, "...")
