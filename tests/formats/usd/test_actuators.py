"""Actuators of Newton, MuJoCo and the neutral schema: one vocabulary."""

from __future__ import annotations

import math

import pytest

DEG = math.pi / 180


def machine(content: str) -> str:
    """A hinge ``h`` and a slide ``p`` on a base, a ball ``k``, and a site ``s``."""

    def body(name: str, inner: str = "") -> str:
        return f"""
    def Xform "{name}" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {{
        float physics:mass = 1
        float3 physics:diagonalInertia = (1, 1, 1)
        {inner}
    }}"""

    def joint(kind: str, name: str, body: str, inside: str = "") -> str:
        return f"""
    def Physics{kind}Joint "{name}" {{
        rel physics:body0 = </R/base>
        rel physics:body1 = </R/{body}>
        {inside}
    }}"""

    sites = "".join(
        f'def Sphere "{name}" ( prepend apiSchemas = ["MjcSiteAPI"] ) {{ double radius = 0.1 }}\n'
        for name in ("s", "t")
    )
    return f"""
def Xform "R" {{
    {body("base", sites)} {body("a")} {body("b")} {body("c")}
    {joint("Revolute", "h", "a", "float physics:lowerLimit = -90" + chr(10) + "float physics:upperLimit = 30")}
    {joint("Prismatic", "p", "b")}
    {joint("Spherical", "k", "c")}
    {content}
}}"""


def mjc(inside: str, target: str = "h") -> str:
    return machine(f'def MjcActuator "m" {{ rel mjc:target = </R/{target}>\n {inside} }}')


def test_mjc_motor(read):
    found = read(
        mjc(
            "double[] mjc:gear = [25, 0, 0, 0, 0, 0]\n double mjc:ctrlRange:min = -2\n double mjc:ctrlRange:max = 3"
        )
    )
    (motor,) = found.asset.actuators
    assert (motor.name, motor.kind, motor.target, motor.transmission) == ("m", "motor", "h", "joint")
    assert (motor.gear, motor.control_range, motor.force_range) == ((25,), (-2, 3), None)
    assert motor.settings["gain"] == [1.0] + [0.0] * 9
    assert found.kinds == set()


def servo(kp: float, bias: str) -> str:
    return f'double[] mjc:gainPrm = [{kp}]\n uniform token mjc:biasType = "affine"\n double[] mjc:biasPrm = [{bias}]'


def test_mjc_servos(read):
    (position,) = read(mjc(servo(10, "0, -10, -2"))).asset.actuators
    assert (position.kind, position.stiffness, position.damping) == ("position", 10, 2)
    (velocity,) = read(mjc(servo(10, "0, 0, -10"))).asset.actuators
    assert (velocity.kind, velocity.damping) == ("velocity", 10)
    (general,) = read(mjc(servo(0.3, "0, -100, -10"))).asset.actuators
    assert (general.kind, general.settings["mjcf"]) == ("general", "general")
    muscle = 'uniform token mjc:gainType = "muscle"\n uniform token mjc:dynType = "muscle"'
    (general,) = read(mjc(muscle)).asset.actuators
    assert (general.kind, general.settings["mjcf"]) == ("general", "muscle")


def test_mjc_transmissions(read):
    kinds = {
        "h": ("joint", "h"),
        "k": ("joint", "k"),
        "base/s": ("site", "s"),
        "base": ("body", "base"),
    }
    for target, expected in kinds.items():
        (actuator,) = read(mjc("", target)).asset.actuators
        assert (actuator.transmission, actuator.target) == expected
    assert actuator.settings["mjcf"] == "adhesion"
    (inside,) = read(mjc("bool mjc:jointInParent = true")).asset.actuators
    assert inside.transmission == "joint_in_parent"
    crank = "rel mjc:sliderSite = </R/base/t>\n double mjc:crankLength = 0.5"
    (actuator,) = read(mjc(crank, "base/s")).asset.actuators
    assert actuator.transmission == "slider_crank"
    assert (actuator.settings["slider_site"], actuator.settings["crank_length"]) == ("t", 0.5)
    (actuator,) = read(mjc("rel mjc:refSite = </R/base/t>", "base/s")).asset.actuators
    assert actuator.settings["reference_site"] == "t"


