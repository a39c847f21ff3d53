# SPDX-License-Identifier: Apache-2.0
"""The schema plugins, seen by plain OpenUSD in a process that only has the environment variable."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from simwright.usd.plugins import SCHEMAS, list_plugin_folders, plugin_path, read_plugin_name

INF = math.inf
QOS_DEFAULT = "system_default"

# property -> (type, default, allowed tokens); the attributes of the ROS schemas are all uniform
ROS: dict[str, dict[str, tuple[Any, ...]]] = {
    "RosContextAPI": {
        "ros:context:namespace": ("string", None),
        "ros:context:domain_id": ("int", None),
        "ros:context:parent_frame": ("string", "world"),
    },
    "RosTopicAPI": {
        "ros:topic:role": ("token", None, ["publisher", "subscription"]),
        "ros:topic:name": ("string", None),
        "ros:topic:type": ("string", None),
        "ros:topic:publish_rate": ("double", None),
        "ros:topic:override_frame_id": ("string", None),
        "ros:topic:starts_enabled": ("bool", True),
        "ros:topic:qos:match_publisher": ("bool", False),
        "ros:topic:qos:reliability": ("token", QOS_DEFAULT, [QOS_DEFAULT, "reliable", "best_effort"]),
        "ros:topic:qos:durability": ("token", QOS_DEFAULT, [QOS_DEFAULT, "transient_local", "volatile"]),
        "ros:topic:qos:history": ("token", QOS_DEFAULT, [QOS_DEFAULT, "keep_last", "keep_all"]),
        "ros:topic:qos:depth": ("int", 10),
    },
    "RosServiceAPI": {
        "ros:service:role": ("token", None, ["server", "client"]),
        "ros:service:name": ("string", None),
        "ros:service:type": ("string", None),
        "ros:service:starts_enabled": ("bool", True),
    },
    "RosActionAPI": {
        "ros:action:role": ("token", None, ["server", "client"]),
        "ros:action:name": ("string", None),
        "ros:action:type": ("string", None),
        "ros:action:starts_enabled": ("bool", True),
    },
    "RosFrameAPI": {"ros:frame:id": ("string", None), "ros:frame:static": ("bool", True)},
    "RosControlExternalAPI": {},
    "RosControlIntegratedAPI": {},
    "RosControlRigidBodyTwistAPI": {
        "ros:rigid_body_twist:subscriber": ("rel",),
        "ros:rigid_body_twist:body": ("rel",),
    },
    "RosControlDiffDriveAPI": {
        "ros:diff_drive:subscriber": ("rel",),
        "ros:diff_drive:odom": ("rel",),
        "ros:diff_drive:left_wheels": ("rel",),
        "ros:diff_drive:right_wheels": ("rel",),
        "ros:diff_drive:wheel_separation": ("double", None),
        "ros:diff_drive:wheel_radius": ("double", None),
        "ros:diff_drive:cmd_vel_timeout": ("double", 0.5),
        "ros:diff_drive:linear:x:max_velocity": ("double", None),
        "ros:diff_drive:linear:x:max_acceleration": ("double", None),
        "ros:diff_drive:angular:z:max_velocity": ("double", None),
        "ros:diff_drive:angular:z:max_acceleration": ("double", None),
    },
    "RosControlJointTrajectoryAPI": {
        "ros:joint_trajectory:server": ("rel",),
        "ros:joint_trajectory:command_joints": ("rel",),
        "ros:joint_trajectory:action_monitor_rate": ("double", None),
        "ros:joint_trajectory:stopped_velocity_tolerance": ("double", None),
        "ros:joint_trajectory:timeout": ("double", None),
    },
    "RosControlJointStateBroadcasterAPI": {
        "ros:joint_state_broadcaster:publisher": ("rel",),
        "ros:joint_state_broadcaster:joints": ("rel",),
    },
}

# varying, as UsdPhysics has it, except the token
PHYSICS: dict[str, dict[str, tuple[Any, ...]]] = {
    "ExtendedPhysicsMimicAPI": {
        "ext_physics:mimic:joint": ("rel",),
        "ext_physics:mimic:multiplier": ("float", 1.0),
        "ext_physics:mimic:offset": ("float", 0.0),
        "ext_physics:mimic:enabled": ("bool", True),
    },
    "ExtendedPhysicsActuatorAPI": {
        "ext_physics:actuator:targets": ("rel",),
        "ext_physics:actuator:enabled": ("bool", True),
        "ext_physics:actuator:controlMode": ("token", "effort", ["effort", "velocity", "position"]),
        "ext_physics:actuator:gear": ("float", 1.0),
        "ext_physics:actuator:gain": ("float", 1.0),
        "ext_physics:actuator:stiffness": ("float", 0.0),
        "ext_physics:actuator:damping": ("float", 0.0),
        "ext_physics:actuator:controlLower": ("float", -INF),
        "ext_physics:actuator:controlUpper": ("float", INF),
        "ext_physics:actuator:effortLower": ("float", -INF),
        "ext_physics:actuator:effortUpper": ("float", INF),
        "ext_physics:actuator:timeConstant": ("float", 0.0),
    },
    "ExtendedPhysicsPositionBasedClampingAPI": {
        "ext_physics:clamp_position:lookupPositions": ("float[]", None),
        "ext_physics:clamp_position:lookupEfforts": ("float[]", None),
    },
    "ExtendedPhysicsFrictionAPI": {
        "ext_physics:friction:torsional": ("float", None),
        "ext_physics:friction:rolling": ("float", None),
        "ext_physics:friction:viscous": ("float", None),
    },
    "ExtendedPhysicsJointAPI": {
        "ext_physics:joint:armature": ("float", 0.0),
        "ext_physics:joint:friction": ("float", 0.0),
        "ext_physics:joint:damping": ("float", 0.0),
        "ext_physics:joint:springStiffness": ("float", 0.0),
        "ext_physics:joint:springReference": ("float", 0.0),
        "ext_physics:joint:velocityLimit": ("float", INF),
        "ext_physics:joint:effortLimit": ("float", INF),
        "ext_physics:joint:limitStiffness": ("float", None),
        "ext_physics:joint:limitDamping": ("float", None),
    },
    "ExtendedPhysicsContactMaterialAPI": {
        "ext_physics:contact:stiffness": ("float", None),
        "ext_physics:contact:damping": ("float", None),
        "ext_physics:contact:adhesion": ("float", None),
    },
    "ExtendedPhysicsContactAPI": {
        "ext_physics:contact:margin": ("float", 0.0),
        "ext_physics:contact:gap": ("float", None),
    },
}

EXPECTED = ROS | PHYSICS
INTEGRATED = {name for name in ROS if name.startswith("RosControl")} - {
    "RosControlExternalAPI",
    "RosControlIntegratedAPI",
}
LIBRARIES = {
    "ros": "usdRos",
    "ros_control_external": "usdRosControlExternal",
    "ros_control_integrated": "usdRosControl",
    "ros_control_rigid_body_twist": "usdRosControlRigidBodyTwist",
    "ros_control_diff_drive": "usdRosControlDiffDrive",
    "ros_control_joint_trajectory": "usdRosControlJointTrajectory",
    "ros_control_joint_state_broadcaster": "usdRosControlJointStateBroadcaster",
}
# class -> (a prim type it goes on, a prim type it does not go on)
PLACES = {
    "RosFrameAPI": ("Xform", "Scope"),
    "ExtendedPhysicsMimicAPI": ("PhysicsPrismaticJoint", "PhysicsFixedJoint"),
    "ExtendedPhysicsJointAPI": ("PhysicsSphericalJoint", "Xform"),
    "ExtendedPhysicsFrictionAPI": ("Material", "Xform"),
    "ExtendedPhysicsContactMaterialAPI": ("Material", "Cube"),
    "ExtendedPhysicsContactAPI": ("Mesh", "Scope"),
    "ExtendedPhysicsActuatorAPI": ("Scope", "Material"),
    "ExtendedPhysicsPositionBasedClampingAPI": ("Xform", "Material"),
}

PROBE = """
import json, sys
from pxr import Sdf, Tf, Usd
names, places = json.load(sys.stdin)
registry = Usd.SchemaRegistry()
stage = Usd.Stage.CreateInMemory()
report = {}
for name in names:
    definition = registry.FindAppliedAPIPrimDefinition(name)
    if definition is None:
        report[name] = None
        continue
    properties = {}
    for prop in definition.GetPropertyNames():
        spec = definition.GetSchemaPropertySpec(prop)
        if isinstance(spec, Sdf.RelationshipSpec):
            properties[prop] = ["rel"]
            continue
        properties[prop] = [
            str(spec.typeName), spec.default, list(spec.allowedTokens or []),
            spec.variability == Sdf.VariabilityUniform,
        ]
    good, bad = places.get(name, ("Xform", ""))
    prim = stage.DefinePrim("/good_" + name, good)
    tf_type = registry.GetAPITypeFromSchemaTypeName(name)
    report[name] = {
        "properties": properties,
        "single": registry.GetSchemaKind(name) == Usd.SchemaKind.SingleApplyAPI,
        "cpp": tf_type.typeName,
        "can": bool(prim.CanApplyAPI(name)),
        "cannot": bool(bad and stage.DefinePrim("/bad_" + name, bad).CanApplyAPI(name)),
        "applied": prim.ApplyAPI(name) and prim.GetAppliedSchemas(),
        "has": prim.HasAPI(name),
    }
