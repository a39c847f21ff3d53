# SPDX-License-Identifier: Apache-2.0
"""``<gazebo>``: Gazebo's extensions of a link, a joint or the whole robot.

Carried over: friction and contact stiffness (a physics material for the link's collisions), gravity, joint
springs, named materials (where the visual has none of its own), sensors and plugins.  Every other setting is
kept in the asset's extras under ``gazebo`` and reported for information.
"""

from __future__ import annotations

import math

from simwright.core.diag import Level, declare
from simwright.formats.gazebo.colors import find_look
from simwright.formats.urdf.document import ORIGIN, Document, write_xml
from simwright.formats.urdf.plugins import read_plugin
from simwright.formats.urdf.sensors import read_sensor
from simwright.formats.xml import Element
from simwright.model.asset import Body
from simwright.model.joint import Joint
from simwright.model.material import PhysicsMaterial, RenderMaterial

GAZEBO_REFERENCE = declare(
    "urdf-gazebo-reference",
    Level.WARNING,
    "<gazebo> refers to {name!r}, which is no link or joint of the robot",
    hint="check the name; its settings are kept as extras",
    doc="A Gazebo extension names an element that does not exist.",
)
GAZEBO_KEPT = declare(
    "urdf-gazebo-kept",
    Level.INFO,
    "Gazebo settings of {name!r} without a counterpart are kept as they are: {tags}",
    doc="Gazebo extensions the model has no word for; they are kept under the namespace gazebo.",
)
GAZEBO_VALUE = declare(
    "urdf-gazebo-value",
    Level.WARNING,
    "<{tag}> of {name!r} is {text!r}",
    hint="write {expected}; it is left out",
    doc="A Gazebo extension holds a value of the wrong sort.",
)

_SURFACE = {
    "mu1": "static_friction",
    "mu": "static_friction",
    "kp": "stiffness",
    "kd": "damping",
}
_SPRING = {"springStiffness": "stiffness", "springReference": "spring_ref"}


def read_gazebo(document: Document) -> None:
    """Every ``<gazebo>`` block of the robot."""
    bodies = {body.name: body for body in document.asset.bodies}
    joints = {joint.name: joint for joint in document.asset.joints}
    for element in document.children(document.root, "gazebo"):
        name = str(element.get("reference") or "").strip()
        if not name:
            _read_robot_block(document, element)
        elif name in bodies:
            _read_link_block(document, element, bodies[name])
        elif name in joints:
            _read_joint_block(document, element, joints[name])
        else:
            document.reporter.report(GAZEBO_REFERENCE, document.where(element), name=name)
            _keep(document, name, list(document.children(element)))


def _read_robot_block(document: Document, element: Element) -> None:
    rest = []
    for child in document.children(element):
        if child.tag == "plugin":
            read_plugin(document, child, "", "")
        else:
            rest.append(child)
    _keep(document, document.asset.name, rest)


def _read_link_block(document: Document, element: Element, body: Body) -> None:
    rest = []
    for child in document.children(element):
        if child.tag == "sensor":
            read_sensor(document, child, body.name)
        elif child.tag == "plugin":
            read_plugin(document, child, body.name, "")
        elif not _apply_to_link(document, child, body):
            rest.append(child)
    _keep(document, body.name, rest)


def _apply_to_link(document: Document, child: Element, body: Body) -> bool:
    """Carry a link setting over; False if it has to be kept as it is."""
    text = str(child.text or child.get("value") or "").strip()
    if child.tag in _SURFACE:
        value = read_number(document, child, body.name, text)
        if value is not None:
            surface = _surface_of(document, body.name, child)
            setattr(surface, _SURFACE[child.tag], value)
            surface.dynamic_friction = surface.static_friction
        return True
    if child.tag in ("gravity", "turnGravityOff"):
        flag = _read_flag(document, child, body.name, text)
        if flag is not None:
            body.gravity_scale = 1.0 if flag == (child.tag == "gravity") else 0.0
        return True
    if child.tag == "material" and not len(child):
        return _apply_material(document, child, body.name, text)
    return False


def _surface_of(document: Document, link: str, element: Element) -> PhysicsMaterial:
    """The physics material of a link's collisions, made where there is none."""
    asset = document.asset
    shapes = [s for s in asset.shapes if s.body == link and s.collision]
    wanted = next((s.physics_material for s in shapes if s.physics_material), f"{link}_surface")
    material = next((m for m in asset.physics_materials if m.name == wanted), None)
    if material is None:
        material = PhysicsMaterial(wanted, source=document.where(element))
        asset.physics_materials.append(material)
    for shape in shapes:
        shape.physics_material = wanted
    return material


def _apply_material(document: Document, element: Element, link: str, text: str) -> bool:
    """Give visuals without a material the named Gazebo colour; the name is kept as well."""
    look = find_look(text)
    document.asset.extras.keep("gazebo", link, "material", text, document.where(element))
    plain = [s for s in document.asset.shapes if s.body == link and s.visual and not s.material]
    if look is None or not plain:
        return True
    if all(m.name != text for m in document.asset.materials):
        material = RenderMaterial(text, look.diffuse, source=document.where(element))
        material.emissive, material.opacity = look.emissive, look.opacity
        document.asset.materials.append(material)
    for shape in plain:
        shape.material, shape.color = text, (*look.diffuse, look.opacity)
    return True


def _read_joint_block(document: Document, element: Element, joint: Joint) -> None:
    rest = []
    for child in document.children(element):
        text = str(child.text or child.get("value") or "").strip()
        if child.tag in _SPRING and len(joint.dofs) == 1:
            value = read_number(document, child, joint.name, text)
            if value is not None:
                setattr(joint.dofs[0], _SPRING[child.tag], value)
        elif child.tag == "sensor":
            read_sensor(document, child, joint.child, target=joint.name)
        elif child.tag == "plugin":
            read_plugin(document, child, joint.child, "")
        else:
            rest.append(child)
    _keep(document, joint.name, rest)


def read_number(document: Document, element: Element, name: str, text: str) -> float | None:
    """One finite number; anything else is reported."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isfinite(value):
        return value
    document.reporter.report(
        GAZEBO_VALUE, document.where(element), tag=element.tag, name=name, text=text[:80], expected="a number"
    )
    return None


def _read_flag(document: Document, element: Element, name: str, text: str) -> bool | None:
    if text.lower() in ("1", "true", "0", "false"):
        return text.lower() in ("1", "true")
    document.reporter.report(
        GAZEBO_VALUE,
        document.where(element),
        tag=element.tag,
        name=name,
        text=text[:80],
        expected="true or false",
    )
    return None


def _keep(document: Document, name: str, elements: list[Element]) -> None:
    """Keep settings as extras: text for plain ones, XML for blocks; repeated ones are numbered."""
    if not elements:
        return
    kept = document.asset.extras.table.get("gazebo", {}).get(name, {})
    for element in elements:
        key, number = str(element.tag), 2
        while key in kept:
            key, number = f"{element.tag}_{number}", number + 1
        value = write_xml(element) if len(element) or set(element.attrib) - {"value", ORIGIN} else None
        text = str(element.text or element.get("value") or "").strip()
        document.asset.extras.keep("gazebo", name, key, value or text, document.where(element))
        kept = document.asset.extras.table["gazebo"][name]
    tags = ", ".join(dict.fromkeys(str(e.tag) for e in elements))
    document.reporter.report(GAZEBO_KEPT, document.where(elements[0]), name=name, tags=tags)
