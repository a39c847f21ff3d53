# SPDX-License-Identifier: Apache-2.0
"""What each layer holds: domains of its opinions, arcs, asset paths, array sizes and its role.

Roles are decided by what a layer holds, never by its file name (REP-0158 1.2.1 names files, but converters
name them otherwise).  :mod:`simwright.checker.facts.layer_walk` fills the facts in.
"""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, overload

from pxr import Sdf, Usd

from simwright.checker.facts.domains import FEATURES, Domain

if TYPE_CHECKING:
    from simwright.checker.settings import CheckSettings

# above any threshold that a user would set
COUNTED_ELEMENTS = 1_000_000
"""Mesh arrays of a layer are counted up to here: heavy beyond doubt."""


@dataclass(frozen=True, slots=True, eq=False)
class OpinionContent:
    """What an opinion is about: one object for all properties, APIs or types of one name in a layer."""

    domain: Domain
    what: str
    kind: str
    vendor: str = ""


class Opinion:
    """One opinion that rules want to point at: an applied API, a typed prim or a property.

    ``at`` is the prim; ``what`` the name, ``kind`` is ``api``, ``type`` or ``property``.
    """

    __slots__ = ("at", "content")

    def __init__(self, at: Sdf.Path, content: OpinionContent) -> None:
        self.at = at
        self.content = content

    @property
    def domain(self) -> Domain:
        """What it is about."""
        return self.content.domain

    @property
    def what(self) -> str:
        """The name of the property, API or type."""
        return self.content.what

    @property
    def kind(self) -> str:
        """``api``, ``type`` or ``property``."""
        return self.content.kind

    @property
    def vendor(self) -> str:
        """Whose it is, empty for neutral ones."""
        return self.content.vendor

    @property
    def path(self) -> Sdf.Path:
        """The prim or property that holds it (made when asked: there are many opinions)."""
        return self.at.AppendProperty(self.what) if self.kind == "property" else self.at


OpinionContents: TypeAlias = tuple[OpinionContent, ...]
"""What the opinions of a prim are about; prims with equal opinions share one."""


_KEPT = 4096
"""Opinions of one choice that are kept once they were made."""


class OpinionList(Sequence[Opinion]):
    """Opinions of a layer whose contents are wanted, those of outer prims first, each made when it is looked at."""

    __slots__ = ("_chosen", "_count", "_made", "_sayings")

    def __init__(self, sayings: list[tuple[Sdf.Path, int]], chosen: dict[int, list[OpinionContent]]) -> None:
        self._sayings = sayings
        self._chosen = chosen
        self._count = sum(len(chosen[key]) for _, key in sayings)
        self._made: list[Opinion] | None = None

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Opinion]:
        if self._made is not None:
            return iter(self._made)
        chosen = self._chosen
        found = (Opinion(at, content) for at, key in self._sayings for content in chosen[key])
        # rules ask again and again: few are kept, and of many only one at a time is there
        if self._count > _KEPT:
            return found
        self._made = list(found)
        return iter(self._made)

    @overload
    def __getitem__(self, index: int) -> Opinion: ...
    @overload
    def __getitem__(self, index: slice) -> list[Opinion]: ...
    def __getitem__(self, index: int | slice) -> Opinion | list[Opinion]:
        if isinstance(index, slice):
            return list(self)[index]
        if not -self._count <= index < self._count:
            raise IndexError(index)
        return next(itertools.islice(self, index % self._count, None))


NO_OPINIONS = OpinionList([], {})


class Arc(NamedTuple):
    """A composition arc as authored: ``kind`` is reference, payload, sublayer, inherit or specialize."""

    kind: str
    path: Sdf.Path
    asset: str
    target: Sdf.Path


class AssetPath(NamedTuple):
    """An asset-valued opinion: the attribute or prim, the text authored; ``attribute`` or ``metadata``."""

    path: Sdf.Path
    text: str
    kind: str = "attribute"


class TextValue(NamedTuple):
    """A string attribute whose value might be a file or an address."""

    path: Sdf.Path
    text: str


