"""Free blocks are kept where arrays come and go (glibc)."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import resource, sys
from simwright.core.heap import keep_freed
if "keep" in sys.argv:
    keep_freed()
kept = bytes(1)
start = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(50):
    block = b"x" * (2 << 20)
    del block
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - start)
"""


def test_a_block_that_was_freed_is_not_asked_for_again() -> None:
    done = subprocess.run([sys.executable, "-c", CODE, "keep"], check=True, capture_output=True, text=True)
    # a block of 2 MiB has 512 pages
    assert int(done.stdout) < 5 * 512
