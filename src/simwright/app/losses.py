# SPDX-License-Identifier: Apache-2.0
"""Which findings are losses: something of the source that is not in the result.

Kinds of problem say so in their message, always in the same words; a guess or a change of form is no loss.
"""

from __future__ import annotations

import re

from simwright.core.diag import CATALOGUE, Diagnostic

_WORDS = re.compile(
    r"\b(left out|lost|not carried|not written|not read|not scattered|kept as extras? only|"
    r"ha(s|ve) no place|ha(s|ve) no (neutral |MJCF |SDF |URDF )?(attribute|counterpart))\b"
)


def is_loss(finding: Diagnostic) -> bool:
    """Does the finding say that something was not carried?"""
    kind = CATALOGUE.get(finding.kind)
    return bool(_WORDS.search(kind.message if kind is not None else finding.message))
