# SPDX-License-Identifier: Apache-2.0
"""REP-0158 3.1: material portability."""
