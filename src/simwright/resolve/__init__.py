# SPDX-License-Identifier: Apache-2.0
"""Solver schemas: which attribute says what, in which unit, and which one counts.  Knows nothing of ``pxr``.

table        what a row is: a key of a kind of prim, its attributes, schema, unit, transform and fallback; axis words
newton, physx, mjc, usdphysics  the rows, data only
sensors      the registry's sensor schemas and the settings of sensors, used both ways
resolver     the rows of one solver by key; the registry of solvers; precedence between them
translation  engine words and neutral words for the same quantity, mimic joint or motor, used both ways
"""

from simwright.model.extras import Lost, Origin, Resolved
from simwright.resolve.resolver import (
    DEFAULT_ORDER,
    RESOLVERS,
    ResolverOrder,
    SchemaResolver,
    SchemaResolverMjc,
    SchemaResolverNeutral,
    SchemaResolverNewton,
    SchemaResolverPhysx,
    find_resolver,
    make_resolvers,
    resolve,
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
