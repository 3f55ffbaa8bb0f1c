"""What the benchmarks of scale measure of a command besides CPU time: memory of all its processes, bytes on disk."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import peers

__all__ = ["Kept", "measure"]

# Least seconds between two looks at the memory of the processes, and at the files.
MEMORY_PAUSE = 0.1
DISK_PAUSE = 1.0
# A look may take at most so much of the time: it stops the processes that it looks at, and needs a core.
MOST_OF_TIME = 0.02

Record = dict[str, Any]


class Kept:
    """Measurements that are kept in a file as they are made, so that an interrupted run continues."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.found: dict[str, Any] = {}
        if file.is_file():
            for line in file.read_text().splitlines():
                entry = json.loads(line)
                self.found[entry["key"]] = entry["value"]

    def get(self, key: str, make: Callable[[], Any]) -> Any:
        """What was measured under this key; it is measured now if it was not before."""
        if key not in self.found:
            value = make()
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a") as file:
                file.write(json.dumps({"key": key, "value": value}) + "\n")
            self.found[key] = value
        return self.found[key]


def measure(command: list[str], *, workdir: Path, name: str, disk: Path | None = None) -> Record:
    """Run a command, and say what it used: CPU and wall time, the peak memory of its processes, the peak of `disk`.

    Memory is the proportional set size of all processes together where the system tells it (Linux), and otherwise the
    peak of the largest process.
    """
    ended = threading.Event()
    peaks = {"tree": 0.0, "disk": 0.0}
    watching = [
        threading.Thread(target=_watch, args=(ended, MEMORY_PAUSE, peaks, "tree", _memory_of_children)),
        threading.Thread(target=_watch, args=(ended, DISK_PAUSE, peaks, "disk", lambda: _bytes_in(disk))),
    ]
    for thread in watching:
        thread.start()
    try:
        cost = peers.measure(command, workdir=workdir, name=name)
    finally:
        ended.set()
        for thread in watching:
            thread.join()
    mebibytes = max(cost["peak_rss_mib"], peaks["tree"] / 2**20)
    return {**cost, "peak_mib": mebibytes, "disk_bytes": max(peaks["disk"], _bytes_in(disk))}


def _watch(ended: threading.Event, pause: float, peaks: dict[str, float], name: str, look: Callable[[], float]) -> None:
    least = pause
    while not ended.wait(pause):
        start = time.perf_counter()
        peaks[name] = max(peaks[name], look())
        pause = max(least, (time.perf_counter() - start) / MOST_OF_TIME)


def _memory_of_children() -> float:
    """Bytes of all processes below this one; what they share is counted once."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
            parents[int(entry.parent.name)] = int(fields[1])
        except (OSError, ValueError, IndexError):
            continue
    total = 0.0
    for process in parents:
        above = parents.get(process, 0)
        while above and above != os.getpid():
            above = parents.get(above, 0)
        if above == os.getpid():
            total += _proportional(process)
    return total


def _proportional(process: int) -> float:
    try:
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return float(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return 0.0


def _bytes_in(directory: Path | None) -> float:
    """Bytes of all files in a directory and below."""
    if directory is None or not directory.exists():
        return 0.0
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            try:
                total += (Path(folder) / name).stat().st_size
            except OSError:
                continue
    return float(total)
