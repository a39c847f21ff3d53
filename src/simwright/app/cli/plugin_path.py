# SPDX-License-Identifier: Apache-2.0
"""``simwright plugin-path``."""

from __future__ import annotations

import click

EPILOG = """\b
Examples:
  export PXR_PLUGINPATH_NAME=$(simwright plugin-path)
  PXR_PLUGINPATH_NAME=$(simwright plugin-path --validators) usdchecker robot.usda
"""


@click.command("plugin-path", epilog=EPILOG)
@click.option(
    "--validators", is_flag=True, help="Also the rules; for tools whose Python has Simwright installed."
)
def plugin_path(validators: bool) -> None:
    """Print the folder of the schema plugins.

    With it in PXR_PLUGINPATH_NAME any OpenUSD tool knows the ROS, control and extended-physics schemas and the
    profiles of REP-0158. With --validators, tools that use UsdValidation can run the rules of simwright check
    too (keyword rep0158).
    """
    from simwright.usd.plugins import plugin_path as find_plugin_path

    click.echo(find_plugin_path(validators=validators))
