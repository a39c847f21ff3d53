# SPDX-License-Identifier: Apache-2.0
"""Where the schema plugins are, and how OpenUSD gets to know them (REP-0158 4.1).

Every OpenUSD tool learns the schemas from one environment variable, set before it starts::

    PXR_PLUGINPATH_NAME=$(simwright plugin-path) usdview robot.usda

In our own process :func:`register_plugins` does the same.  OpenUSD reads schema definitions once, when the
first stage is opened, and does not look again: call it before that.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path

SCHEMAS = Path(__file__).resolve().parent / "schemas"
"""The folder with one sub-folder per extension."""


VALIDATORS = SCHEMAS.parents[1] / "checker" / "adapters" / "usd_validation"
"""The plugin that runs our rules as validators of OpenUSD."""


def plugin_path(*, validators: bool = False) -> str:
    """The value for ``PXR_PLUGINPATH_NAME`` that makes OpenUSD find every schema of ours.

    With ``validators`` our rules as well.  Those are Python: a program whose Python has no Simwright cannot load them.
    """
    return os.pathsep.join([str(SCHEMAS), str(VALIDATORS)]) if validators else str(SCHEMAS)


def list_plugin_folders() -> list[Path]:
    """The folders that hold a plugin, by name."""
    return sorted(file.parent for file in SCHEMAS.glob("*/plugInfo.json"))


@cache
def register_plugins() -> tuple[str, ...]:
    """Tell OpenUSD about our plugins and give the names of those that were new to it.

    A plugin whose name OpenUSD already knows (the environment variable was set, or another package ships
    the same library) is left as it is.  Calling it again does nothing and gives the first answer.
    """
    from pxr import Plug

    registry = Plug.Registry()
    known = {plugin.name for plugin in registry.GetAllPlugins()}
    new = [folder for folder in list_plugin_folders() if read_plugin_name(folder) not in known]
    added = registry.RegisterPlugins([str(folder) for folder in new]) if new else []
    return tuple(sorted(plugin.name for plugin in added))


def read_plugin_name(folder: Path) -> str:
    """The library name that the plugInfo.json of one of our folders declares."""
    text = (folder / "plugInfo.json").read_text(encoding="utf-8")
    return str(json.loads(text)["Plugins"][0]["Name"])
