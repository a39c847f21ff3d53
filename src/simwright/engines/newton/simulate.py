# SPDX-License-Identifier: Apache-2.0
"""The row of Newton in the table of engines: its MuJoCo, Featherstone and XPBD solvers, on the CPU or a GPU."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

import numpy as np

from simwright.core.diag import Reporter
from simwright.core.errors import UsageError
from simwright.engines.newton.simulate_model import build_newton, import_newton
from simwright.engines.protocol import Capabilities, Settings, Watch
from simwright.engines.stability import is_sound, make_error
from simwright.runtime.arrays import AnyArray
from simwright.runtime.model import Model
from simwright.runtime.state import Control, State

CAPABILITIES = Capabilities(
    name="newton",
    title="Newton",
    solvers={
        "mujoco": "SolverMuJoCo: generalised coordinates, MuJoCo's contacts",
        "featherstone": "SolverFeatherstone: generalised coordinates, penalty contacts",
        "xpbd": "SolverXPBD: positions, drives and contacts as constraints",
    },
    options={
        "iterations": "iterations of the solver (mujoco, xpbd)",
        "ls_iterations": "iterations of its line search (mujoco)",
        "integrator": "euler, implicitfast or rk4 (mujoco)",
        "cone": "elliptic or pyramidal (mujoco)",
        "impratio": "stiffness of friction over that of contact (mujoco)",
        "njmax": "most constraints of a world (mujoco)",
        "nconmax": "most contacts of a world (mujoco)",
        "angular_damping": "share of spin that is lost in a second (featherstone, xpbd)",
        "friction_smoothing": "of penalty friction (featherstone)",
        "joint_linear_relaxation": "(xpbd)",
        "joint_angular_relaxation": "(xpbd)",
        "rigid_contact_relaxation": "(xpbd)",
    },
    devices=("cpu", "cuda"),
)
_CLASSES = {"mujoco": "SolverMuJoCo", "featherstone": "SolverFeatherstone", "xpbd": "SolverXPBD"}
_DEFAULTS: dict[str, dict[str, Any]] = {
    "mujoco": {"cone": "elliptic"},
    "featherstone": {"angular_damping": 0.0},
    "xpbd": {"iterations": 20},
}
_WHOLE = ("iterations", "ls_iterations", "njmax", "nconmax")
_WORDS = ("integrator", "cone")


class NewtonEngine:
    """Opens models for Newton."""

    @property
    def capabilities(self) -> Capabilities:
        """What Newton offers."""
        return CAPABILITIES

    def open(self, model: Model, settings: Settings, reporter: Reporter | None = None) -> NewtonSimulation:
        """Build Newton's model and solver."""
        settings.check(CAPABILITIES)
        import_newton()
        return NewtonSimulation(model, settings, Reporter() if reporter is None else reporter)


