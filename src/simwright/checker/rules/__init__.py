# SPDX-License-Identifier: Apache-2.0
"""The rules, one file each, in a folder per REP section (``s1_1``, ``s2_4`` ...)."""
