# SPDX-License-Identifier: Apache-2.0
"""The origin of an asset is recorded in assetInfo["ros"].

Why: the package and the file a robot was converted from are needed to convert it again.  In one known place every
tool finds them.

Fails: `customData = { string urdf = "package://my_robot/urdf/robot.urdf" }` and no assetInfo["ros"].
Passes: `assetInfo = { dictionary ros = { string package_uri = "package://my_robot/urdf/robot.urdf" } }`.

Reading: an asset without a ROS origin needs none.  Looked at are customData and attributes of the default prim,
and customLayerData of the root layer.

Fix: unsafe.  The values are moved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from simwright.checker.facts.assets import read_asset_info
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule

# addresses that only ROS or Gazebo resolve, and files that only they load
_ORIGIN = re.compile(r"^(package|model|fuel)://|\.(urdf|xacro|sdf)$", re.IGNORECASE)
_NAMES = re.compile(r"(urdf|sdf|sdformat|mjcf|source)(:|$)", re.IGNORECASE)


@rule(
    "assetinfo-ros",
    "1.2.5",
    "should",
    on="stage",
    heuristic=True,
    fix="unsafe",
    fix_title="move the values to assetInfo ros",
)
def assetinfo_ros(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Origins in other places, and the form of what is in the right one."""
    info = read_asset_info(snapshot)
    node = snapshot.default_node
    if info is None or node is None:
        return
    ros = info.get("ros")
    if ros is None:
        for place, key, text in _find_origins(snapshot, info):
            shown = f"{'an attribute' if place == 'attribute' else place} {key!r}"
            yield Finding(
                f"{shown} tells the origin of the asset ({text}), and there is no assetInfo ros",
                hint=f'write assetInfo = {{ dictionary ros = {{ string package_uri = "{text}" }} }}',
                at=node,
                data={"place": place, "key": key, "value": text},
            )
            return
    elif not isinstance(ros, dict):
        yield Finding(
            f"assetInfo ros is {ros!r}, not a dictionary",
            hint='write dictionary ros = { string package_uri = "package://..." }',
            at=node,
            data={"place": "assetInfo", "key": "ros", "value": str(ros)},
        )
    else:
        uri = ros.get("package_uri", "package://")
        if not (isinstance(uri, str) and uri.startswith("package://")):
            yield Finding(
                f"assetInfo ros package_uri is {uri!r}, not a package:// address",
                hint="write package://NAME/path/in/the/package",
                at=node,
                data={"value": str(uri)},
            )


def _find_origins(snapshot: StageSnapshot, info: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    node = snapshot.default_node
    assert node is not None, "asked only where there is a default prim"
    # an identifier may be a package:// address: it names this asset, not its source
    own = {key: value for key, value in info.items() if key != "identifier"}
    for place, values in (
        ("assetInfo", own),
        ("customData", node.prim.GetCustomData()),
        ("customLayerData", snapshot.root_layer.customLayerData),
        ("attribute", {name: node.authored(name) for name in node.property_names() if _NAMES.match(name)}),
    ):
        for key, value in values.items():
            if isinstance(value, str) and _ORIGIN.search(value):
                yield place, key, value
