# SPDX-License-Identifier: Apache-2.0
"""REP-0158 4.2.4: sensor extensions."""
