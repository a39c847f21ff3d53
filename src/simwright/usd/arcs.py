# SPDX-License-Identifier: Apache-2.0
"""Every layer that a stage will compose, checked before the stage is made.

The walk follows sublayers, references and payloads (also those of variants that are not selected), runs the
guard on each file before OpenUSD opens it, and refuses ``package://`` addresses that leave their package.
Layers that lie outside the asset (:mod:`simwright.core.gate`) are reported and muted on the stage.  Layers opened here
stay open and are the ones the stage uses, so nothing is read twice.  A layer that is open already, because somebody has
a stage with it, and whose file has changed since, is walked as it is in the file but left as it is: that stage would
compose the new content at once, before anybody has looked at what it names.

How many prims and layers the stage is going to have is counted on the layers before anything is composed.  A prim
brings everything below the prims it references, inherits or specializes, and so do those in turn: numbers multiply with
every step, so a few small layers can stand for billions of prims.  The count is a bound from above: all variants are
counted, and opinions of several layers about one prim count as several.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import InputError, LimitError, ParseError, UnsafePathError
from simwright.core.gate import Gate
from simwright.core.limits import BUDGETS, check_limit
from simwright.core.packages import SCHEME, split_uri
from simwright.usd import crate
from simwright.usd.complaints import describe_outside, explain_failure
from simwright.usd.guard import LAYER_SUFFIXES, check_resolved
from simwright.usd.locate import Locator
from simwright.usd.questions import has_field, list_fields, list_variants, read_field
from simwright.usd.settled import Identity, identify, once_per_file

MAX_LAYERS = BUDGETS["usd-layers"].default
"""Most layers that are followed where nothing is composed."""

PACKAGE_UNKNOWN = declare(
    "usd-package-unknown",
    Level.ERROR,
    "ROS package {package!r} was not found (needed by {asset!r})",
    hint="{advice}",
    doc="A layer names a package:// address whose package is in none of the places that were searched.",
)
LAYER_UNREADABLE = declare(
    "usd-layer-unreadable",
    Level.ERROR,
    "the layer {asset!r} cannot be read: {reason}",
    hint="{advice}",
    doc="A layer that is referenced, sublayered or a payload exists but is not a USD layer.",
)
LAYER_OUTSIDE = declare(
    "usd-layer-outside",
    Level.ERROR,
    "the layer {asset!r} is left out: it lies outside the asset and its packages",
    hint="put it into the asset, or allow its folder with --allow-outside {folder}",
    doc="A layer that is referenced, sublayered or a payload is in none of the folders the asset may use.",
    loss=True,
)
_PACKAGE_PREFIX = SCHEME.rstrip("/")


@dataclass(frozen=True, slots=True, eq=False)
class WalkedLayer:
    """A layer and what is in its file: the layer itself, or a copy where the layer is open and older than the file."""

    layer: Any
    content: Any
    identity: Identity | None = None
    """What the file was when it was read."""

    @property
    def is_stale(self) -> bool:
        """Is the layer to be brought up to its file?"""
        return self.content is not self.layer

    @property
    def key(self) -> str:
        """The path of the file that the content stands in; unsaved changes stand in none."""
        return "" if self.layer.dirty else str(self.layer.realPath)


@dataclass(frozen=True, slots=True, eq=False)
class LayerWalk:
    """The layers that a stage will compose, the root first, and the identifiers of those that are to be left out."""

    layers: list[WalkedLayer]
    left_out: list[str]
    admitted: frozenset[str] = frozenset()
    """Files that the gate has admitted, as OpenUSD resolves them."""
    repeats: float = 1.0
    """How often a prim of the layers is brought in, in the mean and at most."""

    def renew(self, stages: Iterable[Any]) -> None:
        """Bring open layers up to their files; those of ``stages`` that use one leave out what the walk leaves out."""
        from pxr import Sdf

        stale = [walked for walked in self.layers if walked.is_stale]
        if not stale:
            return
        layers = {walked.layer for walked in stale}
        for stage in stages:
            used = set(stage.GetUsedLayers())
            if used & layers:
                # what it uses already was allowed to it
                stage.MuteAndUnmuteLayers([i for i in self.left_out if Sdf.Layer.Find(i) not in used], [])
        with mute_for_all(self.left_out):
            Sdf.Layer.ReloadLayers(layers)
        for walked in stale:
            _note_current(walked.identity)


@contextmanager
def mute_for_all(identifiers: list[str]) -> Iterator[None]:
    """No stage reads these for now: one that mutes a layer opens it all the same where it is a sublayer."""
    from pxr import Sdf

    # those that are open would be read again afterwards
    closed = [identifier for identifier in identifiers if not Sdf.Layer.Find(identifier)]
    for identifier in closed:
        Sdf.Layer.AddToMutedLayers(identifier)
    try:
        yield
    finally:
        for identifier in closed:
            Sdf.Layer.RemoveFromMutedLayers(identifier)


def walk_layers(path: str, gate: Gate, reporter: Reporter, locator: Locator) -> LayerWalk | None:
    """Open every layer reachable from the one at ``path``, None if that is not a layer.

    Call it with the resolver context bound.
    """
    root = read_layer(path)
    if root is None:
        return None
    walk = _LayerWalker(gate, reporter, locator)
    layers = walk.run(root)
    # before the stage is made: composing is what would take the memory
    repeats = check_multiplicity(root.layer, layers)
    return LayerWalk(layers, walk.left_out, frozenset(walk.checked), repeats)


_current: set[Identity] = set()
"""Files as they were when the layers of them that are open were read."""
_MOST_CURRENT = 4096


def _note_current(identity: Identity | None) -> None:
    if identity is not None:
        if len(_current) >= _MOST_CURRENT:
            _current.clear()
        _current.add(identity)


def identify_content(layer: Any) -> Identity | None:
    """The file whose content a layer is known to have; None where it may have been changed since, here or there."""
    if layer.dirty or not layer.realPath:
        return None
    identity = identify(layer.realPath)
    return identity if identity in _current else None


def read_layer(path: str, outer: str = "") -> WalkedLayer | None:
    """The layer at a path with what is in its file now, or with its unsaved changes; None if there is none.

    ``outer`` is its file, or that of the package it is in, where the caller has resolved the path already.
    """
    from pxr import Ar, Sdf

    known = Sdf.Layer.Find(path)
    place = known.realPath if known else outer or Ar.GetResolver().Resolve(path).GetPathString()
    identity = identify(place if place == outer else Ar.SplitPackageRelativePathOuter(place)[0])
    layer = content = Sdf.Layer.FindOrOpen(path)
    if not known:
        _note_current(identity)
    elif not layer.dirty and identity not in _current:
        content = Sdf.Layer.OpenAsAnonymous(place)
    if not layer or not content:
        return None
    return WalkedLayer(layer, content, identity)


def open_layer(path: str) -> Any:
    """A layer that the walk over an open stage has seen, or one that no stage has."""
    from pxr import Sdf

    return Sdf.Layer.FindOrOpen(path)


@once_per_file
def _list_assets(_: str, layer: Any) -> tuple[str, ...]:
    """The asset paths of all arcs of a layer."""
    return tuple(filter(None, layer.GetCompositionAssetDependencies()))


class _LayerWalker:
    """One walk: what was seen, and whom to tell."""

    __slots__ = ("checked", "gate", "left_out", "locator", "reporter")

    def __init__(self, gate: Gate, reporter: Reporter, locator: Locator) -> None:
        self.gate = gate
        self.left_out: list[str] = []
        self.reporter = reporter
        self.locator = locator
        self.checked: set[str] = set()

    def run(self, root: WalkedLayer) -> list[WalkedLayer]:
        from pxr import Sdf

        seen = {root.layer.identifier}
        layers = [root]
        queue = deque(layers)
        while queue:
            walked = queue.popleft()
            layer = walked.layer
            for asset in _list_assets(walked.key, walked.content):
                identifier = Sdf.ComputeAssetPathRelativeToLayer(layer, asset)
                # also of layers that were seen before: an address is checked wherever it stands
                self._check_package(layer, asset, identifier)
                self._check_address(layer, asset)
                if identifier in seen:
                    continue
                seen.add(identifier)
                check_limit("usd-layers", len(seen), Where(root.layer.identifier))
                other = self._open(layer, asset, identifier)
                if other is not None:
                    layers.append(other)
                    queue.append(other)
        return layers

    def _check_address(self, layer: Any, asset: str) -> None:
        """A package:// address stays inside a package, and the package is known."""
        if not asset.startswith(_PACKAGE_PREFIX):
            return
        where = self.locator.where_asset(layer, "/", asset)
        if not asset.startswith(SCHEME):
            raise UnsafePathError(
                f"refused: {asset!r} is not a proper package:// address",
                hint="write package://PACKAGE/path/inside/it",
                where=where,
            )
        name, _ = split_uri(asset, where)
        if name not in self.gate.packages:
            advice = self.gate.packages.make_unknown_error(name).hint
            self.reporter.report(PACKAGE_UNKNOWN, where, package=name, asset=asset, advice=advice)

    def _check_package(self, layer: Any, asset: str, identifier: str) -> None:
        """A layer in a .usdz package has everything it composes in the same package."""
        from pxr import Ar

        if not (Ar.IsPackageRelativePath(layer.identifier) or layer.GetFileFormat().IsPackage()):
            return
        package, _ = Ar.SplitPackageRelativePathOuter(layer.identifier)
        outer, inner = Ar.SplitPackageRelativePathOuter(identifier)
        if (
            outer != package
            or asset.startswith(_PACKAGE_PREFIX)
            or ".." in inner.replace("[", "/").split("/")
        ):
            raise UnsafePathError(
                f"refused: {asset!r} leads out of the package",
                hint="package the asset again with everything it needs: simwright convert IN OUT.usdz",
                where=Where(layer.identifier),
            )

    def _open(self, layer: Any, asset: str, identifier: str) -> WalkedLayer | None:
        """The layer behind an arc, or None: what is missing is told by the stage's own errors."""
        from pxr import Ar, Sdf, Tf

        outer = Ar.SplitPackageRelativePathOuter(identifier)[0]
        resolved = Ar.GetResolver().Resolve(outer).GetPathString()
        if not resolved or not resolved.lower().endswith(LAYER_SUFFIXES):
            return None
        if not self.gate.admits(resolved):
            where = self.locator.where_asset(layer, "/", asset)
            folder = str(Path(resolved).resolve().parent)
            fault: dict[str, Any] = describe_outside(layer.identifier, asset)
            self.reporter.report(LAYER_OUTSIDE, where, asset=asset, folder=folder, **fault)
            self.left_out.append(identifier)
            return None
        try:
            if resolved not in self.checked:
                check_resolved(resolved)
                self.checked.add(resolved)
        except LimitError:
            raise
        except InputError as error:
            # OpenUSD would open a damaged crate all the same, so the whole asset is refused
            if isinstance(error, ParseError) and _is_crate(resolved):
                raise
            where = self.locator.where_asset(layer, "/", asset)
            self.reporter.report(
                LAYER_UNREADABLE, where, asset=asset, reason=error.message, advice=error.hint
            )
            return None
        try:
            return read_layer(identifier, resolved)
        except Tf.ErrorException as error:
            # the stage tries again and tells of it, unless it finds the layer as it was before
            if Sdf.Layer.Find(identifier):
                reason, advice = explain_failure(error, Path(resolved)).message, "correct the file"
                where = self.locator.where_asset(layer, "/", asset)
                self.reporter.report(LAYER_UNREADABLE, where, asset=asset, reason=reason, advice=advice)
                self.left_out.append(identifier)
            return None