@pytest.mark.parametrize(
    ("limited", "flag", "expected"),
    [("auto", "true", (-1, 1)), ("true", "false", (-1, 1)), ("false", "true", None), ("auto", "false", None)],
)
def test_mjc_ranges_and_their_switch(read, limited, flag, expected):
    inside = f"""uniform token mjc:forceLimited = "{limited}"
    double mjc:forceRange:min = -1\n double mjc:forceRange:max = 1
    uniform token mjc:actLimited = "true"\n double mjc:actRange:max = 1\n bool mjc:actEarly = true
    double mjc:lengthRange:max = 2"""
    content = mjc(inside) + f'def PhysicsScene "S" {{ bool mjc:compiler:autoLimits = {flag} }}'
    (actuator,) = read(content).asset.actuators
    assert actuator.force_range == expected
    assert actuator.settings["activation_range"] == [0, 1]
    assert actuator.settings["activation_early"]
    assert actuator.settings["length_range"] == [0, 2]


def test_mjc_servo_inherits_the_range_of_its_joint(read):
    (servo_,) = read(mjc(servo(1, "0, -1, 0") + "\n double mjc:inheritRange = 0.5")).asset.actuators
    assert servo_.control_range == (pytest.approx(-60 * DEG), pytest.approx(0))


def test_mjc_in_other_units(read):
    """In centimetres a newton is 100 units, a newton metre 10,000."""
    inside = servo(100, "0, -100, -20") + "\n double mjc:ctrlRange:max = 50\n double mjc:forceRange:max = 200"
    (slide,) = read(mjc(inside, "p"), meters=0.01).asset.actuators
    assert (slide.kind, slide.stiffness, slide.damping) == ("position", pytest.approx(100), pytest.approx(20))
    assert slide.control_range == (0, pytest.approx(0.5))
    assert slide.force_range == (0, pytest.approx(2))
    (hinge,) = read(mjc(inside), meters=0.01).asset.actuators
    assert (hinge.stiffness, hinge.control_range) == (pytest.approx(0.01), (0, 50))
    (general,) = read(mjc(servo(3, "5, -100, -20"), "p"), meters=0.01).asset.actuators
    assert general.settings["gain"][0] == pytest.approx(0.03)
    assert general.settings["bias"][:3] == pytest.approx([0.05, -100, -20])
    muscle = read(mjc('uniform token mjc:gainType = "muscle"'), meters=0.01)
    assert muscle.kinds == {"usd-actuator-units"}


HINGE = "rel newton:targets = </R/h>"
EXTENDED = "ExtendedPhysicsActuatorAPI"
UNKNOWN_MODE = """
    rel ext_physics:actuator:targets = </R/h>
    uniform token ext_physics:actuator:controlMode = "x"
"""


def prim(kind: str, apis: str, inside: str) -> str:
    applied = ", ".join(f'"{api}"' for api in apis.split())
    return f'def {kind} "m" ( prepend apiSchemas = [{applied}] ) {{ {inside} }}'


@pytest.mark.parametrize(
    ("inside", "why"),
    [
        ('def MjcActuator "m" {}', "no target"),
        ('def MjcActuator "m" { rel mjc:target = </R/gone> }', "gone is not a joint"),
        ('def MjcActuator "m" { rel mjc:target = </R/h>\n rel mjc:refSite = </R/h> }', "not a site"),
        ('def MjcActuator "m" { rel mjc:target = </R/h>\n double[] mjc:gainPrm = [nan] }', "not a number"),
        ('def NewtonActuator "m" {}', "no target"),
        ('def NewtonActuator "m" { rel newton:targets = </R/h> }', "0 control laws"),
        (prim("NewtonActuator", "NewtonPDControlAPI NewtonPIDControlAPI", HINGE), "2 control laws"),
        (prim("NewtonActuator", "NewtonPDControlAPI", "rel newton:targets = </R/k>"), "not a revolute"),
        (prim("NewtonActuator", "NewtonNeuralControlAPI", HINGE), "modelPath"),
        (prim("Scope", EXTENDED, ""), "no target"),
        (prim("Scope", EXTENDED, "rel ext_physics:actuator:targets = [</R/h>, </R/p>]"), "different kinds"),
        (prim("Scope", EXTENDED, UNKNOWN_MODE), "'x'"),
    ],
)
def test_what_a_solver_would_refuse_is_left_out(read, inside, why):
    found = read(machine(inside))
    assert found.asset.actuators == []
    (finding,) = (d for d in found.reporter if d.kind == "usd-actuator-invalid")
    assert why in finding.message
    assert finding.where.prim == "/R/m"


