# SPDX-License-Identifier: Apache-2.0
"""What holds for the whole model: options, looks, statistics and custom data, and ``ros.yaml`` beside it.

A custom attribute of the model becomes one entry of ``<custom>`` for its default and one per element that says
otherwise, ``namespace:name`` and ``namespace:name/element``; MuJoCo reads numbers and texts, which is what values
become.

REP-0158 3.8 wants the ROS side in ``<extension>`` blocks.  Those name plugins that have to be installed for the model
to compile, and MuJoCo has none for ROS; ``ros.yaml`` beside the model is read by whoever wants it and harms nobody.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from simwright.formats.mjcf.options import SIZES
from simwright.formats.mjcf.writer.document import MjcfDocument
from simwright.formats.mjcf.writer.messages import INTEGRATOR_CHOSEN, ROS_ASIDE, SETTING_LOST
from simwright.model.asset import Site
from simwright.model.extras import CustomAttribute, is_fallback
from simwright.model.ros import Controller, Interface, RosContext

_OPTIONS = (
    "impratio", "integrator", "cone", "jacobian", "solver", "iterations", "tolerance", "ls_iterations", "ls_tolerance",
    "noslip_iterations", "noslip_tolerance", "ccd_iterations", "ccd_tolerance", "sdf_iterations", "sdf_initpoints",
    "sleep_tolerance", "density", "viscosity", "o_margin", "o_solref", "o_solimp", "o_friction",
)  # fmt: skip
# MJCF spells these with capitals, the compiled enumerations do not say so
_CHOICES = {
    "euler": "Euler", "rk4": "RK4", "implicit": "implicit", "implicitfast": "implicitfast", "pgs": "PGS", "cg": "CG",
    "newton": "Newton",
}  # fmt: skip
FLAGS = (
    "actuation", "autoreset", "clampctrl", "constraint", "contact", "damper", "diagexact", "energy", "equality",
    "eulerdamp", "filterparent", "frictionloss", "fwdinv", "gravity", "invdiscrete", "ipc", "island", "limit",
    "midphase", "multiccd", "nativeccd", "override", "refsafe", "sensor", "sleep", "speculative", "spring", "warmstart",
)  # fmt: skip
_OPTION_DEFAULTS: dict[str, Any] = {
    "timestep": 0.002,
    "gravity": (0.0, 0.0, -9.81),
    "magnetic": (0.0, -0.5, 0.0),
}
# compiled as whole numbers, written as true and false
_VISUAL_SWITCHES = frozenset({"ellipsoidinertia", "bvactive", "orthographic"})
_STATISTIC = ("center", "extent", "meanmass", "meansize")
"""Without ``meaninertia``, which MuJoCo calls obsolete and without effect."""


def write_compiler(document: MjcfDocument, side: str = "") -> None:
    """Angles are radians, and files are in folders of their own, below ``side``."""
    folders = {path.partition("/")[0] for path in document.files}
    values: dict[str, Any] = {"angle": "radian"}
    if "meshes" in folders:
        values["meshdir"] = f"{side}meshes"
    if "textures" in folders:
        values["texturedir"] = f"{side}textures"
    document.add(document.root, "compiler", values)


def write_options(document: MjcfDocument) -> None:
    """Gravity, step and solver settings."""
    world = document.asset.environment
    settings = dict(world.settings)
    # with gravity switched off by flag the model has none, and the written one is an extra
    written = document.kept.take("option", "gravity")
    values: dict[str, Any] = {
        "timestep": world.timestep,
        "gravity": world.gravity if written is None else written,
        "wind": world.wind,
        "magnetic": world.magnetic_field,
    }
    flags = dict.fromkeys(settings.pop("disable", ()), "disable")
    flags |= dict.fromkeys(settings.pop("enable", ()), "enable")
    scene = str(document.asset.provenance.info.get("physicsScene", ""))
    _read_physics_scene(document, scene, settings, values, flags)
    _take_settings(document, scene, settings, values)
    node = document.add(document.root, "option", values, _OPTION_DEFAULTS)
    known = {name: word for name, word in flags.items() if name in FLAGS}
    if known:
        document.add(node, "flag", known)
    elif not node.attrib:
        document.root.remove(node)
    lost = sorted({*settings, *(set(flags) - set(known))})
    if lost:
        what = f"the world's setting {lost[0]!r}"
        document.reporter.report(SETTING_LOST, what=what, count=len(lost), first=document.asset.name)


def _take_settings(
    document: MjcfDocument, scene: str, settings: dict[str, Any], values: dict[str, Any]
) -> None:
    """Move the settings that are options from ``settings`` to ``values``; what is left has no attribute."""
    limit = settings.pop("max_solver_iterations", None)
    # a schema's fallback is nobody's wish: MuJoCo keeps its own number of iterations
    if is_fallback(document.asset.origins, scene, "max_solver_iterations"):
        limit = None
    for name in _OPTIONS:
        value = settings.pop(name, None)
        values[name] = _CHOICES.get(value, value) if isinstance(value, str) else value
    if values["integrator"] is None and _has_stiff_drives(document):
        values["integrator"] = "implicitfast"
        document.reporter.report(INTEGRATOR_CHOSEN)
    if limit is not None and limit > 0 and values["iterations"] is None:
        values["iterations"] = limit
    # MuJoCo compiles the list of groups to the bits of one number
    groups = settings.pop("disableactuator", 0)
    if groups:
        values["actuatorgroupdisable"] = [bit for bit in range(31) if int(groups) >> bit & 1]


def _has_stiff_drives(document: MjcfDocument) -> bool:
    """Drives that damp: other engines treat them implicitly, MuJoCo's default integrator does not."""
    drives = (f.dof.drive for mjcf_body in document.bodies.values() for f in mjcf_body.joints if f.dof)
    return any(drive is not None and drive.damping and not drive.acceleration for drive in drives)


