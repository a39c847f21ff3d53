# SPDX-License-Identifier: Apache-2.0
"""Which findings are losses: something of the source that is not in the result.

Kinds of problem say so in their message, always in the same words; a guess or a change of form is no loss, and what a
reader keeps aside is lost only if the writer has no place for it, which it says itself.
"""

from __future__ import annotations

import re

from simwright.core.diag import CATALOGUE, Diagnostic

_WORDS = re.compile(
    r"\b(left out|lost|not carried|not written|not read|not scattered|has no place|have no place|"
    r"has no (neutral |MJCF |SDF |URDF )?attribute)\b"
)


def is_loss(finding: Diagnostic) -> bool:
    """Does the finding say that something was not carried?"""
    kind = CATALOGUE.get(finding.kind)
    return bool(_WORDS.search(kind.message if kind is not None else finding.message))
