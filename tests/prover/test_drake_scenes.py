"""Drake runs scenes: what of a scene's contacts and solver options arrives, and what is told."""

from __future__ import annotations

import pytest

from simwright.core.diag import Reporter
from simwright.core.errors import SimwrightError
from simwright.engines.protocol import Settings
from simwright.scenes.document import parse_scene
from simwright.scenes.load import assemble_scene
from simwright.scenes.simulation import open_scene

pytestmark = pytest.mark.judge("prove")

BALL = """
schema_version: 1
simulation: {{dt: 0.002, solver: {solver}}}
builder: {{gravity: -10, defaults: {{shape: {{density: 954.93, ke: {ke}, tau: 0.02, mu: 0.5}}}}}}
bodies:
  - id: ball
    mass: 0
    transform: {{p: [0, 0, 0.1]}}
    shapes: [{{type: sphere, radius: 0.1, cfg: {{{cfg}}}}}]
joints: [{{id: free, type: free, child: ball}}]
articulations: [{{id: ball, joints: [free]}}]
"""


def rest(
    solver: str = "{}", ke: float = 1e4, cfg: str = "", ground: str = ""
) -> tuple[float, Reporter, list]:
    """How deep a ball lies at rest [m], what was told, and its contacts."""
    reporter = Reporter()
    loaded = assemble_scene(parse_scene(BALL.format(solver=solver, ke=ke, cfg=cfg) + ground))
    with open_scene(loaded, Settings(), reporter, engine="drake") as simulation:
        simulation.advance(loaded.state, loaded.control, 1500)
        contacts = simulation.inner.contacts()
    return 0.1 - float(loaded.state.joint_q[2]), reporter, contacts


@pytest.mark.parametrize("ke", [4e3, 4e4])
def test_contact_stiffness_is_that_of_both_shapes_in_a_row(ke: float) -> None:
    depth, _, (contact,) = rest(ke=ke)
    assert depth == pytest.approx(40.0 / (ke / 2), rel=1e-3)
    assert contact.force == pytest.approx(40.0, rel=1e-3)
    assert {contact.a, contact.b} == {"", "ball"}


def test_what_is_said_for_shapes_that_say_none_is_theirs_and_else_told() -> None:
    soft, said, _ = rest("{fallback_stiffness: 4.0e+3}", ke=0.0)
    hard, _, _ = rest("{fallback_stiffness: 4.0e+4}", ke=0.0)
    assert (soft, hard) == pytest.approx((40.0 / 2e3, 40.0 / 2e4), rel=1e-3)
    assert not [found for found in said if found.kind == "drake-option-not-used"]
    depth, said, _ = rest("{fallback_stiffness: 4.0e+3, contact_tau_d: 0.2, fallback_mu: 0.1}", ke=4e4)
    assert depth == pytest.approx(40.0 / 2e4, rel=1e-3), "the shapes' own stiffness"
    told = [found.message for found in said if found.kind == "drake-option-not-used"]
    assert len(told) == 3
    assert any("fallback_mu: 0.1" in text and "friction of its own" in text for text in told)


def test_dissipation_of_shapes_that_say_none() -> None:
    """A ball that is let go a little above the ground comes up again the less, the longer the time is."""
    none = "post_build: [{op: set_array, array: shape_material_tau, range: all, values: [-1.0]}]"
    none += "\nground: {cfg: {tau: 0}}"
    heights = {}
    for time in (0.001, 0.2):
        loaded = assemble_scene(
            parse_scene(BALL.format(solver=f"{{contact_tau_d: {time}}}", ke=1e4, cfg="") + none)
        )
        loaded.state.joint_q[2] += 0.2
        with open_scene(loaded, Settings(), Reporter(), engine="drake") as simulation:
            simulation.advance(loaded.state, loaded.control, 150)
            most = 0.0
            for _ in range(15):
                simulation.advance(loaded.state, loaded.control, 10)
                most = max(most, float(loaded.state.joint_q[2]))
        heights[time] = most
    assert heights[0.001] > heights[0.2] + 0.05


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"contact_beta": "abc"}, "contact_beta is 'abc' .a number"),
        ({"contact_beta": "-1"}, "contact_beta is '-1' .a number from zero on"),
        ({"fallback_stiffness": "0"}, "fallback_stiffness is '0' .a number above zero"),
        ({"fallback_mu": "nan"}, "fallback_mu is 'nan'"),
        ({"contact_preset_variant": "foo"}, "unknown contact_preset_variant of drake 'foo'"),
        ({"line_search_variant": "exact"}, "did you mean 'exact_root'"),
        ({"contact_model": "hydroelastic"}, "one has no hydroelastic surface"),
    ],
)
def test_options_that_cannot_be_meant_are_told(options: dict[str, str], message: str) -> None:
    loaded = assemble_scene(parse_scene(BALL.format(solver="{}", ke=1e4, cfg="")))
    with (
        pytest.raises(SimwrightError, match=message),
        open_scene(loaded, Settings(options=options), Reporter(), engine="drake") as simulation,
    ):
        simulation.advance(loaded.state, loaded.control, 100)


def test_hydroelastic_contact_is_softer_by_its_modulus() -> None:
    ground = "ground: {cfg: {is_hydroelastic: true}}"
    depths = [rest(cfg=f"is_hydroelastic: true, kh: {kh}", ground=ground) for kh in ("1e6", "1e7")]
    assert depths[0][0] > 1.5 * depths[1][0] > 0.0
    assert sum(contact.force for contact in depths[0][2]) == pytest.approx(40.0, rel=0.02)


def test_what_the_solver_of_drake_decides_itself_is_told() -> None:
    _, said, _ = rest(
        "{contact_preset_variant: approx32, line_search_variant: armijo_decay, max_iterations: 7}"
    )
    told = {found.kind: found.message for found in said}
    assert "max_iterations" in told["scene-solver-ignored"]
    assert {"drake-option-not-used"} <= set(told)
    _, said, _ = rest("{contact_preset_variant: drake, line_search_variant: exact_root}")
    assert not [found for found in said if found.kind.startswith(("drake-", "scene-solver"))]


def test_the_near_rigid_threshold_softens_what_is_too_stiff() -> None:
    """SAP lets a contact be as stiff as the time step allows: beta 1 is the softest of that kind."""
    hard, _, _ = rest("{contact_beta: 0.0}", ke=1e10)
    soft, _, _ = rest("{contact_beta: 1.0}", ke=1e10)
    assert soft > hard >= 0.0
