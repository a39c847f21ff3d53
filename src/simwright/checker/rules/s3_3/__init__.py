# SPDX-License-Identifier: Apache-2.0
"""REP-0158 3.3: texture baking."""
