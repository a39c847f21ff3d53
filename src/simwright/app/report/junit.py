# SPDX-License-Identifier: Apache-2.0
"""For build servers (Jenkins, GitLab and others): JUnit XML, a suite per asset and a case per finding.

An error is a failed case.  JUnit has no warnings, and servers turn every ``failure`` red, so a warning or an
info is a passed case that carries its text as output.  An asset without findings is one passed case.
Names of cases leave line numbers out, so that a server can follow a finding from build to build.
"""

from __future__ import annotations

import re

from lxml import etree

from simwright.app.report.report import (
    TOOL_NAME,
    AssetReport,
    Report,
    find_position,
    name_file,
    name_position,
    name_prim,
    name_related,
    name_section,
    shorten_path,
)
from simwright.core.diag import Diagnostic, Level
from simwright.core.names import NameScope
from simwright.core.visible import make_visible

_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
CLEAN_CASE = "no findings"


def render(report: Report, *, color: bool = False, width: int | None = None) -> str:  # noqa: ARG001 - one signature
    """The report as JUnit XML text."""
    cases = sum(count_cases(asset) for asset in report.assets)
    root = etree.Element("testsuites", write_counts(TOOL_NAME, cases, report.summary()["error"]))
    for asset in report.assets:
        add_suite(root, asset)
    # people read it too, where a server shows it as it is
    etree.indent(root)
    text: str = etree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def add_suite(root: etree._Element, asset: AssetReport) -> None:
    """Add the cases of one asset."""
    path = _clean(shorten_path(asset.path))
    counts = write_counts(path, count_cases(asset), asset.summary()["error"])
    suite = etree.SubElement(root, "testsuite", counts)
    if not asset.findings:
        etree.SubElement(suite, "testcase", name=CLEAN_CASE, classname=path, file=path)
    # servers follow a case by its name: two equal ones would be counted as one
    names = NameScope()
    for finding in asset.findings:
        _add_case(suite, asset, finding, names)


def _add_case(suite: etree._Element, asset: AssetReport, finding: Diagnostic, names: NameScope) -> None:
    file = shorten_path(name_file(asset, finding))
    prim = name_prim(finding)
    place = f"{file}{name_position(finding)}" + (f" <{prim}>" if prim else "")
    case = etree.SubElement(
        suite,
        "testcase",
        name=names.claim(_clean(f"{finding.kind} at {prim or file}")),
        classname=_clean(shorten_path(asset.path)),
        file=_clean(file),
    )
    line, _ = find_position(finding)
    if line:
        case.set("line", str(line))
    if finding.level is Level.ERROR:
        body = etree.SubElement(case, "failure", type=_clean(finding.kind), message=_clean(finding.message))
    else:
        body = etree.SubElement(case, "system-out")
    body.text = _clean(_write_body(finding, place))


def count_cases(asset: AssetReport) -> int:
    """How many cases it has."""
    return len(asset.findings) or 1


def write_counts(name: str, tests: int, failures: int) -> dict[str, str]:
    """The attributes of a suite."""
    return {"name": name, "tests": str(tests), "failures": str(failures), "errors": "0"}


def _write_body(finding: Diagnostic, place: str) -> str:
    section = name_section(finding)
    lines = [f"{finding.level.value}[{finding.kind}]: {finding.message}", f"  --> {place}"]
    if finding.hint:
        lines.append(f"  = help: {finding.hint}")
    related = name_related(finding)
    if related:
        lines.append(f"  = also: {related}")
    if section:
        lines.append(f"  = note: {section}")
    return "\n".join(lines)


def _clean(text: str) -> str:
    """The text without the characters that XML 1.0 has no way to write, and with those shown that do not show."""
    return make_visible(_ILLEGAL.sub("", text), keep="\n")
