# SPDX-License-Identifier: Apache-2.0
"""REP-0158 2.5: services."""
