# SPDX-License-Identifier: Apache-2.0
"""docs/rules/: one page per rule from its docstring, an index, and the table of the reference tool's ids."""

from __future__ import annotations

import re

from generate import NOTE, list_our_rules
from simwright.checker.catalogue import find_statement, read_ledger
from simwright.checker.rule import Rule

_PART = re.compile(r"^(Why|Fails|Passes|Fix|Reading): ?", re.MULTILINE)
_TITLES = {
    "Why": "Why",
    "Fails": "Fails",
    "Passes": "Passes",
    "Fix": "Fix",
    "Reading": "How Simwright reads the REP",
}


def generate() -> dict[str, str]:
    """Every page by its path."""
    pages = {f"docs/rules/{rule.code}.md": _rule_page(rule) for rule in list_our_rules()}
    pages["docs/rules/README.md"] = _index()
    pages["docs/rules/reference-ids.md"] = _reference_ids()
    return pages


def _rule_page(rule: Rule) -> str:
    row = find_statement(rule)
    source = "REP-0158 section" if row else "No statement of REP-0158; about its section"
    requirement = f"> {row.requirement}\n\n" if row else ""
    heuristic = ", heuristic (reported one level lower)" if rule.heuristic else ""
    parts = _PART.split(rule.doc)
    summary = parts[0].partition("\n")[2].strip()
    text = [NOTE, f"# {rule.code}\n\n{rule.title}.\n\n"]
    text.append(f"{source} {rule.section}, *{rule.word}*: level {rule.level}{heuristic}. ")
    text.append(f"Profile {rule.profile}. Fix: {rule.fix}.\n\n{requirement}")
    if summary:
        text.append(f"{summary}\n\n")
    for name, part in zip(parts[1::2], parts[2::2], strict=True):
        body = part.strip()
        text.append(f"## {_TITLES[name]}\n\n{body[:1].upper()}{body[1:]}\n\n")
    return "".join(text).rstrip() + "\n"


def _index() -> str:
    rules = list_our_rules()
    stated = sum(find_statement(rule) is not None for rule in rules)
    lines = [
        NOTE + "# Rules\n",
        f"{len(rules)} rules, {stated} of them for statements of REP-0158. `simwright explain CODE` shows one.",
        "[Which ids the reference checker has for them](reference-ids.md).\n",
    ]
    lines += ["| rule | section | level | fix | good state |", "|---|---|---|---|---|"]
    for rule in rules:
        level = f"{rule.level} (heuristic)" if rule.heuristic else rule.level.value
        title = rule.title.replace("|", "\\|")
        lines.append(f"| [{rule.code}]({rule.code}.md) | {rule.section} | {level} | {rule.fix} | {title} |")
    return "\n".join(lines) + "\n"


def _reference_ids() -> str:
    """Which checks of ros-openusd-compliance-checker 0.1.2 ours replace."""
    lines = [
        NOTE + "# Codes of the reference tool\n",
        "Ids of ros-openusd-compliance-checker 0.1.2 and the rules here that check the same statement. *Verdict* tells",
        "how well that tool covers it: full, partial, severity (right test, other level), weak or wrong.\n",
        "| reference id | rule | verdict |",
        "|---|---|---|",
    ]
    rows = [(peer, row) for row in read_ledger() if row.is_checkable for peer in row.peer_ids]
    rows.sort(key=lambda pair: ([int(n) for n in re.findall(r"\d+", pair[0])], pair[1].code))
    lines += [f"| {peer} | [{row.code}]({row.code}.md) | {row.peer_verdict} |" for peer, row in rows]
    return "\n".join(lines) + "\n"