def _is_crate(path: str) -> bool:
    """Only a damaged crate is dangerous; OpenUSD declines other wrong files by itself."""
    try:
        with open(path, "rb") as stream:  # noqa: PTH123 - a resolved path, not a Path
            return stream.read(len(crate.MAGIC)) == crate.MAGIC
    except OSError:
        return False


_DEEPEST = 64
"""Names in a path of a prim that only arcs above it bring."""


def check_multiplicity(root: Any, layers: Iterable[WalkedLayer]) -> float:
    """A LimitError if composing ``root`` makes too many prims or layers; ``layers`` are all that it may use.

    Gives how many prims there are at most for each that a layer says something about.  Files that are as they were are
    not weighed again.
    """
    layers = list(layers)
    key = tuple((walked.layer.identifier, walked.key and walked.identity) for walked in layers)
    is_known = all(identity for _, identity in key)
    weight = _weighed.get(key) if is_known else None
    if weight is None:
        weight = _weigh_layers(root, layers)
        if len(_weighed) >= _MOST_CURRENT:
            _weighed.clear()
        if is_known:
            _weighed[key] = weight
    else:  # limits may be others now
        where = Where(str(root.realPath or root.identifier))
        check_limit("usd-layers", weight[0], where)
        check_limit("usd-prims", weight[1], where)
    return weight[1] / max(1, weight[2])


