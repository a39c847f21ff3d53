# SPDX-License-Identifier: Apache-2.0
"""Names and findings of untrusted files as text of the page: nothing in them is markup."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from simwright.core.diag import Diagnostic
from simwright.core.visible import make_visible

_MARKS = re.compile(r"[\\`*_{}\[\]<>()#|!&$~:@/\"']")
_LONG = 80


def plain(text: str) -> str:
    """A text as Markdown shows it: no control characters, and nothing that Markdown or HTML would act on."""
    # spaces at the beginning would make a block of code of it
    return _MARKS.sub(lambda found: f"&#{ord(found[0])};", make_visible(text).strip())


def short(text: str, most: int = _LONG) -> str:
    """A name for a label or a list: visible characters, not too many."""
    shown = make_visible(text)
    return shown if len(shown) <= most else shown[: most - 1] + "\u2026"


def list_choices(names: Iterable[str], most: int = 40, taken: Iterable[str] = ()) -> dict[str, str]:
    """Labels of a list to choose from, and the name that each is of; no two are alike, nor like one that is taken."""
    found: dict[str, str] = {}
    used = set(taken)
    for name in names:
        label, number = short(name, most), 1
        while label in used:
            number += 1
            label = f"{short(name, most)} ({number})"
        used.add(label)
        found[label] = name
    return found


def numbers(values: Any) -> str:
    """A few digits of each."""
    return " ".join(f"{value:.4g}" for value in np.asarray(values).tolist())


def table(rows: list[tuple[str, str]]) -> str:
    """Two columns; the texts are Markdown already."""
    return "| | |\n|---|---|\n" + "\n".join(f"| {key} | {value} |" for key, value in rows)


def describe_finding(finding: Diagnostic) -> str:
    """Level, code, message and place of a finding."""
    where = finding.where
    place = where.prim or (f"line {where.line}" if where.line else "")
    at = f" at {plain(place)}" if place else ""
    return f"**{finding.level.name.lower()}** {plain(finding.kind)}{at}  \n{plain(finding.message)}"
