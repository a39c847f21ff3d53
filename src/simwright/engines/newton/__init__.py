# SPDX-License-Identifier: Apache-2.0
"""Newton: fill a ``newton.ModelBuilder`` from any file Simwright reads, or from an asset.

::

    import newton
    from simwright.engines.newton import add_usd

    builder = newton.ModelBuilder()
    result = add_usd(builder, "robot.usda")
    model = builder.finalize()

What Newton's own importer does differently is listed in ``docs/newton-differences.md``.

build       from an asset or a file to a builder: bodies and joints branch by branch, then all that hangs on them
choices     what a user may ask of an import, in the words of ``ModelBuilder.add_usd``
joints      joints, and what holds the roots
relations   mimics, equalities, motors, tendons, filters
shapes      shapes, sites, pictures on meshes, distance fields
registered  custom attributes, and those that solvers have registered on the builder
result      where the parts of an asset are in the builder
arrays      arrays of scenes as Warp arrays, without copies
types       the parts of ``ModelBuilder`` that are used, as a type
messages    what Newton has no place for
simulate    Newton in the table of engines, and its worlds while they move
"""

from simwright.engines.newton.arrays import to_warp
from simwright.engines.newton.build import add_asset, add_file, add_usd
from simwright.engines.newton.choices import Choices
from simwright.engines.newton.result import Imported

__all__ = ["Choices", "Imported", "add_asset", "add_file", "add_usd", "to_warp"]