_weighed: dict[tuple[Any, ...], tuple[int, int, int]] = {}
"""What :func:`_weigh_layers` has found, by the layers with what their files were."""


def _weigh_layers(root: Any, layers: Iterable[WalkedLayer]) -> tuple[int, int, int]:
    """How many layers and prims are composed at most, and of how many prims layers say something."""
    count = _Count({walked.layer.identifier: walked for walked in layers})
    where = Where(str(root.realPath or root.identifier))
    try:
        total = sum(count.stack(root.identifier).values())
        check_limit("usd-layers", total, where)
        prims = count.weigh_stack(root.identifier, "/")
        check_limit("usd-prims", prims, where)
        return total, prims, sum(len(outline.specs) for outline in count.outlines.values())
    except RecursionError:
        hint = "is it the right file?"
        raise LimitError("references lead to references too many times", hint=hint, where=where) from None


@dataclass(slots=True)
class _LayerOutline:
    """The prims of a layer by path without variants: how many specs each has, and what each brings in."""

    specs: dict[str, int] = field(default_factory=dict)
    arcs: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """Path -> asset (empty for the same layer) and prim path (empty for the default prim)."""
    below: dict[str, list[str]] = field(default_factory=dict)
    """Path -> paths of children."""
    sublayers: tuple[str, ...] = ()
    default: str = ""