json.dump(report, sys.stdout)
"""


def run_python(code: str, stdin: str = "", **environment: str) -> str:
    kept = {key: value for key, value in os.environ.items() if key != "PXR_PLUGINPATH_NAME"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        env=kept | environment,
    )
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def seen() -> dict[str, Any]:
    """What plain pxr says about every class."""
    question = json.dumps([list(EXPECTED), PLACES])
    answer = run_python(PROBE, question, PXR_PLUGINPATH_NAME=plugin_path(), PYTHONPATH="")
    result: dict[str, Any] = json.loads(answer)
    return result


def test_plugin_path_needs_no_pxr() -> None:
    code = """
import sys
from simwright.usd.plugins import plugin_path
print(plugin_path())
assert "pxr" not in sys.modules
"""
    assert run_python(code).strip() == str(SCHEMAS)


def test_every_class_of_the_table_has_a_folder() -> None:
    classes = set()
    for folder in list_plugin_folders():
        types = json.loads((folder / "plugInfo.json").read_text())["Plugins"][0]["Info"]["Types"]
        classes |= {entry["schemaIdentifier"] for entry in types.values()}
    assert set(EXPECTED) <= classes


@pytest.mark.parametrize("name", LIBRARIES)
def test_library_name(name: str) -> None:
    assert read_plugin_name(SCHEMAS / name) == LIBRARIES[name]


@pytest.mark.parametrize("name", EXPECTED)
def test_properties(seen: dict[str, Any], name: str) -> None:
    assert seen[name], f"{name} is not known to the schema registry"
    found = seen[name]["properties"]
    assert set(found) == set(EXPECTED[name])
    for prop, (kind, *rest) in EXPECTED[name].items():
        if kind == "rel":
            assert found[prop] == ["rel"], prop
            continue
        default, tokens = rest[0], (rest[1] if len(rest) > 1 else [])
        uniform = name in ROS or kind == "token"
        assert found[prop] == [kind, default, tokens, uniform], prop
        assert type(found[prop][1]) is type(default), prop


@pytest.mark.parametrize("name", EXPECTED)
def test_apply(seen: dict[str, Any], name: str) -> None:
    answer = seen[name]
    built_in = ["RosControlIntegratedAPI"] if name in INTEGRATED else []
    assert answer["single"]
    assert answer["can"]
    assert answer["has"]
    assert answer["applied"] == [name, *built_in]
    assert answer["cpp"] == "Usd" + name


@pytest.mark.parametrize("name", PLACES)
def test_schema_keeps_to_its_prim_types(seen: dict[str, Any], name: str) -> None:
    assert not seen[name]["cannot"]


UNKNOWN = """
from pxr import Usd
from simwright.usd.registry import list_classes
def list_unknown():
    known = Usd.SchemaRegistry()
    return [s.name for _, s in list_classes() if known.FindAppliedAPIPrimDefinition(s.name) is None]
