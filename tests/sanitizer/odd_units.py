"""One machine written in any units: every number of the text is divided by its unit here, by hand.

Nothing of the converter is used, so that the converter can be held against it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Units:
    """Metres, kilograms and time codes of the text."""

    length: float = 1.0
    mass: float = 1.0
    rate: float = 1.0

    def say(self, value: float, length: int = 0, mass: int = 0) -> str:
        """A number of SI in these units."""
        return repr(value / (self.length**length * self.mass**mass))

    def vector(self, *values: float) -> str:
        """A length with several parts."""
        return "(" + ", ".join(self.say(v, 1) for v in values) + ")"

    def list(self, *vectors: tuple[float, ...]) -> str:
        """Several of them."""
        return "[" + ", ".join(self.vector(*v) for v in vectors) + "]"

    def time(self, seconds: float) -> str:
        """A time code."""
        return repr(seconds * self.rate)


def write_machine(folder: Path, units: Units, *, says_fallbacks: bool, fallback: float) -> Path:
    """The asset; ``fallback`` is the unit of length of sizes that the odd text does not say."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "motion.usda").write_text(_write_motion(units))
    entry = folder / "robot.usda"
    entry.write_text(_write_robot(units, says_fallbacks=says_fallbacks, fallback=fallback))
    return entry


def _write_motion(u: Units) -> str:
    return f"""#usda 1.0
(
    defaultPrim = "fan"
    metersPerUnit = {u.length!r}
    timeCodesPerSecond = {u.rate!r}
    kilogramsPerUnit = {u.mass!r}
    upAxis = "Z"
)
def Xform "fan"
{{
    double3 xformOp:translate.timeSamples = {{
        {u.time(0.0)}: {u.vector(0.0, 0.0, 0.5)},
        {u.time(2.0)}: {u.vector(0.0, 0.1, 0.5)},
    }}
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def Sphere "hub"
    {{
        double radius = {u.say(0.03, 1)}
    }}
}}
"""


