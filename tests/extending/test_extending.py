# SPDX-License-Identifier: Apache-2.0
"""What docs/architecture.md says of adding things is true: one of everything is added, and nothing else is touched.

Each row of its table has a function here that is named like it; what is added has the word "sketch" in its name, the
same from another package "plugged".
"""

from __future__ import annotations

import fnmatch
import json
import re
from pathlib import Path

import pytest

from .project import ADDITIONS, REPO, Addition, Project, find_path

HERE = Path(__file__).parent
WORDS = ("sketch", "plugged")
JOINT = """#usda 1.0
(
    defaultPrim = "r"
    metersPerUnit = 1
)
def Xform "r" {
    def Xform "a" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {}
    def PhysicsRevoluteJoint "j" (prepend apiSchemas = ["WordJointAPI"]) {
        rel physics:body1 = </r/a>
        float word:rotor = 4
    }
}
"""
SERVE = """
import contextlib, io, json, os, sys
from simwright.app.cli.main import run
for line in sys.stdin:
    folder, *commands = json.loads(line)
    os.chdir(folder)
    answers = []
    for command in commands:
        with contextlib.redirect_stdout(io.StringIO()) as stream:
            code = run(command)
        answers.append((code, stream.getvalue()))
    print("answers", json.dumps(answers), flush=True)
"""
ARM = """<robot name="arm"><link name="base"/><link name="tip"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="turn" type="revolute"><parent link="base"/><child link="tip"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="10" velocity="1"/></joint></robot>"""


@pytest.fixture(scope="session")
def project(tmp_path_factory):
    return Project(tmp_path_factory.mktemp("extending"))


@pytest.fixture(params=WORDS)
def word(request):
    """What is added to the project, and what a package brings."""
    return request.param


@pytest.fixture(scope="session")
def servers(project, tmp_path_factory):
    """Processes that run commands of the copy: one without the other package, one with it."""
    started = {}
    for word in WORDS:
        with (tmp_path_factory.mktemp("said") / f"{word}.txt").open("w") as said:
            process = project.start("-c", SERVE, plugged=word == "plugged", stderr=said)
        started[word] = process, Path(said.name)
    yield started
    for process, _ in started.values():
        process.stdin.close()
        process.wait(60)
        process.stdout.close()


@pytest.fixture
def simwright(servers, word, tmp_path):
    """Runs commands in a folder of its own, one after the other; gives what each prints."""
    process, said = servers[word]

    def run(*commands, code=0):
        lines = [list(map(str, command)) for command in commands]
        process.stdin.write(json.dumps([str(tmp_path), *lines]) + "\n")
        process.stdin.flush()
        answer = next((line for line in process.stdout if line.startswith("answers ")), None)
        assert answer, f"it crashed: {said.read_text()[-3000:]}"
        answers = json.loads(answer.partition(" ")[2])
        for command, (given, printed) in zip(lines, answers, strict=True):
            assert given == code, (command, printed, said.read_text()[-3000:])
        return [printed for _, printed in answers]

    return run


# --- the table ---------------------------------------------------------------------------------------------


def read_table():
    text = (REPO / "docs/architecture.md").read_text()
    section = text[text.index("## Adding things") : text.index("## Tests\n")]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if "|" in line
    ]
    return {name: (written, edited) for name, written, edited in rows[2:]}


def list_paths(cell):
    """Paths in backticks, as patterns of paths in the project."""
    found = [word for word in re.findall(r"`([^`]+)`", cell) if "/" in word]
    return [find_path(re.sub(r"<\w+>", "*", word)) + ("*" if word.endswith("/") else "") for word in found]


def list_groups(cell):
    return set(re.findall(r"`simwright\.(\w+)`", cell))


TABLE = read_table()
OWN = {name for addition in ADDITIONS for name in addition.files}


def test_every_row_is_tried_and_nothing_else():
    assert list(TABLE) == [addition.row for addition in ADDITIONS]
    functions = set(re.findall(r"^def test_(\w+)", Path(__file__).read_text(), re.MULTILINE))
    assert {addition.slug.replace("-", "_") for addition in ADDITIONS} <= functions
    assert {path.name for path in (HERE / "additions").iterdir()} == {addition.slug for addition in ADDITIONS}


@pytest.mark.parametrize("addition", ADDITIONS, ids=lambda addition: addition.slug)
def test_what_is_written_and_edited_is_what_the_row_says(addition: Addition):
    written, edited = TABLE[addition.row]
    assert addition.files
    patterns = list_paths(written)
    for pattern in patterns:
        assert fnmatch.filter(addition.files, pattern), pattern
    for name in addition.files if patterns else ():
        assert any(fnmatch.fnmatch(name, pattern) for pattern in patterns), name
    edits = {find_path(name) for name, _, _ in addition.edits}
    assert edits - OWN == set(list_paths(edited))
    assert edited.startswith("nothing") is not bool(edits)
    assert {group for group, _, _ in addition.plugins} == list_groups(edited)


