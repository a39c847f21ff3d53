"""What MuJoCo keeps apart by itself is a filter of the model; how it makes meshes is kept."""

from __future__ import annotations

HAND = """<mujoco><worldbody><body name="arm"><freejoint/><geom size="0.1"/>
  <body name="wrist"><joint/><geom size="0.1"/>
    <body name="tool"><geom size="0.1"/><body name="tip"><geom size="0.1"/></body></body>
    <body name="cover"><geom size="0.1" contype="0" conaffinity="0"/></body>
  </body></body></worldbody>{0}</mujoco>"""


def list_filters(asset):
    return {frozenset((f.a, f.b)) for f in asset.contact_filters}


def test_welded_bodies_and_their_parent_are_apart(read_text):
    asset = read_text(HAND.format(""))
    # arm and wrist, wrist and tool, tool and tip have joints that say so
    assert list_filters(asset) == {
        frozenset(pair) for pair in (("arm", "tool"), ("arm", "tip"), ("wrist", "tip"))
    }


def test_parents_may_be_let_touch(read_text):
    asset = read_text(HAND.format('<option><flag filterparent="disable"/></option>'))
    assert list_filters(asset) == {frozenset(("wrist", "tip"))}


def test_exclusions_are_not_said_twice(read_text):
    asset = read_text(HAND.format('<contact><exclude body1="tip" body2="arm"/></contact>'))
    assert len(asset.contact_filters) == 3
    assert [bool(f.source) for f in asset.contact_filters] == [True, False, False]


def test_settings_of_meshes_are_kept(read_text):
    points = "0 0 0 1 0 0 0 1 0 0 0 1"
    asset = read_text(
        f'<mujoco><asset><mesh name="m" vertex="{points}" maxhullvert="4" inertia="shell" smoothnormal="true"/></asset>'
        '<worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>'
    )
    kept = {
        name: asset.extras.get("mjc", "mesh/m", name) for name in ("maxhullvert", "inertia", "smoothnormal")
    }
    assert kept == {"maxhullvert": 4, "inertia": "shell", "smoothnormal": True}
