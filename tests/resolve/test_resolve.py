"""Who decides, through three layers."""

from __future__ import annotations

import itertools
import math

import pytest

from simwright.core.errors import UnknownNameError, UsageError
from simwright.model.asset import Asset
from simwright.resolve import (
    Lost,
    Origin,
    PrimType,
    Resolved,
    ResolverOrder,
    Row,
    SchemaResolver,
    SchemaResolverMjc,
    SchemaResolverNewton,
    SchemaResolverPhysx,
    find_resolver,
    make_resolvers,
    resolve,
    schema_attrs,
)
from simwright.resolve import resolver as resolver_module

ARMATURES = {"newton:armature": 0.01, "physxJoint:armature": 0.02, "mjc:armature": 0.03}
NAMES = {"newton": "newton:armature", "physx": "physxJoint:armature", "mjc": "mjc:armature"}


@pytest.mark.parametrize("order", list(itertools.permutations(NAMES)))
def test_order_is_priority(order):
    """The example of the seed, in all six orders."""
    found = resolve(make_resolvers(order), ARMATURES, PrimType.JOINT, "armature")
    first, *rest = order
    assert found == Resolved(
        ARMATURES[NAMES[first]],
        Origin.AUTHORED,
        first,
        NAMES[first],
        tuple(Lost(name, NAMES[name], ARMATURES[NAMES[name]]) for name in rest),
    )


def test_instances_give_an_order_too():
    resolvers = make_resolvers([SchemaResolverPhysx(), SchemaResolverNewton(), SchemaResolverMjc()])
    assert resolve(resolvers, ARMATURES, PrimType.JOINT, "armature").value == 0.02


def test_the_neutral_schema_comes_first():
    authored = {**ARMATURES, "ext_physics:joint:armature": 0.5}
    found = resolve(make_resolvers(["mjc"]), authored, PrimType.JOINT, "armature")
    assert (found.value, found.namespace) == (0.5, "ext_physics")
    assert [lost.namespace for lost in found.lost] == ["mjc"]


def test_three_layers():
    resolvers = (SchemaResolverPhysx(), SchemaResolverNewton())
    ask = PrimType.SCENE, "time_steps_per_second"
    authored = resolve(resolvers, {"newton:timeStepsPerSecond": 240}, *ask, default=100)
    assert (authored.value, authored.origin, authored.namespace) == (240, "authored", "newton")
    assert resolve(resolvers, {}, *ask, default=100) == Resolved(100, Origin.IMPORTER)
    assert resolve(resolvers, {}, *ask) == Resolved(
        60, Origin.SCHEMA, "physx", "physxScene:timeStepsPerSecond"
    )
    assert resolve(resolvers, {}, PrimType.SCENE, "nonsense") == Resolved()


def test_fallbacks_pass_through_their_transforms():
    ask = {}, PrimType.SCENE
    assert resolve([SchemaResolverPhysx()], *ask, "gravity_enabled").value is True
    assert resolve([SchemaResolverMjc()], *ask, "time_steps_per_second").value == pytest.approx(500)
    gap = resolve([SchemaResolverPhysx(), SchemaResolverMjc()], {}, PrimType.SHAPE, "gap")
    # PhysX's fallback of -inf leaves it to the engine, which is an answer: MuJoCo's is not asked
    assert (gap.value, gap.origin, gap.namespace) == (None, Origin.SCHEMA, "physx")
    gap = resolve([SchemaResolverMjc(), SchemaResolverPhysx()], {}, PrimType.SHAPE, "gap")
    assert (gap.value, gap.namespace) == (0.0, "mjc")


def test_a_transform_that_gives_nothing_asks_the_next():
    authored = {"physxCollision:restOffset": -math.inf, "mjc:margin": 0.25}
    found = resolve(make_resolvers(["physx", "mjc"]), authored, PrimType.SHAPE, "margin")
    assert (found.value, found.namespace, found.lost) == (0.25, "mjc", ())


