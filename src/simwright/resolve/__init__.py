# SPDX-License-Identifier: Apache-2.0
"""Solver schemas: which attribute says what, in which unit, and which one counts.  Knows nothing of ``pxr``.

table        what a row is: a key of a kind of prim, its attributes, schema, unit and fallback
transforms   how authored attributes become a value, and back, where it is more than a factor
newton, physx, mjc, usdphysics  the rows, data only
resolver     the rows of one solver by key; the registry of solvers; attributes by solver
resolve      precedence: authored values, then the importer's default, then fallbacks of schemas
translation  engine words and neutral words for the same quantity, mimic joint or motor, used both ways
axes         the words of solver schemas for the axes of a joint
"""

from simwright.model.origins import Lost, Origin, Resolved
from simwright.resolve.resolve import ResolverOrder, resolve
from simwright.resolve.resolver import (
    DEFAULT_ORDER,
    RESOLVERS,
    SchemaResolver,
    SchemaResolverMjc,
    SchemaResolverNeutral,
    SchemaResolverNewton,
    SchemaResolverPhysx,
    find_resolver,
    make_resolvers,
    schema_attrs,
)
from simwright.resolve.table import PrimType, Row, Scale

__all__ = [
    "DEFAULT_ORDER",
    "RESOLVERS",
    "Lost",
    "Origin",
    "PrimType",
    "Resolved",
    "ResolverOrder",
    "Row",
    "Scale",
    "SchemaResolver",
    "SchemaResolverMjc",
    "SchemaResolverNeutral",
    "SchemaResolverNewton",
    "SchemaResolverPhysx",
    "find_resolver",
    "make_resolvers",
    "resolve",
    "schema_attrs",
]
