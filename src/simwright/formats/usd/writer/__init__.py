# SPDX-License-Identifier: Apache-2.0
"""The OpenUSD writer: a model becomes the functional layers of REP-0158 1.2, one file per layer or concern."""
