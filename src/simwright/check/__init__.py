# SPDX-License-Identifier: Apache-2.0
"""The compliance checker: every checkable rule of REP-0158, in one pass over a stage."""
