"""Random stages in our importer and in Newton's: every array of the two builders is the same."""

from __future__ import annotations

import numpy as np
import pytest
from random_stages import make_chain, make_weights

from simwright.engines.newton import add_usd

pytestmark = pytest.mark.judge("newton")

ORDERS = (("newton",), ("newton", "physx", "mjc"), ("physx", "newton", "mjc"), ("mjc", "newton", "physx"))
JOINT_ARRAYS = (
    "axis", "limit_lower", "limit_upper", "limit_ke", "limit_kd", "target_ke", "target_kd", "target_mode",
    "target_q", "target_qd", "armature", "friction", "damping", "effort_limit", "velocity_limit", "q", "qd",
)  # fmt: skip


def assert_same(ours, theirs, name):
    ours, theirs = np.array(ours, dtype=float), np.array(theirs, dtype=float)
    assert ours.shape == theirs.shape, name
    with np.errstate(invalid="ignore"):
        same = (ours == theirs) | (np.abs(ours - theirs) <= 1e-5 * np.abs(theirs) + 1e-6)
    assert np.all(same), (name, ours[~same], theirs[~same])


@pytest.mark.parametrize("order", ORDERS, ids=",".join)
@pytest.mark.parametrize("seed", range(6))
def test_joints_that_three_solvers_talk_about(import_both, tmp_path, seed, order):
    path = tmp_path / "chain.usda"
    path.write_text(make_chain(seed))
    ours, theirs = import_both(path, order)
    assert ours.joint_type == theirs.joint_type
    assert ours.joint_dof_dim == theirs.joint_dof_dim
    for name in JOINT_ARRAYS:
        assert_same(getattr(ours, f"joint_{name}"), getattr(theirs, f"joint_{name}"), name)
    assert_same(ours.body_qd, theirs.body_qd, "body_qd")
    assert_same(ours.gravity, theirs.gravity, "gravity")
    for key, attribute in theirs.custom_attributes.items():
        if isinstance(attribute.values, dict):
            found = ours.custom_attributes[key].values
            assert found.keys() == attribute.values.keys(), key
            for at, value in attribute.values.items():
                if isinstance(value, str):
                    assert found[at] == value
                else:
                    assert_same(found[at], value, key)


@pytest.mark.parametrize("seed", range(8))
def test_bodies_whose_mass_comes_from_many_places(newton, import_theirs, tmp_path, seed):
    path = tmp_path / "weights.usda"
    path.write_text(make_weights(seed))
    ours, theirs = newton.ModelBuilder(), import_theirs(path)
    add_usd(ours, path, schema_resolvers=("newton",))
    assert ours.body_label == theirs.body_label
    for i, label in enumerate(theirs.body_label):
        assert ours.body_mass[i] == pytest.approx(theirs.body_mass[i], rel=1e-5), label
        np.testing.assert_allclose(ours.body_com[i], theirs.body_com[i], atol=1e-5, err_msg=label)
        tensor, expected = (np.array(b.body_inertia[i]).reshape(3, 3) for b in (ours, theirs))
        size = float(np.abs(expected).max())
        np.testing.assert_allclose(tensor, expected, atol=2e-5 * size, err_msg=label)
