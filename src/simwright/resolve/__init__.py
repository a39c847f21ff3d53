# SPDX-License-Identifier: Apache-2.0
"""Solver schemas: which attribute says what, and whose word counts.  Knows nothing of ``pxr``."""

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
