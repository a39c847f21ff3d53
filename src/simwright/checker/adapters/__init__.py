# SPDX-License-Identifier: Apache-2.0
"""Our rules for the frameworks of others."""
