# SPDX-License-Identifier: Apache-2.0
"""Scene files are held against the schema: every section, alias and documented error."""

import json
import math

import pytest

from simwright.core.diag import Reporter
from simwright.core.documents.validate import InvalidDocumentError
from simwright.core.errors import LimitError, ParseError, UsageError
from simwright.scenes.document import parse_scene, read_scene


def scene_of(text, **options):
    return parse_scene(text, name="s.yaml", **options).scene


def problem_of(text, **options):
    with pytest.raises(InvalidDocumentError) as caught:
        scene_of(text, **options)
    return caught.value


def test_the_minimal_scene_has_defaults():
    scene = scene_of("name: empty\n")
    assert scene.schema_version == 1
    assert scene.ground.enabled
    assert scene.ground.label == "ground_plane"
    assert scene.choose_worlds() == 1
    assert scene.simulation.solver.list_said() == {}


@pytest.mark.parametrize("version", ["1", "'1'", "1.0"])
def test_versions_that_are_one(version):
    assert scene_of(f"schema_version: {version}\n").schema_version == 1


@pytest.mark.parametrize("version", ["2", "0", "one", "true", "[1]", ".inf"])
def test_other_versions_are_refused(version):
    assert "schema version" in problem_of(f"schema_version: {version}\n").message


@pytest.mark.parametrize(
    ("text", "worlds"),
    [
        ("simulation: {num_worlds: 3}\nreplicate: {num_worlds: 5}", 3),
        ("replicate: {num_worlds: 5}", 5),
        ("simulation: {num_worlds: null}\nreplicate: {num_worlds: 5}", 5),
    ],
)
def test_numbers_of_worlds(text, worlds):
    assert scene_of(text).choose_worlds() == worlds
    assert scene_of(text).choose_worlds(7) == 7


def test_fewer_worlds_than_one():
    assert "has to be at least 1" in problem_of("simulation: {num_worlds: 0}").message
    assert scene_of("simulation: {num_worlds: -3}", compat="sap").choose_worlds() == 1


@pytest.mark.parametrize(
    ("text", "enabled"),
    [
        ("ground: true", 1),
        ("ground: false", 0),
        ("ground:", 1),
        ("ground: {}", 1),
        ("ground: {enabled: false}", 0),
    ],
)
def test_switches_of_the_ground(text, enabled):
    assert scene_of(text).ground.enabled is bool(enabled)


ALIASES = [
    ("margin", ["margin", "contact_margin", "shape_margin"]),
    ("gap", ["gap", "shape_gap"]),
    ("mu", ["mu", "shape_mu"]),
    ("ke", ["ke", "shape_ke"]),
    ("tau", ["tau", "shape_tau", "relaxation_time"]),
]


@pytest.mark.parametrize(("field", "word"), [(field, word) for field, words in ALIASES for word in words])
def test_aliases_everywhere(field, word):
    value = f"{word}: 0.25"
    scene = scene_of(
        f"builder: {{defaults: {{shape: {{{value}}}}}}}\n"
        f"ground: {{cfg: {{{value}}}}}\n"
        f"assets: [{{type: usd, source: a.usda, {value}}}, {{type: urdf, source: a.urdf, physics: {{{value}}}}}]\n"
        f"bodies: [{{id: b, {value}, shapes: [{{shape: {{{value}}}}}, {{cfg: {{{value}}}}}, {{{value}}}]}}]\n"
        f"post_build: [{{op: add_shape, {value}}}]\n"
    )
    expected = {field: 0.25}
    assert scene.builder.defaults.shape.list_values() == expected
    assert scene.ground.merge_fields() == expected
    assert [asset.merge_fields() for asset in scene.assets] == [expected] * 2
    assert scene.bodies[0].merge_fields() == expected
    assert [shape.merge_fields() for shape in scene.bodies[0].shapes] == [expected] * 3
    assert scene.post_build[0].merge_fields() == expected


