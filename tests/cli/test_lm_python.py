"""A language model fitted in Python and one fitted by the command from the same files are the same."""

from __future__ import annotations

import pytest

from cepts.io import read_documents, read_stop_list
from cepts.lm import AdaptedModel
from cepts.pipeline.inputs import TextReading, read_background
from cepts.pipeline.lm import STOP_LISTS, FitFiles, perplexity_files
from toy_lm_files import GOLDEN, write_files

OPTIONS = {"hidden": 3, "iterations": 5, "threads": 1}
KINDS = {
    "plain": ({}, {}),
    "lower case": ({}, {"texts": ("loud/text.txt",), "lowercase": True}),
    "held out": ({}, {"dev": ()}),
    "backgrounds": ({}, {"background": ("other.txt", str(GOLDEN / "tiny.arpa"))}),
    "loud background": ({}, {"background": ("loud/text.txt",), "lowercase": True}),
    "several texts": ({}, {"texts": ("text.txt", "other.txt")}),
    "explicit files": ({"segmentation": "explicit"}, {"texts": ("chapters",), "reading": TextReading(format="file")}),
    "stop list": ({}, {"stop": "stop.txt", "lowercase": True}),
    "no stop words": ({"hidden": 0, "caches": ()}, {"stop": "none"}),
    "paper": ("paper", {}),
    "paper, other stop words": ("paper", {"stop": "auto"}),
    "english stop words": ({}, {"stop": "english"}),
    "svd": ({"factorisation": "svd", "history": 5}, {}),
    "product": ({"history": 5, "posterior": "product", "places": "all"}, {}),
    "variants": (
        {"start": "anchors", "borders": False, "long_steps": False, "priors": "documents", "blocks": "sequential"},
        {},
    ),
    "window": ({"history": 4, "fold_in": 2, "exponent": 0.4, "caches": ("500:0.99", "30"), "order": 2, "seed": 7}, {}),
    "default number": ({"hidden": None}, {}),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("files")
    write_files(home)
    (home / "loud").mkdir()
    text = (home / "text.txt").read_text()
    (home / "loud" / "text.txt").write_text(text.upper())
    (home / "stop.txt").write_text("The\nof\nAND\nis\n")
    (home / "chapters").mkdir()
    for number, part in enumerate(text.split("\n\n")):
        (home / "chapters" / f"{number:02}.txt").write_text(part + "\n")
    (home / "test.txt").write_text((home / "test.txt").read_text().replace("s0w0", "S0W0"))
    return home


@pytest.mark.parametrize("kind", KINDS)
def test_python_and_the_command_make_the_same_directory(kind, home, tmp_path, monkeypatch, cepts):
    """What a model must know of its data comes from the data, whoever calls `fit`."""
    monkeypatch.chdir(home)
    options, given = KINDS[kind]
    files = FitFiles(**{"texts": ("text.txt",), "dev": ("dev.txt",), "save": tmp_path / "command", **given})
    make = AdaptedModel.of_paper if options == "paper" else AdaptedModel
    options = {**OPTIONS, **({} if options == "paper" else options)}
    arguments = ["lm", "fit", *files.texts, "--save", files.save]
    arguments += ["--stop", files.stop] if files.stop is not None else []
    arguments += [word for path in files.dev for word in ("--dev", path)]
    arguments += [word for path in files.background for word in ("--background", path)]
    arguments += ["--lowercase"] * files.lowercase + ["--documents", files.reading.format]
    arguments += ["--paper"] * kind.startswith("paper")
    for name, value in options.items():
        if name == "caches":
            arguments += [word for cache in value or ("none",) for word in ("--cache", cache)]
        elif isinstance(value, bool):
            arguments.append(f"--{'' if value else 'no-'}{name.replace('_', '-')}")
        elif value is not None:
            arguments += [f"--{name.replace('_', '-')}", value]
    assert cepts(*arguments).code == 0

    reading = {"lowercase": files.lowercase, "format": files.reading.format}
    if files.stop is not None:
        options["stop"] = STOP_LISTS[files.stop] if files.stop in STOP_LISTS else read_stop_list(files.stop)
    model = make(**options).fit(
        read_documents(files.texts, **reading),
        dev=read_documents(files.dev, **reading) if files.dev else None,
        background=[read_background(path, lowercase=files.lowercase) for path in files.background],
    )
    model.save(tmp_path / "python")
    for name in ("model.json", "arrays.safetensors"):
        assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "command" / name).read_bytes()
    made = [cepts("lm", "perplexity", tmp_path / name, "test.txt") for name in ("python", "command")]
    assert made[0].code == 0
    assert made[0].out == made[1].out
    assert model.perplexity(read_documents("test.txt")) == pytest.approx(
        perplexity_files(tmp_path / "command", ["test.txt"]).values["perplexity"]["all"]
    )
