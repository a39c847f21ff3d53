# SPDX-License-Identifier: Apache-2.0
"""What OpenUSD itself complains about while a stage is read, as findings instead of lines on stderr."""

from __future__ import annotations

import re

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.usd import complaints
from simwright.usd.silence import Message

BINDING_UNAPPLIED = declare(
    "usd-binding-unapplied",
    Level.WARNING,
    "{count} prim(s) bind a material without MaterialBindingAPI, the first at {first}; some tools want it",
    hint="apply MaterialBindingAPI to prims with material:binding",
    doc="OpenUSD asks for the API on every prim with a binding. The binding is used here all the same.",
    section="3.1",
)

_BINDING = re.compile(r"material bindings on prim at path \((?P<prim>[^)]*)\)")
_MAX_MESSAGES = 20


def report_messages(messages: list[Message], where: Where, reporter: Reporter) -> None:
    """One finding for all bindings without their API, one for each other message."""
    unapplied: dict[str, None] = {}
    others: list[Message] = []
    for message in messages:
        match = _BINDING.search(message.text)
        if match:
            unapplied[match["prim"]] = None
        else:
            others.append(message)
    if unapplied:
        first = next(iter(unapplied))
        place = Where(where.file, prim=first)
        reporter.report(BINDING_UNAPPLIED, place, count=len(unapplied), first=first)
    complaints.report_messages(others[:_MAX_MESSAGES], reporter, where.file)
