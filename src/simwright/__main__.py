# SPDX-License-Identifier: Apache-2.0
"""``python -m simwright`` and the ``simwright`` command."""

from __future__ import annotations

import sys

from simwright.app.cli.main import run


def main() -> None:
    """Run the command line and exit with its code."""
    sys.exit(run())


if __name__ == "__main__":
    main()