def test_two_words_for_one_thing():
    text = "bodies: [{id: b, shapes: [{margin: 1, contact_margin: 2}]}]"
    assert "two words for the same thing" in problem_of(text).message
    assert scene_of(text, compat="sap").bodies[0].shapes[0].margin == 2


def test_the_order_of_material_blocks():
    text = (
        "bodies: [{id: b, shapes: [{physics: {mu: 1, ke: 1, tau: 1, gap: 1}, shape: {ke: 2, tau: 2, gap: 2},"
        " tau: 3, gap: 3, cfg: {gap: 4}}]}]"
    )
    assert scene_of(text).bodies[0].shapes[0].merge_fields() == {"mu": 1, "ke": 2, "tau": 3, "gap": 4}


def test_density_outside_cfg():
    text = "bodies: [{id: b, physics: {density: 5, mu: 2}, cfg: {kh: 1}}]"
    body = scene_of(text).bodies[0]
    assert body.merge_fields() == {"density": 5, "mu": 2, "kh": 1}
    assert body.merge_fields(only_material=True, with_cfg=False) == {"mu": 2}  # as SAP Warp reads it


def test_a_wrong_value_under_an_alias_has_its_place():
    error = problem_of("bodies:\n  - id: b\n    shapes:\n      - relaxation_time: soon\n")
    assert str(error.where) == "s.yaml:4:26"
    assert "'soon' is not a number" in error.message


@pytest.mark.parametrize(
    ("text", "seven"),
    [
        ("identity", (0, 0, 0, 0, 0, 0, 1)),
        ("", (0, 0, 0, 0, 0, 0, 1)),
        ("{}", (0, 0, 0, 0, 0, 0, 1)),
        ("{p: [1, pi, 3]}", (1, math.pi, 3, 0, 0, 0, 1)),
        ("{q: identity}", (0, 0, 0, 0, 0, 0, 1)),
        ("{p: null, q: null}", (0, 0, 0, 0, 0, 0, 1)),
        ("{q: [0, 0, 0, 2]}", (0, 0, 0, 0, 0, 0, 1)),
        ("{q: [1, 0, 0, 1]}", (0, 0, 0, math.sqrt(0.5), 0, 0, math.sqrt(0.5))),
        (
            "{q: {axis_angle: {axis: [0, 0, 2], angle: pi / 2}}}",
            (0, 0, 0, 0, 0, math.sqrt(0.5), math.sqrt(0.5)),
        ),
        ("{q: {axis_angle: {axis: y, angle: pi}}}", (0, 0, 0, 0, 1, 0, 0)),
    ],
)
def test_transforms(text, seven):
    assert scene_of(f"bodies: [{{id: b, transform: {text}}}]").bodies[0].transform.seven == pytest.approx(
        seven, abs=1e-15
    )


def test_transforms_stay_as_written_in_compat():
    scene = scene_of("bodies: [{id: b, transform: {q: [0, 0, 0, 2]}}]", compat="sap")
    assert scene.bodies[0].transform.q == (0, 0, 0, 2)
    turn = "bodies: [{id: b, transform: {q: {axis_angle: {axis: [0, 0, 2], angle: pi / 2}}}}]"
    assert scene_of(turn, compat="sap").bodies[0].transform.q == pytest.approx(
        (0, 0, math.sqrt(2), math.sqrt(0.5))
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("here", "has to be 'identity' or {p:"),
        ("{p: [1, 2]}", "list of three numbers"),
        ("{p: up}", "list of three numbers"),
        ("{p: [1, 2, up]}", "the name 'up' is not known"),
        ("{q: [0, 0, 0]}", "has to be 'identity', a list"),
        ("{q: [0, 0, 0, 0]}", "a quaternion may not be zero"),
        ("{q: {axis_angle: {axis: [0, 0, 0], angle: 1}}}", "an axis may not be zero"),
        ("{q: {axis_angle: {axis: z}}}", "axis_angle.angle"),
        ("{q: {euler: [0, 0, 1]}}", "axis_angle"),
        ("{pos: [0, 0, 1]}", "unknown key 'pos'"),
    ],
)
def test_wrong_transforms(text, message):
    assert message in problem_of(f"bodies: [{{id: b, transform: {text}}}]").message


