"""Joints as edges: components, the world, loops, articulation roots."""

from __future__ import annotations

from pxr import Usd

from simwright.checker.facts.graph import JointGraph
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.usd.plugins import register_plugins

register_plugins()


def bodies(*names: str, root: str = "") -> str:
    text = ""
    for name in names:
        apis = '"PhysicsRigidBodyAPI"' + (', "PhysicsArticulationRootAPI"' if name == root else "")
        text += (
            f'def Xform "{name}" (\n    prepend apiSchemas = [{apis}]\n)\n{{\n    def Xform "part" {{}}\n}}\n'
        )
    return text


def joint(
    name: str, body0: str = "", body1: str = "", extra: str = "", kind: str = "Revolute", head: str = ""
) -> str:
    ends = "".join(f"    rel physics:body{i} = <{body}>\n" for i, body in enumerate((body0, body1)) if body)
    return f'def Physics{kind}Joint "{name}" {head}\n{{\n{ends}    {extra}\n}}\n'


def graph_of(text: str) -> JointGraph:
    stage = Usd.Stage.CreateInMemory()
    assert stage.GetRootLayer().ImportFromString("#usda 1.0\n" + text)
    return StageSnapshot(stage).graph


def names(components) -> list[list[str]]:
    return [[body.name for body in component.bodies] for component in components]


def test_components_are_what_joints_hold_together():
    graph = graph_of(bodies("a", "b", "c", "d") + joint("j", "/a", "/b") + joint("k", "/d", "/c"))
    assert names(graph.components) == [["a", "b"], ["c", "d"]]
    assert graph.of_body["/a"] is graph.of_body["/b"]
    assert [edge.joint.name for edge in graph.of_body["/a"].edges] == ["j"]
    assert [edge.joint.name for edge in graph.edges_of["/c"]] == ["k"]
    assert graph.loops == []


def test_the_world_joins_nobody():
    graph = graph_of(
        bodies("a", "b") + joint("j", "", "/a", kind="Fixed") + joint("k", "/b", "", kind="Fixed")
    )
    assert names(graph.components) == [["a"], ["b"]]
    for component in graph.components:
        (anchor,) = component.anchors
        assert anchor.to_world
        assert anchor.is_fixed
        assert component.moving == []


def test_a_target_below_a_body_counts_as_the_body_and_one_without_body_as_the_world():
    graph = graph_of(
        bodies("a", "b") + 'def Xform "w" {}\n' + joint("j", "/a/part", "/b") + joint("k", "/w", "/a")
    )
    first, second = graph.edges
    assert (first.body0.path, first.body1.path) == ("/a", "/b")
    assert second.body0 is None
    assert second.missing == []
    assert second.other(second.body1) is None


def test_targets_that_lead_nowhere_are_kept_apart():
    graph = graph_of(bodies("a") + joint("j", "/gone", "/a"))
    (edge,) = graph.edges
    assert edge.body0 is None
    assert edge.missing == ["/gone"]


def test_a_joint_without_any_body_is_in_no_component():
    graph = graph_of(joint("j") + bodies("a"))
    assert graph.edges[0].body0 is graph.edges[0].body1 is None
    assert not graph.edges[0].to_world
    assert graph.of_body["/a"].edges == []


def test_disabled_joints_hold_nothing():
    graph = graph_of(bodies("a", "b") + joint("j", "/a", "/b", "bool physics:jointEnabled = 0"))
    assert names(graph.components) == [["a"], ["b"]]
    assert not graph.edges[0].enabled
    assert graph.loops == []


def test_a_cycle_has_one_loop_joint():
    graph = graph_of(
        bodies("a", "b", "c") + joint("j", "/a", "/b") + joint("k", "/b", "/c") + joint("l", "/c", "/a")
    )
    assert names(graph.components) == [["a", "b", "c"]]
    (loop,) = graph.loops
    cycle = graph.find_cycle(loop)
    assert {edge.joint.name for edge in cycle} == {"j", "k", "l"}
    assert cycle[-1] is loop


def test_an_excluded_joint_opens_the_loop_but_holds_the_component():
    graph = graph_of(
        bodies("a", "b", "c")
        + joint("j", "/a", "/b")
        + joint("k", "/b", "/c")
        + joint("l", "/c", "/a", "bool physics:excludeFromArticulation = 1")
    )
    assert graph.loops == []
    assert names(graph.components) == [["a", "b", "c"]]
    two = graph_of(bodies("a", "b") + joint("j", "/a", "/b", "bool physics:excludeFromArticulation = 1"))
    assert names(two.components) == [["a", "b"]]


def test_two_anchors_close_a_loop_through_the_world():
    graph = graph_of(bodies("a", "b") + joint("j", "", "/a") + joint("k", "/a", "/b") + joint("l", "/b"))
    assert len(graph.loops) == 1


def test_a_joint_from_a_body_to_itself_is_a_loop():
    graph = graph_of(bodies("a") + joint("j", "/a", "/a/part"))
    assert [edge.joint.name for edge in graph.loops] == ["j"]
    assert graph.find_cycle(graph.loops[0]) == graph.loops


def test_articulation_roots_on_a_body_a_joint_or_a_prim_above():
    head = '(\n    prepend apiSchemas = ["PhysicsArticulationRootAPI"]\n)'
    on_body = graph_of(bodies("a", "b", root="a") + joint("j", "/a", "/b"))
    assert [[r.name for r in c.roots] for c in on_body.components] == [["a"]]
    on_joint = graph_of(bodies("a", "b") + joint("j", "", "/a", head=head) + joint("k", "/a", "/b"))
    assert [[r.name for r in c.roots] for c in on_joint.components] == [["j"]]
    above = graph_of(
        f'def Xform "robot" {head}\n{{\n{bodies("a", "b")}{joint("j", "/robot/a", "/robot/b")}}}\n'
    )
    assert [[r.name for r in c.roots] for c in above.components] == [["robot"]]


def test_a_loose_body_is_a_component_of_its_own():
    graph = graph_of(bodies("a", "b"))
    assert names(graph.components) == [["a"], ["b"]]
    assert graph.edges == []
