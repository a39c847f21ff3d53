# SPDX-License-Identifier: Apache-2.0
"""docs/schemas.md from the schema registry."""

from __future__ import annotations

from generate import NOTE
from simwright.usd.registry import list_extensions


def generate() -> str:
    """A section per extension, a table per class."""
    lines = [
        NOTE + "# OpenUSD schemas\n",
        "Codeless API schemas of REP-0158 (sections 2 and 4.2). Any OpenUSD tool knows them with",
        "`PXR_PLUGINPATH_NAME=$(simwright plugin-path)`; Simwright registers them itself.\n",
    ]
    for extension in list_extensions():
        lines.append(f"## {extension.name}\n\n{extension.summary}\n")
        for schema in extension.classes:
            lines.append(f"### {schema.name}\n\n{schema.doc}\n")
            if schema.builtins:
                lines.append(f"Brings: {', '.join(schema.builtins)}.\n")
            if schema.can_only_apply_to:
                lines.append(f"Applies to: {', '.join(schema.can_only_apply_to)}.\n")
            if schema.properties:
                lines += ["| property | type | default | meaning |", "|---|---|---|---|"]
            for prop in schema.properties:
                tokens = f" One of: {', '.join(prop.allowed_tokens)}." if prop.allowed_tokens else ""
                default = "" if prop.default is None else f"`{prop.default}`"
                doc = (prop.doc + tokens).replace("\n", " ").replace("|", "\\|")
                lines.append(f"| `{prop.name}` | {prop.type} | {default} | {doc} |")
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"