"""
"""Schema classes of ours that OpenUSD does not know; asking makes it read its definitions, so it is asked last."""


def test_register_plugins_in_process() -> None:
    code = """
from simwright.usd.plugins import list_plugin_folders, register_plugins
first = register_plugins()
assert len(first) == len(list_plugin_folders()) >= 13 and register_plugins() == first, first
assert list_unknown() == []
"""
    run_python(UNKNOWN + code)


def test_register_plugins_after_environment_adds_nothing() -> None:
    code = """
from simwright.usd.plugins import register_plugins
assert register_plugins() == (), register_plugins()
assert list_unknown() == []
"""
    run_python(UNKNOWN + code, PXR_PLUGINPATH_NAME=plugin_path())


def test_register_plugins_leaves_a_strangers_copy_alone(tmp_path: Path) -> None:
    shutil.copytree(SCHEMAS / "ros", tmp_path / "ros")
    code = f"""
from pxr import Plug
from simwright.usd.plugins import register_plugins
assert "usdRos" not in register_plugins()
assert Plug.Registry().GetPluginWithName("usdRos").resourcePath.startswith({str(tmp_path)!r})
assert list_unknown() == []
"""
    run_python(UNKNOWN + code, PXR_PLUGINPATH_NAME=str(tmp_path / "ros"))


def test_registering_too_late_can_be_seen() -> None:
    code = """
from pxr import Usd
Usd.Stage.CreateInMemory().DefinePrim("/a", "Xform")
from simwright.usd.plugins import register_plugins
register_plugins()
assert "RosTopicAPI" in list_unknown()
"""
    run_python(UNKNOWN + code)


WITHOUT_SIMWRIGHT = """
import sys
sys.modules["simwright"] = None  # as in a Python that does not have it
from pxr import Usd, UsdValidation
stage = Usd.Stage.CreateInMemory()
prim = stage.DefinePrim("/a", "Xform")
assert prim.ApplyAPI("RosTopicAPI")
validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
assert validators
UsdValidation.ValidationContext(validators).Validate(stage)
"""


def test_a_python_without_simwright_loads_everything() -> None:
    run_python(WITHOUT_SIMWRIGHT, PXR_PLUGINPATH_NAME=plugin_path())


def test_validators_are_asked_for() -> None:
    assert plugin_path(validators=True).split(os.pathsep)[0] == plugin_path()
    assert (Path(plugin_path(validators=True).split(os.pathsep)[1]) / "plugInfo.json").is_file()
