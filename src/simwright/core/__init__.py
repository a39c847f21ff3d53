# SPDX-License-Identifier: Apache-2.0
"""Ground floor: diagnostics, errors, registries, small mathematics.  Standard library and numpy only."""
