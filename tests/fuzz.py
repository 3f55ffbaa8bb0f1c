"""Damaged files of every format: each must be read, or refused by one clear line.

    python tests/fuzz.py --seconds 60 naacl npz      # these formats, a minute each
    python tests/fuzz.py --count 5000                # all of them
    python tests/fuzz.py --show npz 123              # what happens to one file, which is kept

Every file is made from a sample, the seed and its number alone, so that what is found can be made again. Files are read
in a process of their own, whose memory is bounded, so that crashes, endless loops and greed are found too.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import re
import resource
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from cepts import io
from cepts.errors import CeptsError, DataWarning, UsageError
from oracles_vectors import fasttext_model

TESTS = Path(__file__).parent
GOLDEN = TESTS / "golden" / "lm"
LONGEST_MESSAGE = 700  # characters, without the names of files
MEMORY = 1 << 30  # bytes that reading a sample of some kilobytes may take
SECONDS = 30.0  # after which reading one file counts as endless
NUMBERS = (0, 1, 7, 255, 65536, 2**31 - 2, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**64, 10**30)
PIECES = (
    b"\0", b"\n", b"\r", b"\t", b" ", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x1b[31m", b"-", b"e", b"nan", b"1e400",
    b"{", b"[" * 3000, b'"\\ud800"', b"\\udc80", b"\xe2\x80\xa8", b"x" * 5000,
)  # fmt: skip


# -- Damage ------------------------------------------------------------------------------------------------------------


def damaged(data: bytes, rng: random.Random) -> bytes:
    """`data` with one to four changes of the kinds that disks, editors and programs make."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        place = rng.randrange(len(data) + 1)
        match rng.randrange(9):
            case 0 | 1:
                data = _at(data, place, lambda byte: byte ^ 1 << rng.randrange(8))
            case 2:
                data = _at(data, place, lambda byte: rng.randrange(256))
            case 3:
                data = data[:place] + rng.choice(PIECES) + data[place:]
            case 4:
                data = data[:place] + data[place + rng.choice((1, 2, 4, 30)) :]
            case 5:
                data = data[:place] if rng.random() < 0.5 else data[place:]
            case 6:
                start = rng.randrange(len(data) + 1)
                data = data[:place] + data[start : start + rng.choice((1, 8, 100))] + data[place:]
            case 7:
                data = _number_written(data, place, rng)
            case 8:
                wide = rng.choice((1, 2, 4, 8))
                number = rng.choice(NUMBERS) % (1 << 8 * wide)
                data = data[:place] + number.to_bytes(wide, "little") + data[place + wide :]
    return data


def _at(data: bytes, place: int, change: Callable[[int], int]) -> bytes:
    return data[:place] + bytes(change(byte) for byte in data[place : place + 1]) + data[place + 1 :]


def _number_written(data: bytes, place: int, rng: random.Random) -> bytes:
    """Another number in the place of the next one that is written in digits."""
    digits = b"0123456789"
    start = next((at for at in range(place, min(place + 2000, len(data))) if data[at] in digits), len(data))
    end = start
    while end < len(data) and data[end] in digits:
        end += 1
    sign = rng.choice((b"", b"", b"-"))
    return data[:start] + sign + str(rng.choice(NUMBERS)).encode() + data[end:]


# -- Samples -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sample:
    """A file to be damaged, how it is read, and whether it is protected by checksums.

    What is read from a damaged file that is `sealed` must be what was written; with `exact`, no damage may pass at all.
    """

    path: Path
    read: Callable[[Path], Any]
    sealed: bool = False
    exact: bool = False
    slow: bool = False


def _texts(count: int) -> tuple[list[str], list[str]]:
    sides = ((TESTS.parent / f"src/cepts/sample/sample.{side}").read_text("utf-8") for side in ("fr", "en"))
    source, target = (text.split("\n")[:count] for text in sides)
    return source, target


