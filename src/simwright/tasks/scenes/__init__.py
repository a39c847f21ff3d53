# SPDX-License-Identifier: Apache-2.0
"""The task scenes, one file each, and the table of them."""
