# SPDX-License-Identifier: Apache-2.0
"""File formats: each a folder that turns bytes into the neutral model, blind to the others."""
