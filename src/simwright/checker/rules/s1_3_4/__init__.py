# SPDX-License-Identifier: Apache-2.0
"""REP-0158 1.3.4: contact physics."""