@once_per_file
def _outline(_: str, layer: Any) -> _LayerOutline:
    from pxr import Sdf

    outline = _LayerOutline(sublayers=tuple(layer.subLayerPaths))
    outline.default = f"/{layer.defaultPrim}".replace("//", "/") if layer.defaultPrim else ""
    specs, below = outline.specs, outline.below
    root = Sdf.Path.absoluteRootPath
    # prims alone: properties are most of what a layer has, and bring nothing in
    waiting = [(root.AppendChild(name), "", name) for name in layer.pseudoRoot.GetInfo("primChildren") or ()]
    while waiting:
        path, above, name = waiting.pop()
        key = f"{above}/{name}" if name else above
        spec = layer.GetPrimAtPath(path)
        if spec is None:
            continue
        if name:
            if key not in specs:
                below.setdefault(above or "/", []).append(key)
            specs[key] = specs.get(key, 0) + 1
        if not _BRINGING.isdisjoint(list_fields(spec)):
            outline.arcs.setdefault(key, []).extend(_list_arcs(spec))
        below_it = read_field(spec, "primChildren") or ()
        waiting.extend([(path.AppendChild(child), key, child) for child in below_it])
        if has_field(spec, "variantSetChildren"):
            waiting.extend([(variant, key, "") for variant in list_variants(spec, path)])
    return outline


_BRINGING = frozenset({"references", "payload", "inheritPaths", "specializes"})
"""Fields of arcs."""


