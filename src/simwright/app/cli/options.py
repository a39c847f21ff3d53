# SPDX-License-Identifier: Apache-2.0
"""Options and output that several commands share."""

from __future__ import annotations

import functools
import json
import os
import sys
import webbrowser
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from simwright.core.visible import escape_json, make_visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.segment import Segment
    from rich.text import Text

    from simwright.core.pool import JobLimits

F = TypeVar("F", bound=Callable[..., Any])
_STRICT_SECONDS = 60.0
_STRICT_GIBIBYTES = 2.0
"""What an untrusted file may take, unless the command says something else."""


def format_option(*choices: str) -> Callable[[F], F]:
    """``--format``, the first choice being the default."""
    return click.option(
        "--format",
        "output_format",
        type=click.Choice(choices),
        default=choices[0],
        show_default=True,
        help="How to print the result.",
    )


class ReportFormat(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic since click 8.4
    """The name of a report format; those of other packages are looked up when they are asked for."""

    name = "format"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """All that are known."""
        from simwright.app.report.report import RENDERERS

        return f"[{'|'.join(RENDERERS.names())}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name itself."""
        from simwright.app.report.report import RENDERERS

        if value not in RENDERERS:
            self.fail(f"{value!r} is not one of {', '.join(map(repr, RENDERERS.names()))}.", param, ctx)
        return str(value)


class EngineName(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic since click 8.4
    """The name of an engine that files are written for."""

    name = "engine"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """All that are known."""
        from simwright.formats.dialects import list_dialects

        return f"[{'|'.join(list_dialects())}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name itself; an unknown one is an error that names the near ones."""
        from simwright.formats.dialects import find_dialect

        return find_dialect(str(value)).name


report_option = click.option(
    "--format",
    "output_format",
    type=ReportFormat(),
    default="text",
    show_default=True,
    help="How to print the result.",
)


class FormatCommand(click.Command):
    """A command whose help names what the table of formats reads and writes, where it says ``{reads}`` and so on."""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Fill the words in first; the table is not loaded to run another command."""
        words = _list_formats()
        # filled in only when help is shown: to run a command, not every format has to be loaded
        owners: list[Any] = [self, *(param for param in self.params if isinstance(param, click.Option))]
        for owner in owners:
            for key, text in words.items():
                owner.help = owner.help and owner.help.replace(f"{{{key}}}", text)
        super().format_help(ctx, formatter)


def _list_formats() -> dict[str, str]:
    import simwright.app.api  # noqa: F401 - puts the rows of this floor into the table
    from simwright.formats.table import FORMATS

    rows = dict(FORMATS.items())
    return {
        "reads": _enumerate([row.title for row in rows.values() if row.reader]),
        "writes": _enumerate([row.title for row in rows.values() if row.writer]),
        "targets": _enumerate([name for name, row in rows.items() if row.writer]),
    }


def _enumerate(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


package_option = click.option(
    "--package",
    "assignments",
    multiple=True,
    metavar="NAME=DIR",
    help="Where a ROS package is; may be repeated.",
)


def place_options(command: F) -> F:
    """Where a page is served and whether it is opened: ``--host``, ``--port``, ``--browser``."""
    made: Any = command
    for option in (
        click.option("--browser/--no-browser", default=True, show_default=True, help="Open the page."),
        click.option(
            "--port", type=click.IntRange(0, 65535), default=0, help="The port; else one that is free."
        ),
        click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on."),
    ):
        made = option(made)
    return made  # type: ignore[no-any-return]


def live_options(command: F) -> F:
    """``--view`` and what belongs to it; the values become one argument ``view``, None where it is not asked for."""

    @functools.wraps(command)
    def call(
        *arguments: Any, live: bool, host: str, port: int, browser: bool, speed: str, **more: Any
    ) -> Any:
        if not live:
            return command(*arguments, view=None, **more)
        from simwright.app.watching import LiveOptions

        factor = None if speed == "max" else _read_speed(speed)
        # standard output belongs to the report where a machine reads it
        tell = functools.partial(announce_page, browser=browser, stderr=more.get("output_format") == "json")
        return command(*arguments, view=LiveOptions(tell, host, port, factor), **more)

    made: Any = place_options(call)
    for option in (
        click.option(
            "--speed",
            default="1",
            show_default=True,
            metavar="X",
            help="With --view: times real time, or max.",
        ),
        click.option("--view", "live", is_flag=True, help="Watch it in the browser; Ctrl-C ends it."),
    ):
        made = option(made)
    return made  # type: ignore[no-any-return]


def _read_speed(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 1e-3 <= speed <= 1e3:
        raise click.BadParameter(f"{text!r} is not a speed, like 0.5 or max", param_hint="--speed")
    return speed


def announce_page(address: str, *, browser: bool, stderr: bool = False) -> None:
    """Print the address of a page, and open it where there is a screen."""
    out = console(stderr=stderr)
    out.print(address, soft_wrap=True, highlight=False, markup=False)
    out.print("Ctrl-C ends it.")
    sys.stdout.flush()
    # a browser of a terminal would take the terminal away from this program
    if browser and (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform == "darwin"
    ):
        webbrowser.open(address)


def ros_options(command: F) -> F:
    """``--ros``, ``--bag`` and what belongs to them; the values become one argument ``ros``."""

    @functools.wraps(command)
    def call(
        *arguments: Any,
        transport: str,
        bag: str,
        domain_id: int | None,
        realtime: bool | None,
        everywhere: bool,
        **more: Any,
    ) -> Any:
        from simwright.app.bridging import RosOptions

        ros = RosOptions(transport, bag, domain_id, realtime, everywhere)
        return command(*arguments, ros=ros, **more)

    made: Any = call
    for option in (
        click.option(
            "--everywhere", is_flag=True, help="Let other machines see it in ROS; else this one only."
        ),
        click.option(
            "--realtime/--no-realtime",
            default=None,
            help="Run no faster than real time.  [default: with --ros]",
        ),
        click.option("--domain-id", type=click.IntRange(0, 232), help="The ROS domain; else ROS_DOMAIN_ID."),
        click.option(
            "--bag", type=click.Path(), default="", metavar="FILE", help="Write a ROS 2 bag (.mcap, .db3)."
        ),
        click.option(
            "--ros",
            "transport",
            is_flag=False,
            flag_value="rclpy",
            default="",
            metavar="[TRANSPORT]",
            help="Serve it to ROS 2, by rclpy unless another transport is named.",
        ),
    ):
        made = option(made)
    return made  # type: ignore[no-any-return]


def limit_options(command: F) -> F:
    """``--timeout`` and ``--max-memory`` of each file; they are read with :func:`read_limits`."""
    for option in (
        click.option(
            "--max-memory",
            type=click.FloatRange(min=0, min_open=True),
            metavar="GIB",
            help="Stop working on a file that takes more memory than this.  [--untrusted: 2]",
        ),
        click.option(
            "--timeout",
            type=click.FloatRange(min=0, min_open=True),
            metavar="SECONDS",
            help="Stop working on a file after this time.  [--untrusted: 60]",
        ),
    ):
        command = option(command)
    return command


def read_limits(options: dict[str, Any]) -> JobLimits:
    """The limits that were set."""
    from simwright.core.limits import is_untrusted
    from simwright.core.pool import JobLimits

    # a hostile file is given little by default; a trusted one may be a scan of a whole factory
    seconds, gibibytes = (_STRICT_SECONDS, _STRICT_GIBIBYTES) if is_untrusted() else (None, None)
    return JobLimits(options["timeout"] or seconds, options["max_memory"] or gibibytes)


def _allow(context: click.Context, _option: click.Parameter, folders: tuple[str, ...]) -> None:
    from simwright.core.gate import VARIABLE, allow_folders

    _restore(context, VARIABLE)
    allow_folders(folders)


def _raise_limits(context: click.Context, _option: click.Parameter, pairs: tuple[str, ...]) -> None:
    from simwright.core.limits import VARIABLE, set_limits

    _restore(context, VARIABLE)
    set_limits(pairs)


def _restore(context: click.Context, variable: str) -> None:
    """What a command tells its worker processes by the environment ends with it."""
    # tests and notebooks call commands in their own process, where the environment would keep the
    # setting
    before = os.environ.get(variable)

    def restore() -> None:
        os.environ.pop(variable, None)
        if before is not None:
            os.environ[variable] = before

    context.call_on_close(restore)


allow_option = click.option(
    "--allow-outside",
    multiple=True,
    metavar="DIR",
    expose_value=False,
    callback=_allow,
    help="A folder outside the asset whose files it may use; may be repeated.",
)
limit_option = click.option(
    "--limit",
    "budgets",
    multiple=True,
    metavar="NAME=VALUE",
    expose_value=False,
    callback=_raise_limits,
    help="Change a limit on what an asset may use, see docs/security.md; may be repeated.",
)


def _set_trust(context: click.Context, _option: click.Parameter, untrusted: bool | None) -> None:
    if untrusted is None:
        return
    from simwright.core.gate import VARIABLE as FOLDERS
    from simwright.core.limits import UNTRUSTED
    from simwright.core.limits import VARIABLE as LIMITS

    _restore(context, UNTRUSTED)
    os.environ[UNTRUSTED] = str(int(untrusted))
    if untrusted:  # what the command itself allows comes after this
        for variable in (FOLDERS, LIMITS):
            _restore(context, variable)
            os.environ.pop(variable, None)


def _go_offline(context: click.Context, _option: click.Parameter, offline: bool) -> None:
    from simwright.core.limits import OFFLINE

    if offline:
        _restore(context, OFFLINE)
        os.environ[OFFLINE] = "1"


_untrusted_option = click.option(
    "--untrusted/--trusted",
    default=None,
    is_eager=True,
    expose_value=False,
    callback=_set_trust,
    help="No network, no git, no files outside the asset, a tenth of every limit.",
)
_offline_option = click.option(
    "--offline",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_go_offline,
    help="Fetch nothing; what was fetched before is used.",
)


def trust_options(command: F) -> F:
    """How far files are trusted: every command that reads assets has these."""
    return _untrusted_option(_offline_option(command))


def gate_options(command: F) -> F:
    """What an asset may name, how much it may ask for, and how far it is trusted."""
    return allow_option(limit_option(trust_options(command)))


def echo(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a text whose parts may come from an asset: hidden characters are shown, line ends stay."""
    click.echo(make_visible(text, keep="\n"), err=err, nl=nl)


@functools.cache
def define_console() -> type[Console]:
    """The console class, made when it is first needed."""
    # a base class has to be there when the class statement runs, and rich is not imported for --help
    from rich.console import Console

    class VisibleConsole(Console):
        """Escape codes are those of styles and progress bars only: none comes out of a text."""

        def render_str(self, text: str, **options: Any) -> Text:
            """Texts and cells of tables, before their width is measured."""
            return super().render_str(make_visible(text, keep="\n"), **options)

        def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
            """Everything else."""
            for segment in super().render(renderable, options):
                if segment.control:
                    yield segment
                else:
                    yield segment._replace(text=make_visible(segment.text, keep="\n"))

    return VisibleConsole


def console(*, stderr: bool = False) -> Console:
    """A rich console: colour only on a terminal, never cut when piped, hidden characters shown, no markup."""
    stream = sys.stderr if stderr else sys.stdout
    # rich takes 80 columns where it sees no terminal, and would cut tables in logs
    width = None if stream.isatty() else 200
    return define_console()(
        file=stream, width=width, highlight=False, soft_wrap=not stream.isatty(), emoji=False, markup=False
    )


def print_json(value: Any) -> None:
    """One JSON document on standard output, strictly valid (no NaN)."""
    click.echo(escape_json(json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False)))


def parse_size(text: str) -> tuple[int, int]:
    """``1280x720`` as width and height [px], even ones: films have no others."""
    width, _, height = text.lower().partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise click.BadParameter(f"{text!r} is not a size, like 1280x720", param_hint="--size")
    return int(width) // 2 * 2, int(height) // 2 * 2


def parse_pairs(values: tuple[str, ...], option: str) -> dict[str, str]:
    """``NAME=VALUE`` (or ``NAME:=VALUE``, as ROS writes it) of a repeated option."""
    from simwright.core.errors import UsageError

    result = {}
    for value in values:
        # ROS writes := and people copy it; the colon is taken off below
        key, separator, item = value.partition("=")
        if not separator:
            key, separator, item = value.partition(":=")
        if not separator or not key:
            raise UsageError(f"{option} takes NAME=VALUE, got {value!r}")
        result[key.removesuffix(":")] = item
    return result
