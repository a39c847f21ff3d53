# SPDX-License-Identifier: Apache-2.0
"""The ``simwright`` command: a lazy table of commands, and the one place where errors become exit codes."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

import click

from simwright import __version__
from simwright.core.errors import EXIT_BAD_INPUT, EXIT_INTERNAL, SimwrightError
from simwright.core.registry import import_object
from simwright.core.visible import make_visible

COMMANDS: dict[str, tuple[str, str]] = {
    "samples": (
        "simwright.app.cli.samples:samples",
        "List the sample robots, rooms and scenes, and copy them into a folder of your own.",
    ),
    "init": (
        "simwright.app.cli.samples:init",
        "Write a settings file for your project, with every setting and its default.",
    ),
    "doctor": (
        "simwright.app.cli.doctor:doctor",
        "Show versions, optional extras, engines and tools that are found.",
    ),
    "inspect": (
        "simwright.app.cli.inspect:inspect",
        "Show the bodies, joints, masses, shapes and interfaces of a file.",
    ),
    "view": (
        "simwright.app.cli.view:view",
        "Show a file in the browser: links, joints, colliders, masses; move its joints.",
    ),
    "render": (
        "simwright.app.cli.render:render",
        "Draw a file without a screen: a picture, or a film that turns around it.",
    ),
    "check": (
        "simwright.app.cli.check:check",
        "Check USD assets against REP-0158.",
    ),
    "fix": (
        "simwright.app.cli.fix:fix",
        "Repair what check finds, and prove that nothing else changed.",
    ),
    "rules": (
        "simwright.app.cli.rules:rules",
        "List the rules that check knows.",
    ),
    "explain": (
        "simwright.app.cli.explain:explain",
        "Explain what a rule asks for, why, and how to get there.",
    ),
    "convert": (
        "simwright.app.cli.convert:convert",
        "Convert a robot, prop or scene between URDF, SDFormat, MJCF, OpenUSD and glTF.",
    ),
    "diff": (
        "simwright.app.cli.diff:diff",
        "Compare two files of any format as machines.",
    ),
    "prove": (
        "simwright.app.cli.prove:prove",
        "Ask several physics engines whether an asset is the same machine in all of them.",
    ),
    "engines": (
        "simwright.app.cli.engines:engines",
        "List, install, remove and test the engines that prove asks.",
    ),
    "run": (
        "simwright.app.cli.run:run",
        "Run a scene or a robot file by a physics engine, and record it.",
    ),
    "scene": (
        "simwright.app.cli.scene:scene",
        "Check scene files, and show their schema and operations.",
    ),
    "task": (
        "simwright.app.cli.task:task",
        "List, show and run tasks, with any robot that can do them.",
    ),
    "robots": (
        "simwright.app.cli.robots:robots",
        "List, show, check, infer and add robots that tasks can use.",
    ),
    "jobs": (
        "simwright.app.cli.jobs:jobs",
        "List, show, resume and report jobs: one command over many assets.",
    ),
    "serve": (
        "simwright.app.cli.serve:serve",
        "Serve check, fix, convert, diff and view over HTTP, for uploads.",
    ),
    "world": (
        "simwright.app.cli.world:world",
        "Check, draw, build, plan in and run worlds of rooms, furniture, objects and robots.",
    ),
    "ros": (
        "simwright.app.cli.ros:ros",
        "Show and check the ROS 2 interfaces of an asset, and which transports are installed.",
    ),
    "packages": (
        "simwright.app.cli.packages:packages",
        "List the ROS packages that package:// addresses can use.",
    ),
    "resolve": (
        "simwright.app.cli.resolve:resolve",
        "Show which solver's attribute decides each value of a USD file.",
    ),
    "registry": (
        "simwright.app.cli.registry:registry",
        "List, show and validate extension schemas (REP-0158 4.2).",
    ),
    "plugin-path": (
        "simwright.app.cli.plugin_path:plugin_path",
        "Print the schema plugin path for other OpenUSD tools.",
    ),
}
"""Name -> (``"module:attribute"``, one-line help): ``--help`` imports none of the modules."""

JOBS: dict[str, tuple[str, ...]] = {
    "Begin": ("samples", "init", "doctor"),
    "Look at a file": ("inspect", "view", "render"),
    "Check and repair": ("check", "fix", "rules", "explain"),
    "Convert and compare": ("convert", "diff", "prove", "engines"),
    "Simulate": ("run", "scene", "task", "robots"),
    "Many assets": ("jobs", "serve"),
    "Rooms and floor plans": ("world",),
    "ROS 2": ("ros", "packages"),
    "OpenUSD details": ("resolve", "registry", "plugin-path"),
}
"""What commands are for: titles of the help, and the commands below each."""

EPILOG = """\b
Examples:
  simwright samples copy samples
  simwright check robot.usda
  simwright fix robot.usda -o fixed/robot
  simwright inspect robot.urdf
  simwright inspect robot.usda --format json
  simwright convert robot.urdf out/robot
  simwright diff robot.urdf out/robot/robot.usda
  simwright resolve robot.usda --schema-resolvers physx,newton,mjc
  simwright world render flat.yaml -o flat.png
  simwright scene check arm.yaml
  simwright run arm.yaml --num-worlds 64 --record arm.mp4
  simwright registry show RosTopicAPI
  PXR_PLUGINPATH_NAME=$(simwright plugin-path) usdview robot.usda
