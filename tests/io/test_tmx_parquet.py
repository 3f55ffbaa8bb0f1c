from __future__ import annotations

import builtins
import gzip

import pytest

from cepts.errors import CeptsError, DataError
from cepts.io import read_bitext
from cepts.io.languages import find_language


def tmx(body: str, head: str = '<?xml version="1.0" encoding="UTF-8"?>') -> bytes:
    return f'{head}\n<tmx version="1.4"><header/><body>{body}</body></tmx>'.encode()


def unit(**texts: str) -> str:
    variants = "".join(
        f'<tuv xml:lang="{tag.replace("_", "-")}"><seg>{text}</seg></tuv>' for tag, text in texts.items()
    )
    return f"<tu>{variants}</tu>"


def pairs(*arguments, **options):
    return [(" ".join(source), " ".join(target)) for source, target in read_bitext(*arguments, **options)]


@pytest.fixture
def memory(tmp_path):
    def memory(content: bytes, name: str = "m.tmx"):
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    return memory


def test_tmx_takes_the_first_two_languages_and_keeps_every_unit(memory):
    body = (
        unit(en="the\nhouse &amp; home", fr="la maison", de="das Haus")
        + unit(fr="seule", de="allein")
        + unit(EN_us="colour", fr_CA="couleur")
        + '<tu><tuv lang="fr"><seg/></tuv><tuv lang="en"></tuv></tu>'
    )
    want = [("the house & home", "la maison"), ("", "seule"), ("colour", "couleur"), ("", "")]
    assert pairs(memory(tmx(body))) == want
    assert pairs(memory(tmx(body), "no_suffix")) == want
    assert pairs(memory(gzip.compress(tmx(body)), "m.tmx.gz")) == want
    assert pairs(memory(tmx(body)), languages=("DE", "en"))[0] == ("das Haus", "the house & home")


def test_tmx_says_which_languages_it_took(memory):
    path = memory(tmx(unit(en="a", fr="b") + unit(EN_us="c", de="d")))
    notices: list[str] = []
    pairs(path, notices=notices)
    told = "the source is en and the target is fr (also there: de); choose others with `languages`."
    assert notices == [f"{path}: {told}"]
    pairs(path, languages=("en", "de"), notices=notices)
    assert len(notices) == 1


@pytest.mark.parametrize("block_bytes", [1, 1 << 20])
def test_tmx_in_blocks(memory, block_bytes):
    body = "".join(unit(en=f"w{n} é", fr=f"m{n}") for n in range(30))
    assert pairs(memory(tmx(body)), block_bytes=block_bytes) == [(f"w{n} é", f"m{n}") for n in range(30)]


def test_tmx_waits_for_the_second_language(memory):
    assert pairs(memory(tmx(unit(en="a") + unit(en="b", fr="c")))) == [("a", ""), ("b", "c")]


def test_tmx_markup_is_not_text_but_what_it_marks_is(memory):
    bold = '<bpt i="1">&lt;b&gt;</bpt>bold<ept i="1">&lt;/b&gt;</ept>'
    segment = f"{bold} and <hi>bright<!-- no --></hi><ph>{{0}}</ph>."
    assert pairs(memory(tmx(unit(en=segment, fr="x")))) == [("bold and bright.", "x")]


def test_tmx_entities_are_not_expanded(memory, tmp_path):
    (tmp_path / "secret").write_text("secret")
    head = f'<!DOCTYPE tmx [<!ENTITY e SYSTEM "{(tmp_path / "secret").as_uri()}"><!ENTITY b "boom">]>'
    ((source, target),) = pairs(memory(tmx(unit(en="a &e; &b; b", fr="c"), head)))
    assert "secret" not in source
    assert "boom" not in source
    assert target == "c"


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (tmx(unit(en="a", fr="b"))[:-20], {}, r"m.tmx, line 2: not well-formed TMX"),
        (tmx(unit(en="a")), {}, "found text in en only, wanted two languages"),
        (tmx(unit(en="a", fr="b")), {"languages": ("en", "de")}, "found no text in de, only in en, fr"),
        (tmx(""), {}, "is empty"),
        (tmx(unit(en="a", fr="b")).replace(b"<seg>b", b"<seg>\xff"), {}, "m.tmx, line 2: not well-formed"),
    ],
)
def test_tmx_that_is_wrong(memory, content, options, message):
    with pytest.raises(DataError, match=message) as caught:
        read_bitext(memory(content), **options)
    assert "\n" not in str(caught.value)


def test_tmx_with_invalid_bytes_replaced(memory):
    content = tmx(unit(en="a", fr="é")).replace("é".encode(), b"x\xe9y")
    assert pairs(memory(content), errors="replace") == [("a", "x\ufffdy")]


def test_languages_match_exactly_before_they_match_by_prefix():
    assert find_language("pt", ["pt-BR", "PT"]) == "PT"
    assert find_language("pt_pt", ["pt-BR", "pt-PT"]) == "pt-PT"
    assert find_language("en", ["eng"]) is None