@pytest.mark.parametrize(
    ("axis", "vector"),
    [
        ("[0, 0, 2]", (0, 0, 1)),
        ("X", (1, 0, 0)),
        ("y", (0, 1, 0)),
        ("Axis.Z", (0, 0, 1)),
        ("0", (1, 0, 0)),
        ("2", (0, 0, 1)),
        ("-x", (-1, 0, 0)),
        ("'+y'", (0, 1, 0)),
    ],
)
def test_axes(axis, vector):
    scene = scene_of(f"joints: [{{id: j, type: revolute, child: b, axis: {axis}}}]")
    assert scene.joints[0].axis == pytest.approx(vector)


def test_odd_axes():
    assert (
        "is not one of x, y, z" in problem_of("joints: [{id: j, type: revolute, child: b, axis: up}]").message
    )
    assert scene_of("joints: [{id: j, type: revolute, child: b, axis: up}]", compat="sap").joints[0].axis == (
        0,
        0,
        1,
    )
    kept = scene_of("joints: [{id: j, type: revolute, child: b, axis: [0, 3, 0]}]", compat="sap")
    assert kept.joints[0].axis == (0, 3, 0)


@pytest.mark.parametrize("kind", ["fixed", "free", "revolute", "prismatic", "ball", "d6", "distance"])
def test_joint_types(kind):
    joint = scene_of(f"joints: [{{id: j, type: {kind}, child: b}}]").joints[0]
    assert joint.type == kind
    assert joint.parent == "world"
    assert joint.collision_filter_parent