def samples(directory: Path) -> Iterator[tuple[str, Sample]]:
    """Every format by its name, with a sample that is written to `directory`."""

    def put(name: str, content: bytes | str) -> Path:
        path = directory / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def lines(name: str, *records: object) -> Path:
        return put(name, "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))

    yield from _bitexts(put)
    yield from _link_files(put, lines)
    yield from _matrix_files(put, lines)
    yield from _vector_files(put, lines)
    yield from _lm_files(put, lines)
    yield from _pair_files(put, lines)
    yield from _model_files(directory)


Put = Callable[..., Path]


def _bitexts(put: Put) -> Iterator[tuple[str, Sample]]:
    source, target = _texts(40)
    both = list(zip(source, target, strict=True))
    pipes = "".join(f"{a} ||| {b}\n" for a, b in both)
    yield "text", Sample(put("a.txt", "\n".join(source)), lambda path: _shape(io.read_text(path)))
    yield "pipes", Sample(put("a.pipes", pipes), lambda path: io.read_bitext(path, format="pipes"))
    yield "tsv", Sample(put("a.tsv", "".join(f"{a}\t{b}\n" for a, b in both)), io.read_bitext)
    units = "".join(
        f'<tu><tuv xml:lang="fr"><seg>{_escaped(a)}</seg></tuv><tuv xml:lang="en"><seg>{_escaped(b)}</seg></tuv></tu>\n'
        for a, b in both[:8]
    )
    tmx = f'<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4"><header/><body>{units}</body></tmx>\n'
    yield "tmx", Sample(put("a.tmx", tmx), io.read_bitext)
    yield "tmx-replace", Sample(put("b.tmx", tmx), lambda path: io.read_bitext(path, errors="replace"))
    for suffix in (".gz", ".bz2", ".xz", ".zst"):
        path = put(f"a.txt{suffix}", b"")
        with io.open_output(path) as file:
            file.write(pipes.encode())
        yield suffix[1:], Sample(path, lambda path: _shape(io.read_text(path)), sealed=True)
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return
    path = put("a.parquet", b"")
    table = pa.table({"source": source[:8], "target": target[:8], "n": list(range(8))})
    pq.write_table(table, path)
    yield "parquet", Sample(path, io.read_bitext)
    path = put("b.parquet", b"")
    pairs = [{"fr": a, "en": b} for a, b in both[:8]]
    pq.write_table(pa.table({"translation": pairs}), path, compression="none", use_dictionary=False)
    yield "parquet-plain", Sample(path, io.read_bitext)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _shape(text: Any) -> tuple[list[int], list[int], list[str]]:
    return text.ids.tolist(), text.offsets.tolist(), text.vocabulary.words


def _link_files(put: Put, lines: Put) -> Iterator[tuple[str, Sample]]:
    yield "pharaoh", Sample(put("a.links", "0-0 1?2 2-1\n\n0-1\n12-3 4-4\n" * 5), io.read_links)
    yield "scored", Sample(put("a.scored", "0-0:0.97 1?2:0.5\n\n0-1:1\n" * 5), io.read_links)
    naacl = "".join(f"{n} {n + 1} {n} {'SP'[n % 2]} 0.5\n" for n in range(1, 20))
    yield "naacl", Sample(put("a.wa", naacl), io.read_links)
    giza = "# Sentence pair (1) source length 2 target length 3\nthe old house\nNULL ({ 2 }) das ({ 1 }) Haus ({ 3 })\n"
    numbered = "".join(giza.replace("(1)", f"({number})") for number in range(1, 6))
    yield "giza", Sample(put("a.A3", numbered), io.read_links)
    link = {"source": 0, "target": 1, "confidence": 0.5, "tier": "possible"}
    record = {"source": ["a", "b"], "target": ["c", "d"], "links": [link, {"source": 1, "target": 0}]}
    yield "json-links", Sample(lines("a.links.jsonl", record, record, {"links": []}), io.read_links)


def _matrix_files(put: Put, lines: Put) -> Iterator[tuple[str, Sample]]:
    record = {"matrix": [[1, 0.5], [0, 2]], "source_null": [0, 1], "source": ["é", "b"], "id": "x"}
    path = lines("m.jsonl", record, {**record, "id": 7})
    yield "matrices", Sample(path, lambda path: io.read_association(path, allow_empty=True))
    association = io.read_association(path).association
    io.write_association(path.with_name("m.npz"), association)
    yield "npz", Sample(path.with_name("m.npz"), lambda path: io.read_association(path, allow_empty=True))
    np.savez(path.with_name("n.npz"), matrix=np.eye(3))
    yield "npz-plain", Sample(path.with_name("n.npz"), io.read_association)
    np.save(path.with_name("m.npy"), np.arange(12.0).reshape(3, 4))
    yield "npy", Sample(path.with_name("m.npy"), io.read_association)


def _vector_files(put: Put, lines: Put) -> Iterator[tuple[str, Sample]]:
    words = ["the", "house", "maison", "été", "."]
    matrix = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
    rows = "".join(f"{word} {' '.join(map(str, row))}\n" for word, row in zip(words, matrix.tolist(), strict=True))
    binary = b"5 4\n" + b"".join(
        b"%b %b\n" % (word.encode(), row.tobytes()) for word, row in zip(words, matrix, strict=True)
    )
    yield "word2vec", Sample(put("a.vec", f"5 4\n{rows}"), io.read_vectors)
    yield "glove", Sample(put("glove.txt", rows), io.read_vectors)
    yield "word2vec-binary", Sample(put("a.bin", binary), io.read_vectors)
    buckets = 6
    model = fasttext_model(words, np.ones((len(words) + buckets, 4), dtype=np.float32), minn=2, maxn=4, buckets=buckets)
    yield "fasttext", Sample(put("ft.bin", model), io.read_vectors)
    yield "fasttext-gz", Sample(put("inner.bin", model), _compressed_first)
    array = put("v.npy", b"")
    np.save(array, matrix)
    listed = put("v.vocab.txt", "\n".join(words))
    yield "vectors-npy", Sample(array, lambda path: io.read_vectors(path, words=listed))
    yield "dictionary", Sample(put("d.tsv", "# en\tfr\nhouse\tmaison\nsummer\tété\nthe\t\n"), io.read_dictionary)
    entry = {"en": "house", "fr": "maison", "score": 0.5}
    yield "dictionary-json", Sample(lines("d.jsonl", entry, {"en": "summer", "fr": "été"}), _written_again)
    priors = "LEX\thouse\tmaison\t3\nLEX\t<NULL>\tété\t0.5\nHMMF\t-1\t2\nFERR\tété\t1\t4\nold\tvieux\t0.5\t0.5\t2\n"
    yield "priors", Sample(put("p.priors", priors), lambda path: list(io.read_priors(path)))
    yield "similarities", Sample(put("s.tsv", "house\thome\t3.5\nold\tnew\t0\n"), io.read_similarities)
    sts = "3.5\tA man sings.\tA man is singing.\n\tx\ty\n"
    yield "sts", Sample(put("sts.tsv", sts), io.read_sentence_similarities)
    yield "counts", Sample(put("counts.txt", "house 12\nthe 100\n"), io.read_counts)


def _compressed_first(path: Path) -> None:
    """What is damaged is inside an intact compressed file, whose size tells nothing."""
    packed = path.with_name("packed.bin.gz")
    with io.open_output(packed) as file:
        file.write(path.read_bytes())
    io.read_vectors(packed)


def _written_again(path: Path) -> None:
    """A dictionary that could be read can be written too."""
    io.write_dictionary(path.with_name("again.jsonl"), io.read_dictionary(path))


def _lm_files(put: Put, lines: Put) -> Iterator[tuple[str, Sample]]:
    yield "arpa", Sample(put("a.arpa", (GOLDEN / "tiny.arpa").read_bytes()), io.read_arpa)
    try:
        import kenlm  # noqa: F401
    except ImportError:
        pass
    else:
        for kind in ("probing", "trie"):
            yield f"kenlm-{kind}", Sample(put(f"a.{kind}", (GOLDEN / f"tiny.{kind}").read_bytes()), _kenlm, slow=True)
    tsv = "id\tscore\tlm_score\ttext\treference\na\t-1.5\t-2\tthe cell\tthe cell\na\t-2\t-1\tthe sell\tthe cell\n"
    yield "hypotheses", Sample(put("h.tsv", tsv), lambda path: list(io.read_hypotheses(path)))
    utterance = {"id": "a", "hypotheses": [{"text": "the cell", "score": -12.5}, {"tokens": ["a"], "score": 1}]}
    path = lines("h.jsonl", utterance, {"id": 7, "text": "é", "score": -1, "reference": "e"})
    yield "hypotheses-json", Sample(path, lambda path: list(io.read_hypotheses(path)))
    put("acwt", "a-1 1.5\na-2 2\nb-1 3\n")
    yield "kaldi", Sample(put("words_text", "a-1 the cell\na-2 the sell\nb-1\n"), _kaldi)
    yield "transcripts", Sample(put("text", "a the cell\nb\n"), io.read_transcripts)
    yield "documents", Sample(put("d.txt", "one two\nthree\n\nfour\n"), io.read_documents)
    path = lines("docs.jsonl", {"id": "x", "text": "one\ntwo é"}, {"sentences": ["a b", ["c", "d"]]})
    yield "documents-json", Sample(path, io.read_documents)
    yield "stop-list", Sample(put("stop.txt", "# words\nthe\nof # it\n"), io.read_stop_list)


def _kenlm(path: Path) -> None:
    from cepts.lm import KenLMModel

    model = KenLMModel(path)
    context = model.start
    for word in range(len(model.vocabulary)):
        model.distribution(context)
        _, context = model.advance(context, word)


def _kaldi(path: Path) -> None:
    whole = path.parent / "kaldi"
    whole.mkdir(exist_ok=True)
    shutil.copy(path, whole / "words_text")
    shutil.copy(path.parent / "acwt", whole / "acwt")
    list(io.read_hypotheses(whole))


def _pair_files(put: Put, lines: Put) -> Iterator[tuple[str, Sample]]:
    record = {
        "id": "1", "source": ["He", "sang"], "target": "he did sing", "source_pos": ["PRP", "VBD"],
        "sure": [[0, 0]], "possible": [[1, 2]], "label": 1, "qid": 3,
    }  # fmt: skip
    segments = {"source": "a b c", "target": "d e", "segments": [[[0, 2], [0, 1]], [[2, 3], [1, 2]]]}
    links = {"source": "a b", "target": "c", "links": [{"source": 0, "target": 0}]}
    yield "pairs", Sample(lines("p.jsonl", record, segments, links), io.read_sentence_pairs)
    jacana = json.dumps([{"id": "1", "source": "a b", "target": "c d", "sureAlign": "0-0 1-1", "possibleAlign": "0-1"}])
    yield "jacana", Sample(put("p.json", jacana), lambda path: io.read_sentence_pairs(path, format="jacana"))
    word = "{}\tsang\tsing\tVERB\tVBD\t_\t0\troot\t_\tChunk=B-VP\n"
    conllu = f"# sent_id = 1\n{word.format(1)}{word.format(2)}\n{word.format(1)}\n"
    whole = put("whole.conllu", conllu)
    yield "conllu", Sample(put("p.conllu", conllu), lambda path: io.read_sentence_pairs(path, whole))


def _model_files(directory: Path) -> Iterator[tuple[str, Sample]]:
    from cepts import store
    from cepts.phrases.names import NameModel
    from cepts.phrases.tables import shipped

    whole = directory / "model"
    arrays = {"a": np.arange(6.0).reshape(2, 3), "b": np.array([1, 2], dtype=np.uint8)}
    store.save_model(whole, kind="test", settings={"é": 1e-5, "list": [1, "x"]}, arrays=arrays)

    def load(path: Path) -> Any:
        place = path.parent / "loaded"
        place.mkdir(exist_ok=True)
        for name in ("model.json", "arrays.safetensors"):
            shutil.copy(whole / name, place / name)
        shutil.copy(path, place / path.name.removeprefix("damaged-"))
        return _model(store.load_model(place))

    for name in ("model.json", "arrays.safetensors"):
        yield name, Sample(whole / name, load, exact=True)
    store.save_table(directory / "table", kind="test", settings={"é": [1e-5]}, arrays=arrays)
    yield "table", Sample(directory / "table", lambda path: _model(store.load_table(path, kind="test")), exact=True)
    shutil.copy(shipped("names"), directory / "names")
    yield "english-names", Sample(directory / "names", lambda path: _table(NameModel.load(path)), exact=True)


def _table(found: Any) -> dict[str, list[Any]]:
    return {name: array.tolist() for name, array in found.stored().items()}


def _model(found: Any) -> tuple[object, ...]:
    return found.kind, found.settings, [(name, array.tolist()) for name, array in found.arrays.items()]


# -- What happens ------------------------------------------------------------------------------------------------------


def outcome(sample: Sample, data: bytes, directory: Path, whole: object) -> str:
    """``read``, ``refused``, or what is wrong with how `data`, in place of the sample's bytes, was taken."""
    path = directory / f"damaged-{sample.path.name}"
    path.write_bytes(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", DataWarning)
            found = sample.read(path)
    except UsageError as error:
        return f"usage error: {error}"
    except CeptsError as error:
        return _wrong_message(str(error).replace(str(directory), "")) or "refused"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]!r} in {_place(error)}"
    if sample.exact and data != sample.path.read_bytes():
        return "damaged, but read"
    return "read, but changed" if sample.sealed and found != whole else "read"


