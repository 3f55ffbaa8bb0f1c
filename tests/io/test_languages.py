"""Names of languages, by the names of files and as users give them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cepts.errors import UsageError
from cepts.io.languages import language_names, split_named


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (("cc.en.300.vec.gz", "cc.fr.300.vec.gz"), ["en", "fr"]),
        (("wiki.multi.de.vec", "data/wiki.ru.bin"), ["de", "ru"]),
        (("en-explosion-ft-cbow", "fr-x/vectors.f16.npy"), ["en", "fr"]),
        (("glove.6B.300d.txt", "english.vec"), ["glove.6B.300d", "english"]),
        (("one.en.vec", "two.en.vec"), ["one.en", "two.en"]),
        (("-", "fr.txt"), ["stdin", "fr"]),
    ],
)
def test_names_of_languages_by_the_names_of_files(paths, names):
    assert language_names(paths, None) == names


def test_names_of_languages_as_given(tmp_path, monkeypatch):
    assert language_names(["a", "b", "c"], "en, pt-BR,ru") == ["en", "pt-BR", "ru"]
    for wrong in ("en", "en,fr,", "en,en,ru"):
        with pytest.raises(UsageError):
            language_names(["a", "b", "c"], wrong)
    with pytest.raises(UsageError, match="'en', wanted different names; set `languages`"):
        language_names(["a/en.vec", "b/en.vec"], None)
    monkeypatch.chdir(tmp_path)
    languages = ["pt", "pt-BR", "en"]
    assert split_named("dictionaries", "pt-BR-en:a:b.txt", languages) == (["pt-BR", "en"], "a:b.txt")
    assert split_named("dictionaries", "plain.txt", languages) == ([], "plain.txt")
    Path("en-pt:x").touch()
    assert split_named("dictionaries", "en-pt:x", languages) == ([], "en-pt:x")
    with pytest.raises(UsageError, match="found 'en-xx' before the colon"):
        split_named("dictionaries", "en-xx:a.txt", languages)
