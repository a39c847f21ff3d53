# SPDX-License-Identifier: Apache-2.0
"""The public functions of ``import simwright``."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simwright.app.report.report import Report, build_asset_report
from simwright.core.collector import pause_collector
from simwright.core.diag import Diagnostic, Level, Reporter, Where
from simwright.core.errors import StrictError, UsageError
from simwright.core.gate import parse_folders
from simwright.core.limits import distrust
from simwright.core.packages import PackageMap, find_packages
from simwright.formats.dialects import choose_format, fit_words
from simwright.formats.format import ReadOptions, WriteOptions
from simwright.formats.table import FORMATS, choose_writer, detect_format, read_asset, write_asset
from simwright.model.asset import Asset
from simwright.model.display import NOTEBOOK
from simwright.resolve.resolver import DEFAULT_ORDER, SchemaResolver

if TYPE_CHECKING:
    from pxr import Usd

    from simwright.checker.settings import CheckSettings
    from simwright.compare.difference import Difference
    from simwright.sanitizer.result import FixResult


FORMATS.add("scene", "simwright.scenes.format:FORMAT")  # formats do not know scenes; the app knows both
FORMATS.add("world", "simwright.app.world_format:FORMAT")
# the model shows tables; the app can draw
NOTEBOOK.add("picture", "simwright.app.notebook:show_picture")
NOTEBOOK.add("page", "simwright.app.notebook:open_view")


def load(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word users know
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
    allow_outside: Iterable[str | os.PathLike[str]] = (),
    arguments: Mapping[str, str] | None = None,
    variants: Mapping[str, str] | None = None,
    time: float | None = None,
    look_variants: bool = False,
    fine_colliders: bool = False,
    schema_resolvers: Sequence[str | SchemaResolver] = DEFAULT_ORDER,
    strict: bool = False,
    reporter: Reporter | None = None,
) -> Asset:
    """Read a robot, prop or scene of any supported format into the neutral model.

    ``packages`` maps ROS package names to folders, in addition to those of the environment; ``allow_outside`` are
    folders outside the asset in which it may name files (see docs/security.md);
    ``arguments`` are xacro arguments; ``variants`` and ``time`` choose a USD state; ``look_variants`` also
    reads the looks of USD variants that change nothing else, ``fine_colliders`` reads the meshes of which USD
    colliders are the hulls, where the asset has both; ``schema_resolvers`` are the solvers whose USD attributes
    count, in order of priority (default: all that are known, newton first).  Findings go to ``reporter``; with
    ``strict``, a finding worse than info raises :class:`StrictError`.
    """
    reporter = Reporter() if reporter is None else reporter
    options = ReadOptions(
        packages=_find_packages(path, packages, allow_outside),
        arguments=dict(arguments or {}),
        variants=dict(variants or {}),
        time=time,
        look_variants=look_variants,
        fine_colliders=fine_colliders,
        schema_resolvers=tuple(schema_resolvers),
    )
    asset = read_asset(path, format_name=format, options=options, reporter=reporter)
    if strict:
        raise_findings(reporter, path)
    return asset


def convert(
    source: str | os.PathLike[str] | Asset,
    target: str | os.PathLike[str],
    *,
    to: str | None = None,
    format: str | None = None,  # noqa: A002 - the word users know
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
    allow_outside: Iterable[str | os.PathLike[str]] = (),
    arguments: Mapping[str, str] | None = None,
    variants: Mapping[str, str] | None = None,
    strict: bool = False,
    reporter: Reporter | None = None,
    **writing: Any,
) -> Path:
    """Write a file of any supported format, or an asset, in another format; gives the path of the file to open.

    ``to`` names the format to write; without it, the name of ``target`` decides, and a folder is an OpenUSD asset,
    or what the engine ``for_`` reads: ``for_="drake"`` writes URDF or SDFormat as Drake takes them.
    What cannot be carried, and what had to be guessed, goes to ``reporter``; with ``strict`` any loss and any finding
    worse than info raises :class:`StrictError` and nothing is written.  A ``.usdz`` target is a package of all layers
    and images.  ``writing`` is what the writer is told, by the words of
    :class:`~simwright.formats.format.WriteOptions`: ``lod=True`` adds decimated visuals to an OpenUSD asset.  The
    other arguments are those of :func:`load` and say how a file is read.
    """
    reporter = Reporter() if reporter is None else reporter
    to = choose_format(target, to, writing.get("for_", ""))
    row = choose_writer(target, to, reporter)
    words = fit_words(writing, row.name, Where(str(target)))
    options = _write_options(source, reporter, strict, words)
    # refused, not ignored: a caller who asks for one flat layer would take the result for one
    if options.flatten and row.name != "usd":
        raise UsageError(f"only OpenUSD layers can be flattened, not {row.title}", where=Where(str(target)))
    reading = _Reading(format, packages, tuple(allow_outside), arguments, variants)
    # USD to one USD file copies or flattens the layers themselves: our model would lose what it has
    # no words for.  For an engine, its layers have to be written
    copies = row.name == "usd" and not options.for_
    file = Path(source) if copies and not isinstance(source, Asset) else None
    if file is not None and _is_one_usd_file(file, target, format, flatten=options.flatten):
        from simwright.formats.usd.delivery import deliver_file

        found = _find_packages(file, packages, allow_outside)
        read_options = ReadOptions(packages=found, variants=dict(variants or {}))
        return deliver_file(file, Path(target), read_options, options, reporter)
    # around both: what was read is in use until it is written
    with pause_collector():
        asset = reading.open(
            source,
            reporter,
            look_variants=row.holds("look_variants"),
            fine_colliders=row.carries_fine_colliders,
            strict=strict,
        )
        return write_asset(asset, target, format_name=to, options=options, reporter=reporter)


def save(
    asset: Asset,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word users know
    strict: bool = False,
    reporter: Reporter | None = None,
    **writing: Any,
) -> Path:
    """Write an asset in the format of the file's name (or in ``format``); gives the path of the file to open.

    A folder is an OpenUSD asset.  The file appears whole or not at all.  What the format has no place for goes to
    ``reporter``; with ``strict`` any loss raises :class:`StrictError` and nothing is written.  ``writing`` is that of
    :func:`convert`.
    """
    return convert(asset, path, to=format, strict=strict, reporter=reporter, **writing)


@dataclasses.dataclass(frozen=True, slots=True)
class _Reading:
    """How a source is read if it is a file: the words of :func:`load`, of which an asset takes none."""

    format: str | None
    packages: Mapping[str, str | os.PathLike[str]] | None
    allow_outside: tuple[str | os.PathLike[str], ...]
    arguments: Mapping[str, str] | None
    variants: Mapping[str, str] | None

    def open(self, source: str | os.PathLike[str] | Asset, reporter: Reporter, **options: Any) -> Asset:
        """The asset itself, or that of a file."""
        words = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        if not isinstance(source, Asset):
            return load(source, reporter=reporter, **words, **options)
        # an argument that has no effect is an error: an asset in memory was read without it
        said = [name for name, value in words.items() if value]
        if said:
            message = f"{' and '.join(said)} say how a file is read, and {source!r} was read before"
            raise UsageError(message, hint="give them to simwright.load")
        return source


def _find_packages(
    path: str | os.PathLike[str],
    packages: Mapping[str, str | os.PathLike[str]] | None,
    allow_outside: Iterable[str | os.PathLike[str]],
) -> PackageMap:
    explicit = {name: Path(folder) for name, folder in (packages or {}).items()}
    return find_packages(explicit, near=[Path(path).parent], allowed=parse_folders(allow_outside))


def _is_one_usd_file(
    source: str | os.PathLike[str], target: str | os.PathLike[str], name: str | None, *, flatten: bool
) -> bool:
    """Are USD layers made into one file?  Then nothing has to go through the model."""
    if not flatten and Path(target).suffix.lower() != ".usdz":
        return False
    return (name or detect_format(source).name) == "usd"


def to_stage(
    source: str | os.PathLike[str] | Asset,
    *,
    format: str | None = None,  # noqa: A002 - the word users know
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
    allow_outside: Iterable[str | os.PathLike[str]] = (),
    arguments: Mapping[str, str] | None = None,
    variants: Mapping[str, str] | None = None,
    strict: bool = False,
    reporter: Reporter | None = None,
    **writing: Any,
) -> Usd.Stage:
    """The ``Usd.Stage`` that :func:`convert` would write for a file or an asset, composed in memory without a file.

    Its layers are anonymous and live as long as the stage; images are those of the source.  The arguments are those
    of :func:`convert`.
    """
    from simwright.formats.usd.writer.entry import build_stage

    reporter = Reporter() if reporter is None else reporter
    reading = _Reading(format, packages, tuple(allow_outside), arguments, variants)
    asset = reading.open(source, reporter, strict=strict)
    options = _write_options(source, reporter, strict, fit_words(writing, "usd"))
    return build_stage(asset, options, reporter)


def _write_options(
    source: str | os.PathLike[str] | Asset, reporter: Reporter, strict: bool, writing: Mapping[str, Any]
) -> WriteOptions:
    # approve and consume are set below, side by the writer itself: neither is for callers
    known = {field.name for field in dataclasses.fields(WriteOptions)} - {"approve", "side", "consume"}
    for name in writing:
        if name not in known:
            raise UsageError(f"no writer knows {name!r}", hint=f"there are {', '.join(sorted(known))}")
    # what is read here is gone when it is written
    writing = {**writing, "consume": not isinstance(source, Asset)}
    if not strict:
        return WriteOptions(**writing)
    place = source.provenance.file or source.name if isinstance(source, Asset) else source
    # the writer asks when it knows all losses and before the first byte is on disk, so that nothing
    # is written in strict mode
    return WriteOptions(**writing, approve=lambda: raise_losses(reporter, place))


def check(
    path_or_stage: str | os.PathLike[str] | Any,
    *,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    profile: str = "all",
    variants: bool = False,
    settings: CheckSettings | None = None,
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
    allow_outside: Iterable[str | os.PathLike[str]] = (),
) -> Report:
    """Check a USD file, every asset in a folder, or a ``Usd.Stage`` (also in memory) against REP-0158.

    ``select`` and ``ignore`` take rule codes, prefixes, patterns and REP sections; ``profile`` is ``core``,
    ``ros``, ``export`` or ``all``; ``variants`` checks every variant as well; ``packages`` maps ROS package
    names to folders.  Configuration files, the cache and baselines belong to the command line and are not
    used.  Suppressions in the asset are: what they silence is not in the report.
    """
    from simwright.checker.asset import check_file, check_stage
    from simwright.checker.batch import PackageView
    from simwright.checker.catalogue import build_catalogue
    from simwright.checker.entry_points import find_assets
    from simwright.checker.run import all_rules
    from simwright.checker.select import choose_rules

    # told by a method and not by isinstance: pxr would have to be imported to refuse a wrong argument
    if not isinstance(path_or_stage, str | os.PathLike) and not hasattr(
        path_or_stage, "GetCompositionErrors"
    ):
        raise UsageError(
            f"check takes a file, a folder, a pattern or a Usd.Stage, not {path_or_stage!r:.60}",
            hint="call it once for each of several files, or name their folder",
        )
    choice = choose_rules(build_catalogue(), _listed(select), _listed(ignore), profile)
    rules = [rule for rule in all_rules() if rule.code in set(choice.codes)]
    if isinstance(path_or_stage, str | os.PathLike):
        explicit = [(name, os.fspath(folder)) for name, folder in (packages or {}).items()]
        allowed = parse_folders(allow_outside)
        results = []
        for path in find_assets([path_or_stage]):
            # archives (.usdz) count as untrusted here, unless the user says whether: they mostly come from
            # elsewhere
            with distrust(path):
                found = PackageView(explicit, allowed).find_for(path)
                results.append(
                    check_file(path, rules=rules, settings=settings, variants=variants, packages=found)
                )
    else:
        results = [check_stage(path_or_stage, rules=rules, settings=settings, variants=variants)]
    report = Report()
    for result in results:
        # findings that no rule makes cannot be silenced by leaving rules out: they are left out here
        findings = [finding for finding in result.findings if finding.kind not in choice.hidden]
        report.assets.append(build_asset_report(result.path, findings))
    return report


def fix(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    select: str | Iterable[str] = (),
    ignore: str | Iterable[str] = (),
    unsafe: bool = False,
    in_place: bool = False,
    dry_run: bool = False,
    diff: bool = False,
    values: Mapping[str, str] | None = None,
    settings: CheckSettings | None = None,
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
    allow_outside: Iterable[str | os.PathLike[str]] = (),
) -> FixResult:
    """Repair what :func:`check` finds in a USD asset, and prove that nothing else changed.

    ``out`` is the folder (or ``.usdz``) of the fixed asset; ``in_place`` puts it in the place of the old one, which is
    kept beside it; ``dry_run`` writes nothing.  ``select`` and ``ignore`` choose the rules that are fixed, by the words
    of :func:`check`.  Fixes that need intent are made with ``unsafe``, or where ``values`` (``identifier``, ``version``
    and the like) say what is meant.  ``diff`` adds readable differences of the layers.
    """
    from simwright.checker.catalogue import build_catalogue
    from simwright.checker.run import all_rules
    from simwright.checker.select import choose_rules
    from simwright.checker.settings import CheckSettings
    from simwright.sanitizer.fixer import UserValues, check_names
    from simwright.sanitizer.rounds import FixOptions
    from simwright.sanitizer.sanitize import sanitize

    check_names(values or ())
    # no default on purpose: in place is dangerous, and a dry run that looks like a fix is worse
    if sum((out is not None, in_place, dry_run)) != 1:
        raise UsageError("say where the fixed asset goes", hint="one of: a folder, in place, or a dry run")
    choice = choose_rules(build_catalogue(), _listed(select), _listed(ignore))
    options = FixOptions(
        codes=frozenset(choice.codes),
        rules=all_rules(),
        unsafe=unsafe,
        values=UserValues(dict(values or {})),
        settings=settings or CheckSettings(),
    )
    target = None if out is None else Path(out)
    found = _find_packages(path, packages, allow_outside)
    # layers and findings are many small objects that live to the end: the collector would walk all of
    # them again and again
    with pause_collector():
        return sanitize(Path(path), options, found, target=target, in_place=in_place, with_diff=diff)


def read_image(file: str) -> bytes:
    """The bytes of an image that a material names; an InputError says why not."""
    from simwright.core.files import MIB
    from simwright.core.limits import Tally
    from simwright.formats.mesh import load_image

    return load_image(file, 256 * MIB, Tally())


def diff(
    a: str | os.PathLike[str] | Asset,
    b: str | os.PathLike[str] | Asset,
    *,
    only: str | Iterable[str] = (),
    ignore: str | Iterable[str] = (),
    rtol: float = 1e-6,
    configurations: int = 20,
    seed: int = 0,
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
    allow_outside: Iterable[str | os.PathLike[str]] = (),
    arguments: Mapping[str, str] | None = None,
    variants: Mapping[str, str] | None = None,
    reporter: Reporter | None = None,
) -> Difference:
    """Compare two files of any format, or two assets, as machines: structure, kinematics, dynamics, geometry.

    ``only`` and ``ignore`` take sections and groups (see :data:`simwright.compare.difference.SECTIONS`); ``rtol`` is
    the relative error that still counts as equal; poses, mass matrix and bias are compared at ``configurations``
    random configurations.  The other arguments are those of :func:`load`.
    """
    from simwright.compare.difference import make_settings
    from simwright.compare.run import compare_assets

    settings = make_settings(
        _listed(only),
        _listed(ignore),
        rtol=rtol,
        configurations=configurations,
        seed=seed,
        read_image=read_image,
    )
    # kept as a tuple because two files are loaded: an iterator would be empty for the second
    allowed = tuple(allow_outside)
    first, second = (
        side
        if isinstance(side, Asset)
        else load(
            side,
            packages=packages,
            allow_outside=allowed,
            arguments=arguments,
            variants=variants,
            reporter=reporter,
        )
        for side in (a, b)
    )
    return compare_assets(first, second, settings)


def _listed(words: str | Iterable[str]) -> list[str]:
    """A single word is a list of one."""
    return [words] if isinstance(words, str) else list(words)


def raise_findings(reporter: Reporter, path: str | os.PathLike[str]) -> None:
    """Raise a StrictError that names the worst finding, if there is one above info."""
    _refuse((d for d in reporter if d.level is not Level.INFO), path)


def raise_losses(reporter: Reporter, path: str | os.PathLike[str]) -> None:
    """The same, also for losses that are only for information."""
    _refuse((d for d in reporter if d.level is not Level.INFO or d.loss), path)


def _refuse(findings: Iterable[Diagnostic], path: str | os.PathLike[str]) -> None:
    found = sorted(findings, key=lambda d: d.level.rank)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise StrictError(
            f"strict mode: {found[0].message}{more}",
            hint=found[0].hint,
            where=found[0].where or Where(str(path)),
        )
