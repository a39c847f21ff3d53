"""The HTML page of a proof: complete, alone, and closed to what an asset brings along."""

from __future__ import annotations

import math
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from lxml import etree

import simwright
from simwright.app.proof import figures
from simwright.app.proof.figures import RobotPicture, draw_assets
from simwright.app.proof.page import list_units, render_page
from simwright.core.diag import Where
from simwright.core.errors import UsageError
from simwright.prover.aspects import ASPECTS, Outcome
from simwright.prover.causes import DifferenceCause
from simwright.prover.motion import MotionReference, MotionResult, MotionRun
from simwright.prover.proving import Column, Proof, ProofSettings

LEVELS = ("structure", "dynamics")
TIMES = [0.0, 0.1, 0.2, 0.3]


def make_motion(joint: str, off: float = 1e-4, state: str = "same") -> MotionResult:
    expected = [0.0, 0.1, 0.3, 0.2]
    runs = [MotionRun(h, {joint: [v + off * h * 1000 for v in expected]}) for h in (0.001, 0.0005)]
    reference = MotionReference("mujoco", TIMES, 1e-5, {joint: expected}, 1e-8)
    return MotionResult("swing", state, "", runs, reference, joint, off, off / 2, off / 2, off, off / 9, 1e-3)


def make_proof(name: str = "robot", joint: str = "turn", **outcome: object) -> Proof:
    good = Column(
        Outcome("good", counts={"dofs": "2/2"}, errors={"poses": 3e-14}, version="Good 1"), seconds=1.0
    )
    good.measured = "2026-11-17T09:30:00Z"
    good.motions = {"swing": make_motion(joint)}
    bad = Column(Outcome("bad", **{"version": "Bad 2", **outcome}))  # type: ignore[arg-type]
    bad.motions = {
        "swing": make_motion(joint, 0.2, "differs"),
        "loop": MotionResult("loop", "blank", "no loops"),
    }
    return Proof(name, "mujoco", "MuJoCo 4", ProofSettings(("good", "bad"), LEVELS), [good, bad])


