# SPDX-License-Identifier: Apache-2.0
"""Newton: fill a ``newton.ModelBuilder`` from any file Simwright reads, or from an asset.

::

    import newton
    from simwright.engines.newton import add_usd

    builder = newton.ModelBuilder()
    result = add_usd(builder, "robot.usda")
    model = builder.finalize()

What Newton's own importer does differently is listed in ``docs/newton-differences.md``.
"""

from simwright.engines.newton.arrays import to_warp
from simwright.engines.newton.build import add_asset, add_file, add_usd
from simwright.engines.newton.choices import Choices
from simwright.engines.newton.result import Imported

__all__ = ["Choices", "Imported", "add_asset", "add_file", "add_usd", "to_warp"]