def _list_arcs(prim: Any) -> Iterable[tuple[str, str]]:
    for has, edits in ((prim.hasReferences, "referenceList"), (prim.hasPayloads, "payloadList")):
        if has:
            for item in getattr(prim, edits).GetAddedOrExplicitItems():
                yield item.assetPath, str(item.primPath) if item.primPath else ""
    for has, edits in ((prim.hasInheritPaths, "inheritPathList"), (prim.hasSpecializes, "specializesList")):
        if has:
            for path in getattr(prim, edits).GetAddedOrExplicitItems():
                yield "", str(path)


class _Count:
    """Weights of prims and sizes of layer stacks, each found out once."""

    def __init__(self, layers: dict[str, WalkedLayer]) -> None:
        self.layers = layers
        self.outlines: dict[str, _LayerOutline] = {}
        self.stacks: dict[str, dict[str, int]] = {}
        self.weights: dict[tuple[str, str], int] = {}
        self.open: set[tuple[str, str]] = set()
        self.opening: set[str] = set()

    def outline(self, name: str) -> _LayerOutline:
        if name not in self.outlines:
            walked = self.layers[name]
            self.outlines[name] = _outline(walked.key, walked.content)
        return self.outlines[name]

    def find(self, name: str, asset: str) -> str:
        """The identifier of a layer that an address in a layer means; empty if it is not there."""
        from pxr import Sdf

        if not asset:
            return name
        identifier = str(Sdf.ComputeAssetPathRelativeToLayer(self.layers[name].layer, asset))
        return identifier if identifier in self.layers else ""

    def stack(self, name: str) -> dict[str, int]:
        """A layer with its sublayers, and how often each is there; a circle is OpenUSD's to report."""
        if name not in self.stacks:
            if name in self.opening:
                return {}
            self.opening.add(name)
            total = {name: 1}
            for asset in self.outline(name).sublayers:
                other = self.find(name, asset)
                for layer, times in self.stack(other).items() if other else ():
                    total[layer] = total.get(layer, 0) + times
            self.opening.discard(name)
            self.stacks[name] = total
        return self.stacks[name]

    def weigh_stack(self, name: str, path: str) -> int:
        """Prims at and below a path of a layer and its sublayers."""
        return sum(self.weigh(layer, path) for layer in self.stack(name))

    def weigh(self, name: str, path: str) -> int:
        """Prims at and below a path of one layer, with all they bring; circles count once."""
        key = (name, path)
        if key in self.weights:
            return self.weights[key]
        # a circle: OpenUSD reports it and goes no further, so it adds nothing
        if key in self.open:
            return 0
        self.open.add(key)
        outline = self.outline(name)
        total = 0
        stack = [path]
        while stack:
            here = stack.pop()
            total += outline.specs.get(here, 0)
            for asset, target in outline.arcs.get(here, ()):
                total += self._weigh_arc(name, asset, target, "")
            stack += outline.below.get(here, ())
        if path not in outline.specs and path != "/":  # it may come with what a prim above it brings
            total += self._weigh_inherited(name, path)
        self.open.discard(key)
        self.weights[key] = total
        return total

    def _weigh_inherited(self, name: str, path: str) -> int:
        if path.count("/") > _DEEPEST:  # a prim that brings its own child: paths would grow for ever
            return 0
        arcs = self.outline(name).arcs
        above = path.rpartition("/")[0]
        while above:
            if above in arcs:
                rest = path[len(above) :]
                return sum(self._weigh_arc(name, asset, target, rest) for asset, target in arcs[above])
            above = above.rpartition("/")[0]
        return 0

    def _weigh_arc(self, name: str, asset: str, target: str, rest: str) -> int:
        other = self.find(name, asset)
        if not other:
            return 0
        path = target or next((o.default for o in map(self.outline, self.stack(other)) if o.default), "")
        # the prim that an arc leads to and the one that has it become one
        return max(self.weigh_stack(other, path + rest) - 1, 0) if path else 0
