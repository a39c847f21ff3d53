# SPDX-License-Identifier: Apache-2.0
"""The ``simwright`` command.  A file per command, named like it; each imports what is slow inside its functions.

main      the table of commands, and where errors become exit codes
options   options and output that several commands share
findings  printing findings, and the exit code they mean
progress  a progress bar for commands that work on many files
"""