def _read_physics_scene(
    document: MjcfDocument,
    scene: str,
    settings: dict[str, Any],
    values: dict[str, Any],
    flags: dict[str, str],
) -> None:
    """What MuJoCo's schema says on a physics scene: ``mjc:option:...`` and ``mjc:flag:...``."""
    if not scene:
        return
    # not gravity: UsdPhysics has it, and the model with it
    for name in (*_OPTIONS, "timestep", "wind", "magnetic"):
        value = document.kept.take(scene, f"option:{name}")
        if value is None:
            continue
        if name in values:
            values[name] = value
        else:
            settings[name] = value.lower() if isinstance(value, str) else value
    for name in FLAGS:
        value = document.kept.take(scene, f"flag:{name}")
        if value is not None:
            flags[name] = value if isinstance(value, str) else "enable" if value else "disable"
    # how a source was compiled does not matter any more, and gravity is in the model
    document.kept.mark_written(scene, "option:gravity", "compiler:angle", "compiler:autoLimits")


def write_sizes(document: MjcfDocument) -> None:
    """Memory and numbers of user values, as they were read."""
    values = document.kept.take_all("size")
    # MuJoCo takes memory and the older sizes of it in one file, not in one element
    for names in (SIZES[:1], SIZES[1:]):
        written = {name: values[name] for name in names if name in values}
        if written:
            document.add(document.root, "size", written)


def write_visual(document: MjcfDocument) -> None:
    """Looks and statistics, as they were read."""
    for name, value in document.kept.take_all("visual").items():
        group, _, attribute = name.partition(".")
        section = document.section("visual")
        found = section.find(group)
        node = document.add(section, group, {}) if found is None else found
        document.set_values(node, {attribute: bool(value) if attribute in _VISUAL_SWITCHES else value}, {})
    statistic = document.kept.take_all("statistic")
    values = {name: np.ravel(statistic[name]) for name in _STATISTIC if name in statistic}
    if values:
        document.add(document.root, "statistic", values)


MAX_NUMBERS = 500
"""MuJoCo's own limit for one entry."""


def write_custom(document: MjcfDocument) -> None:
    """The section, if there is anything in it."""
    kept = document.kept
    for family in ("numeric", "text"):
        for key in kept.find_keys(f"{family}/"):
            _add_entry(document, kept.find_name(key), kept.take(key, "data"))
    for key in kept.find_keys("tuple/"):
        _add_tuple(document, kept.find_name(key), kept.take(key, "elements"))
    lost = [
        attribute
        for attribute in document.asset.custom_attributes
        if not _write_custom_attribute(document, attribute)
    ]
    document.report_lost("custom attributes", lost, "MuJoCo holds short lists of numbers, and texts")


def find_plugin(document: MjcfDocument, name: str) -> str | None:
    """An instance of a plugin in ``<extension>``, None if nothing is known of it; made when it is first asked for."""
    key = f"plugin/{name}"
    written = document.find_name("plugin", name)
    kind = document.kept.take(key, "plugin")
    # an instance that several elements share is written once
    if written is not None or kind is None:
        return written
    written = document.claim("plugin", name)
    holder = document.add(document.section("extension"), "plugin", {"plugin": kind})
    instance = document.add(holder, "instance", {"name": written})
    for word, value in (document.kept.take(key, "config") or {}).items():
        document.add(instance, "config", {"key": word, "value": value})
    return written


