"""Any text through every renderer: nothing raises, and machines can read what is for machines."""

from __future__ import annotations

import json
import re
from importlib import resources
from typing import Any

import jsonschema
import lxml.html
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree
from markdown_it import MarkdownIt

from simwright.app.report.report import AssetReport, Report, render_report
from simwright.core.diag import Diagnostic, Fix, Fixable, Level, Where
from simwright.core.visible import make_visible

NASTY = [
    "[bold red]", "[/]", "\x1b[31m", "\x1b]8;;http://x\x07", "</script>", "]]>", "<!--", "&amp;", "::error::",
    "|", "`", "\\", "%0A", "\r\n", "{0}", "[x](http://y)", "\u202e", "\x00", "\x85", "\u2028", "\ud800",
    "../", "file://",
]  # fmt: skip

texts = st.lists(
    st.text(st.characters(exclude_categories=()), max_size=8) | st.sampled_from(NASTY), max_size=4
).map("".join)
numbers = st.none() | st.integers(-1, 2000)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts | st.binary(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
findings = st.builds(
    Diagnostic,
    kind=texts,
    level=st.sampled_from(Level),
    message=texts,
    hint=texts,
    where=st.builds(Where, texts, numbers, numbers, texts, texts),
    section=texts,
    data=st.dictionaries(texts, values, max_size=2),
    fix=st.none() | st.builds(Fix, texts, st.sampled_from(Fixable)),
)
reports = st.builds(
    Report, st.lists(st.builds(AssetReport, texts, st.lists(findings, max_size=3)), max_size=3), texts
)
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

SCHEMA = json.loads(
    resources.files("simwright.app.report").joinpath("schemas/diagnostics.v1.schema.json").read_text("utf-8")
)
MARKDOWN = MarkdownIt("commonmark").enable("table")


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


@quick
@given(reports, st.booleans(), st.none() | st.integers(0, 200))
def test_text(report: Report, color: bool, width: int | None) -> None:
    text = render_report("text", report, color=color, width=width)
    text.encode("utf-8")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text) if color else text
    assert make_visible(plain, keep="\n") == plain
    if not color:
        assert text == "\n".join(line.rstrip(" ") for line in text.split("\n"))


@quick
@given(reports)
def test_json(report: Report) -> None:
    text = render_report("json", report)
    document = json.loads(text, parse_constant=refuse)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert text.isascii()
    given_messages = [
        finding.message for _, finding in report if not re.search("[\ud800-\udfff]", finding.message)
    ]
    shown = [finding["message"] for asset in document["assets"] for finding in asset["findings"]]
    assert set(given_messages) <= set(shown)


@quick
@given(report=reports)
def test_sarif(report: Report, sarif_validator: jsonschema.Draft7Validator) -> None:
    log: Any = json.loads(render_report("sarif", report), parse_constant=refuse)
    sarif_validator.validate(log)
    for result in log["runs"][0]["results"]:
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert re.fullmatch(r"(file:///)?([A-Za-z0-9_.~/-]|%[0-9A-F]{2})*", uri)


@quick
@given(report=reports)
def test_junit(report: Report, junit_schema: etree.XMLSchema) -> None:
    root = etree.fromstring(render_report("junit", report).encode("utf-8"))
    junit_schema.assertValid(root)
    assert len(root) == len(report.assets)
    assert len(root.findall(".//failure")) == report.summary()["error"]


@quick
@given(reports)
def test_github(report: Report) -> None:
    text = render_report("github", report)
    text.encode("utf-8")
    commands = re.split(r"\r\n|\r|\n", text)[:-1]
    assert len(commands) == sum(1 for _ in report)
    for command, (_, finding) in zip(commands, report, strict=True):
        found = re.fullmatch(r"::(error|warning|notice) ((?:[a-z]+=[^:,]*,?)*)::(.*)", command)
        assert found, command
        said = found[3].replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
        assert said.startswith(make_visible(finding.message, keep="\r\n"))


@quick
@given(reports)
def test_md(report: Report) -> None:
    text = render_report("md", report)
    text.encode("utf-8")
    tokens = [token.type for token in MARKDOWN.parse(text)]
    assert tokens.count("heading_open") == 1 + len(report.assets)
    assert tokens.count("table_open") == sum(1 for asset in report.assets if asset.findings)
    assert tokens.count("td_open") == 4 * sum(1 for _ in report)


@quick
@given(reports)
def test_html(report: Report) -> None:
    text = render_report("html", report)
    page = lxml.html.document_fromstring(text.encode("utf-8"))
    assert len(page.xpath("//li")) == sum(1 for _ in report)
    assert {element.tag for element in page.iter(etree.Element)} <= {
        "html", "head", "meta", "title", "style", "body", "h1", "p", "input", "div", "label", "main",
        "details", "summary", "span", "ol", "li", "pre", "b",
    }  # fmt: skip
    for paragraph, (_, finding) in zip(page.xpath("//p[@class='message']"), report, strict=True):
        assert paragraph.text_content() == make_visible(finding.message, keep="\n")
