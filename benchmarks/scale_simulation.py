"""A discrete-event simulation of a training job on a cluster.

A job is a list of phases. In a phase, tasks wait in one queue; a scheduler hands them out one after the other, and each
worker runs one at a time: it reads, computes and writes. All workers share the bandwidth of one disk, equally, and each
has a network of its own. Some tasks take longer than others. A worker may be lost at any moment; then its task goes
back into the queue, and another worker takes its place after some time. The next phase begins when the last task has
ended.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

__all__ = ["Machine", "Phase", "Simulated", "closed_form", "simulate"]

READ, COMPUTE, WRITE = range(3)


@dataclass(frozen=True, slots=True)
class Machine:
    """What tasks run on.

    Attributes
    ----------
    disk
        Bytes per second that the shared file system reads and writes, for all workers together.
    network
        Bytes per second of each worker.
    dispatch
        Seconds that the scheduler needs for a task, during which it does nothing else.
    spread
        Standard deviation of the logarithm of how long tasks of the same size take.
    losses
        How often a worker is lost, per hour.
    replacement
        Seconds until a lost worker is replaced.
    """

    disk: float = math.inf
    network: float = math.inf
    dispatch: float = 0.0
    spread: float = 0.0
    losses: float = 0.0
    replacement: float = 0.0


@dataclass(frozen=True, slots=True)
class Phase:
    """Equal tasks that do not depend on each other.

    Attributes
    ----------
    name
        What is done.
    tasks
        Number of tasks.
    seconds, read, written
        CPU seconds of a task, and the bytes that it reads and writes.
    serial
        Seconds of what one process does before.
    opening, opened
        CPU seconds and bytes that each worker needs before its first task.
    """

    name: str
    tasks: int
    seconds: float = 0.0
    read: float = 0.0
    written: float = 0.0
    serial: float = 0.0
    opening: float = 0.0
    opened: float = 0.0


@dataclass(slots=True)
class Simulated:
    """What a simulation gave: seconds in all and of each phase, bytes that were moved, lost workers."""

    seconds: float = 0.0
    bytes: float = 0.0
    lost: int = 0
    phases: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class _Doing:
    """What a worker does; `dies` is when it will be lost, and `turn` makes old events recognisable."""

    dies: float
    opened: bool = False
    task: bool = False
    stage: int = READ
    turn: int = 0
    finish: float = 0.0  # the level of service at which its input or output ends


def simulate(phases: Sequence[Phase], workers: int, machine: Machine, seed: int = 0) -> Simulated:
    """Run a job on some workers."""
    random = np.random.default_rng(seed)
    result = Simulated()
    for phase in phases:
        before = result.seconds
        _run_phase(phase, workers, machine, random, result)
        result.phases[phase.name] = result.phases.get(phase.name, 0.0) + result.seconds - before
    return result


def _run_phase(phase: Phase, workers: int, machine: Machine, random: np.random.Generator, result: Simulated) -> None:
    now = result.seconds + phase.serial
    waiting, left = phase.tasks, phase.tasks
    idle = deque(range(workers))
    doing = [_Doing(now + _life(machine, random)) for _ in range(workers)]
    events: list[tuple[float, int, int, str]] = []  # time, worker, turn, what
    moving: list[tuple[float, int, int]] = []  # level of service at the end, worker, turn
    active, service, free = 0, 0.0, now  # `free`: when the scheduler is free again

    def rate() -> float:
        return min(machine.network, machine.disk / active) if active else math.inf

    def move(worker: int, amount: float) -> None:
        nonlocal active
        active += 1
        doing[worker].finish = service + amount
        heapq.heappush(moving, (doing[worker].finish, worker, doing[worker].turn))

    while left:
        while waiting and idle:
            worker = idle.popleft()
            waiting -= 1
            free = max(free, now) + machine.dispatch
            doing[worker].task, doing[worker].stage = True, READ
            heapq.heappush(events, (free, worker, doing[worker].turn, "start"))
        while moving and moving[0][2] != doing[moving[0][1]].turn:
            heapq.heappop(moving)
        speed = rate()
        moved = now + ((moving[0][0] - service) / speed if speed < math.inf else 0.0) if moving else math.inf
        if moving and moved <= (events[0][0] if events else math.inf):
            service += (moved - now) * speed if speed < math.inf else moving[0][0] - service
            now = moved
            _, worker, turn = heapq.heappop(moving)
            what = "moved"
            active -= 1
        else:
            when, worker, turn, what = heapq.heappop(events)
            if turn != doing[worker].turn:
                continue
            if active and speed < math.inf:
                service += (when - now) * speed
            now = when
        state = doing[worker]
        if what == "back":
            doing[worker] = _Doing(now + _life(machine, random), turn=state.turn + 1)
            idle.append(worker)
            continue
        if now >= state.dies and state.task:  # it is noticed when something would have ended
            result.lost += 1
            waiting += 1
            doing[worker] = _Doing(math.inf, turn=state.turn + 1)
            heapq.heappush(events, (now + machine.replacement, worker, state.turn + 1, "back"))
            continue
        state.turn += 1
        if what == "start":
            amount = phase.read + (0.0 if state.opened else phase.opened)
            result.bytes += amount
            move(worker, amount)
        elif state.stage == READ:
            state.stage = COMPUTE
            longer = math.exp(random.normal(0.0, machine.spread) - machine.spread**2 / 2) if machine.spread else 1.0
            seconds = phase.seconds * longer + (0.0 if state.opened else phase.opening)
            state.opened = True
            heapq.heappush(events, (now + seconds, worker, state.turn, "computed"))
        elif state.stage == COMPUTE:
            state.stage = WRITE
            result.bytes += phase.written
            move(worker, phase.written)
        else:
            state.task = False
            left -= 1
            idle.append(worker)
    result.seconds = now


def _life(machine: Machine, random: np.random.Generator) -> float:
    """Seconds until a worker is lost."""
    return float(random.exponential(3600 / machine.losses)) if machine.losses else math.inf


def closed_form(phases: Sequence[Phase], workers: int, machine: Machine) -> float:
    """Seconds of a job without stragglers and losses, as an equation instead of a simulation.

    Each worker runs its part of the tasks of a phase one after the other. A task takes its CPU time and the time to
    move its bytes through its network or through its part of the disk, whichever is slower; no phase is faster than
    the scheduler that hands out its tasks.
    """
    total = 0.0
    for phase in phases:
        busy = min(workers, phase.tasks)
        speed = min(machine.network, machine.disk / busy) if busy else math.inf
        turns = math.ceil(phase.tasks / workers)
        each = phase.seconds + (phase.read + phase.written) / speed
        opening = (phase.opening + phase.opened / speed) if phase.tasks else 0.0
        total += phase.serial + max(opening + turns * each, phase.tasks * machine.dispatch) + machine.dispatch
    return total
