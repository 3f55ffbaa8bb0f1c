"""Writing the example files of the package to a directory."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from cepts.atomic import atomic_output, cannot_write, together
from cepts.errors import DataError
from cepts.pipeline.reports import Report, counted

ROOM_FOLDERS = ("lm", "spaces")


def sample_files() -> dict[str, Traversable]:
    """Every example file of the package, by its path below the directory that `write_sample` writes."""
    root = files("cepts") / "sample"
    places = {"": root, **{f"{folder}/": root / folder for folder in ROOM_FOLDERS}}
    return {
        f"{prefix}{entry.name}": entry
        for prefix, folder in places.items()
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if entry.is_file() and not entry.name.endswith((".pyc", ".tmp"))
    }


def write_sample(directory: str, *, force: bool = False) -> Report:
    """Write the example files into `directory`, which is created if it does not exist.

    Files that are already there with the same bytes are left as they are. If other files would be overwritten, nothing
    is written unless `force` is set.
    """
    root = Path(directory)
    wanted = {root / name: entry.read_bytes() for name, entry in sample_files().items()}
    missing = {path: content for path, content in wanted.items() if not _holds(path, content)}
    if not force:
        for path in missing:
            if path.exists():
                raise DataError(
                    f"{path} exists and is not the example file of that name; choose another directory, "
                    f"or overwrite it with `force=True`."
                )
    try:
        for folder in dict.fromkeys(path.parent for path in wanted):
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(directory, error) from error
    with together():
        for path, content in missing.items():
            with atomic_output(path) as file:
                file.write(content)
    size = sum(map(len, wanted.values())) / 1_000_000
    rest = f"; {len(wanted) - len(missing)} were there already" if len(missing) < len(wanted) else ""
    return Report(
        values={"directory": directory, "files": sorted(sample_files()), "written": len(missing)},
        said=[
            f"wrote    {counted(len(missing), 'file')} to {directory}{rest} ({size:.1f} MB in all)",
            f"terms    {root / 'NOTICE.md'} has their licences",
            f"try      cepts align {root / 'sample.en'} {root / 'sample.fr'} -o links.txt",
        ],
    )


def _holds(path: Path, content: bytes) -> bool:
    try:
        return path.read_bytes() == content
    except OSError:
        return False