# --- everything at once ------------------------------------------------------------------------------------

CHECKED = (
    "tests/checker/test_cases.py::test_case[sketch-titled: pass: it has one]",
    "tests/checker/test_cases.py::test_case[sketch-titled: fail: it has none]",
    "tests/checker/test_cases.py::test_rule_has_a_passing_and_a_failing_case_and_teaches[sketch-titled]",
    "tests/sanitizer/test_fix_cases.py::test_fix[sketch-titled: fail: it has none]",
    "tests/sanitizer/test_fix_cases.py::test_every_fix_shows_what_it_writes[sketch-titled]",
    "tests/usd/test_generated_schemas.py::test_generated_files_are_fresh[extended_physics_sketch]",
    "tests/usd/test_submission.py::test_our_extensions_pass[extended_physics_sketch]",
    "tests/checker/test_ledger.py",
    "tests/checker/test_run.py::test_rules_are_sorted_by_section_and_have_one_code_each",
    "tests/checker/test_usd_validation.py::test_every_rule_is_announced_without_loading_us",
    "tests/sanitizer/test_coverage.py",
    "tests/sanitizer/test_values.py::test_every_value_that_a_fix_asks_for_is_declared",
    "tests/resolve/test_translation.py",
    "tests/resolve/test_resolve.py",
    "tests/scenes/test_scene_page.py",
    "tests/scenes/test_schema.py::test_every_key_has_a_description",
    "tests/scenes/ops/test_operations.py::test_every_operation_is_found",
    "tests/cli/test_convert.py::test_help_names_every_format",
    "tests/cli/test_main.py::test_every_command_has_help_with_an_example",
    "tests/cli/test_registry_command.py::test_list",
    "tests/app/report/test_table.py",
    "tests/usd/test_registry.py",
    "tests/usd/test_plugins.py::test_every_class_of_the_table_has_a_folder",
    "tests/usd/test_plugins.py::test_register_plugins_in_process",
)


def test_our_own_tests_pass(project):
    """Those that know tables, pages and schemas; of those with a case for each thing, the cases of the new ones."""
    done = project.run("-m", "pytest", "-q", "-p", "no:cacheprovider", *CHECKED)
    assert " passed" in done
    assert "failed" not in done


def test_import_contracts_hold(project):
    lint = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
    assert "0 broken" in project.run("-c", lint, "--no-cache")


# --- row by row --------------------------------------------------------------------------------------------


def test_rule(project, simwright, word, tmp_path):
    file = tmp_path / "r.usda"
    file.write_text('#usda 1.0\n(\n    defaultPrim = "r"\n)\ndef Xform "r" {}\n')
    checked, explained = simwright(
        ("check", file, "--format", "json", "--fail-on", "never", "--select", "1.2.5", "--jobs", "1"),
        ("explain", f"{word}-titled"),
    )
    found = [finding["rule"] for asset in json.loads(checked)["assets"] for finding in asset["findings"]]
    assert f"{word}-titled" in found
    assert "no statement of REP-0158; about its section 1.2.5" in explained
    if word == "sketch":
        page = (project.root / "docs/rules/sketch-titled.md").read_text()
        assert "No statement of REP-0158; about its section 1.2.5, *may*: level info" in page


def test_fix(simwright, word, tmp_path):
    file = tmp_path / "in" / "r.usda"
    file.parent.mkdir()
    file.write_text('#usda 1.0\n(\n    defaultPrim = "r"\n)\ndef Xform "r" {}\n')
    told = ("--select", f"{word}-titled", "--set", f"{word}-title=Robbie")
    simwright(("fix", file, "-o", tmp_path / "out", *told), code=1)  # other findings are left
    assert 'displayName = "Robbie"' in (tmp_path / "out/r.usda").read_text()