"""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in table order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        command = import_object(COMMANDS[cmd_name][0])
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; a typing error gets a suggestion."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            close = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean '{close[0]}'?" if close else f" Commands: {', '.join(COMMANDS)}."
            ctx.fail(f"No such command '{args[0]}'.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table, without importing anything."""
        listed = {name for names in JOBS.values() for name in names}
        # a command that nobody gave a title is shown all the same
        others = {"Other": tuple(name for name in COMMANDS if name not in listed)}
        for title, names in (JOBS | others).items():
            if names:
                with formatter.section(title):
                    formatter.write_dl([(name, COMMANDS[name][1]) for name in names])


@click.group(cls=LazyGroup, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="simwright")
def cli() -> None:
    """Simwright: robot simulation assets, written once, right in every simulator.

    Exit codes: 0 clean, 1 findings, 2 bad input or usage, 3 internal error.
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; every outcome is an exit code."""
    try:
        result = cli.main(args=arguments, prog_name="simwright", standalone_mode=False)
    # one function, although long: the order of these clauses is the point, from the expected to the
    # unexpected
    except click.exceptions.Exit as stop:
        return stop.exit_code
    # 128 + SIGINT, as shells have it
    except click.Abort:
        return 130
    except click.ClickException as error:
        said = io.StringIO()
        error.show(said)
        # it may quote names of files that a pattern of the shell gave
        click.echo(make_visible(said.getvalue(), keep="\n"), err=True, nl=False)
        return error.exit_code
    except SimwrightError as error:
        return _fail(f"{error}", error.exit_code)
    except BrokenPipeError:
        # the reader of our output went away (`| head`): not an error, but say nothing more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except OSError as error:
        # a disk that is full, a file that vanished: no bug of ours, wherever it was met
        place = f"{error.filename}: " if error.filename is not None else ""
        return _fail(f"{place}the system says: {error.strerror or error}", EXIT_BAD_INPUT)
    except (MemoryError, RecursionError) as error:
        return _fail(f"the input needs too much {type(error).__name__[:-5].lower()}", EXIT_BAD_INPUT)
    except Exception as error:  # noqa: BLE001 - the last line of defence
        return _report_bug(error)
    # commands give their exit code; with standalone_mode click would exit by itself with 0
    return result if isinstance(result, int) else 0


def _fail(message: str, code: int) -> int:
    """One line on standard error, control characters made harmless."""
    click.secho("error: ", fg="red", bold=True, nl=False, err=True)
    click.echo(make_visible(" ".join(message.split())), err=True)
    return code


def _report_bug(error: Exception) -> int:
    # Python 3.11 makes another error of Ctrl-C where a class is being made, as while importing
    if isinstance(error.__cause__, KeyboardInterrupt):
        return _fail("interrupted", 130)
    if os.environ.get("SIMWRIGHT_DEBUG"):
        import traceback

        traceback.print_exc()
    text = (
        f"internal error: {type(error).__name__}: {error}; please report it (SIMWRIGHT_DEBUG=1 shows where)"
    )
    return _fail(text, EXIT_INTERNAL)
