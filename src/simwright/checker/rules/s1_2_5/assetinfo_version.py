# SPDX-License-Identifier: Apache-2.0
"""The asset has a version.

Why: who reports a fault, or updates an asset, must be able to say which one.

Fails: assetInfo without version, an empty one, or a number such as `double version = 1.0`.
Passes: `assetInfo = { string version = "1.0.0" }` on the default prim.

Reading: any text will do; one without a number is an info.

Fix: unsafe.  The first version is written; the right one may be another.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.assets import describe_asset_info, read_asset_info
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level


@rule("assetinfo-version", "1.2.5", "must", on="stage", fix="unsafe", fix_title="write assetInfo version")
def assetinfo_version(snapshot: StageSnapshot) -> Iterator[Finding]:
    """The dictionary on the default prim; default-prim speaks where there is none."""
    info = read_asset_info(snapshot)
    if info is None:
        return
    value = info.get("version")
    if isinstance(value, str) and value.strip():
        # "latest" and "final" cannot be compared
        if not any(character.isdigit() for character in value):
            yield Finding(
                f"assetInfo version is {value!r}, which says no number",
                hint='a version like "1.0.0" can be compared',
                at=snapshot.default_node,
                level=Level.INFO,
            )
        return
    if isinstance(value, str):
        message = "assetInfo version is empty"
    elif value is None:
        message = "the default prim has no assetInfo version"
    else:
        message = f"assetInfo version is {value!r}, not a string"
    yield describe_asset_info(snapshot, "version", message, "1.0.0")