def test_joint_fields():
    joint = scene_of(
        "joints: [{id: j, type: prismatic, parent: a, child: b, axis: y, target_pos: 1, target_vel: 2, target_ke: 3,"
        " target_kd: 4, limit_lower: -pi, limit_upper: pi, limit_ke: 5, limit_kd: 6, armature: 7, effort_limit: 8,"
        " velocity_limit: 9, friction: 10, actuator_mode: effort}]"
    ).joints[0]
    assert joint.list_values() == {
        "target_pos": 1, "target_vel": 2, "target_ke": 3, "target_kd": 4,
        "limit_lower": -math.pi, "limit_upper": math.pi,
        "limit_ke": 5, "limit_kd": 6, "armature": 7, "effort_limit": 8, "velocity_limit": 9, "friction": 10,
        "actuator_mode": 4, "axis": (0, 1, 0),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("joints: [{id: j, type: hinge, child: b}]", "'hinge' is not one of fixed, free, revolute"),
        ("joints: [{id: j, child: b}]", "the key 'type' is missing"),
        ("joints: [{type: free, child: b}]", "the key 'id' is missing"),
        ("joints: [{id: j, type: free}]", "the key 'child' is missing"),
        ("joints: [{id: j, type: free, child: b, axis: x}]", "unknown key 'axis'"),
        (
            "joints: [{id: j, type: revolute, child: b, limit_lower: 1, limit_upper: 0}]",
            "is above limit_upper",
        ),
        ("joints: [{id: '', type: free, child: b}]", "at least 1 character"),
        ("bodies: [{mass: 1}]", "the key 'id' is missing"),
        ("bodies: [{id: b, mass: -1}]", "greater than or equal to 0"),
        ("bodies: [{id: b, shapes: [{type: plane}]}]", "'plane' is not one of box, sphere, capsule"),
        ("bodies: [{id: b, shapes: [{type: sphere, radius: 0}]}]", "has to be greater than 0"),
        ("bodies: [{id: b, shapes: [{type: sphere, raduis: 1}]}]", "did you mean 'radius'?"),
        ("bodies: [{id: b, shapes: [{type: mesh}]}]", "the key 'path' is missing"),
        (
            "bodies: [{id: b, shapes: [{type: mesh, path: a, axis_order: [0, 0, 1]}]}]",
            "has to hold 0, 1 and 2",
        ),
        ("bodies: [{id: b, shapes: [{type: mesh, path: a, scale: 1, mesh_scale: 2}]}]", "two words"),
        ("bodies: [{id: b, shapes: [{color: [1, 2]}]}]", "[red, green, blue]"),
        ("bodies: [{id: b, shapes: [{color: [1, 2, 300]}]}]", "from 0 to 255"),
        ("bodies: [{id: b, shapes: [{cfg: {desnity: 1}}]}]", "did you mean 'density'?"),
        ("bodies: {id: b}", "valid list"),
        ("articulations: [{joints: []}]", "at least 1 item"),
        ("initial_joint_q: [{value: 1}]", "has to say one of 'index' and 'joint'"),
        ("initial_joint_q: [{index: 0, joint: a, value: 1}]", "has to say one of"),
        ("initial_joint_q: [{index: 0}]", "the key 'value' is missing"),
        ("simulation: {dt: 0}", "greater than 0"),
        ("simulation: {time_step: 1}", "unknown key 'time_step' in simulation"),
        ("builder: {gravity: [1, 2]}", "list of three numbers"),
        ("builder: {defaults: {joints: {}}}", "did you mean 'joint'?"),
        ("builder: {rigid_gap: 1/0}", "division by zero"),
        ("replicate: {spacing: 2}", "list of three numbers"),
        ("control: {}", "the key 'source' is missing"),
        ("assets: [{type: usd}]", "the key 'source' is missing"),
        ("assets: [{type: obj, source: a}]", "'obj' is not one of usd, urdf, mjcf, sdf"),
        ("assets: [{type: usd, source: a, ignore_paths: ['(']}]", "is not a regular expression"),
        ("assets: [{type: usd, source: a, joint_ordering: alphabetical}]", "is not one of dfs, bfs"),
        ("assets: [{type: usd, source: {}}]", "has to say one of 'path', 'text' and 'git'"),
        ("assets: [{type: usd, source: {path: a, text: b}}]", "has to say one of"),
        ("assets: [{type: usd, source: {examples_asset: a}}]", "unknown key 'examples_asset'"),
        ("bodie: []", "did you mean 'bodies'?"),
        ("post_build: [3]", "post_build[0]"),
    ],
)
def test_documented_errors(text, message):
    error = problem_of(text)
    assert message in str(error)
    assert all(problem.where.line == 1 for problem in error.problems)


def test_compat_takes_unknown_keys_silently():
    text = "nonsense: 1\nbodies: [{id: b, x: 1, shapes: [{cfg: {desnity: 1}, y: 2}]}]\n"
    file = parse_scene(text, compat="sap")
    assert sorted(file.ignored) == [
        "bodies[0].shapes[0].cfg.desnity",
        "bodies[0].shapes[0].y",
        "bodies[0].x",
        "nonsense",
    ]
    assert file.scene.bodies[0].id == "b"


def test_compat_records_unknown_types():
    text = "assets: [{id: a, type: obj, source: x}]\njoints: [{id: j, type: hinge, child: b}]\n"
    scene = scene_of(text, compat="sap")
    assert scene.assets[0].list_unsupported() == ["asset[a] type=obj"]
    assert scene.joints[0].list_unsupported() == ["joint[j] type=hinge"]


@pytest.mark.parametrize(
    ("words", "features"),
    [
        ("base_joint: {type: free}", ["base_joint"]),
        ("parent_body: 3", ["parent_body"]),
        ("parent_body: -1", []),
        ("override_root_xform: true", ["override_root_xform"]),
        ("up_axis: Y", ["up_axis"]),
        ("up_axis: Z", []),
        ("up_axis: Axis.Z", []),
        ("up_axis: 2", []),
        ("split_bimanual_root_articulation: true", ["split_bimanual_root_articulation"]),
    ],
)
def test_options_that_are_not_supported(words, features):
    asset = scene_of(f"assets: [{{id: a, type: urdf, source: x, {words}}}]").assets[0]
    assert asset.list_unsupported() == [f"asset[a] {feature}" for feature in features]