class NewtonSimulation:
    """Worlds of a model, moved by one of Newton's solvers."""

    def __init__(self, model: Model, settings: Settings, reporter: Reporter) -> None:
        self._newton = newton = import_newton()
        self.model, self.dt, self.worlds, self.threads = model, settings.dt, model.world_count, 1
        self._solver_name = settings.solver or CAPABILITIES.default_solver
        generalised = self._solver_name == "mujoco"
        self._their = build_newton(model, settings.device, reporter, register=generalised)
        options = _DEFAULTS[self._solver_name] | _read_options(settings)
        if generalised and settings.device == "cpu" and model.world_count == 1:
            options.setdefault("use_mujoco_cpu", True)
        try:
            self._solver = getattr(newton.solvers, _CLASSES[self._solver_name])(self._their, **options)
        except TypeError as error:
            raise UsageError(
                f"the solver {self._solver_name!r} of Newton refuses an option: {error}"
            ) from None
        except ImportError as error:
            raise UsageError(
                f"the solver {self._solver_name!r} of Newton cannot be loaded: {error}",
                hint="pip install 'newton[sim]'",
            ) from None
        self._now, self._next = self._their.state(), self._their.state()
        self._asked = self._their.control()
        self._pipeline = None if generalised else newton.CollisionPipeline(self._their)
        self._contacts = None if self._pipeline is None else self._pipeline.contacts()
        self._targets = self._find_targets()
        self._seen: tuple[AnyArray, AnyArray] | None = None
        self.count = 0

    def _find_targets(self) -> AnyArray:
        """Where the position target of each freedom is; -1 for those of balls and free joints."""
        places = np.full(self.model.joint_dof_count, -1, dtype=np.int64)
        for joint in range(self.model.joint_count):
            first, last = (int(self.model.joint_qd_start[joint + i]) for i in range(2))
            start, end = (int(self.model.joint_q_start[joint + i]) for i in range(2))
            if end - start == last - first:
                places[first:last] = np.arange(start, end)
        return places

    def advance(
        self,
        state: State,
        control: Control,
        steps: int = 1,
        *,
        watch: Watch | None = None,
        every: int = 1,
        poses: bool = True,
    ) -> None:
        """Move a state on; see :meth:`~simwright.engines.protocol.Simulation.advance`."""
        del poses
        if steps < 0 or every < 1:
            raise UsageError(f"{steps} steps, watched every {every}", hint="steps from zero, every from one")
        self._load(state, control)
        for _ in range(steps):
            self._step(state)
            if watch is not None and self.count % every == 0:
                self._write(state)
                watch(self.count, state)
        self._write(state)

    def _load(self, state: State, control: Control) -> None:
        asked, now = self._asked, self._now
        asked.joint_f.assign(control.joint_f)
        if asked.joint_act is not None:
            asked.joint_act.assign(control.joint_act)
        self._set_targets(control)
        seen = self._seen
        if seen is None or (seen[0] != state.joint_q).any() or (seen[1] != state.joint_qd).any():
            now.joint_q.assign(state.joint_q)
            now.joint_qd.assign(state.joint_qd)
            self._newton.eval_fk(self._their, now.joint_q, now.joint_qd, now)

    def _set_targets(self, control: Control) -> None:
        asked = self._asked
        if getattr(asked, "joint_target_q", None) is not None:
            values = asked.joint_target_q.numpy().copy()
            known = np.flatnonzero(self._targets >= 0)
            if len(values) == self.model.joint_coord_count:
                values[self._targets[known]] = control.joint_target_pos[known]
            else:
                values[:] = control.joint_target_pos
            asked.joint_target_q.assign(values)
            asked.joint_target_qd.assign(control.joint_target_vel)
        else:
            asked.joint_target_pos.assign(control.joint_target_pos)
            asked.joint_target_vel.assign(control.joint_target_vel)

    def _step(self, state: State) -> None:
        self._now.clear_forces()
        if np.any(state.body_f):
            self._now.body_f.assign(state.body_f)
        if self._pipeline is not None:
            self._pipeline.collide(self._now, self._contacts)
        self._solver.step(self._now, self._next, self._asked, self._contacts, self.dt)
        self._now, self._next = self._next, self._now
        self.count += 1

    def _write(self, state: State) -> None:
        now = self._now
        if self._solver_name == "xpbd":
            self._newton.eval_ik(self._their, now, now.joint_q, now.joint_qd)
        q, qd = now.joint_q.numpy(), now.joint_qd.numpy()
        if not (is_sound(q) and is_sound(qd)):
            raise make_error(self.model, q, qd, self.count * self.dt)
        state.joint_q[:], state.joint_qd[:] = q, qd
        state.body_q[:], state.body_qd[:] = now.body_q.numpy(), now.body_qd.numpy()
        self._seen = (state.joint_q.copy(), state.joint_qd.copy())

    def close(self) -> None:
        """Let the solver go."""
        self._solver = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _read_options(settings: Settings) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for name, value in settings.options.items():
        try:
            options[name] = str(value) if name in _WORDS else int(value) if name in _WHOLE else float(value)
        except ValueError:
            raise UsageError(f"{name} is {value!r}", hint="a number") from None
    return options


ENGINE = NewtonEngine()
