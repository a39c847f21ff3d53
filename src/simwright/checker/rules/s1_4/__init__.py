# SPDX-License-Identifier: Apache-2.0
"""REP-0158 1.4: isolation of vendor and physics extensions."""
