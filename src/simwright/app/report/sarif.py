# SPDX-License-Identifier: Apache-2.0
"""For code-scanning services: SARIF 2.1.0 (OASIS Static Analysis Results Interchange Format).

Paths below the working folder are relative to ``%SRCROOT%``, so that a log can be made on one machine and
read on another.  Fingerprints leave line numbers out: a finding stays the same when lines move.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from simwright.app.report.json import plain_value
from simwright.app.report.report import (
    TOOL_NAME,
    AssetReport,
    Report,
    find_position,
    head_line,
    name_file,
    name_prim,
    name_section,
    replace_surrogates,
    shorten_path,
)
from simwright.core.diag import CATALOGUE, Diagnostic, Kind, Level

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "simwrightFinding/v1"
_PART = re.compile(r"^(Why:|Fails:|Passes:|Fix:|Reading:)[ \t]*", re.MULTILINE)
ROOT = "%SRCROOT%"
_LEVELS = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "note"}


def render(report: Report, *, color: bool = False, width: int | None = None) -> str:  # noqa: ARG001 - one signature
    """The report as a SARIF log with one run."""
    return json.dumps(build_log(report), indent=2, allow_nan=False) + "\n"


def build_log(report: Report) -> dict[str, Any]:
    """The report as plain dictionaries and lists."""
    # only rules that found something: a log of one finding does not carry the whole catalogue
    firsts: dict[str, Diagnostic] = {}
    for _, finding in report:
        firsts.setdefault(finding.kind, finding)
    order = {code: index for index, code in enumerate(firsts)}
    seen: Counter[str] = Counter()
    driver = {
        "name": TOOL_NAME,
        "version": replace_surrogates(report.tool_version),
        "rules": [build_rule(finding) for finding in firsts.values()],
    }
    run = {
        "tool": {"driver": driver},
        # as Python counts; the default of SARIF is UTF-16 units, in which columns after an emoji differ
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": {"text": "The folder that the tool ran in."}}},
        "results": [build_result(asset, finding, order, seen) for asset, finding in report],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def build_rule(finding: Diagnostic) -> dict[str, Any]:
    """What a log says about the rule of a finding."""
    kind = CATALOGUE.get(finding.kind) or Kind(finding.kind, finding.level, "", section=finding.section)
    text = kind.doc or kind.message or kind.code
    summary = _escape(head_line(text))
    advice = "\n\n".join(part for part in (text, kind.hint) if part)
    rule: dict[str, Any] = {
        "id": replace_surrogates(kind.code),
        "shortDescription": {"text": summary},
        "fullDescription": {"text": _escape(_list_paragraphs(text)[0])},
        "help": {"text": _escape(advice), "markdown": _write_markdown(advice)},
        "defaultConfiguration": {"level": _LEVELS[kind.level]},
    }
    if kind.url:
        rule["helpUri"] = kind.url
    section = name_section(finding)
    if section:
        rule["properties"] = {"tags": [replace_surrogates(section)]}
    return rule


def _list_paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()] or [text]


def _write_markdown(text: str) -> str:
    """A teaching text with the names of its parts (Why, Fails, Passes, Fix) in bold."""
    return _PART.sub(r"**\1** ", replace_surrogates(text))


def build_result(
    asset: AssetReport, finding: Diagnostic, order: dict[str, int], seen: Counter[str]
) -> dict[str, Any]:
    """What a log says about a finding; ``order`` are places of rules, ``seen`` what was said of the asset before."""
    advice = f"\nhelp: {finding.hint}" if finding.hint else ""
    return {
        "ruleId": replace_surrogates(finding.kind),
        "ruleIndex": order[finding.kind],
        "level": _LEVELS[finding.level],
        "message": {"text": _escape(finding.message + advice)},
        "locations": [_build_location(asset, finding)],
        "partialFingerprints": {FINGERPRINT: _hash_finding(asset, finding, seen)},
        "properties": {
            "asset": replace_surrogates(shorten_path(asset.path)),
            "fixable": finding.fixable.value,
            "data": plain_value(finding.data),
            "cause": replace_surrogates(finding.cause),
            "related": sorted({replace_surrogates(other.kind) for other in finding.related}),
        },
    }


def _build_location(asset: AssetReport, finding: Diagnostic) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": _build_artifact(name_file(asset, finding))}
    line, column = find_position(finding)
    if line:
        physical["region"] = {"startLine": line} | ({"startColumn": column} if column else {})
    location: dict[str, Any] = {"physicalLocation": physical}
    prim = name_prim(finding)
    if prim:
        where = finding.where
        location["logicalLocations"] = [
            {
                "name": replace_surrogates(where.prop or where.prim.rsplit("/", 1)[-1]),
                "fullyQualifiedName": replace_surrogates(prim),
                "kind": "property" if where.prop else "object",
            }
        ]
    return location


def _build_artifact(file: str) -> dict[str, Any]:
    path = shorten_path(file)
    uri = quote(_encode_path(path), safe="/")
    if PurePosixPath(path).is_absolute():
        return {"uri": f"file://{uri}"}
    return {"uri": uri, "uriBaseId": ROOT}


def _encode_path(path: str) -> bytes:
    try:
        return path.encode("utf-8", "surrogateescape")  # the bytes of a file name that is not UTF-8
    except UnicodeEncodeError:
        return replace_surrogates(path).encode()


def _hash_finding(asset: AssetReport, finding: Diagnostic, seen: Counter[str]) -> str:
    """A number for the finding that survives moved lines; equal findings are told apart by their order."""
    parts = (
        finding.kind,
        shorten_path(asset.path),
        shorten_path(name_file(asset, finding)),
        name_prim(finding),
        finding.message,
    )
    text = json.dumps(parts)
    # counted, because services take results with the same fingerprint for one
    seen[text] += 1
    return hashlib.sha256(f"{text}#{seen[text]}".encode()).hexdigest()[:32]


def _escape(text: str) -> str:
    """SARIF text: braces hold placeholders (3.11.5) and ``[..](..)`` is a link (3.11.6); here neither is."""
    doubled = replace_surrogates(text).replace("{", "{{").replace("}", "}}")
    return doubled.replace("](", "\\](")
