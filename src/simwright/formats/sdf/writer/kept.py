# SPDX-License-Identifier: Apache-2.0
"""What an SDFormat file said and the model has no word for, put back where it was.

The reader keeps such settings as extras of the namespace ``gazebo`` by the name of the element, each under its path
(``surface/friction/ode/slip1``); the table tells for each family which of them belong there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from lxml import etree

from simwright.formats.sdf.context import NAMESPACE
from simwright.formats.sdf.writer.context import SdfWriteContext, format_value
from simwright.formats.xml import SPACES, Element, find_space
from simwright.model.asset import Asset

_TAGS: dict[str, dict[str, str]] = {
    "link": dict.fromkeys(("enable_wind", "velocity_decay", "must_be_base_link", "projector",
                           "audio_source", "audio_sink", "particle_emitter", "battery"), ""),
    "model": dict.fromkeys(("allow_auto_disable", "enable_wind"), ""),
    "visual": {
        **dict.fromkeys(("cast_shadows", "laser_retro", "visibility_flags", "meta"), ""),
        **dict.fromkeys(("shininess", "render_order", "lighting", "shader"), "material"),
        "material": "", "pbr": "material", "normal_map": "material/pbr/metal", "light_map": "material/pbr/metal",
        "environment_map": "material/pbr/metal",
    },
    "collision": {**dict.fromkeys(("laser_retro", "max_contacts"), ""), "surface": ""},
    "light": {
        **dict.fromkeys(("specular", "visualize"), ""),
        **dict.fromkeys(("constant", "linear", "quadratic"), "attenuation"), "falloff": "spot",
    },
    "sensor": {},
    "joint": dict.fromkeys(("physics", "axis", "axis2"), ""),
    "world": {
        **dict.fromkeys(("scene", "atmosphere", "audio", "spherical_coordinates"), ""),
        **dict.fromkeys(("ode", "bullet", "dart", "simbody", "max_contacts", "real_time_update_rate"), "physics"),
    },
}  # fmt: skip
"""Family -> first tag of what is kept -> the element inside that it goes to, as a path."""
_STEP = re.compile(r"([A-Za-z_][\w.:-]*)(?:\[(\d{1,3})\])?")
_FOREIGN = re.compile(r"@|(?!plugin:)[A-Za-z_][\w.-]*:")
_NUMBER = re.compile(r"\[\d+\]$")


_ATTRIBUTES = {"atmosphere_type": "atmosphere@type"}
"""Attributes of SDFormat that stand on a stage by a name that does not tell them from elements."""
_CLASS = "_systems_"
"""What a name on a stage has that was a class (``gz::sim::systems::Buoyancy``), which it does not spell any more."""
_OLD = "use_parent_model_frame"
"""Said where directions had another default; every direction that is written is in the joint frame."""


class KeptValue(NamedTuple):
    """A value that was kept, and the extra it is from."""

    value: Any
    origin: tuple[str, str]


KeptTable = dict[str, dict[str, KeptValue]]
"""Owner -> path -> value."""


def collect_kept(asset: Asset) -> KeptTable:
    """What was kept, by name of the owner; from an OpenUSD stage (``gazebo:surface:friction``) also by its prim.

    What has no prim of its own is on the root of a stage, with its name first.
    """
    table: KeptTable = {}
    for space, element, attribute, extra in asset.extras:
        if space != NAMESPACE:
            continue
        row = KeptValue(extra.value, (element, attribute))
        if not attribute.startswith(f"{NAMESPACE}:"):
            table.setdefault(element, {})[attribute] = row
            continue
        first, *rest = _join_prefixes(attribute.split(":")[1:])
        first = _ATTRIBUTES.get(first, first)
        if first == "plugin" and rest:
            # A class name does not survive as a USD name, and Gazebo would not load it.
            if _CLASS not in rest[0]:
                table.setdefault(element, {})["/".join((f"plugin:{rest[0]}", *rest[1:]))] = row
            continue
        table.setdefault(element, {})["/".join((first, *rest))] = row
        if element.count("/") == 1 and rest:
            table.setdefault(first, {})["/".join(rest)] = row
    return table


def _join_prefixes(words: list[str]) -> list[str]:
    """Steps of a path, in which a known prefix and the word after it are one (``drake:joint``)."""
    steps: list[str] = []
    for word in words:
        if steps and steps[-1] in SPACES:
            steps[-1] += f":{word}"
        else:
            steps.append(word)
    return steps


def restore(context: SdfWriteContext, node: Element, family: str, *owners: str) -> None:
    """Put the settings of an element back, by its name and its path."""
    for owner in dict.fromkeys(owners):
        for path, row in context.kept.get(owner, {}).items():
            first = _STEP.match(path)
            head = first.group(1) if first else ""
            # Done with, although nothing is written: our directions are in the joint frame.
            if path.endswith(_OLD):
                context.spent.add(row.origin)
            # What has a prefix, or is an attribute, is of another tool and stands directly in its element.
            elif row.origin not in context.spent and (
                head in _TAGS[family] or _FOREIGN.match(path) is not None
            ):
                base = _TAGS[family].get(head, "")
                put(node, f"{base}/{path}" if base else path, row.value)
                context.spent.add(row.origin)


def restore_plugins(context: SdfWriteContext, node: Element, owner: str) -> None:
    """Plugins that are code for Gazebo and mean nothing to the model."""
    rows = context.kept.get(owner, {})
    plugins: dict[str, Element] = {}
    for path, row in rows.items():
        if not path.startswith("plugin:"):
            continue
        name, rest = _split_plugin(path, rows)
        if not name:
            continue
        if name not in plugins:
            file = rows[f"plugin:{name}"].value
            attributes = {"name": _NUMBER.sub("", format_value(name)), "filename": format_value(file)}
            plugins[name] = etree.SubElement(node, "plugin", attributes)
        if rest:
            put(plugins[name], rest, row.value)
        context.spent.add(row.origin)


def _split_plugin(path: str, rows: dict[str, KeptValue]) -> tuple[str, str]:
    """The name of a plugin, which may have slashes, and the path below it; no name where its file is not known."""
    parts = path.removeprefix("plugin:").split("/")
    for count in range(1, len(parts) + 1):
        name, at, attribute = "/".join(parts[:count]).partition("@")
        if f"plugin:{name}" in rows:
            return name, "/".join(parts[count:]) or at + attribute
    return "", ""


def restore_settings(context: SdfWriteContext, plugin: Element) -> None:
    """What a plugin that is written again had beside the settings the model knows."""
    for path, row in context.kept.get(f"plugin:{plugin.get('name')}", {}).items():
        if row.origin not in context.spent:
            put(plugin, path, row.value)
            context.spent.add(row.origin)


def put(node: Element, path: str, value: Any) -> None:
    """Set the element or attribute at a path such as ``scene/sky/clouds[2]/speed`` or ``physics@name``."""
    path, _, attribute = path.partition("@")
    for step in filter(None, path.split("/")):
        match = _STEP.fullmatch(step)
        if match is None:
            return
        tag, number = qualify(match.group(1)), int(match.group(2) or 1)
        found = node.findall(tag)
        # tag[3] makes the first and second too, if they were not kept.
        while len(found) < number:
            found.append(etree.SubElement(node, tag, nsmap=list_namespaces([match.group(1)])))
        node = found[number - 1]
    if attribute:
        node.set(qualify(attribute), format_value(value))
    # Text beside children would not be read back.
    elif not len(node):
        node.text = format_value(value)


def qualify(name: str) -> str:
    """A name with a prefix (``gz:type``) as lxml wants it."""
    prefix, colon, local = name.partition(":")
    return f"{{{find_space(prefix)}}}{local}" if colon else name


def list_namespaces(names: Iterable[str]) -> dict[str, str]:
    """The namespaces of the prefixes of names."""
    prefixes = {name.partition(":")[0] for name in names if ":" in name}
    return {prefix: find_space(prefix) for prefix in sorted(prefixes)}


def list_attribute_namespaces(asset: Asset) -> dict[str, str]:
    """The namespaces of kept attributes, which the root declares: an attribute cannot declare its own."""
    rows = (attribute for space, _, attribute, _ in asset.extras if space == NAMESPACE)
    return list_namespaces(row.rpartition("@")[2] for row in rows if "@" in row)