def test_solver_namespace(project, simwright, word, tmp_path):
    """Read by default: on the command line, in Python, and by the checker, to which the names are a vendor's."""
    file = tmp_path / "r.usda"
    file.write_text(JOINT.replace("word", word).replace("Word", word.capitalize()))
    shown = json.loads(*simwright(("resolve", file, "--format", "json")))
    assert shown["order"] == ["ext_physics", "newton", "physx", "mjc", *WORDS[: WORDS.index(word) + 1]]
    (value,) = [row for prim in shown["prims"] for row in prim["values"] if row["key"] == "armature"]
    assert (value["value"], value["namespace"]) == (4.0, word)
    code = f"""
import simwright
from simwright.checker.facts.vendors import vendor_of_property, vendor_of_schema
from simwright.engines.newton.build import add_asset
from simwright.resolve import schema_attrs
asset = simwright.load({str(file)!r})
assert asset.joints[0].dofs[0].armature == 4.0
assert schema_attrs(asset)[{word!r}] == {{"/r/j": {{"{word}:rotor": 4.0}}}}
assert {word!r} in add_asset.__kwdefaults__["schema_resolvers"]
assert vendor_of_property("{word}:rotor") == vendor_of_schema("{word.capitalize()}JointAPI") == {word!r}
"""
    project.run("-c", code, plugged=word == "plugged")
    if word == "sketch":
        assert "\n## sketch\n" in (project.root / "docs/resolvers.md").read_text()


def test_diagnostic(project):
    assert (
        "| `sketch-empty`<br>warning | the sketch has no body"
        in (project.root / "docs/diagnostics.md").read_text()
    )


def test_format(simwright, word, tmp_path):
    """Found by its ending, inspected, converted from and to, alone and in a folder, and named by the help."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / f"two.{word}").write_text("one\ntwo\n")
    (folder / f"none.{word}").write_text("\n")
    two, none, *_, help_text = simwright(
        ("inspect", folder / f"two.{word}"),
        ("inspect", folder / f"none.{word}"),
        ("convert", folder / f"two.{word}", "two.urdf"),
        ("convert", "two.urdf", f"back.{word}"),
        ("convert", folder, "all", "--to", "urdf"),
        ("convert", "--help"),
    )
    assert "2 bodies" in two
    assert f"{word}-empty" in none
    assert (tmp_path / f"back.{word}").read_text().split() == ["one", "two"]
    assert (tmp_path / "all/two/two.urdf").is_file()
    words = " ".join(help_text.split())
    assert (
        f"The format to write: urdf, sdf, mjcf, usd, gltf{', sketch' * (word == 'plugged')} or {word}."
        in words
    )


def test_post_build_operation(project, simwright, word, tmp_path):
    """In the list, in the schema of scene files, and done."""
    ops = f"[{{op: {word}_gravity, {word}_factor: 0.25}}]"
    scene = "ground: false\nbodies: [{id: b, shapes: [{type: sphere}]}]\njoints: [{id: j, type: free, child: b}]\n"
    (tmp_path / "s.yaml").write_text(f"{scene}articulations: [{{joints: [j]}}]\npost_build: {ops}\n")
    listed, schema, shown = simwright(
        ("scene", "operations"), ("scene", "schema"), ("inspect", "s.yaml", "--format", "json")
    )
    assert f"{word}_gravity" in listed
    assert f'"{word}_factor"' in schema
    assert json.loads(shown)["environment"]["gravity"] == pytest.approx([0, 0, -9.81 / 4])
    if word == "sketch":
        page = (project.root / "docs/operations.md").read_text()
        assert "| `sketch_factor` | `0.5` | factor for gravity |" in page


def test_report_format(simwright, word, tmp_path):
    """Of every command that reports findings."""
    (tmp_path / "r.usda").write_text('#usda 1.0\ndef Xform "r" {}\n')
    (tmp_path / "s.yaml").write_text("bodies: [{id: b, shapes: [{type: sphere}]}]\n")
    choice = ("--fail-on", "never", "--select", "default-prim", "--jobs", "1")
    checked, scene, help_text = simwright(
        ("check", "r.usda", "--format", word, *choice),
        ("scene", "check", "s.yaml", "--format", word),
        ("check", "--help"),
    )
    assert checked == f"{word} default-prim\n"
    assert scene == f"{word} scene-body-alone\n"
    assert f"html|{'sketch|' * (word == 'plugged')}{word}]" in help_text


def test_schema(project):
    shown = json.loads(
        project.run("-m", "simwright", "registry", "show", "ExtendedPhysicsSketchAPI", "--format", "json")
    )
    assert [p["name"] for p in shown["classes"][0]["properties"]] == ["ext_physics:sketch:tolerance"]
    assert "extended_physics_sketch" in (project.root / "docs/schemas.md").read_text()


def test_engine(simwright, word, tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM)
    (printed,) = simwright(("run", "arm.urdf", "--engine", word, "--frames", "2", "--format", "json"))
    told = json.loads(printed)
    assert (told["engine"], told["dt"]) == (word, 0.001)


def test_task(project, simwright, word):
    said = ("--robot", "sample_arm", "--policy", "hold", "--format", "json")
    (printed,) = simwright(("task", "run", f"{word}_wait", *said))
    assert [episode["ended"] for episode in json.loads(printed)["episodes"]] == ["success"]
    if word == "sketch":
        assert "## sketch_wait" in (project.root / "docs/task-scenes.md").read_text()


def test_transport(simwright, word, tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM)
    simwright(("run", "arm.urdf", "--ros", word, "--frames", "100", "--no-realtime", "--format", "json"))
    # the clock and the moving frame in 0.2 s, the fixed one and the description once
    assert int((tmp_path / f"{word}.txt").read_text()) >= 30


def test_controller(project, word, tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM)
    code = f"""