def _place(error: BaseException) -> str:
    trace, place = error.__traceback__, "?"
    while trace is not None:
        code = trace.tb_frame.f_code
        if "cepts" in code.co_filename and "fuzz" not in code.co_filename:
            place = f"{Path(code.co_filename).name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def _wrong_message(message: str) -> str:
    if not message.isprintable():
        return f"message with characters that cannot be seen: {message[:200]!r}"
    return f"message of {len(message)} characters: {message[:300]}" if len(message) > LONGEST_MESSAGE else ""


def made(name: str, sample: Sample, seed: int, number: int) -> bytes:
    """Damaged file `number` of a format."""
    return damaged(sample.path.read_bytes(), random.Random(f"{name} {seed} {number}"))


def whole_result(sample: Sample, directory: Path) -> object:
    """What the sample itself gives; it must be read."""
    path = directory / f"damaged-{sample.path.name}"
    shutil.copy(sample.path, path)
    return sample.read(path)


@dataclass
class Tally:
    """Outcomes of a format, with the number of the first file of each kind of failure."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: dict[str, tuple[int, int, str]] = field(default_factory=dict)

    def add(self, number: int, found: str) -> None:
        if found in {"read", "refused"}:
            self.counts[found] += 1
            return
        self.counts["failed"] += 1
        kind = re.sub(r"[0-9]+|\(.*\)", "_", found[:60])
        first, times, example = self.failures.get(kind, (number, 0, found))
        self.failures[kind] = first, times + 1, example


def fuzz(name: str, sample: Sample, directory: Path, *, seed: int, count: int, seconds: float) -> Tally:
    """Read up to `count` damaged files in `seconds`, in a process that is replaced when it dies or hangs."""
    tally = Tally()
    end = time.monotonic() + seconds
    number = 0
    context = multiprocessing.get_context("fork")
    while number < count and time.monotonic() < end:
        here, there = context.Pipe(duplex=False)
        arguments = there, name, sample, directory, seed, number, count
        process = context.Process(target=_serve, args=arguments, daemon=True)
        process.start()
        there.close()
        try:
            while number < count and time.monotonic() < end:
                if not here.poll(SECONDS):
                    tally.add(number, "endless")
                    number += 1
                    break
                tally.add(number, here.recv())
                number += 1
        except EOFError:
            process.join()
            tally.add(number, f"the process died ({process.exitcode})")
            number += 1
        process.kill()
        process.join()
    return tally


def _serve(
    connection: Connection, name: str, sample: Sample, directory: Path, seed: int, number: int, count: int
) -> None:
    whole = whole_result(sample, directory)  # first, because kernels may have to be compiled
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    for at in range(number, count):
        connection.send(outcome(sample, made(name, sample, seed, at), directory, whole))


def main() -> int:
    """Fuzz, print a line a format, and every kind of failure with the number of its first file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("formats", nargs="*", help="all by default")
    parser.add_argument("--seconds", type=float, default=1e9, help="for each format")
    parser.add_argument("--count", type=int, default=10**9, help="files of each format")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", nargs=2, metavar=("FORMAT", "NUMBER"), help="read one damaged file and keep it")
    options = parser.parse_args()
    if options.seconds == 1e9 and options.count == 10**9:
        options.seconds = 10.0
    directory = Path(tempfile.mkdtemp(prefix="cepts-fuzz-"))
    known = dict(samples(directory))
    if unknown := set(options.formats) - set(known):
        parser.error(f"unknown formats {', '.join(sorted(unknown))}; known are {', '.join(known)}")
    if options.show:
        name, number = options.show[0], int(options.show[1])
        path = directory / f"damaged-{known[name].path.name}"
        path.write_bytes(made(name, known[name], options.seed, number))
        print(path)
        known[name].read(path)
        return 0
    failed = 0
    for name in options.formats or known:
        tally = fuzz(name, known[name], directory, seed=options.seed, count=options.count, seconds=options.seconds)
        failed += tally.counts["failed"]
        counts = "  ".join(f"{tally.counts[kind]:7,} {kind}" for kind in ("read", "refused", "failed"))
        print(f"{name:18}{counts}", flush=True)
        for first, times, failure in tally.failures.values():
            print(f"    {times} x, first {first}: {failure}", flush=True)
    shutil.rmtree(directory, ignore_errors=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