def test_a_sentinel_stops_the_search():
    resolvers = make_resolvers(["newton", "physx"])
    authored = {"newton:limitStiffness": -math.inf, "physxLimit:angular:stiffness": 5.0}
    keys = ("limit_ke", "limit_angular_ke")
    found = resolve(resolvers, authored, PrimType.JOINT, keys, default=7.0)
    assert (found.value, found.origin, found.attribute) == (7.0, "importer default", "newton:limitStiffness")
    (lost,) = found.lost
    assert lost.value == pytest.approx(5.0 * 180 / math.pi)


@pytest.mark.parametrize("order", [("newton", "physx"), ("physx", "newton")])
def test_the_more_general_key_comes_first(order):
    authored = {"newton:limitStiffness": 2.0, "physxLimit:angular:stiffness": 5.0}
    found = resolve(
        make_resolvers(order), authored, PrimType.JOINT, ("limit_ke", "limit_angular_ke"), angular=True
    )
    assert (found.namespace, found.value) == ("newton", pytest.approx(2.0 * 180 / math.pi))


def test_damping_of_whoever_comes_first():
    authored = {"newton:damping": 1.0, "mjc:damping": 2.0}
    for order, value in ((("newton", "mjc"), 180 / math.pi), (("mjc", "newton"), 2.0)):
        found = resolve(make_resolvers(order), authored, PrimType.JOINT, "damping", angular=True)
        assert found.value == pytest.approx(value)


def test_get_value_of_one_resolver():
    newton = SchemaResolverNewton()
    assert newton.get_value({"newton:armature": 2.0}, PrimType.JOINT, "armature") == 2.0
    assert newton.get_value({"newton:contactGap": -math.inf}, PrimType.SHAPE, "gap") is None
    assert newton.get_value({}, PrimType.SHAPE, "gap") is None


def test_unknown_and_repeated_names():
    with pytest.raises(UnknownNameError, match="newton"):
        make_resolvers(["newtn"])
    with pytest.raises(UsageError, match="twice"):
        make_resolvers(["newton", "newton"])
    assert [r.name for r in make_resolvers([])] == ["ext_physics"]


def test_a_new_solver_is_rows(monkeypatch):
    row = Row(PrimType.JOINT, "armature", ("bullet:rotor",), "BulletJointAPI", doc="Rotor inertia.")
    bullet = SchemaResolver("bullet", [row], ["bulletScene"])
    monkeypatch.setitem(resolver_module.RESOLVERS._loaded, "bullet", bullet)
    monkeypatch.setitem(resolver_module.RESOLVERS._builtin, "bullet", "unused")
    try:
        order = ResolverOrder(make_resolvers(["bullet", "newton"]))
        found = order.resolve({"bullet:rotor": 4.0, "newton:armature": 1.0}, PrimType.JOINT, "armature")
    finally:
        resolver_module._made.pop("bullet", None)
    assert (found.value, found.namespace) == (4.0, "bullet")
    assert bullet.collect({"bulletScene:x": 1, "bullet:rotor": 2, "newton:y": 3}) == {
        "bulletScene:x": 1,
        "bullet:rotor": 2,
    }


def test_a_plugin_without_rows_is_refused(monkeypatch):
    monkeypatch.setitem(resolver_module.RESOLVERS._loaded, "empty", object())
    monkeypatch.setitem(resolver_module.RESOLVERS._builtin, "empty", "unused")
    with pytest.raises(UsageError, match="holds no rows"):
        find_resolver("empty")


def test_schema_attrs_are_sorted_by_solver():
    asset = Asset("a")
    asset.extras.keep("physx", "/j", "physxJoint:armature", 1.0)
    asset.extras.keep("physx", "/j", "state:angular:physics:position", 2.0)
    asset.extras.keep("drive", "/j", "drive:angular:physics:stiffness", 3.0)
    asset.extras.keep("newton", "/b", "newton:mass_scale", 4.0)
    asset.extras.keep("isaac", "/b", "isaac:x", 5.0)
    assert schema_attrs(asset, ["physx", "newton"]) == {
        "physx": {
            "/j": {
                "physxJoint:armature": 1.0,
                "state:angular:physics:position": 2.0,
                "drive:angular:physics:stiffness": 3.0,
            }
        },
        "newton": {"/b": {"newton:mass_scale": 4.0}},
    }
