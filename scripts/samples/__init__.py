# SPDX-License-Identifier: Apache-2.0
"""The sample assets: one module per sample, each with ``build() -> {path in the package: bytes}``."""