@dataclass(slots=True, eq=False)
class LayerFacts:
    """One layer of the stage."""

    layer: Sdf.Layer
    is_root: bool = False
    said: dict[int, OpinionContents] = field(default_factory=dict)
    """What is said in it, by the identity of the contents: some dozens for thousands of prims."""
    sayings: list[tuple[Sdf.Path, int]] = field(default_factory=list)
    """Prims, as walked, and the identity of what each says."""
    counts: Counter[Domain] = field(default_factory=Counter)
    arcs: list[Arc] = field(default_factory=list)
    asset_paths: list[AssetPath] = field(default_factory=list)
    texts: list[TextValue] = field(default_factory=list)
    elements: int = 0
    """Array elements in the layer."""
    bytes: int = 0
    """Array bytes in the layer."""
    heaviest: Sdf.Path | None = None
    """The attribute with the most data."""
    matrices: list[Sdf.Path] = field(default_factory=list)
    """Arrays of six or nine numbers, which may be a matrix."""
    related: list[tuple[Sdf.Path, tuple[str, ...]]] = field(default_factory=list)
    """Prims and names of relationships they have."""
    defines: Counter[Domain] = field(default_factory=Counter)
    """Prims with specifier ``def`` and a type, by domain."""
    render_materials: list[Sdf.Path] = field(default_factory=list)
    """Materials, shaders and node graphs that are defined here; materials that are only physical aside."""
    placed: list[Sdf.Path] = field(default_factory=list)
    """Xforms defined and placed here: the kinematic tree.  Those that only place another asset do not count."""
    kinds: list[Sdf.Path] = field(default_factory=list)
    """Prims with a kind."""
    neutral_apis: list[tuple[Sdf.Path, str]] = field(default_factory=list)
    """Applied APIs that belong to no domain."""
    unknown: dict[str, Sdf.Path] = field(default_factory=dict)
    """Attributes that nobody we know would write: name, and where it is first."""
    other_ops: list[Sdf.Path] = field(default_factory=list)
    """Transform ops that are neither ``xformOp:translate`` nor ``xformOp:orient``."""
    instanceable: list[Sdf.Path] = field(default_factory=list)
    """Prims with an opinion on ``instanceable``."""
    names: set[str] = field(default_factory=set)
    """Names of all properties it mentions."""
    prims: int = 0
    has_clips: bool = False
    has_samples: bool = False
    has_variants: bool = False
    has_meshes: bool = False
    """Mesh points or faces are authored here."""
    defined_bodies: list[tuple[Sdf.Path, bool]] = field(default_factory=list)
    """Specs that define a prim and make it a rigid body, and whether they say its type."""
    _is_sorted: bool = field(default=False, repr=False)
    _memo: dict[tuple[Domain, ...], OpinionList] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """File name to show."""
        return str(os.path.basename(self.layer.realPath or self.layer.identifier))  # noqa: PTH119 - asked often

    @property
    def encoding(self) -> str:
        """``usda``, ``usdc`` or another format id: what the bytes are, not what the name says."""
        return encoding_of(self.layer)

    @property
    def has_payloads(self) -> bool:
        """Does any prim in it have a payload?"""
        return any(arc.kind == "payload" for arc in self.arcs)

    @property
    def relationships(self) -> int:
        """Number of relationships."""
        return sum(len(names) for _, names in self.related)

    def list_relations(self, wanted: Callable[[str], bool]) -> list[Sdf.Path]:
        """Relationships whose name is wanted; a name is asked for once."""
        chosen = {names: tuple(filter(wanted, names)) for names in {names for _, names in self.related}}
        return [at.AppendProperty(name) for at, names in self.related for name in chosen[names]]

    def find(self, wanted: Callable[[OpinionContent], bool]) -> OpinionList:
        """Opinions whose content is wanted, those of outer prims first; each content is asked for once."""
        chosen = {key: [one for one in contents if wanted(one)] for key, contents in self.said.items()}
        if not any(chosen.values()):
            return NO_OPINIONS
        if not self._is_sorted:
            # outer prims first: the first opinion is where a finding points, and people look there first
            self.sayings.sort(key=lambda said: said[0].pathElementCount)
            self._is_sorted = True
        return OpinionList(self.sayings, chosen)

    @property
    def amount(self) -> str:
        """Its array data in words; very large amounts are not counted to the end."""
        if self.elements > COUNTED_ELEMENTS:
            return f"more than {COUNTED_ELEMENTS:,} array elements"
        return f"{self.elements:,} array elements ({self.bytes // 1024:,} KiB)"

    def is_heavy(self, settings: CheckSettings) -> bool:
        """Is there more array data in it than the settings allow without a payload or a crate?"""
        return self.elements > settings.heavy_elements or self.bytes > settings.heavy_bytes

    @property
    def domains(self) -> set[Domain]:
        """Domains the layer has opinions in."""
        return {domain for domain, count in self.counts.items() if count}

    @property
    def features(self) -> set[Domain]:
        """Feature domains (physics, ROS ...) it has opinions in."""
        return {domain for domain in FEATURES if self.counts[domain]}

    @property
    def vendors(self) -> set[str]:
        """Vendors it has opinions of."""
        return {content.vendor for contents in self.said.values() for content in contents if content.vendor}

    def tally(self, *domains: Domain) -> Counter[OpinionContent]:
        """How often each content in some domains is said."""
        found: Counter[OpinionContent] = Counter()
        for key, times in Counter(key for _, key in self.sayings).items():
            for content in self.said[key]:
                if content.domain in domains:
                    found[content] += times
        return found

    def list_prims(self, *domains: Domain) -> set[Sdf.Path]:
        """Prims that it says something about in some domains."""
        keys = {
            key
            for key, contents in self.said.items()
            if any(content.domain in domains for content in contents)
        }
        return {at.GetPrimPath() for at, key in self.sayings if key in keys}

    def of(self, *domains: Domain) -> OpinionList:
        """Its opinions in some domains, outer prims first."""
        if domains not in self._memo:
            self._memo[domains] = self.find(lambda content: content.domain in domains)
        return self._memo[domains]

    @property
    def is_vendor(self) -> bool:
        """Is it a proprietary layer: a vendor's opinions, and of neutral features at most values to override?

        The entry layer is none, whatever it holds: nobody can leave it out.
        """
        if (
            self.is_root
            or not self.counts[Domain.VENDOR]
            or self.render_materials
            or self.defines[Domain.GEOMETRY]
            or self.has_meshes
        ):
            return False
        return not self._makes(*(domain for domain in FEATURES if domain is not Domain.VENDOR))

    @property
    def is_neutral_physics(self) -> bool:
        """Is it where bodies, joints or colliders are made, and neither shapes nor links are defined?"""
        if self.has_geometry or self.placed or not self.counts[Domain.PHYSICS]:
            return False
        return self._makes(Domain.PHYSICS)

    def _makes(self, *domains: Domain) -> bool:
        """Does it apply an API or say a type of some domains, and not only give values?"""
        contents = itertools.chain.from_iterable(self.said.values())
        return any(content.kind != "property" and content.domain in domains for content in contents)

    @property
    def has_geometry(self) -> bool:
        """Does it define shapes, or hold mesh data?"""
        return self.has_meshes or self.defines[Domain.GEOMETRY] > 0

    @property
    def is_mesh_library(self) -> bool:
        """Is it, but for strays, a layer of mesh data that others refer to?"""
        strays = sum(self.counts[domain] for domain in FEATURES)
        return self.has_meshes and not self.is_root and self.counts[Domain.GEOMETRY] > strays

    def _is_overlay(self, features: set[Domain]) -> bool:
        """Does it hold one neutral feature, and no shapes?"""
        return len(features) == 1 and not self.has_geometry and Domain.VENDOR not in features

    @property
    # one function: the order of the questions is the definition of the roles
    def role(self) -> str:
        """One word: a feature domain, material, geometry, light, base, entry, empty or mixed.

        Neutral plumbing (Xform and Scope overs) does not count against a role; a layer of two feature
        domains, or of a feature and geometry, is mixed.
        """
        if self.is_vendor:
            return Domain.VENDOR.value
        # controllers go with the ROS interfaces they use
        features = self.features - {Domain.CONTROL} if self.counts[Domain.ROS] else self.features
        if self._is_overlay(features):
            # physics materials are Material prims that live in the physics layer
            return "mixed" if self.render_materials else next(iter(features)).value
        if features:
            return "mixed"
        if self.has_geometry:
            return "mixed" if self.render_materials else "geometry"
        if self.render_materials or (self.counts[Domain.MATERIAL] and not self.counts[Domain.LIGHT]):
            return "material"
        if self.counts[Domain.LIGHT]:
            return Domain.LIGHT.value
        if self.is_root:
            return "entry"
        return "base" if self.counts[Domain.KINEMATIC] else "empty"


