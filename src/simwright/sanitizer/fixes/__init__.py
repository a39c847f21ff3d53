# SPDX-License-Identifier: Apache-2.0
"""The fixes, one module for each family; every :class:`~simwright.sanitizer.fixer.Fixer` in here is found by itself."""
