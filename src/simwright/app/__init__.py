# SPDX-License-Identifier: Apache-2.0
"""The top tier: the public API, the command line and reports.  Knows everything, contains no logic."""
