# SPDX-License-Identifier: Apache-2.0
"""``ros.yaml``: the ROS side of the asset beside the MJCF.

REP-0158 3.8 wants it in ``<extension>`` blocks.  Those name plugins that have to be installed for the model to
compile, and MuJoCo has none for ROS; a file beside the model is read by whoever wants it and harms nobody.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.formats.mjcf.writer.draft import Draft
from simwright.formats.mjcf.writer.messages import ROS_ASIDE
from simwright.model.asset import Site
from simwright.model.ros import Controller, Interface, RosContext

FILE = "ros.yaml"


def write_ros(draft: Draft) -> None:
    """The sidecar, if there is anything to say."""
    asset = draft.asset
    frames = [site for site in asset.sites if site.ros_frame]
    content: dict[str, Any] = {
        "contexts": [_describe_context(context) for context in asset.contexts],
        "interfaces": [_describe_interface(interface) for interface in asset.interfaces],
        "controllers": [_describe_controller(draft, controller) for controller in asset.controllers],
        "frames": [_describe_frame(draft, site) for site in frames],
    }
    content = {key: rows for key, rows in content.items() if rows}
    if not content:
        return
    import yaml

    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
    draft.files[FILE] = f"# ROS interfaces of {draft.asset.name}\n{text}".encode()
    draft.reporter.report(ROS_ASIDE, count=sum(len(rows) for rows in content.values()))


def _describe_context(context: RosContext) -> dict[str, Any]:
    row: dict[str, Any] = {"namespace": context.namespace, "parent_frame": context.parent_frame}
    return _drop({**row, "domain_id": context.domain_id, "at": context.at})


def _describe_interface(interface: Interface) -> dict[str, Any]:
    row: dict[str, Any] = {
        "kind": interface.kind.value,
        "role": interface.role,
        "name": interface.name,
        "type": interface.type,
        "at": interface.at,
        "rate": interface.rate,
        "frame": interface.frame_override,
    }
    if interface.kind == "topic":
        qos = interface.qos
        row["qos"] = {name: getattr(qos, name) for name in ("reliability", "durability", "history", "depth")}
    if not interface.starts_enabled:
        row["starts_enabled"] = False
    return _drop(row)


def _describe_controller(draft: Draft, controller: Controller) -> dict[str, Any]:
    joints = {joint.name: joint.public_name for joint in draft.asset.joints}
    row: dict[str, Any] = {
        "name": controller.name,
        "kind": controller.kind,
        "joints": {role: [joints.get(n, n) for n in names] for role, names in controller.joints.items()},
        "interfaces": dict(controller.interfaces),
        "settings": _make_plain(controller.settings),
    }
    return _drop(row)


def _describe_frame(draft: Draft, site: Site) -> dict[str, Any]:
    return {"site": draft.name("site", site.name), "frame": site.ros_frame, "static": site.static}


def _drop(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if value not in (None, "", {}, [])}


def _make_plain(value: Any) -> Any:
    """What YAML can say without tags."""
    if isinstance(value, dict):
        return {str(key): _make_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_make_plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
