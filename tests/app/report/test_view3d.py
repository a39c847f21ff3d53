"""Views in pages: what stands in the HTML, what is lit up, how large it may be; browsers judge the rest."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import json
import re
import struct
import subprocess
import sys

import pytest
from tests.conftest import SAMPLES

import simwright
from simwright.app.cli.main import run
from simwright.app.report import view3d
from simwright.app.report.html import mark_differences, render
from simwright.app.report.report import AssetReport, Report
from simwright.app.report.view3d import LinkMark, build_model, make_view, mark_findings
from simwright.core.limits import UNTRUSTED
from simwright.model.asset import Asset, Body, Shape
from simwright.model.geometry import Box, Mesh, Plane

HOSTILE = "</script><img src=x onerror=alert(1)>\"'&"


class Elements(html.parser.HTMLParser):
    """All elements of a page with their attributes, and the text of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.inside = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")
            self.inside = True

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.scripts[-1] += data


@pytest.fixture
def no_picture(monkeypatch):
    """Pictures have tests of their own."""
    monkeypatch.setattr(view3d, "draw_jpeg", lambda *_: b"")


def make_asset(name: str = "link") -> Asset:
    shapes = [Shape("box", Box.of(1, 1, 1), name), Shape("floor", Plane(None))]
    return Asset(name, bodies=[Body(name)], shapes=shapes)


def read_glb(content: bytes) -> dict:
    magic, _, total, length = struct.unpack("<4sIII", content[:16])
    assert magic == b"glTF"
    assert total == len(content)
    return json.loads(content[20 : 20 + length])


def test_the_model_has_links_by_name_and_no_endless_plane():
    content, notes = build_model(make_asset())
    document = read_glb(content)
    bodies = [
        n["name"] for n in document["nodes"] if n.get("extras", {}).get("simwright", {}).get("role") == "body"
    ]
    assert bodies == ["link"]
    assert len(document["meshes"]) == 1
    assert notes == []


def test_hostile_names_stay_text(no_picture):
    report = Report(
        [AssetReport("a.usda", view=make_view(make_asset(HOSTILE), {HOSTILE: LinkMark("error", HOSTILE)}))]
    )
    page = Elements(render(report))
    assert [tag for tag, _ in page.found if tag == "img"] == []
    assert not any(name.startswith("on") for _, attributes in page.found for name in attributes)
    links, _, script = page.scripts
    assert json.loads(links) == [{"name": HOSTILE, "level": "error", "text": HOSTILE}]
    assert script == view3d.read_script()


def test_the_policy_lets_this_one_script_run(no_picture):
    text = render(Report([AssetReport("a.usda", view=make_view(make_asset()))]))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    digest = base64.b64encode(hashlib.sha256(Elements(text).scripts[-1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe-eval" not in policy
    assert "http" not in text.split("<main>")[1].replace("http-equiv", "")


def test_a_page_without_views_runs_no_script():
    text = render(Report([AssetReport("a.usda")]))
    assert "<script" not in text
    assert "script-src" not in text


def test_without_graphics_and_shapes_there_is_no_view(no_picture):
    assert make_view(Asset("empty", bodies=[Body("a")])) == ""


def make_ball(rows: int) -> Mesh:
    """A ball of 2 rows * (rows - 1) triangles."""
    import trimesh

    ball = trimesh.creation.uv_sphere(radius=1.0, count=[rows, rows])
    return Mesh.of(ball.vertices, ball.faces)


def test_large_meshes_are_simplified_and_it_is_said(monkeypatch):
    ball = make_ball(100)
    asset = Asset("ball", bodies=[Body("b")], shapes=[Shape("s", ball, "b")])
    full, notes = build_model(asset)
    assert notes == []
    monkeypatch.setattr(view3d, "MOST_BYTES", len(full) // 4)
    monkeypatch.setattr(view3d, "_TRIANGLES", 2000)
    small, notes = build_model(asset)
    assert 1000 < len(small) < len(full) // 4
    assert notes == ["Simplified for this page: small details and textures are left out."]
    monkeypatch.setattr(view3d, "MOST_BYTES", 500)
    none, notes = build_model(asset)
    assert none == b""
    assert "picture" in notes[0]


def test_findings_light_up_the_link_whose_prim_they_are_at(tmp_path):
    asset = Asset(
        "a",
        bodies=[
            Body("arm", path="/r/arm"),
            Body("armrest", path="/r/armrest"),
            Body("tool", path="/r/arm/tool"),
        ],
    )
    report = simwright.check(SAMPLES / "fourbar" / "fourbar.usda")
    assert mark_findings(asset, [finding for _, finding in report]) == {}
    from simwright.core.diag import Level, Reporter, Where, declare

    kind = declare("test-view-mark", Level.ERROR, "{text}", doc="For this test.")
    soft = declare("test-view-mark-soft", Level.WARNING, "{text}", doc="For this test.")
    reporter = Reporter()
    reporter.report(soft, Where(prim="/r/arm"), text="soft")
    reporter.report(kind, Where(prim="/r/arm/joint"), text="hard")
    reporter.report(kind, Where(prim="/r/arm/tool/mesh"), text="tool")
    reporter.report(kind, Where(prim="/r"), text="root")
    marks = mark_findings(asset, list(reporter))
    assert marks == {"arm": LinkMark("error", "hard"), "tool": LinkMark("error", "tool")}


def test_differences_light_up_links():
    first, second = make_asset(), make_asset()
    second.shape("box").geometry = Box.of(2, 1, 1)
    difference = simwright.diff(first, second)
    assert not difference.equal
    assert list(mark_differences(first, difference)) == ["link"]


def test_a_comparison_is_written_as_a_page(tmp_path, no_picture):
    box, target = SAMPLES / "box" / "box.usda", tmp_path / "diff.html"
    assert run(["diff", str(box), str(box), "--format", "html", "-o", str(target)]) == 0
    page = Elements(target.read_text())
    assert [tag for tag, _ in page.found].count("canvas") == 2
    assert "no differences" in target.read_text()


def test_a_check_writes_its_views_unless_the_file_is_not_trusted(tmp_path, monkeypatch, no_picture):
    box, target = SAMPLES / "box" / "box.usda", tmp_path / "check.html"
    run(["check", str(box), "--format", "html", "--output", str(target)])
    assert "<canvas" in target.read_text()
    monkeypatch.setenv(UNTRUSTED, "1")
    run(["check", str(box), "--format", "html", "--output", str(target)])
    assert "<canvas" not in target.read_text()


def test_an_asset_is_written_after_a_check_described_its_rules():
    """In one process, as in a notebook: the check knows kinds by their descriptions before modules declare them."""
    code = (
        "import simwright, sys, tempfile; from simwright.app.cli.main import run; out = tempfile.mkdtemp();"
        f"run(['check', {str(SAMPLES / 'box' / 'box.usda')!r}, '--format', 'html', '--output', out + '/c.html']);"
        f"simwright.save(simwright.load({str(SAMPLES / 'box' / 'box.usda')!r}), out + '/box')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
