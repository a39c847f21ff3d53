# SPDX-License-Identifier: Apache-2.0
"""What was found out about meshes, kept by their content for as long as the process lives.

Assets are looked at again and again: in every variant, while somebody works on them, before and after a fix, and
robots of one family share their parts.  What a mesh is follows from its numbers alone, so it is worked out once for
each content.  The arrays themselves are not kept, only hashes of them.  Where all that is said of a mesh stands in
files that are as they were, it is not even read again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from simwright.usd.arcs import identify_content
from simwright.usd.questions import specs_of

if TYPE_CHECKING:
    import numpy.typing as npt
    from pxr import Usd

    from simwright.checker.facts.meshes import FaceFacts, Sketch, Weld
    from simwright.usd.settled import Identity

K = TypeVar("K")
V = TypeVar("V")
ArrayKey: TypeAlias = tuple[str, int, int]
"""The type of an array's numbers, its length and a hash of it."""
FaceKey: TypeAlias = tuple[ArrayKey, ArrayKey]
MeshPlace: TypeAlias = "tuple[tuple[Identity, str], ...] | None"
"""Where all that is said of a prim stands: files as they are now, and the path in each.

None where a layer is no file, or may not be what is in the file: then nothing is remembered.
"""

MOST_FORMS = 8192
MOST_MESHES = 8192
"""Contents that are remembered; then it starts anew."""
MOST_PLACES = 1000
"""Meshes of a stage whose places are remembered; robots have fewer."""


@dataclass(slots=True)
class MeshAnswers:
    """What is dear to find out about a mesh; None where nobody has asked."""

    surface: tuple[FaceFacts, Weld | None] | None = None
    """Its faces with equal points made one, and how that was done."""
    is_flat: bool | None = None
    is_convex: bool | None = None
    volume: float | None = None
    crossing: tuple[tuple[int, int] | None] | None = None
    """Two triangles that cross each other, or none, as the only one of a tuple."""


@dataclass(slots=True)
class MeshOutline:
    """What reading a mesh tells; ``digest`` is a hash of its points, None where nobody has asked for it."""

    form: FaceFacts
    sketch: Sketch
    problem: str
    digest: ArrayKey | None = None


PrimvarKey: TypeAlias = "tuple[tuple[str, ArrayKey | str], ...]"
"""Names of primvars, each with what tells its value from others."""

_outlines: dict[MeshPlace, MeshOutline] = {}
_primvars: dict[MeshPlace, PrimvarKey] = {}
_forms: dict[FaceKey, FaceFacts] = {}
_answers: dict[tuple[FaceKey, ArrayKey], MeshAnswers] = {}


def key_array(values: npt.NDArray[Any]) -> ArrayKey:
    """What tells an array from others.

    Hashes of bytes have 64 bits, and a key that is drawn for each process: nobody can choose arrays that share one.
    """
    return values.dtype.char, len(values), hash(values.tobytes())


def recall_form(key: FaceKey) -> FaceFacts | None:
    """What follows from these faces, if they were met before."""
    return _forms.get(key)


def keep_form(key: FaceKey, form: FaceFacts) -> None:
    """Remember what follows from faces."""
    _put(_forms, key, form, MOST_FORMS)


def recall_answers(form: FaceKey, points: ArrayKey) -> MeshAnswers:
    """What is known of the mesh with these faces and points; what is found out about it is entered there."""
    key = (form, points)
    found = _answers.get(key)
    return _put(_answers, key, MeshAnswers(), MOST_MESHES) if found is None else found


def recall_outline(place: MeshPlace) -> MeshOutline | None:
    """What reading the mesh at a place told."""
    return _outlines.get(place)


def keep_outline(place: MeshPlace, outline: MeshOutline) -> None:
    """Remember what reading a mesh told."""
    if place is not None:
        _put(_outlines, place, outline, MOST_MESHES)


def recall_primvars(place: MeshPlace) -> PrimvarKey | None:
    """What the primvars of the mesh at a place were."""
    return _primvars.get(place)


def keep_primvars(place: MeshPlace, key: PrimvarKey) -> None:
    """Remember what primvars a mesh has."""
    if place is not None:
        _put(_primvars, place, key, MOST_MESHES)


def find_place(prim: Usd.Prim, files: dict[str, Identity | None]) -> MeshPlace:
    """The place of a prim; ``files`` are those that were looked at before, by identifiers of layers."""
    place = []
    for spec in specs_of(prim):
        layer = spec.layer
        name = layer.identifier
        if name not in files:
            files[name] = identify_content(layer)
        identity = files[name]
        if identity is None:
            return None
        place.append((identity, spec.path.pathString))
    return tuple(place)


def forget() -> None:
    """Start anew."""
    _outlines.clear()
    _primvars.clear()
    _forms.clear()
    _answers.clear()


def _put(book: dict[K, V], key: K, value: V, most: int) -> V:
    if len(book) >= most:
        book.clear()
    book[key] = value
    return value