def newton(apis: str, inside: str, target: str = "h") -> str:
    return machine(
        f'def NewtonActuator "m" ( prepend apiSchemas = [{apis}] ) {{ rel newton:targets = </R/{target}>\n {inside} }}'
    )


def test_newton_pd_is_a_servo_in_radians(read):
    (servo_,) = read(
        newton('"NewtonPDControlAPI"', "float newton:kp = 8\n float newton:kd = 2")
    ).asset.actuators
    assert (servo_.kind, servo_.stiffness, servo_.damping, servo_.target) == ("position", 8, 2, "h")
    (velocity,) = read(newton('"NewtonPDControlAPI"', "float newton:kd = 2")).asset.actuators
    assert (velocity.kind, velocity.damping) == ("velocity", 2)
    (motor,) = read(newton('"NewtonPDControlAPI"', "")).asset.actuators
    assert motor.kind == "motor"
    (biased,) = read(
        newton('"NewtonPDControlAPI"', "float newton:kp = 8\n float newton:constEffort = 1")
    ).asset.actuators
    assert (biased.kind, biased.settings["bias"][:3]) == ("general", [1, -8, 0])


def test_newton_pid_clampings_and_delay(read):
    apis = (
        '"NewtonPIDControlAPI", "NewtonMaxEffortClampingAPI", "NewtonDCMotorClampingAPI", '
        '"NewtonPositionBasedClampingAPI", "NewtonActuatorDelayAPI"'
    )
    found = read(
        newton(
            apis,
            """
        float newton:kp = 8
        float newton:ki = 4
        float newton:integralMax = 0.5
        float newton:maxEffort = 20
        float newton:saturationEffort = 30
        float newton:velocityLimit = 10
        float[] newton:lookupPositions = [-1, 0, 2]
        float[] newton:lookupEfforts = [5, 6, 7]
        int newton:delaySteps = 3
    """,
        )
    )
    (actuator,) = found.asset.actuators
    assert (actuator.kind, actuator.stiffness, actuator.force_range) == ("general", 8, (-20, 20))
    settings = actuator.settings
    assert (settings["control"], settings["integral_gain"], settings["integral_limit"]) == ("pid", 4, 0.5)
    assert settings["dc_motor"] == {"max_effort": math.inf, "saturation_effort": 30, "velocity_limit": 10}
    assert settings["effort_table"] == {"positions": [-1, 0, 2], "efforts": [5, 6, 7]}
    assert settings["delay_steps"] == 3
    assert found.kinds == set()


def test_newton_network_and_second_target(read):
    found = read(
        newton('"NewtonNeuralControlAPI"', "asset newton:modelPath = @nets/leg.pt@").replace(
            "= </R/h>", "= [</R/h>, </R/p>]"
        )
    )
    (actuator,) = found.asset.actuators
    assert (actuator.kind, actuator.settings["control"]) == ("general", "neural")
    assert actuator.settings["model_path"].endswith("nets/leg.pt")
    assert found.kinds == {"usd-actuator-targets"}


@pytest.mark.parametrize(
    ("positions", "efforts", "why"),
    [
        ("[0, 1]", "[1]", "2 positions and 1 efforts"),
        ("[]", "[]", "0 positions"),
        ("[0, 0]", "[1, 1]", "do not increase"),
        ("[0, 1]", "[1, -1]", "negative"),
        ("[0, nan]", "[1, 1]", "not a number"),
    ],
)
def test_tables_that_do_not_fit(read, positions, efforts, why):
    inside = f"float[] newton:lookupPositions = {positions}\n float[] newton:lookupEfforts = {efforts}"
    found = read(newton('"NewtonPDControlAPI", "NewtonPositionBasedClampingAPI"', inside))
    assert "effort_table" not in found.asset.actuators[0].settings
    (finding,) = found.reporter
    assert finding.kind == "usd-actuator-table"
    assert why in finding.message