def test_every_asset_option():
    scene = scene_of(
        """
assets:
  - {type: urdf, source: {path: a, mesh_scale: 2}, scale: 2, xform: identity, mesh_scale: [1, 2, 3],
     mesh_maxhullvert: 32,
     load_visual_shapes: false, parse_visuals_as_colliders: true, force_show_colliders: true,
     enable_self_collisions: false, ignore_inertial_definitions: true, floating: true, joint_ordering: null,
     bodies_follow_joint_ordering: false, hide_collision_shapes: true, collapse_fixed_joints: false}
  - {type: mjcf, source: a.xml, scale: 2, armature_scale: 3, parse_meshes: false, parse_sites: false,
     parse_visuals: false, no_class_as_colliders: false, visual_classes: [v], collider_classes: [c],
     ignore_names: [a], ignore_classes: [b], floating: false, load_visual_shapes: false,
     external_assets: [{target: m/a.stl, path: b.stl}, {target: c.stl, source: d.stl}]}
  - {type: usd, source: a.usd, only_load_enabled_rigid_bodies: true, only_load_enabled_joints: false,
     ignore_paths: ['.*/x'], apply_up_axis_from_stage: true, root_path: /a, joint_ordering: bfs,
     skip_mesh_approximation: true, load_sites: false, hide_collision_shapes: true,
     force_position_velocity_actuation: true, joint_drive_gains_scaling: 2}
  - {type: sdf, source: world.sdf, floating: false}
"""
    )
    urdf, mjcf, usd, sdf = scene.assets
    assert urdf.joint_ordering is None
    assert urdf.mesh_scale == (1, 2, 3)
    assert urdf.source.mesh_scale == (2, 2, 2)
    assert mjcf.external_assets[1].origin.path == "d.stl"
    assert usd.joint_ordering == "bfs"
    assert sdf.floating is False


def test_inline_xml_is_told_from_a_path():
    scene = scene_of("assets: [{type: urdf, source: '<robot name=\"r\"/>'}, {type: urdf, source: a/b.urdf}]")
    assert scene.assets[0].source.text == '<robot name="r"/>'
    assert scene.assets[1].source.path == "a/b.urdf"


@pytest.mark.parametrize(
    "repo",
    [
        "-oProxyCommand=touch /tmp/x",
        "--upload-pack=touch x",
        "ext::sh -c touch% /tmp/x",
        "fd::17",
        "http://example.org/a.git",
        "git://example.org/a.git",
        "ssh://-oProxyCommand=x/a",
        "user@-oProxyCommand=x:a",
        "/etc/passwd",
        "../other",
        "https://example.org/a b.git",
        "file::/a",
        "",
    ],
)
def test_repositories_that_git_must_not_see(repo):
    text = json.dumps(
        {"assets": [{"type": "usd", "source": {"git": {"repo": repo, "rev": "main", "path": "a.usda"}}}]}
    )
    error = problem_of(text, syntax="json")
    assert "assets[0].source.git.repo" in error.message


@pytest.mark.parametrize(
    "rev", ["-x", "--help", "../up", "a..b", "a b", "HEAD@{1}", "", "a//b", "x.lock", "a:b", "/a", "~1"]
)
def test_revisions_that_git_must_not_see(rev):
    text = json.dumps(
        {
            "assets": [
                {"type": "usd", "source": {"git": {"repo": "https://e.org/a", "rev": rev, "path": "a.usda"}}}
            ]
        }
    )
    assert "assets[0].source.git.rev" in problem_of(text, syntax="json").message


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../a", "a/../../b", ".git/config", "a/.GIT/x", "-x", "", "a\\b"]
)
def test_paths_that_leave_a_checkout(path):
    for key in ("path", "sparse"):
        git = {"repo": "https://e.org/a", "rev": "main", "path": "a.usda"} | (
            {key: path} if key == "path" else {key: [path]}
        )
        text = json.dumps({"assets": [{"type": "usd", "source": {"git": git}}]})
        assert f"assets[0].source.git.{key}" in problem_of(text, syntax="json").message


