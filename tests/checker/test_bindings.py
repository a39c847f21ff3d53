"""Our resolution of the physics binding agrees with OpenUSD's, and keeps the purposes apart."""

from __future__ import annotations

import pytest
from pxr import Usd, UsdShade

from simwright.checker.facts.bindings import ALL_PURPOSE, PHYSICS, read_bindings
from simwright.checker.facts.snapshot import StageSnapshot

STAGE = """#usda 1.0
def Material "m" {}
def Material "n" {}
def Material "v" {}
def Xform "a" (
    prepend apiSchemas = ["MaterialBindingAPI", "CollectionAPI:some"]
)
{
    rel material:binding:physics = </m>
    rel material:binding = </v>
    rel collection:some:includes = </a/c>
    rel material:binding:collection:physics:some = [</a.collection:some>, </n>]
    def Cube "c" {}
    def Cube "d" (
        prepend apiSchemas = ["MaterialBindingAPI"]
    )
    {
        rel material:binding:physics = </n>
    }
    def Xform "e"
    {
        def Cube "f" {}
    }
}
def Xform "strong" (
    prepend apiSchemas = ["MaterialBindingAPI", "CollectionAPI:some"]
)
{
    rel material:binding:physics = </m> (
        bindMaterialAs = "strongerThanDescendants"
    )
    rel collection:some:includes = </strong/g>
    rel material:binding:collection:physics:some = [</strong.collection:some>, </n>]
    def Xform "g" (
        prepend apiSchemas = ["MaterialBindingAPI"]
    )
    {
        rel material:binding:physics = </v>
        def Cube "h" {}
    }
    def Cube "i" (
        prepend apiSchemas = ["MaterialBindingAPI"]
    )
    {
        rel material:binding:physics = </n>
    }
}
def Xform "outer" (
    prepend apiSchemas = ["MaterialBindingAPI"]
)
{
    rel material:binding:physics = </m> (
        bindMaterialAs = "strongerThanDescendants"
    )
    def Xform "inner" (
        prepend apiSchemas = ["MaterialBindingAPI"]
    )
    {
        rel material:binding:physics = </n> (
            bindMaterialAs = "strongerThanDescendants"
        )
        def Cube "k" (
            prepend apiSchemas = ["MaterialBindingAPI"]
        )
        {
            rel material:binding:physics = </v>
        }
    }
}
def Cube "bare" {}
"""


@pytest.fixture
def snapshot():
    stage = Usd.Stage.CreateInMemory()
    stage.GetRootLayer().ImportFromString(STAGE)
    return StageSnapshot(stage)


def test_agrees_with_openusd_on_every_prim(snapshot):
    book = read_bindings(snapshot)
    for node in snapshot.nodes:
        (own,) = book.find(node, PHYSICS)
        if own is None:
            (own,) = book.find(node, ALL_PURPOSE)
        material, relation = UsdShade.MaterialBindingAPI(node.prim).ComputeBoundMaterial(PHYSICS)
        assert (own.target if own else None) == (material.GetPath() if material else None), node
        assert (own.relation if own else None) == (relation.GetName() if relation else None), node


def test_purposes_are_kept_apart(snapshot):
    book = read_bindings(snapshot)
    node = snapshot.node("/a/e/f")
    assert [b.target.pathString for b in book.find(node, PHYSICS)] == ["/m"]
    assert [b.target.pathString for b in book.find(node, ALL_PURPOSE)] == ["/v"]
    assert book.find(snapshot.node("/bare"), PHYSICS) == (None,)


def test_a_prototype_has_the_bindings_of_all_its_instances():
    stage = Usd.Stage.CreateInMemory()
    stage.GetRootLayer().ImportFromString(
        """#usda 1.0
        def Material "m" {}
        class Xform "_part"
        {
            def Cube "c" {}
        }
        def Xform "one" (
            prepend apiSchemas = ["MaterialBindingAPI"]
            instanceable = true
            prepend references = </_part>
        )
        {
            rel material:binding:physics = </m>
        }
        def Xform "two" (
            instanceable = true
            prepend references = </_part>
        )
        {
        }
        """
    )
    snapshot = StageSnapshot(stage)
    answers = read_bindings(snapshot).find(snapshot.node("/two/c"), PHYSICS)
    assert {b.target.pathString if b else None for b in answers} == {"/m", None}