class PageReader(HTMLParser):
    """Elements, attributes and texts as a browser takes them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</title></style></svg><svg onload=alert(1)>",
    "javascript:alert(1)",
    "&lt;script&gt;",
    "\u202eevil\x00\x1b[31m\ud800",
    "]]><!--",
)


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_gets_out_of_its_text(name: str) -> None:
    proof = make_proof(
        name,
        joint=name,
        differences={"masses": name, "links": name},
        blank={"limits": name},
        items={"masses": name},
    )
    bad = proof.columns[1]
    bad.causes = {"masses": DifferenceCause(name, name, Where(name, 3, prim=name), name)}
    bad.outcome.version = bad.outcome.engine = name
    bad.motions["loop"].reason = name
    bad.motions["swing"].without = {name: name}
    plain = PageReader(render_page("robot.xml", [make_proof(differences={"masses": "x"})]))
    page = render_page(name, [proof], [[RobotPicture(name, b"png")]])
    read = PageReader(page)
    assert read.tags["script"] == 0
    assert read.tags["img"] == 1
    more = {"img", "figure", "figcaption", "ol", "li", "details", "summary", "ul", "sup"}
    assert set(read.tags) <= set(plain.tags) | more
    assert [a for a in read.attributes if a[1].startswith("on")] == []
    for tag, attribute, value in read.attributes:
        assert attribute not in ("href", "srcset", "action"), (tag, attribute, value)
        assert attribute != "src" or value.startswith("data:image/png;base64,")
    page.encode()  # no lone surrogates
    assert "\x00" not in page
    assert "\x1b" not in page
    # and nobody could run it if it did
    assert "default-src 'none'" in page
    assert "script-src" not in page


def test_it_stands_alone() -> None:
    page = render_page("robot.xml", [make_proof()])
    assert not re.search(r"https?://|@import|url\(", page)


def test_every_cell_has_words_and_reasons() -> None:
    proof = make_proof(
        differences={"masses": "upper weighs 2.02 instead of 2"},
        blank={"limits": "no place for limits"},
        absent={"drives"},
    )
    proof.columns[1].causes = {
        "masses": DifferenceCause("mass", "weighs something else", Where("robot.xml", 3), "weigh it")
    }
    page = render_page("robot.xml", [proof])
    cells = re.findall(r'<td class="(same|differs|none|blank)" title="([^"]*)">(.*?)</td>', page)
    rows = len([name for name in ASPECTS if ASPECTS[name].level in LEVELS]) + 1
    assert len(cells) == 2 * rows
    assert Counter(state for state, _, _ in cells) == {
        "same": 2 * rows - 3,
        "differs": 1,
        "none": 1,
        "blank": 1,
    }
    assert all("✓" in text for state, _, text in cells if state == "same")
    assert [(title, text) for state, title, text in cells if state == "differs"] == [
        ("upper weighs 2.02 instead of 2", '✗ <span class="word">differs</span>')
    ]
    assert next(title for state, title, _ in cells if state == "blank") == "no place for limits"
    texts = " ".join(PageReader(page).texts)
    # in text as well: no hovering on a phone
    for told in (
        "of bad: no place for limits", "differs in 1 of 2 engines", "weigh it", "robot.xml:3", "3e-14", "2/2",
        "Good 1", "MuJoCo 4", "2026-11-17 09:30:00 UTC", "free swing", "worst joint:", "simwright prove robot.xml",
    ):  # fmt: skip
        assert told in texts, told


def test_the_line_of_the_asset_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "robot.xml"
    file.write_text('<mujoco>\n  <body name="<b>upper</b>"/>\n</mujoco>\n')
    proof = make_proof(differences={"masses": "x"})
    proof.columns[1].causes = {"masses": DifferenceCause("mass", "t", Where(str(file), 2))}
    assert "&lt;body name=&quot;&lt;b&gt;upper&lt;/b&gt;&quot;/&gt;" in render_page("robot.xml", [proof])


def test_an_engine_without_an_answer_and_a_scene_of_two_worlds() -> None:
    proof = make_proof(loads=False, differences={"loads": "crashes with signal 11"}, version="")
    proof.columns[1].motions = {}
    page = render_page("scene.yaml", [proof, make_proof("other")])
    texts = " ".join(PageReader(page).texts)
    assert "no answer from 1 of 2 engines" in texts
    assert "crashes with signal 11" in texts
    assert "the same in all 2 engines" in texts
    assert page.count("<article>") == 2


def test_lines_of_all_engines_are_drawn() -> None:
    page = render_page("robot.xml", [make_proof()], units=[{"turn": "rad"}])
    drawn, _ = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    tree = etree.fromstring(drawn)
    names = [node.text for node in tree.iter("text") if node.get("class") == "name"]
    assert names == ["mujoco", "good", "bad"]
    bands = [node for node in tree.iter("g") if node.get("class") == "band"]
    assert len(bands) == len(TIMES)
    told = [node.text for node in bands[2].iter("text")]
    assert told == ["at 0.2 s", "0.3 rad", "0.30005 (+5.0e-05)", "0.4 (+1.0e-01)"]
    (label,) = [node for node in tree.iter("text") if node.text == "time [s]"]
    frame = next(node for node in tree.iter("rect") if node.get("class") == "frame")
    frames = [node for node in tree.iter("rect") if node.get("class") == "frame"]
    turned = [node for node in tree.iter("text") if "rotate" in node.get("transform", "")]
    for node, box in zip(turned, frames, strict=True):
        high = float(re.search(r"translate\(12 (\d+)\)", node.get("transform"))[1])
        assert high == pytest.approx(float(box.get("y")) + float(box.get("height")) / 2, abs=0.5)
    middle = float(frame.get("x")) + float(frame.get("width")) / 2
    assert float(label.get("x")) == pytest.approx(middle, abs=0.5)
    dashes = {node.get("stroke-dasharray") for node in tree.iter("path") if "line s" in node.get("class")}
    assert len(dashes) == 2  # no reader needs the colours


@pytest.mark.parametrize(
    "values", [[0.0] * 4, [1e300] * 4, [math.nan] * 4, [0.0, math.inf, 1.0, -math.inf], [1e-300, 0, 0, 0]]
)
def test_strange_numbers_are_drawn_as_far_as_they_go(values: list[float]) -> None:
    for times in (TIMES, [0.0], [0.5] * 4):
        rows = values[: len(times)]
        lines = [figures.EngineLine("e", 0, rows, [value - rows[0] for value in rows])]
        drawn = figures.draw(figures.LineChart("t", "m", times, [("r", rows), ("without", rows)], lines))
        etree.fromstring(f"<div>{drawn}</div>")
        assert not re.search(r'[dxy]="[^"]*(nan|inf)', drawn)


def test_phones_get_a_figure_with_the_names_below() -> None:
    lines = [figures.EngineLine(f"engine {n}", n, [0.0, 1.0], [0.0, 0.1]) for n in range(8)]
    drawn = figures.draw(figures.LineChart("t", "m", [0.0, 1.0], [("r", [0.0, 1.0])], lines))
    for svg in etree.fromstring(f"<div>{drawn}</div>"):
        width, height = (float(number) for number in svg.get("viewBox").split()[2:])
        names = [node for node in svg.iter("text") if (node.text or "").startswith("engine")]
        assert len(names) == 8
        assert max(float(node.get("y")) for node in names) < height
        assert max(float(node.get("x")) for node in svg.iter("text") if node.get("x")) < width
        below = min(float(node.get("y")) for node in names) > figures.BOTTOM
        assert below is ("narrow" in svg.get("class"))


def test_what_a_robot_lacks_is_one_line() -> None:
    proof = make_proof(absent={"drives", "armature"})
    proof.columns[0].outcome.absent = {"drives", "mimics"}
    page = render_page("robot.xml", [proof])
    (told,) = re.findall(r"nothing of the kind: (.*?)<", page)
    assert told == "drives"
    assert '<th scope="row">drives' not in page.partition("How it was done")[0]


def test_units_of_joints() -> None:
    file = Path(__file__).parents[2] / "samples/simwright_samples/arm/urdf/arm.urdf"
    assert set(list_units(simwright.load(file)).values()) == {"rad", "m"}


def test_without_graphics_there_is_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise UsageError("MuJoCo cannot draw here")

    file = Path(__file__).parents[2] / "samples/simwright_samples/arm/urdf/arm.urdf"
    monkeypatch.setattr("simwright.engines.mujoco.painter.WorldPainter.__init__", fail)
    assert draw_assets([simwright.load(file)]) == [[]]
    assert "<figure>" not in render_page("robot.xml", [make_proof()], [[]])
