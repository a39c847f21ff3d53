"""Commands that are killed: the old result or the new one, and the next run leaves nothing of the killed one.

``python scripts/kill.py --kills 300`` kills more of them.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
KILLS = 21


def test_killed_commands_leave_the_old_or_the_new(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(REPO / "scripts" / "kill.py"), "--kills", str(KILLS)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{KILLS} kills, 0 problems" in done.stdout