import simwright
from simwright.core.diag import Reporter
from simwright.engines.protocol import Settings
from simwright.engines.table import load_engine
from simwright.model.ros import Controller
from simwright.ros.bridge import BridgeOptions, RosBridge
from simwright.ros.parts import equip_asset
asset = simwright.load("arm.urdf")
asset.controllers.append(Controller("mine", {word!r}, joints={{"command": ["turn"]}}))
asset.joints[0].dofs[0].drive = simwright.model.joint.Drive(stiffness=100.0, damping=20.0)
with load_engine("mujoco").open(asset, Settings(), Reporter()) as simulation:
    graph = equip_asset(asset, "mujoco", Settings(), Reporter()).graph
    with RosBridge(graph, simulation, [], Reporter()) as bridge:
        bridge.run(2000)
    assert abs(simulation.get("turn") - 0.1) < 0.01, simulation.get("turn")
"""
    project.run("-c", code, plugged=word == "plugged", cwd=tmp_path)


def test_reward_term(simwright, word, tmp_path):
    file = tmp_path / "env.yaml"
    file.write_text(f"task: reach\nrobot: sample_arm\nreward: {{{word}: 2}}\nmax_steps: 3\n")
    (done,) = simwright(("task", "run", str(file), "--format", "json"))
    assert json.loads(done)["episodes"][0]["total_reward"] == 3 * 2 * 7


def test_term_of_observations_and_success(simwright, word, tmp_path):
    said = []
    for number, limit in enumerate((0.01, 100.0)):
        file = tmp_path / f"env{number}.yaml"
        condition = f"success: {{all: [{{{word}: goal, above: {limit}}}]}}"
        file.write_text(f"task: reach\nrobot: sample_arm\n{condition}\nmax_steps: 2\n")
        (done,) = simwright(("task", "run", str(file), "--format", "json"))
        said.append(json.loads(done)["episodes"][0]["success"])
    assert said == [True, False]


def test_policy(simwright, word):
    said = ("--robot", "sample_arm", "--policy", word, "--episodes", "1", "--format", "json")
    done, shown = simwright(
        ("task", "run", "sketch_wait", *said), ("task", "show", "reach", "--format", "json")
    )
    assert json.loads(done)["policy"] == word
    assert word in json.loads(shown)["policies"]


def test_robot(simwright, word):
    (printed,) = simwright(("robots", "list", "--format", "json"))
    assert f"{word}_bot" in {robot["id"] for robot in json.loads(printed)["robots"]}


def test_world_planner_executor_sensor_action(project, word, tmp_path):
    code = f"""
from pathlib import Path
from flat import make_flat
from simwright.worlds.acting.action import Action
from simwright.worlds.acting.simulation import WorldSimulation
from simwright.worlds.poses import WorldPose
settings = "path_executor: {{type: {word}, seconds: 5.0}}\\nsensors: {{needle: {{type: {word}, offset: 0.25}}}}"
simulation = WorldSimulation(make_flat(Path("."), settings, "path_planner: {{type: {word}, by: 0.75}}"))
path = simulation.execute("one", Action("navigate", WorldPose(1.5, 0.0))).data["path"]
assert path.poses[1].xy == (0.75, 1.0)
assert abs(simulation.time - 5.0 * path.length) < 1e-9
assert simulation.sense("one", "needle") == simulation.world.robots[0].pose.yaw + 0.25
assert simulation.execute("one", Action({word!r})).data == {{"waved": "one"}}
"""
    project.run("-c", code, plugged=word == "plugged", cwd=tmp_path, helpers="tests/worlds")


def test_command(project):
    assert project.run("-m", "simwright", "sketch") == "a sketch\n"
    assert "## simwright sketch" in (project.root / "docs/cli.md").read_text()


def test_sample(project):
    folder = project.root / "samples/simwright_samples"
    assert (folder / "sketch/pebble.urdf").is_file()
    assert "| `sketch` | a pebble | URDF | `pebble.urdf` |" in (folder / "README.md").read_text()
    assert " sketch " in (folder / "CMakeLists.txt").read_text()


def test_benchmark(project, tmp_path):
    told = project.run("-m", "benchmarks", "sketch")
    assert "sketch" in told
    assert "itself" in told
