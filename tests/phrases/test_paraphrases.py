from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_lexical as oracles
from cepts.errors import ModelError
from cepts.phrases.paraphrases import KINDS, RULE_SCORES, Paraphrases, Rule

WORDS = st.sampled_from(["a", "b", "C", "7", "8"])
SPANS = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)
PAIRS = st.lists(st.tuples(SPANS, SPANS), max_size=6)
SCORES = st.tuples(*[st.integers(0, 3).map(float)] * 8)
RULES = st.lists(st.builds(Rule, SPANS, SPANS, st.sampled_from(["[X]", "[x]", "[NP]", "[vp/np]"]), SCORES), max_size=6)
SENTENCES = st.lists(WORDS, max_size=5)

RULE = Rule("give up", "surrender", "[VP]", tuple(map(float, range(8))))


def bits(*names):
    return sum(1 << KINDS.index(name) for name in names)


@settings(deadline=None)
@given(RULES, PAIRS, PAIRS, SENTENCES, SENTENCES, st.integers(1, 3), st.integers(1, 3))
def test_every_pair_of_spans_is_as_the_lists_say(rules, first, second, source, target, longest, widest):
    table = Paraphrases.from_rules(rules, first, second)
    kinds, rows = table.lookup(source, target, longest, widest)
    assert kinds.shape == rows.shape == (len(source), longest, len(target), widest)
    want = oracles.paraphrases(rules, first, second, source, target, longest, widest)
    got = {(i, n + 1, j, m + 1): kinds[i, n, j, m] for i, n, j, m in zip(*np.nonzero(kinds), strict=True)}
    assert got == {place: kind for place, (kind, _) in want.items()}
    assert (rows >= 0).sum() == sum(scores is not None for _, scores in want.values())
    for (i, n, j, m), (_, scores) in want.items():
        if scores is not None:
            assert tuple(table.rule_scores[rows[i, n - 1, j, m - 1]]) == scores


def test_case_and_place_and_direction():
    table = Paraphrases.from_rules([RULE], [("buy", "purchase")])
    kinds, rows = table.lookup(["They", "Give", "Up"], ["they", "SURRENDER"])
    assert np.argwhere(kinds).tolist() == [[1, 1, 1, 0]]
    assert kinds[1, 1, 1, 0] == bits("rule")
    assert table.rule_scores[rows[1, 1, 1, 0]].tolist() == list(RULE.scores)
    kinds, rows = table.lookup(["surrender"], ["give", "up"])
    assert kinds[0, 0, 0, 1] == bits("rule", "reversed")
    by_name = dict(zip(RULE_SCORES, table.rule_scores[rows[0, 0, 0, 1]].tolist(), strict=True))
    given = dict(zip(RULE_SCORES, RULE.scores, strict=True))
    assert by_name["p(e|f)"] == given["p(f|e)"] and by_name["p(lhs|f)"] == given["p(lhs|e)"]
    assert table.lookup(["Purchase"], ["buy"])[0].max() == bits("first list", "reversed")


def test_a_rule_with_a_symbol_beats_those_without():
    better = RULE._replace(symbol="[X]", scores=(0.0,) * 8)
    table = Paraphrases.from_rules([better, RULE])
    kinds, rows = table.lookup(["give", "up"], ["surrender"])
    assert kinds[0, 1, 0, 0] == bits("rule")
    assert table.rule_scores[rows[0, 1, 0, 0]].tolist() == list(RULE.scores)
    assert Paraphrases.from_rules([better]).lookup(["give", "up"], ["surrender"])[0].max() == bits("rule", "only [X]")


def test_what_teaches_nothing_is_left_out():
    assert len(Paraphrases.from_rules([], [("Up", "up"), ("1", "2"), (",", ";"), ("", "x")], [("2", "two")])) == 1


@pytest.mark.parametrize(("source", "target"), [([], ["a"]), (["a"], []), ([], []), (["ü" * 9, "\udc80"], ["x"])])
def test_nothing_is_found_in_nothing(source, target):
    for table in (Paraphrases.from_rules([RULE]), Paraphrases.from_rules()):
        kinds, rows = table.lookup(source, target, 2, 3)
        assert kinds.shape == (len(source), 2, len(target), 3)
        assert not kinds.any() and (rows == -1).all()


@settings(deadline=None, max_examples=20)
@given(RULES, PAIRS, SENTENCES, SENTENCES)
def test_what_is_saved_answers_alike(tmp_path_factory, rules, pairs, source, target):
    path = tmp_path_factory.mktemp("table") / "table.safetensors"
    table = Paraphrases.from_rules(rules, pairs)
    table.save(path)
    again = Paraphrases.load(path)
    data = path.read_bytes()
    again.save(path)
    assert path.read_bytes() == data
    assert repr(again) == repr(table)
    for got, want in zip(again.lookup(source, target), table.lookup(source, target), strict=True):
        np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(again.rule_scores, table.rule_scores)


def test_damage_is_found(tmp_path):
    path = tmp_path / "table.safetensors"
    Paraphrases.from_rules([RULE], [("buy", "purchase")]).save(path)
    data = path.read_bytes()
    for damaged in (data[:-1], data[: len(data) // 2], b"", b"not a table", data[:-4] + b"\xff" + data[-3:]):
        path.write_bytes(damaged)
        with pytest.raises(ModelError, match=r"damaged .*make_paraphrases") as caught:
            Paraphrases.load(path)
        assert "\n" not in str(caught.value)
    with pytest.raises(ModelError, match="cannot be read"):
        Paraphrases.load(tmp_path / "missing")


def test_a_table_of_another_kind_is_refused(tmp_path):
    from safetensors.numpy import save_file

    from cepts.phrases.wordnet import WordNet

    path = tmp_path / "table.safetensors"
    WordNet.from_synsets([("noun", ["car"])]).save(path)
    with pytest.raises(ModelError, match=r"holds wordnet, not paraphrases; save it again"):
        Paraphrases.load(path)
    save_file({"codes": np.zeros(2)}, path)
    with pytest.raises(ModelError, match="not a table of cepts"):
        Paraphrases.load(path)


def test_the_english_table_knows_ppdb():
    table = Paraphrases.load()
    kinds, rows = table.lookup(
        ["increase", "in", "prices", "was", "bought"], ["an", "increase", "in", "price", "purchased"]
    )
    assert kinds[2, 0, 3, 0] & kinds[4, 0, 4, 0] & bits("first list")
    assert kinds[0, 1, 0, 2] == bits("rule")
    assert (table.rule_scores[rows[0, 1, 0, 2]] > 0).all()
    assert not kinds[3, 0].any()
