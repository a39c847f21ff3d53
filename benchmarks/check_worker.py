# SPDX-License-Identifier: Apache-2.0
"""An asset checked in a process of its own, by us or by the reference checker of REP-0158: CPU seconds as JSON.

Runs in the peer's environment as well, so it imports nothing of Simwright unless it is asked to.  Both open the stage
themselves, and imports are not what is compared.  ``cold`` is the first check of the process, ``again`` the least of
nine more.  The reference checker runs all its sections, as we do.
"""

from __future__ import annotations

import gc
import json
import logging
import sys
import time
from collections.abc import Callable

Check = Callable[[str], int]
_AGAIN = 9


def main(side: str, source: str) -> None:
    """Check once, then again, and tell."""
    logging.disable(logging.CRITICAL)
    check = _find_ours() if side == "ours" else _find_peer()
    taken = []
    for _ in range(1 + _AGAIN):
        gc.collect()
        started = time.process_time()
        found = check(source)
        taken.append(time.process_time() - started)
    print(json.dumps({"cold": taken[0], "again": min(taken[1:]), "found": found}))


def _find_ours() -> Check:
    from simwright.checker.asset import check_file
    from simwright.checker.run import all_rules

    all_rules()  # an import of each rule

    def check(source: str) -> int:
        result = check_file(source)
        assert not result.failed, result.findings  # what is not checked is fast
        return len(result.findings)

    return check


def _find_peer() -> Check:
    from compliance_checker.checker import ComplianceChecker

    def check(source: str) -> int:
        checker = ComplianceChecker.from_path(source, include_export=True, include_extended=True)
        return len(checker.run().violations)

    return check


if __name__ == "__main__":
    main(*sys.argv[1:])