@pytest.fixture
def table(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")

    def table(columns, name="t.parquet", **options):
        pq.write_table(pa.table(columns), tmp_path / name, **options)
        return tmp_path / name

    return table


def test_parquet_columns(table):
    path = table({"id": [1, 2, 3], "target": ["x\ny", None, ""], "source": ["a b", "c", "d\u00a0e"]})
    want = [("a b", "x y"), ("c", ""), ("d\u00a0e", "")]
    assert pairs(path) == want
    assert pairs(path, columns=("target", "source")) == [(target, source) for source, target in want]
    assert pairs(path, columns=("source", "source"))[0] == ("a b", "a b")
    other = table({"n": [1], "english": ["a"], "french": ["b"], "german": ["c"]})
    notices: list[str] = []
    assert pairs(other, notices=notices) == [("a", "b")]
    assert notices == [
        f"{other}: the source is english and the target is french (also there: german); choose others with `columns`."
    ]


def test_parquet_translations(table):
    rows = [{"en": "a", "fr": "b", "ro": "c"}, None, {"en": "d", "fr": None, "ro": ""}]
    path = table({"translation": rows})
    notices: list[str] = []
    assert pairs(path, notices=notices) == [("a", "b"), ("", ""), ("d", "")]
    told = "the source is en and the target is fr (also there: ro); choose others with `languages`."
    assert notices == [f"{path}: {told}"]
    assert pairs(path, languages=("RO", "en-GB")) == [("c", "a"), ("", ""), ("", "d")]
    with pytest.raises(DataError, match="the fields en, fr, ro, wanted de and en"):
        read_bitext(path, languages=("de", "en"))


def test_parquet_of_many_rows_kinds_and_compressed(table, tmp_path):
    pa = pytest.importorskip("pyarrow")
    rows = [f"w{n % 100} x" for n in range(40_000)]
    path = table({"a": pa.array(rows).dictionary_encode(), "b": pa.array(rows, pa.large_string())})
    bitext = read_bitext(path)
    assert len(bitext) == 40_000
    assert bitext.source.ids.tolist() == bitext.target.ids.tolist()
    (tmp_path / "z.parquet.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert len(read_bitext(tmp_path / "z.parquet.gz")) == 40_000
    path.rename(tmp_path / "unnamed")
    assert len(read_bitext(tmp_path / "unnamed")) == 40_000


def test_parquet_of_strings_that_are_not_utf8(table):
    pa = pytest.importorskip("pyarrow")
    bad = pa.array([b"ok", b"a\xff"]).view(pa.string())
    path = table({"source": bad, "target": ["x", "y"]})
    with pytest.raises(DataError, match=r"row 2: byte 2 \(0xff\) is not valid UTF-8"):
        read_bitext(path)
    assert pairs(path, errors="replace")[1] == ("a\ufffd", "y")


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (
            {"a": ["x"], "b": [1]},
            {},
            r"has the columns a \(string\), b \(int64\); wanted two text columns",
        ),
        ({"a": ["x"], "b": [1]}, {"columns": ("a", "b")}, "wanted a text column b"),
        ({"a": ["x"], "b": ["y"]}, {"columns": ("a", "c")}, "wanted a text column c"),
        ({"a": [], "b": []}, {"columns": ("a", "b")}, "wanted a text column a"),
    ],
)
def test_parquet_that_is_wrong(table, columns, options, message):
    with pytest.raises(DataError, match=message):
        read_bitext(table(columns), **options)


def test_parquet_that_is_cut_short(table):
    path = table({"source": ["a"] * 1000, "target": ["b"] * 1000})
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(DataError, match="not a readable Parquet file") as caught:
        read_bitext(path)
    assert "\n" not in str(caught.value)


def test_parquet_without_pyarrow_names_the_package(tmp_path, monkeypatch):
    real = builtins.__import__

    def without_pyarrow(name, *arguments, **options):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *arguments, **options)

    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    monkeypatch.setattr(builtins, "__import__", without_pyarrow)
    with pytest.raises(CeptsError, match=r"pip install pyarrow$"):
        read_bitext(tmp_path / "t.parquet")


def test_parquet_without_rows_is_empty(table):
    pa = pytest.importorskip("pyarrow")
    empty = pa.array([], pa.string())
    with pytest.raises(DataError, match="is empty"):
        read_bitext(table({"source": empty, "target": empty}))


@pytest.mark.parametrize("column", ["a column", "a text"])
def test_parquet_that_is_not_utf8_is_one_line(tmp_path, column):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    table = pa.table({"sourcexx": ["abcdefgh"], "target": ["b"]})
    pq.write_table(table, path, compression="none", use_dictionary=False, write_statistics=False, store_schema=False)
    data = path.read_bytes()
    path.write_bytes(
        data.replace(*((b"sourcexx", b"source\xff\xfe") if column == "a column" else (b"defgh", b"d\xff\xfegh")))
    )
    with pytest.raises(DataError, match=r"t\.parquet") as caught:
        read_bitext(path)
    assert str(caught.value).isprintable()
