# SPDX-License-Identifier: Apache-2.0
"""What was found out about meshes, kept by their content for as long as the process lives.

Assets are looked at again and again: in every variant, while somebody works on them, before and after a fix, and
robots of one family share their parts.  What a mesh is follows from its numbers alone, so it is worked out once for
each content.  The arrays themselves are not kept, only hashes of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

if TYPE_CHECKING:
    import numpy.typing as npt

    from simwright.checker.facts.meshes import FaceFacts, Weld

K = TypeVar("K")
V = TypeVar("V")
ArrayKey: TypeAlias = tuple[str, int, int]
"""The type of an array's numbers, its length and a hash of it."""
FaceKey: TypeAlias = tuple[ArrayKey, ArrayKey]

MOST_FORMS = 8192
MOST_MESHES = 8192
"""Contents that are remembered; then it starts anew."""


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


def forget() -> None:
    """Start anew."""
    _forms.clear()
    _answers.clear()


def _put(book: dict[K, V], key: K, value: V, most: int) -> V:
    if len(book) >= most:
        book.clear()
    book[key] = value
    return value