def test_good_git_sources():
    for repo in ("https://github.com/a/b.git", "ssh://git@e.org/a", "git@e.org:a/b.git", "file:///tmp/a"):
        git = {"repo": repo, "rev": "v1.0/x+2", "path": "a/b.usda"}
        scene = scene_of(json.dumps({"assets": [{"type": "usd", "source": {"git": git}}]}), syntax="json")
        assert scene.assets[0].source.git.folders == ("a",)


def test_keys_without_effect_are_told():
    reporter = Reporter()
    parse_scene(
        "builder: {register_mujoco_custom_attributes: true, defaults: {shape: {kd: 1}}}\n"
        "bodies:\n  - {id: b, physics: {shape_kf: 1}, shapes: [{cfg: {ka: 2}}]}\n  - {id: b}\n"
        "joints: [{id: j, type: free, child: b}, {id: j, type: free, child: b}]\n"
        "post_build: [{op: add_shape, cfg: {contact_ka: 1}}]\n",
        reporter=reporter,
        name="s",
    )
    found = [(finding.kind, str(finding.where)) for finding in reporter]
    assert found == [
        ("scene-key-without-effect", "s:1:71"),
        ("scene-key-without-effect", "s:3:23"),
        ("scene-key-without-effect", "s:3:53"),
        ("scene-key-without-effect", "s:6:36"),
        ("scene-key-without-effect", "s:1:11"),
        ("scene-id-repeated", "s:4:10"),
        ("scene-id-repeated", "s:5:46"),
    ]


def test_all_problems_are_listed_with_their_places(tmp_path):
    file = tmp_path / "bad.yaml"
    file.write_text(
        "simulation:\n  dt: fast\nbodies:\n  - {id: a, mss: 1}\n  - {id: b, shapes: [{type: bix}]}\n"
    )
    with pytest.raises(InvalidDocumentError) as caught:
        read_scene(file)
    text = str(caught.value)
    for line in (
        ":2:7: simulation.dt",
        ":4:13: unknown key 'mss' in bodies[0] (did you mean 'mass'?)",
        ":5:22: bodies[1]",
    ):
        assert line in text


def test_json_scenes(tmp_path):
    file = tmp_path / "s.json"
    file.write_text('{"schema_version": 1,\n "bodies": [{"id": "b", "mass": "2 * pi"}]}')
    assert read_scene(file).scene.bodies[0].mass == pytest.approx(2 * math.pi)
    file.write_text('{"schema_version": 1,\n "bodys": []}')
    with pytest.raises(InvalidDocumentError) as caught:
        read_scene(file)
    assert str(caught.value.where) == f"{file}:2:2"


def test_hostile_scenes():
    bomb = "a: &a [1,1,1,1,1,1,1,1,1,1]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 10)}]\n" for n in range(9)
    )
    with pytest.raises(LimitError):
        parse_scene(bomb)
    with pytest.raises(ParseError, match="tag"):
        parse_scene("name: !!python/object/apply:os.system ['true']\n")
    with pytest.raises(LimitError, match="nested"):
        parse_scene("bodies: " + "[" * 500)
    with pytest.raises(InvalidDocumentError, match="has to be a mapping"):
        parse_scene("just text")
    with pytest.raises(UsageError):
        parse_scene("name: a", compat="other")


@pytest.mark.realworld
def test_the_shared_scenes_are_valid(shared_assets):
    for file in sorted((shared_assets / "scenes").glob("*.yaml")):
        for compat in (None, "sap"):
            assert read_scene(file, compat=compat).scene.name
