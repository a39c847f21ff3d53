"""Random stages: joints that three solvers talk about, and bodies whose mass comes from many places.

What Newton is known to do otherwise (``docs/newton-differences.md``) is left out: references of coordinates,
springs of ball joints, force ranges of generic ones, colliders with an inertia of their own, and colliders with
opinions below a body with a mass.
"""

from __future__ import annotations

import random

HEADER = '#usda 1.0\n( metersPerUnit = 1\n kilogramsPerUnit = 1\n upAxis = "Z" )\n'
AXES = {"PhysicsRevoluteJoint": "angular", "PhysicsPrismaticJoint": "linear"}
SIZES = {
    "Cube": "double size = 0.6",
    "Sphere": "double radius = 0.3",
    "Capsule": "double radius = 0.2\ndouble height = 0.5",
    "Cylinder": "double radius = 0.2\ndouble height = 0.5",
    "Cone": "double radius = 0.2\ndouble height = 0.5",
    "Mesh": """point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
        int[] faceVertexCounts = [3, 3, 3, 3]
        int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]""",
}


class Dice:
    """Draws from one seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def happens(self, chance: float) -> bool:
        return self._random.random() < chance

    def pick(self, *values: str) -> str:
        return self._random.choice(values)

    def some(self, lines: list[str], most: int) -> str:
        """A few of the lines, never two for one attribute."""
        chosen = self._random.sample(lines, self._random.randint(0, most))
        return "\n".join({line.partition("=")[0].split()[-1]: line for line in chosen}.values())

    def number(self) -> str:
        return self.pick("0", "0.5", "2", "37.5")

    def place(self) -> str:
        draw = self._random.random
        lines = [
            ("translate", f"double3 xformOp:translate = ({draw():.3f}, {draw():.3f}, {draw():.3f})", 0.7),
            ("rotateXYZ", f"float3 xformOp:rotateXYZ = ({90 * draw():.1f}, {90 * draw():.1f}, 20)", 0.5),
            ("scale", self.pick(*(f"float3 xformOp:scale = ({s}, {s}, {s})" for s in ("0.5", "2"))), 0.3),
        ]
        chosen = [(name, text) for name, text, chance in lines if self.happens(chance)]
        order = ", ".join(f'"xformOp:{name}"' for name, _ in chosen)
        return "\n".join([*(text for _, text in chosen), f"uniform token[] xformOpOrder = [{order}]"])


def define(kind: str, name: str, apis: list[str], *inside: str) -> str:
    names = ", ".join(f'"{api}"' for api in (*apis, "NothingAPI"))
    return f'def {kind} "{name}" ( prepend apiSchemas = [{names}] ) {{\n' + "\n".join(inside) + "\n}\n"


def make_chain(seed: int) -> str:
    """Six bodies in a row."""
    dice = Dice(seed)
    bodies = [
        define(
            "Xform", f"b{i}", ["PhysicsRigidBodyAPI"],
            f"double3 xformOp:translate = (0, 0, {i})", 'uniform token[] xformOpOrder = ["xformOp:translate"]',
            "vector3f physics:velocity = (1, 2, 3)",
            define("Sphere", "c", ["PhysicsCollisionAPI"], "double radius = 0.2"),
        )
        for i in range(6)
    ]  # fmt: skip
    joints = [_make_joint(dice, i) for i in range(5)]
    scene = [
        dice.pick("", "float newton:timeStepsPerSecond = 100", "double mjc:option:timestep = 0.004"),
        dice.pick("", "bool newton:gravityEnabled = 0", "bool mjc:flag:gravity = 0"),
    ]
    robot = define("Xform", "r", ["PhysicsArticulationRootAPI"], *bodies, *joints)
    return HEADER + define("PhysicsScene", "s", [], *scene) + robot


def _make_joint(dice: Dice, i: int) -> str:
    kind = dice.pick(*AXES, *AXES, "PhysicsJoint", "PhysicsSphericalJoint")
    apis = ["MjcJointAPI"] if dice.happens(0.3) else []
    inside = [f"rel physics:body0 = </r/b{i}>", f"rel physics:body1 = </r/b{i + 1}>"]
    inside.append("point3f physics:localPos0 = (0, 0, 1)")
    axis = AXES.get(kind, "rotX")
    if kind in AXES:
        inside.append(f'uniform token physics:axis = "{dice.pick("X", "Y", "Z")}"')
        inside.append(dice.pick("", "float physics:lowerLimit = -30\nfloat physics:upperLimit = 45"))
    elif kind == "PhysicsJoint":
        for name in ("transX", "transY", "transZ", "rotX", "rotY", "rotZ"):
            low, high = (
                ("-20", "50") if name == "rotX" or (name == "rotY" and dice.happens(0.8)) else ("1", "-1")
            )
            apis.append(f"PhysicsLimitAPI:{name}")
            inside.append(f"float limit:{name}:physics:low = {low}\nfloat limit:{name}:physics:high = {high}")
    if kind != "PhysicsSphericalJoint" and dice.happens(0.6):
        apis.append(f"PhysicsDriveAPI:{axis}")
        names = ("stiffness", "damping", "targetPosition", "targetVelocity", "maxForce")
        inside.append(dice.some([f"float drive:{axis}:physics:{n} = {dice.number()}" for n in names], 5))
    inside.append(dice.some(_list_solver_lines(dice, axis, kind), 9))
    return define(kind, f"j{i}", apis, *inside)


def _list_solver_lines(dice: Dice, axis: str, kind: str) -> list[str]:
    def gain() -> str:
        return dice.pick("0", "0.5", "37.5", "-inf", "inf", "1e9")

    lines = [f"float newton:{name} = {dice.number()}" for name in ("armature", "friction", "damping")]
    lines += [f"float newton:{name} = {gain()}" for name in ("limitStiffness", "limitDamping")]
    lines += [f"float newton:velocityLimit = {dice.pick('5', 'inf')}"]
    lines += [
        f"float newton:{axis}:{name} = {dice.number()}" for name in ("limitStiffness", "position", "velocity")
    ]
    lines += [f"float physxJoint:{name} = {dice.number()}" for name in ("armature", "maxJointVelocity")]
    lines += [f"float physxLimit:{axis}:{name} = {dice.number()}" for name in ("stiffness", "damping")]
    lines += [f"float state:{axis}:physics:{name} = {dice.number()}" for name in ("position", "velocity")]
    lines += [
        f"double mjc:{name} = {dice.number()}" for name in ("armature", "damping", "frictionloss", "margin")
    ]
    lines += [f'uniform token mjc:actuatorfrclimited = "{dice.pick("true", "false")}"']
    lines += ["double[] mjc:solreflimit = [0.1, 1]"]
    if kind in AXES:
        lines += [f"double mjc:{name} = {dice.number()}" for name in ("stiffness", "springref")]
        ends = (f"min = -{dice.number()}", f"max = {dice.number()}")
        lines += [f"double mjc:actuatorfrcrange:{end}" for end in ends]
    return lines


def make_weights(seed: int) -> str:
    """Six loose bodies."""
    dice = Dice(seed)
    materials = define("Material", "m0", ["PhysicsMaterialAPI"], "float physics:density = 700")
    materials += define("Material", "m1", ["PhysicsMaterialAPI"], "float physics:dynamicFriction = 0.7")
    return HEADER + materials + "".join(_make_body(dice, i) for i in range(6))


def _make_body(dice: Dice, i: int) -> str:
    apis, inside = ["PhysicsRigidBodyAPI"], [dice.place()]
    heavy = dice.happens(0.3)
    if heavy or dice.happens(0.4):
        apis.append("PhysicsMassAPI")
        inside.append(
            f"float physics:mass = {dice.pick('2', '5.5')}" if heavy else "float physics:density = 300"
        )
    turning = dice.happens(0.3)
    if turning:
        apis += [api for api in ("PhysicsMassAPI", "NewtonMassAPI") if api not in apis]
        inside.append(
            dice.pick(
                "double[] newton:inertia = [2, 3, 4, 0.1, 0.2, 0.3]",
                "float3 physics:diagonalInertia = (1, 2, 2.5)",
                "float3 physics:diagonalInertia = (1, 2, 2.5)\nquatf physics:principalAxes = (0.8, 0.6, 0, 0)",
            )
        )
        inside.append(dice.pick("", "point3f physics:centerOfMass = (0.1, 0.2, 0.3)"))
    colliders = [_make_collider(dice, k, plain=heavy) for k in range(int(dice.pick("1", "2", "3")))]
    return define("Xform", f"b{i}", apis, *inside, *colliders)


def _make_collider(dice: Dice, i: int, *, plain: bool) -> str:
    kind = dice.pick(*SIZES)
    apis, inside = ["PhysicsCollisionAPI"], [SIZES[kind], dice.place()]
    if kind in ("Capsule", "Cylinder", "Cone"):
        inside.append(f'uniform token axis = "{dice.pick("X", "Y", "Z")}"')
    if not plain and dice.happens(0.5):
        apis.append("PhysicsMassAPI")
        inside.append(
            dice.pick("float physics:mass = 2", "float physics:density = 250", "float physics:mass = 0")
        )
    if i and dice.happens(0.2):
        inside.append("bool physics:collisionEnabled = 0")
    if dice.happens(0.4):
        apis.append("MaterialBindingAPI")
        inside.append(f"rel material:binding:physics = </m{dice.pick('0', '1')}>")
    if kind in ("Cube", "Sphere", "Cylinder") and dice.happens(0.3):
        apis.append("NewtonMassAPI")
        inside.append('uniform token newton:massModel = "shell"\nfloat newton:shellThickness = 0.03')
    return define(kind, f"c{i}", apis, *inside)
