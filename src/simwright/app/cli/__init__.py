# SPDX-License-Identifier: Apache-2.0
"""The command line: one file per command, imported when the command is used."""
