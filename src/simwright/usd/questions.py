# SPDX-License-Identifier: Apache-2.0
"""OpenUSD's questions as plain functions, for what is asked of every prim and attribute.

Asked on an object (``prim.GetPath()``), OpenUSD's Python first makes sure that the object has not expired, which takes
longer than most answers.  Readers and the checker hold their stage open and do not edit it, so nothing expires under
them.  What is not there has the value None.
"""

from __future__ import annotations

from typing import Final

from pxr import Sdf, Usd

attribute_of: Final = Usd.Prim.GetAttribute
relationship_of: Final = Usd.Prim.GetRelationship
path_of: Final = Usd.Prim.GetPath
type_of: Final = Usd.Prim.GetPrimTypeInfo
specs_of: Final = Usd.Prim.GetPrimStack
names_of: Final = Usd.Prim.GetAuthoredPropertyNames
is_proxy: Final = Usd.Prim.IsInstanceProxy
has_relationship: Final = Usd.Prim.HasRelationship
label_of: Final = Usd.Prim.GetDisplayName
has_custom_data: Final = Usd.Prim.HasAuthoredCustomData
value_of: Final = Usd.Attribute.Get
is_authored: Final = Usd.Attribute.HasAuthoredValue
targets_of: Final = Usd.Relationship.GetTargets
forwarded_targets_of: Final = Usd.Relationship.GetForwardedTargets
value_type_of: Final = Usd.Attribute.GetTypeName


def scalar_type_of(name: Sdf.ValueTypeName) -> Sdf.ValueTypeName:
    """The type of one element, of an array or of a single value; a type that OpenUSD does not know is given back.

    OpenUSD leaves ``scalarType`` of such a type unset, and whatever is asked of it ends the process.
    """
    return name if name.type.isUnknown else name.scalarType