def encoding_of(layer: Sdf.Layer) -> str:
    """Real encoding of a layer: the format id, for ``.usd`` that of the bytes."""
    format_id: str = layer.GetFileFormat().formatId
    if format_id != "usd":
        return format_id
    return str(Sdf.UsdFileFormat.GetUnderlyingFormatForLayer(layer)) or format_id


# one function: walked layers tell their names at once, the others have to be traversed
def list_names(stage: Usd.Stage, facts: list[LayerFacts]) -> frozenset[str] | None:
    """Names of all properties that any layer of the stage mentions; None where clips may bring in others."""
    names: set[str] = set()
    for known in facts:
        if known.has_clips:
            return None
        names |= known.names
    walked = {known.layer for known in facts}
    for layer in stage.GetUsedLayers(includeClipLayers=True):
        if layer in walked or layer.empty:
            continue
        paths: list[Sdf.Path] = []
        # session and unnamed layers: they may mention names that no layer of the asset does
        layer.Traverse(Sdf.Path.absoluteRootPath, paths.append)
        prims = (layer.GetPrimAtPath(path) for path in paths if not path.IsPropertyPath())
        if any(prim is not None and prim.HasInfo("clips") for prim in prims):
            return None
        names.update(path.name for path in paths if path.IsPropertyPath())
    return frozenset(names)
