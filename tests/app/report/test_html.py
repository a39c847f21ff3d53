from __future__ import annotations

import lxml.html

from simwright.app.report.html import render
from simwright.app.report.report import AssetReport, Report
from simwright.core.diag import CATALOGUE, Diagnostic, Kind, Level


def test_the_page_stands_alone(report: Report) -> None:
    page = lxml.html.document_fromstring(render(report))
    assert not page.xpath("//script | //link | //img | //iframe | //@href | //@src | //@onclick")
    assert "url(" not in render(report)
    assert "@import" not in render(report)
    (policy,) = page.xpath("//meta[@http-equiv]/@content")
    assert policy.startswith("default-src 'none'")


def test_every_finding_is_shown_with_its_level(report: Report) -> None:
    page = lxml.html.document_fromstring(render(report))
    assert page.xpath("//li/@class") == ["finding error", "finding warning fixable", "finding info fixable"]
    assert page.xpath("//p[@class='message']/text()") == [
        "mesh file 'a.stl' does not exist",
        "the mass is -2 kg",
        "the unit is cm",
    ]
    assert page.find(".//title").text == "simwright: 1 error, 1 warning, 1 info in 3 assets"


def test_every_level_has_a_switch_that_its_label_names(report: Report) -> None:
    page = lxml.html.document_fromstring(render(report))
    switches = ["show-error", "show-warning", "show-info"]
    assert page.xpath("//label/@for") == page.xpath("//input/@id") == [*switches, "only-fixable"]
    for name in switches:
        assert (
            f"#{name}:not(:checked) ~ main .finding.{name.removeprefix('show-')}"
            in page.find(".//style").text
        )


def test_assets_with_findings_fold(report: Report) -> None:
    page = lxml.html.document_fromstring(render(report))
    assert len(page.xpath("//details[@class='asset']")) == 2
    assert page.xpath("//div[@class='asset']/div[@class='title']/span/text()") == [
        "clean.usda",
        "no findings",
    ]


def test_the_source_line_is_shown(report: Report) -> None:
    page = lxml.html.document_fromstring(render(report))
    first = page.xpath("//pre[@class='source']")[0].text_content().splitlines()
    assert first == ['3 |     <visual><mesh filename="a.stl"/></visual>', "  |             ^^^^^"]


def test_input_is_text_not_markup() -> None:
    attack = "</p><script>alert(1)</script><img src=x onerror=alert(1)>\"'"
    finding = Diagnostic(attack, Level.ERROR, attack, hint=attack, data={attack: attack})
    page = lxml.html.document_fromstring(
        render(Report([AssetReport(attack, [finding])], tool_version=attack))
    )
    assert not page.xpath("//script | //img")
    assert page.xpath("//p[@class='message']/text()") == [attack]


def test_what_has_no_fix_can_be_hidden_and_the_command_is_shown(report: Report) -> None:
    text = render(report)
    assert "#only-fixable:checked ~ main .finding:not(.fixable) { display: none; }" in text
    page = lxml.html.document_fromstring(text)
    assert page.xpath("//label[@for='only-fixable']/text()") == ["only the 2 with a fix"]
    assert "can be fixed" in page.xpath("//p[@class='command path']/text()")[0]


def test_many_findings_are_grouped_by_cause_and_rules_lead_to_their_pages(monkeypatch) -> None:
    kind = Kind(
        "units-meters", Level.ERROR, "t", doc="The title.\n\nWhy: x.", url="https://docs.invalid/units-meters"
    )
    monkeypatch.setitem(CATALOGUE, kind.code, kind)
    many = [Diagnostic("units-meters", Level.ERROR, f"m{i}") for i in range(7)]
    others = [
        Diagnostic("a", Level.WARNING, "m", cause="one cause"),
        Diagnostic("b", Level.INFO, "m", cause="one cause"),
    ]
    page = lxml.html.document_fromstring(render(Report([AssetReport("a.usda", [*others, *many])])))
    groups = page.xpath("//details[starts-with(@class, 'group')]")
    assert [group.find("summary").text_content() for group in groups] == [
        "7 x units-meters The title",
        "2 x a one cause",
    ]
    assert [len(group.xpath(".//li")) for group in groups] == [7, 2]
    assert set(page.xpath("//a/@href")) == {kind.url}
