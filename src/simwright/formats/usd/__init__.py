# SPDX-License-Identifier: Apache-2.0
"""OpenUSD: .usda, .usdc, .usd and .usdz."""

from simwright.formats.format import Format

FORMAT = Format(
    name="usd",
    title="OpenUSD",
    extensions=(".usda", ".usdc", ".usdz", ".usd"),
    reader="simwright.formats.usd.read:read",
    writer="simwright.formats.usd.writer.entry:write",
    table="simwright.formats.usd.holds:HOLDS",
    magic=(b"#usda", b"PXR-USDC"),
)