def _write_robot(u: Units, *, says_fallbacks: bool, fallback: float) -> str:
    def unsaid(kind: str, name: str, factor: float) -> str:
        return f"{kind} {name} = {factor * fallback!r}" if says_fallbacks else ""

    box = u.list((-0.1, -0.2, -0.3), (0.1, 0.2, 0.3))
    return f"""#usda 1.0
(
    defaultPrim = "robot"
    metersPerUnit = {u.length!r}
    kilogramsPerUnit = {u.mass!r}
    timeCodesPerSecond = {u.rate!r}
    startTimeCode = {u.time(0.0)}
    endTimeCode = {u.time(4.0)}
    upAxis = "Z"
)
def PhysicsScene "scene"
{{
    float physics:gravityMagnitude = {u.say(9.81, 1)}
    vector3f physics:gravityDirection = (0, 0, -1)
}}
def Xform "robot" (
    prepend apiSchemas = ["PhysicsArticulationRootAPI", "GeomModelAPI"]
    variants = {{
        string tool = "ball"
    }}
    prepend variantSets = "tool"
)
{{
    float3[] extentsHint = {box}
    def Xform "base" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    )
    {{
        float physics:mass = {u.say(4.0, 0, 1)}
        point3f physics:centerOfMass = {u.vector(0.01, 0.02, 0.03)}
        float3 physics:diagonalInertia = ({u.say(0.1, 2, 1)}, {u.say(0.2, 2, 1)}, {u.say(0.25, 2, 1)})
        quatf physics:principalAxes = (0.70710677, 0.70710677, 0, 0)
        vector3f physics:velocity = {u.vector(0.1, 0.0, 0.2)}
        vector3f physics:angularVelocity = (10, 0, 5)
        double3 xformOp:translate = {u.vector(0.0, 0.0, 0.4)}
        double3 xformOp:translate:pivot = {u.vector(0.1, 0.0, 0.0)}
        quatf xformOp:orient = (0.70710677, 0, 0, 0.70710677)
        uniform token[] xformOpOrder = [
            "xformOp:translate", "xformOp:translate:pivot", "xformOp:orient", "!invert!xformOp:translate:pivot"
        ]
        def Mesh "shell" (
            prepend apiSchemas = [
                "PhysicsCollisionAPI", "PhysicsMeshCollisionAPI", "PhysxCollisionAPI", "NewtonCollisionAPI"
            ]
        )
        {{
            point3f[] points = {u.list((-0.1, -0.2, -0.3), (0.1, -0.2, -0.3), (0.1, 0.2, -0.3), (0.0, 0.0, 0.3))}
            int[] faceVertexCounts = [3, 3, 3, 3]
            int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3]
            normal3f[] normals = [(0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1)]
            float3[] extent = {box}
            uniform token physics:approximation = "convexHull"
            float physxCollision:contactOffset = {u.say(0.02, 1)}
            float physxCollision:restOffset = {u.say(0.001, 1)}
            float newton:contactMargin = {u.say(0.001, 1)}
            rel material:binding:physics = </robot/rubber>
        }}
        def Cube "box" (
            prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMassAPI"]
        )
        {{
            double size = {u.say(0.2, 1)}
            float3[] extent = {u.list((-0.1, -0.1, -0.1), (0.1, 0.1, 0.1))}
            float physics:density = {u.say(700.0, -3, 1)}
            matrix4d xformOp:transform = ( (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), ({u.say(0.5, 1)}, 0, 0, 1) )
            uniform token[] xformOpOrder = ["xformOp:transform"]
        }}
        def Points "cloud"
        {{
            point3f[] points = {u.list((0.0, 0.0, 0.0), (0.1, 0.0, 0.0))}
            float[] widths = [{u.say(0.01, 1)}, {u.say(0.02, 1)}]
            vector3f[] velocities = {u.list((0.1, 0.0, 0.0), (0.0, 0.2, 0.0))}
        }}
        def BasisCurves "cable"
        {{
            uniform token type = "linear"
            int[] curveVertexCounts = [2]
            point3f[] points = {u.list((0.0, 0.0, 0.0), (0.0, 0.0, 0.2))}
            float[] widths = [{u.say(0.004, 1)}] (
                interpolation = "constant"
            )
        }}
        def Camera "eye"
        {{
            float focalLength = {u.say(0.24, 1)}
            float horizontalAperture = {u.say(0.36, 1)}
            float verticalAperture = {u.say(0.24, 1)}
            float2 clippingRange = {u.vector(0.05, 100.0)}
            float focusDistance = {u.say(2.0, 1)}
            float4[] clippingPlanes = [(1, 0, 0, {u.say(0.3, 1)})]
            double3 xformOp:translate = {u.vector(0.0, 0.3, 0.1)}
            uniform token[] xformOpOrder = ["xformOp:translate"]
        }}
        def SphereLight "lamp"
        {{
            float inputs:radius = {u.say(0.05, 1)}
            float inputs:intensity = {u.say(30.0, 2)}
            bool inputs:normalize = true
        }}
        def RectLight "panel"
        {{
            float inputs:width = {u.say(0.5, 1)}
            float inputs:height = {u.say(0.25, 1)}
            float inputs:intensity = 40
        }}
        def PointInstancer "bolts"
        {{
            int[] protoIndices = [0, 0]
            point3f[] positions = {u.list((0.1, 0.0, 0.0), (0.0, 0.1, 0.0))}
            rel prototypes = </robot/base/bolts/bolt>
            def Sphere "bolt"
            {{
                double radius = {u.say(0.01, 1)}
            }}
        }}
    }}
    def Xform "arm" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    )
    {{
        float physics:mass = {u.say(1.5, 0, 1)}
        float3 physics:diagonalInertia = ({u.say(0.01, 2, 1)}, {u.say(0.02, 2, 1)}, {u.say(0.02, 2, 1)})
        double3 xformOp:translate = {u.vector(0.3, 0.0, 0.4)}
        quatf xformOp:orient = (1, 0, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
        def Sphere "ball" (
            prepend apiSchemas = ["PhysicsCollisionAPI"]
        )
        {{
            {unsaid("double", "radius", 1.0)}
        }}
        def Cylinder "rod"
        {{
            double radius = {u.say(0.02, 1)}
            double height = {u.say(0.6, 1)}
            uniform token axis = "X"
        }}
    }}
    def Xform "slider" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    )
    {{
        float physics:mass = {u.say(0.5, 0, 1)}
        float3 physics:diagonalInertia = ({u.say(0.001, 2, 1)}, {u.say(0.002, 2, 1)}, {u.say(0.002, 2, 1)})
        double3 xformOp:translate = {u.vector(0.6, 0.0, 0.4)}
        quatf xformOp:orient = (1, 0, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
    }}
    def Xform "wrist" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    )
    {{
        float physics:mass = {u.say(0.25, 0, 1)}
        float3 physics:diagonalInertia = ({u.say(0.001, 2, 1)}, {u.say(0.001, 2, 1)}, {u.say(0.001, 2, 1)})
        double3 xformOp:translate = {u.vector(0.8, 0.0, 0.4)}
        quatf xformOp:orient = (1, 0, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
    }}
    def PhysicsFixedJoint "anchor"
    {{
        rel physics:body1 = </robot/base>
        point3f physics:localPos0 = {u.vector(0.0, 0.0, 0.4)}
        quatf physics:localRot0 = (1, 0, 0, 0)
        point3f physics:localPos1 = {u.vector(0.0, 0.0, 0.0)}
        float physics:breakForce = {u.say(500.0, 1, 1)}
        float physics:breakTorque = {u.say(200.0, 2, 1)}
    }}
    def PhysicsRevoluteJoint "elbow" (
        prepend apiSchemas = ["PhysicsDriveAPI:angular", "NewtonJointAPI", "ExtendedPhysicsJointAPI"]
    )
    {{
        rel physics:body0 = </robot/base>
        rel physics:body1 = </robot/arm>
        uniform token physics:axis = "Y"
        point3f physics:localPos0 = {u.vector(0.05, 0.0, 0.0)}
        point3f physics:localPos1 = {u.vector(-0.25, 0.0, 0.0)}
        float physics:lowerLimit = -90
        float physics:upperLimit = 80
        float drive:angular:physics:targetPosition = 20
        float drive:angular:physics:stiffness = {u.say(3.0, 2, 1)}
        float drive:angular:physics:damping = {u.say(0.5, 2, 1)}
        float drive:angular:physics:maxForce = {u.say(60.0, 2, 1)}
        float newton:armature = {u.say(0.01, 2, 1)}
        float ext_physics:joint:friction = {u.say(0.2, 2, 1)}
        float ext_physics:joint:velocityLimit = 90
    }}
    def PhysicsPrismaticJoint "rail" (
        prepend apiSchemas = ["PhysicsDriveAPI:linear", "NewtonJointAPI", "ExtendedPhysicsJointAPI"]
    )
    {{
        rel physics:body0 = </robot/arm>
        rel physics:body1 = </robot/slider>
        uniform token physics:axis = "X"
        point3f physics:localPos0 = {u.vector(0.3, 0.0, 0.0)}
        float physics:lowerLimit = {u.say(-0.1, 1)}
        float physics:upperLimit = {u.say(0.2, 1)}
        float drive:linear:physics:targetPosition = {u.say(0.05, 1)}
        float drive:linear:physics:targetVelocity = {u.say(0.01, 1)}
        float drive:linear:physics:stiffness = {u.say(800.0, 0, 1)}
        float drive:linear:physics:damping = {u.say(20.0, 0, 1)}
        float drive:linear:physics:maxForce = {u.say(100.0, 1, 1)}
        float newton:armature = {u.say(0.3, 0, 1)}
        float ext_physics:joint:friction = {u.say(2.0, 1, 1)}
        float ext_physics:joint:velocityLimit = {u.say(0.7, 1)}
    }}
    def PhysicsJoint "six" (
        prepend apiSchemas = [
            "PhysicsLimitAPI:transX", "PhysicsLimitAPI:transY", "PhysicsLimitAPI:transZ", "PhysicsLimitAPI:rotX",
            "PhysicsDriveAPI:transX", "PhysicsDriveAPI:rotY"
        ]
    )
    {{
        rel physics:body0 = </robot/slider>
        rel physics:body1 = </robot/wrist>
        point3f physics:localPos0 = {u.vector(0.2, 0.0, 0.0)}
        float limit:transX:physics:low = {u.say(-0.01, 1)}
        float limit:transX:physics:high = {u.say(0.02, 1)}
        float limit:transY:physics:low = {u.say(1.0, 1)}
        float limit:transY:physics:high = {u.say(-1.0, 1)}
        float limit:transZ:physics:low = {u.say(1.0, 1)}
        float limit:transZ:physics:high = {u.say(-1.0, 1)}
        float limit:rotX:physics:low = -30
        float limit:rotX:physics:high = 30
        float drive:transX:physics:stiffness = {u.say(50.0, 0, 1)}
        float drive:rotY:physics:stiffness = 7
        uniform token drive:rotY:physics:type = "acceleration"
        float drive:rotY:physics:maxForce = {u.say(9.0, 2, 1)}
    }}
    def PhysicsDistanceJoint "rope"
    {{
        rel physics:body0 = </robot/base>
        rel physics:body1 = </robot/wrist>
        float physics:minDistance = -1
        float physics:maxDistance = {u.say(1.2, 1)}
        bool physics:excludeFromArticulation = true
    }}
    def Material "rubber" (
        prepend apiSchemas = ["PhysicsMaterialAPI"]
    )
    {{
        float physics:density = {u.say(1200.0, -3, 1)}
        float physics:dynamicFriction = 0.6
        float physics:staticFriction = 0.8
    }}
    def "fan" (
        references = @./motion.usda@ (offset = {u.time(1.0)}; scale = 2)
    )
    {{
    }}
    variantSet "tool" = {{
        "ball" {{
            def Sphere "tip"
            {{
                double radius = {u.say(0.04, 1)}
                double3 xformOp:translate = {u.vector(0.0, 0.0, 1.0)}
                uniform token[] xformOpOrder = ["xformOp:translate"]
            }}
        }}
        "cone" {{
            def Cone "tip"
            {{
                double height = {u.say(0.07, 1)}
                {unsaid("double", "radius", 1.0)}
                double3 xformOp:translate = {u.vector(0.0, 0.0, 1.1)}
                uniform token[] xformOpOrder = ["xformOp:translate"]
            }}
        }}
    }}
}}
"""
