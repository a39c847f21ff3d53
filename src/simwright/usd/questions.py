# SPDX-License-Identifier: Apache-2.0
"""OpenUSD's questions as plain functions, for what is asked of every prim and attribute.

Asked on an object (``prim.GetPath()``), OpenUSD's Python first makes sure that the object has not expired, which takes
longer than most answers.  Readers and the checker hold their stage open and do not edit it, so nothing expires under
them.  What is not there has the value None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from struct import Struct
from typing import Any, Final

from pxr import Gf, Sdf, Usd

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
list_fields: Final = Sdf.PrimSpec.ListInfoKeys
read_field: Final = Sdf.PrimSpec.GetInfo
has_field: Final = Sdf.PrimSpec.HasInfo

_LETTERS = {"d": "d", "f": "f", "h": "e", "i": "i"}
unpack_of: Final[dict[type, Callable[[Any], tuple[Any, ...]]]] = {
    getattr(Gf, f"Vec{count}{word}"): Struct(f"{count}{letter}").unpack
    for count in (2, 3, 4)
    for word, letter in _LETTERS.items()
}
"""Vector type -> its numbers as a tuple: read from memory, in a twentieth of the time of asking for one by one."""
imaginary_of: Final[dict[type, Callable[[Any], tuple[float, ...]]]] = {
    Gf.Quatd: unpack_of[Gf.Vec3d],
    Gf.Quatf: unpack_of[Gf.Vec3f],
    Gf.Quath: unpack_of[Gf.Vec3h],
}
"""Quaternion type -> what gives the numbers of its imaginary part."""


_SHORT = 16


def items_of(values: Any) -> Sequence[Any]:
    """The items of a vector or an array.

    OpenUSD ends every loop over one of its objects by an exception of C++, which takes as long as a dozen items: the
    items of short ones are asked for by their numbers.
    """
    unpack = unpack_of.get(type(values))
    if unpack is not None:
        return unpack(values)
    count = len(values)
    return [values[number] for number in range(count)] if count < _SHORT else list(values)


def scalar_type_of(name: Sdf.ValueTypeName) -> Sdf.ValueTypeName:
    """The type of one element, of an array or of a single value; a type that OpenUSD does not know is given back.

    OpenUSD leaves ``scalarType`` of such a type unset, and whatever is asked of it ends the process.
    """
    return name if name.type.isUnknown else name.scalarType


def list_variants(spec: Sdf.PrimSpec, path: Sdf.Path) -> Iterator[Sdf.Path]:
    """Paths of the variants at a prim; those of one set in reverse order."""
    for choice in spec.GetInfo("variantSetChildren") or ():
        variants = spec.layer.GetObjectAtPath(path.AppendVariantSelection(choice, ""))
        names = variants.variants.keys() if variants is not None else ()
        yield from (path.AppendVariantSelection(choice, name) for name in reversed(list(names)))
