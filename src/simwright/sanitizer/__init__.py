# SPDX-License-Identifier: Apache-2.0
"""The sanitizer: repairs what the checker finds, and proves that nothing else changed."""