def _write_custom_attribute(document: MjcfDocument, attribute: CustomAttribute) -> bool:
    name = f"{attribute.namespace}:{attribute.name}" if attribute.namespace else attribute.name
    entries = {name: attribute.default} | {
        f"{name}/{element}": value for element, value in attribute.values.items()
    }
    plain = {key: _make_custom_value(value) for key, value in entries.items() if value is not None}
    if any(value is None for value in plain.values()):
        return False
    for key, value in plain.items():
        _add_entry(document, key, value)
    return True


def _make_custom_value(value: Any) -> list[float] | str | None:
    """Numbers as a flat list, texts as they are, None if it is too long."""
    if isinstance(value, str):
        return value
    try:
        # matrices lose their shape: MJCF has flat lists
        numbers = np.asarray(value, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        return json.dumps(value, default=str)
    return [float(v) for v in numbers] if len(numbers) <= MAX_NUMBERS else None


def _add_entry(document: MjcfDocument, name: str, value: Any) -> None:
    if isinstance(value, str):
        if value:
            document.add(
                document.section("custom"), "text", {"name": document.claim("text", name), "data": value}
            )
    elif len(value):
        document.add(
            document.section("custom"), "numeric", {"name": document.claim("numeric", name), "data": value}
        )


def _add_tuple(document: MjcfDocument, name: str, rows: Any) -> None:
    # a stage may have been edited, so that nothing or something else is there
    is_table = isinstance(rows, list) and all(isinstance(row, dict) for row in rows)
    node = document.add(document.section("custom"), "tuple", {"name": document.claim("tuple", name)})
    lost = 0 if is_table else 1
    for row in rows if is_table else ():
        # a tuple may name what was not written; the rest of it stays
        target = _name_tuple_target(document, str(row.get("type", "")), str(row.get("name", "")))
        if target is None:
            lost += 1
            continue
        document.add(
            node,
            "element",
            {"objtype": row["type"], "objname": target, "prm": row.get("value") or None},
        )
    if lost:
        what = f"an element of the tuple {name!r}"
        document.reporter.report(SETTING_LOST, what=what, count=lost, first=name)


def _name_tuple_target(document: MjcfDocument, kind: str, name: str) -> str | None:
    if kind == "joint":
        mjcf_joint = document.dofs.get(name)
        return mjcf_joint.name if mjcf_joint else None
    return document.find_name("body" if kind == "xbody" else kind, name) or name


ROS_FILE = "ros.yaml"


def write_ros(document: MjcfDocument) -> None:
    """The sidecar, if there is anything to say."""
    asset = document.asset
    frames = [site for site in asset.sites if site.ros_frame]
    content: dict[str, Any] = {
        "contexts": [_describe_context(context) for context in asset.contexts],
        "interfaces": [_describe_interface(interface) for interface in asset.interfaces],
        "controllers": [_describe_controller(document, controller) for controller in asset.controllers],
        "frames": [_describe_frame(document, site) for site in frames],
    }
    content = {key: rows for key, rows in content.items() if rows}
    if not content:
        return
    # only robots with a ROS side need it
    import yaml

    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
    document.files[ROS_FILE] = f"# ROS interfaces of {document.asset.name}\n{text}".encode()
    document.reporter.report(ROS_ASIDE, count=sum(len(rows) for rows in content.values()))


def _describe_context(context: RosContext) -> dict[str, Any]:
    row: dict[str, Any] = {"namespace": context.namespace, "parent_frame": context.parent_frame}
    return _drop_empty({**row, "domain_id": context.domain_id, "at": context.at})


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
    # quality of service is a matter of topics
    if interface.kind == "topic":
        qos = interface.qos
        row["qos"] = {name: getattr(qos, name) for name in ("reliability", "durability", "history", "depth")}
    if not interface.starts_enabled:
        row["starts_enabled"] = False
    return _drop_empty(row)


def _describe_controller(document: MjcfDocument, controller: Controller) -> dict[str, Any]:
    joints = {joint.name: joint.public_name for joint in document.asset.joints}
    row: dict[str, Any] = {
        "name": controller.name,
        "kind": controller.kind,
        "joints": {role: [joints.get(n, n) for n in names] for role, names in controller.joints.items()},
        "interfaces": dict(controller.interfaces),
        "settings": _make_yaml_value(controller.settings),
    }
    return _drop_empty(row)


def _describe_frame(document: MjcfDocument, site: Site) -> dict[str, Any]:
    return {"site": document.find_name("site", site.name), "frame": site.ros_frame, "static": site.static}


def _drop_empty(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if value not in (None, "", {}, [])}


def _make_yaml_value(value: Any) -> Any:
    """What YAML can say without tags."""
    if isinstance(value, dict):
        return {str(key): _make_yaml_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_make_yaml_value(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