def extended(inside: str, targets: str = "</R/h>", apis: str = "") -> str:
    return machine(f"""
    def Scope "m" ( prepend apiSchemas = ["ExtendedPhysicsActuatorAPI"{apis}] ) {{
        rel ext_physics:actuator:targets = {targets}
        {inside}
    }}""")


SERVO = """
    uniform token ext_physics:actuator:controlMode = "position"
    float ext_physics:actuator:gear = 2
    float ext_physics:actuator:stiffness = 3
    float ext_physics:actuator:damping = 0.5
    float ext_physics:actuator:controlLower = -90
    float ext_physics:actuator:controlUpper = 90
    float ext_physics:actuator:effortUpper = 12
    float ext_physics:actuator:timeConstant = 0.02
"""


def test_extended_servo_counts_in_degrees(read):
    (actuator,) = read(extended(SERVO)).asset.actuators
    assert (actuator.kind, actuator.gear) == ("position", (2,))
    assert actuator.stiffness == pytest.approx(3 / DEG)
    assert actuator.damping == pytest.approx(0.5 / DEG)
    assert actuator.control_range == (pytest.approx(-math.pi / 2), pytest.approx(math.pi / 2))
    assert actuator.force_range == (-math.inf, 12)
    assert (actuator.settings["dynamics_type"], actuator.settings["dynamics"][0]) == (
        "filter",
        pytest.approx(0.02),
    )


def test_extended_slide_counts_in_stage_units(read):
    (actuator,) = read(extended(SERVO, "</R/p>"), meters=0.01).asset.actuators
    assert actuator.stiffness == pytest.approx(3)
    assert actuator.control_range == (pytest.approx(-0.9), pytest.approx(0.9))
    assert actuator.force_range == (-math.inf, pytest.approx(0.12))


def test_extended_modes_targets_and_tables(read):
    velocity = (
        'uniform token ext_physics:actuator:controlMode = "velocity"\n float ext_physics:actuator:damping = 2'
    )
    (actuator,) = read(extended(velocity, "</R/p>")).asset.actuators
    assert (actuator.kind, actuator.damping) == ("velocity", 2)
    (motor,) = read(extended("")).asset.actuators
    assert motor.kind == "motor"
    (scaled,) = read(extended("float ext_physics:actuator:gain = 4")).asset.actuators
    assert (scaled.kind, scaled.settings["gain"][0]) == ("general", 4)
    table = """float[] ext_physics:clamp_position:lookupPositions = [-90, 90]
    float[] ext_physics:clamp_position:lookupEfforts = [1, 2]"""
    (clamped,) = read(extended(table, apis=', "ExtendedPhysicsPositionBasedClampingAPI"')).asset.actuators
    assert clamped.settings["effort_table"]["positions"] == pytest.approx([-math.pi / 2, math.pi / 2])


def test_extended_with_two_targets_and_switched_off(read):
    two = machine("""
    def PhysicsRevoluteJoint "g" { rel physics:body1 = </R/base> }
    def Scope "m" ( prepend apiSchemas = ["ExtendedPhysicsActuatorAPI"] ) {
        rel ext_physics:actuator:targets = [</R/h>, </R/g>]
    }""")
    actuators = read(two).asset.actuators
    assert [(a.name, a.target, a.settings["command"]) for a in actuators] == [
        ("m_h", "h", "m"),
        ("m_g", "g", "m"),
    ]
    found = read(extended("bool ext_physics:actuator:enabled = false"))
    assert found.asset.actuators == []
    assert found.kinds == {"usd-actuator-disabled"}
    assert found.asset.extras.get("ext_physics", "/R/m", "ext_physics:actuator:targets") == ["/R/h"]
