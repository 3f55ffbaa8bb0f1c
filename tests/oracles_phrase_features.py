"""Slow, plain twins of the features of phrase aligners: one cell, one pair of spans, one word at a time.

Features are {(family, name): value or category}. What kernels of their own give (spelling, tables, coverages) is taken
from them; they have oracles elsewhere.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

CLOSED = {"DT", "IN", "TO", "CC", "MD", "PRP", "PRP$", "WDT", "WP", "WP$", "WRB", "EX", "POS", "RP", "PDT"} | {
    *("ADP", "AUX", "CCONJ", "DET", "PART", "PRON", "SCONJ")
}
STRENGTHS = {
    "identical": 1.0,
    "lower": 1.0,
    "lemma": 0.95,
    "nickname": 0.9,
    "synonym": 0.85,
    "paraphrases": 0.8,
    "paraphrase": 0.7,
    "derived": 0.7,
    "related": 0.55,
    "near": 0.6,
    "alike": 0.55,
    "loose": 0.35,
    "none": 0.0,
}
MATCHES = list(STRENGTHS)
SURE = ("identical", "lower", "lemma")
DISTANCES = [0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.45]
FOUND = [0.01, 0.34, 0.6, 0.99]
MATCHED = [0.01, 0.2, 0.4, 0.6, 0.8, 0.94]


def mixed(*digits):
    """The number whose digits are given as (digit, base), the first the highest."""
    number = 0
    for digit, base in digits:
        assert 0 <= digit < base
        number = number * base + int(digit)
    return number


class Side:
    """What is known of the words of one sentence."""

    def __init__(self, sentence, inventory):
        self.tokens = [plain(token) for token in sentence.tokens]
        self.lower = [token.lower() for token in self.tokens]
        self.lemma = [lemma.lower() for lemma in sentence.lemma or self.tokens]
        count = len(self.tokens)
        known = {name: {item: n + 1 for n, item in enumerate(getattr(inventory, name))} for name in COLUMNS}
        self.tag = [known["tags"].get(tag, 0) for tag in sentence.pos or [""] * count]
        labels = sentence.chunk or ["O"] * count
        self.chunk = [known["chunks"].get(label[2:].lower(), 0) for label in labels]
        self.frequent = [known["words"].get(word, 0) for word in self.lower]
        self.capital = [token[0].isupper() for token in self.tokens]
        self.kind = [self._kind(place, sentence.pos) for place in range(count)]
        # The first and the last word of each word's chunk.
        self.members = []
        for place, label in enumerate(labels):
            first = last = place
            if label != "O":
                while labels[first][0] == "I" and first and labels[first - 1][1:] == labels[first][1:]:
                    first -= 1
                while last + 1 < count and labels[last + 1] == "I" + label[1:]:
                    last += 1
            self.members.append(range(first, last + 1))

    def _kind(self, place, tags):
        token = self.tokens[place]
        if any(character.isdigit() for character in token):
            return "number"
        if not any(character.isalnum() for character in token):
            return "content" if token in EMOJI else "punctuation"
        if tags is None:
            return "function" if self.frequent[place] else "content"
        auxiliary = self.frequent[place] and tags[place][:1] == "V" and len(token) <= 4
        return "function" if tags[place] in CLOSED or auxiliary else "content"

    def counts(self, place):
        """How often the word is there, and how often before this place."""
        return self.lower.count(self.lower[place]), self.lower[:place].count(self.lower[place])


def plain(token):
    """The token with straight quotation marks, which is how it is compared."""
    for typographic, straight in (("“", '"'), ("”", '"'), ("‘", "'"), ("’", "'"), ("—", "--"), ("…", "...")):
        token = token.replace(typographic, straight)
    return token


EMOJI = {"🎉", "👍🏽", ":-)", "👨‍👩‍👧"}  # those of the tests
COLUMNS = ("tags", "chunks", "words", "linked")
KINDS = ["content", "function", "punctuation", "number"]
GROUPS = {"content": 0, "number": 0, "function": 1, "punctuation": 2}


class Pair:
    """Both sentences, and how their words match."""

    def __init__(self, pair, inventory, like, lookups, relation_names):
        self.source, self.target = Side(pair.source, inventory), Side(pair.target, inventory)
        self.inventory, self.like, self.lookups = inventory, like, lookups
        self.relation_names = relation_names
        self.length, self.width = len(self.source.tokens), len(self.target.tokens)
        self.match = [[self._match(i, j) for j in range(self.width)] for i in range(self.length)]
        self.strength = [[float(np.float32(STRENGTHS[match])) for match in row] for row in self.match]

    def relations(self, i, j):
        return {name for bit, name in enumerate(self.relation_names) if self.lookups.relations[i, 0, j, 0] >> bit & 1}

    def _match(self, i, j):
        one, other, like = self.source, self.target, self.like
        relations, listed = self.relations(i, j), int(self.lookups.lists[i, 0, j, 0])
        holds = {
            "identical": one.tokens[i] == other.tokens[j],
            "lower": one.lower[i] == other.lower[j],
            "lemma": one.lemma[i] == other.lemma[j],
            "nickname": like.nicknames[i, j],
            "synonym": "synonym" in relations,
            "paraphrases": listed & 1 and listed & 2,
            "paraphrase": listed & 1 or listed & 2 or listed & 4 or listed & 32,
            "derived": "derivation" in relations,
            "related": relations,
            "near": like.cosine[i, j] >= 0.65,
            "alike": like.spelling[i, j, 0] >= 0.85,
            "loose": like.cosine[i, j] >= 0.45,
            "none": True,
        }
        return next(name for name in MATCHES if holds[name])

    def at(self, i, j):
        """The strength of a cell, 0 outside."""
        return self.strength[i][j] if 0 <= i < self.length and 0 <= j < self.width else 0.0

    def beyond(self, i, j):
        """Whether both places lie before their sentences or both behind them."""
        return (i < 0 and j < 0) or (i >= self.length and j >= self.width)

    def level(self, i, j):
        if self.beyond(i, j):
            return 2
        if not (0 <= i < self.length and 0 <= j < self.width) or self.match[i][j] == "none":
            return 0
        return 2 if self.match[i][j] in SURE else 1

    def sure(self, i, j):
        return self.match[i][j] in SURE


# Numbers of the tests that have one value.
VALUES = {("3",): 3, ("three",): 3, ("three", "times"): "3 times", ("3", "times"): "3 times", ("twice",): "2 times"}


def said(words):
    """Spans of a sentence that say a number of `VALUES`."""
    spans = [(start, stop) for start in range(len(words)) for stop in range(start + 1, min(start + 3, len(words) + 1))]
    return [(span, VALUES[tuple(words[slice(*span)])]) for span in spans if tuple(words[slice(*span)]) in VALUES]


def anchors(pair, tags):
    """Rows (i, j, share) of words that are the same and alone with their lemma, of numbers of one value, and of names.

    A name is joined with its short form.
    """
    one, other = pair.source, pair.target

    def telling(words, place, of_side):
        frequent = words.frequent[place] > 0 and of_side is not None and of_side[place][0] not in "NVC"
        return words.kind[place] in ("content", "number") and not frequent

    found = []
    for i in range(pair.length):
        for j in range(pair.width):
            row = [k for k in range(pair.width) if pair.sure(i, k)]
            column = [k for k in range(pair.length) if pair.sure(k, j)]
            if one.lower[i] != other.lower[j] or row != [j] or column != [i]:
                continue
            if telling(one, i, tags[0]) and telling(other, j, tags[1]):
                found.append((i, j, min(distance(i, 1, pair.length, j, 1, pair.width) / 0.3, 1.0)))
    ours, theirs = said(one.lower), said(other.lower)
    for (a, b), value in ours:
        for (c, d), same in theirs:
            alone = [what for _, what in ours].count(value) == [what for _, what in theirs].count(value) == 1
            if value != same or not alone or one.lower[a:b] == other.lower[c:d]:
                continue
            for i in range(a, b):
                for j in range(c, d):
                    if one.lower[i] not in other.lower[c:d] and other.lower[j] not in one.lower[a:b]:
                        found.append((i, j, 1.0))
    short = [
        (i, j)
        for i in range(pair.length)
        for j in range(pair.width)
        if pair.like.nicknames[i, j] and one.lower[i] != other.lower[j]
    ]
    for i, j in short:
        if sum(row == i for row, _ in short) == sum(column == j for _, column in short) == 1:
            found.append((i, j, 1.0))
    return found


def rule_columns(pair, place, scale=1):
    """A rule and its scores; between phrases, those of the symbol [X] do not count (semicrf, section 3.3)."""
    row = pair.lookups.rules[place]
    if max(place[1], place[3]) and pair.lookups.lists[place] & 8:
        row = -1
    found = {("paraphrase", "rule"): scale * float(row >= 0)}
    for number in range(8):
        score = max(0.0, 1 - float(pair.like.rule_scores[row, number]) / 10) if row >= 0 else 0.0
        found["paraphrase", f"rule's score {number + 1}"] = scale * score
    return found


def token_values(pair, i, j):
    one, other, like = pair.source, pair.target, pair.like
    names = ("Jaro-Winkler", "bigrams", "trigrams", "prefix", "suffix", "Levenshtein", "Hamming", "Jaccard")
    return {
        ("string", "identical"): one.tokens[i] == other.tokens[j],
        ("string", "lower case"): one.lower[i] == other.lower[j],
        ("string", "lemma"): pair.sure(i, j),
        **{("string", name): like.spelling[i, j, place] for place, name in enumerate(names)},
        ("position", "distance"): distance(i, 1, pair.length, j, 1, pair.width),
        ("position", "both last"): i == pair.length - 1 and j == pair.width - 1,
        **{("wordnet", name): name in pair.relations(i, j) for name in pair.relation_names},
        **rule_columns(pair, (i, 0, j, 0)),
        ("relatedness", "cosine"): max(0.0, like.cosine[i, j]),
        ("name", "edits"): like.names[i, j],
        ("name", "nickname"): like.nicknames[i, j],
        ("name", "acronym"): bool(pair.lookups.lists[i, 0, j, 0] & 32),
        ("context", "second neighbours"): pair.at(i - 2, j - 2) + pair.at(i + 2, j + 2),
        ("context", "neighbours"): sum(
            1.0 if pair.beyond(i + step, j + step) else pair.at(i + step, j + step) for step in (-1, 1)
        ),
        ("context", "window"): min(window(pair, i, j), 4.0),
    }


def distance(i, size, length, j, wide, width):
    """How far the middles of two spans lie apart, in parts of their sentences."""
    return abs((i + size / 2) / length - (j + wide / 2) / width)


def window(pair, i, j):
    """Strengths around a cell, up to three words away, of content words and numbers, without its row and column."""
    return sum(
        pair.at(row, column)
        for row in range(max(i - 3, 0), min(i + 4, pair.length))
        for column in range(j - 3, j + 4)
        if row != i and column != j and pair.source.kind[row] in ("content", "number")
    )


def chunk_found(pair, i, j):
    """The mean, over the other words of the source word's chunk, of the best among the others of the target's."""
    others = [row for row in pair.source.members[i] if row != i]
    columns = [column for column in pair.target.members[j] if column != j]
    if not others:
        return 0.0
    return sum(max((pair.strength[row][column] for column in columns), default=0.0) for row in others) / len(others)


def token_categories(pair, i, j):
    one, other, like = pair.source, pair.target, pair.like
    tags, chunks = (len(getattr(pair.inventory, name)) + 1 for name in ("tags", "chunks"))
    match = MATCHES.index(pair.match[i][j]), len(MATCHES)
    group = max(GROUPS[one.kind[i]], GROUPS[other.kind[j]]), 3
    near = bisect_right(DISTANCES, distance(i, 1, pair.length, j, 1, pair.width)), 8
    lower = one.lower[i] == other.lower[j]
    same_tag = one.tag[i] == other.tag[j] != 0, 2
    repeats = 0
    if lower:
        (count, before), (others, others_before) = one.counts(i), other.counts(j)
        order = 1 + (before > others_before) - (before < others_before)
        repeats = mixed((min(count, 3), 4), (min(others, 3), 4), (order, 3), group)
    here = pair.strength[i][j]
    row, column = pair.strength[i], [pair.strength[k][j] for k in range(pair.length)]
    better = [min(sum(value > here for value in values), 2) for values in (row, column)]
    cosine = 0
    if like.source_known[i] and like.target_known[j]:
        cosine = 1 + sum(like.cosine[i, j] >= 0.05 + 0.075 * step for step in range(12))
    spelling = sum(like.spelling[i, j, 0] >= 0.5 + 0.06 * step for step in range(9))
    around = bisect_right([0.3, 0.6, 1.0, 1.6, 2.2, 3.0], window(pair, i, j)), 7
    together = bisect_right([0.01, 0.3, 0.6, 0.9], chunk_found(pair, i, j)), 5
    words = one.lower[i], other.lower[j]
    return {
        ("string", "match, kinds"): mixed(match, (KINDS.index(one.kind[i]), 4), (KINDS.index(other.kind[j]), 4)),
        ("string", "Jaro-Winkler, group"): mixed((spelling, 10), group),
        ("string", "repeated words, group"): repeats,
        ("string", "better matches, match, group"): mixed(
            (better[0], 3), (better[1], 3), (row.count(here) > 1, 2), match, group
        ),
        ("position", "distance, group"): mixed(near, group),
        ("position", "distance, match"): mixed(near, match),
        ("pos", "tags"): mixed((one.tag[i], tags), (other.tag[j], tags)),
        ("pos", "match, same tag, group"): mixed(match, same_tag, group),
        ("paraphrase", "lists"): pair.lookups.lists[i, 0, j, 0] % 8,
        ("relatedness", "cosine, same tag, group"): mixed((cosine, 14), same_tag, group),
        ("context", "neighbours, match, group"): mixed(
            (pair.level(i - 1, j - 1), 3), (pair.level(i + 1, j + 1), 3), match, group
        ),
        ("context", "window, match, group"): mixed(around, match, group),
        ("chunk", "types"): mixed((one.chunk[i], chunks), (other.chunk[j], chunks)),
        ("chunk", "chunks' other words, match, group"): mixed(together, match, group),
        ("lexical", "linked words"): pair.inventory.linked_category(*words),
        ("lexical", "frequent word"): one.frequent[i] if lower else 0,
        ("lexical", "frequent source word"): 0 if lower else one.frequent[i],
        ("lexical", "frequent target word"): 0 if lower else other.frequent[j],
        ("wordnet", "verb and particle"): like.expressions[i, j],
    }


def null_categories(pair, side, place):
    """Of the word at `place` of the source (side 0) or the target."""
    words = (pair.source, pair.target)[side]
    strengths = sorted(np.array(pair.strength)[place] if side == 0 else np.array(pair.strength)[:, place])[::-1]
    cosines = pair.like.cosine[place] if side == 0 else pair.like.cosine[:, place]
    best, second = ([*strengths, 0.0])[:2]
    kind = KINDS.index(words.kind[place]), 4
    tag, frequent = words.tag[place], words.frequent[place]
    level = bisect_right([0.3, 0.5, 0.65, 0.75, 0.9, 0.99], best), 7
    nearest = sum(max(cosines) >= 0.05 + 0.15 * step for step in range(6)), 7
    special = words.kind[place] == "number" or words.capital[place]
    return {
        ("string", "kind"): kind[0],
        ("string", "best match, alone, kind"): mixed(level, (second == best, 2), kind),
        ("pos", "tag"): tag,
        ("pos", "tag, matched"): 2 * tag + (best > 0.9),
        ("relatedness", "nearest, kind"): mixed(nearest, kind),
        ("chunk", "chunk"): words.chunk[place],
        ("lexical", "word"): frequent,
        ("lexical", "word, matched"): 2 * frequent + (best > 0.9),
        ("string", "name or number, matched"): mixed((special, 2), (best > 0.5, 2)),
    }


class Span:
    """One span of a sentence."""

    def __init__(self, words, start, size):
        self.places = range(start, start + size)
        kinds = [words.kind[place] for place in self.places]
        self.content = sum(kind in ("content", "number") for kind in kinds)
        self.punctuation = "punctuation" in kinds
        chunks = {words.members[place] for place in self.places}
        inside = set().union(*chunks)
        whole = inside == set(self.places)
        self.chunked = (2 if whole else 1) if len(chunks) == 1 else (3 if whole else 0)
        self.type = words.chunk[start] if len(chunks) == 1 else 0
        self.function = 0 if self.content else words.frequent[start]
        first, last = self.places[0], self.places[-1]
        self.edges = (words.members[first][0] == first) + 2 * (words.members[last][-1] == last)


def goes_on(pair, i, j, step):
    """Whether the chunks of two words go on, a step before or after them, with words of the same lemma."""
    row, column = i + step, j + step
    inside = row in pair.source.members[i] and column in pair.target.members[j]
    return inside and pair.sure(row, column)


def span_values(pair, i, size, j, wide, upweight, covered, cosine):
    """`covered` gives the two coverages of a matrix over the spans, `cosine` that of their mean vectors."""
    like = pair.like
    scale = max(size, wide) if upweight else 1
    sure = np.array([[match in SURE for match in row] for row in pair.match], dtype=np.float32)
    strength = np.array(pair.strength, dtype=np.float32)
    found = {}
    for name, matrix in (("words found", sure), ("words matched", strength), ("spelling", like.spelling[:, :, 0])):
        for side, value in zip(("source", "target"), covered(matrix), strict=True):
            found["string", f"{name}, {side}"] = scale * value
    found |= rule_columns(pair, (i, size - 1, j, wide - 1), scale)
    found["relatedness", "cosine"] = scale * max(cosine, 0.0)
    found["name", "edits"] = scale * sum(covered(np.maximum(like.names, like.nicknames))) / 2
    found["name", "acronym"] = scale * bool(pair.lookups.lists[i, size - 1, j, wide - 1] & 32)
    return found


def span_categories(pair, i, size, j, wide, longest, widest, covered, cosine):
    one, other = Span(pair.source, i, size), Span(pair.target, j, wide)
    tags, chunks = (len(getattr(pair.inventory, name)) + 1 for name in ("tags", "chunks"))
    sizes = mixed((size - 1, longest), (wide - 1, widest)), longest * widest
    sure = np.array([[match in SURE for match in row] for row in pair.match], dtype=np.float32)
    both = min(covered(sure))
    found = bisect_right(FOUND, both), 5
    matched = bisect_right(MATCHED, min(covered(np.array(pair.strength, dtype=np.float32)))), 7
    straight = size == wide and all(pair.sure(i + step, j + step) for step in range(size)), 2
    elsewhere = [
        sum(sure[row].any() and not sure[row, other.places].any() for row in one.places),
        sum(sure[:, column].any() and not sure[one.places, column].any() for column in other.places),
    ]
    chunked = mixed((one.chunked, 4), (other.chunked, 4)), 16
    whole = one.chunked == other.chunked == 2, 2
    related = int(pair.lookups.relations[i, size - 1, j, wide - 1])
    cosines = sum(cosine >= 0.2 + 0.1 * step for step in range(8)), 9
    last, other_last = one.places[-1], other.places[-1]
    around = (pair.level(i - 1, j - 1), 3), (pair.level(last + 1, other_last + 1), 3)
    source_tags, target_tags = pair.source.tag, pair.target.tag
    listed = int(pair.lookups.lists[i, size - 1, j, wide - 1])

    def neighbours(known, place, other):
        return mixed(*((known[at] if 0 <= at < len(known) else 0, tags) for at in (place, other)))

    return {
        ("string", "size"): sizes[0],
        ("string", "found, size"): mixed(found, sizes),
        ("string", "matched, size"): mixed(matched, sizes),
        ("string", "word for word, size"): mixed(straight, sizes),
        ("string", "found elsewhere"): mixed(*((min(count, 2), 3) for count in elsewhere)),
        ("string", "content words, found"): mixed((min(one.content, 3), 4), (min(other.content, 3), 4), (both > 0, 2)),
        ("string", "punctuation"): mixed((one.punctuation, 2), (other.punctuation, 2)),
        ("position", "distance"): bisect_right(DISTANCES, distance(i, size, pair.length, j, wide, pair.width)),
        ("pos", "first tags"): mixed((source_tags[i], tags), (target_tags[j], tags)),
        ("pos", "last tags"): mixed((source_tags[last], tags), (target_tags[other_last], tags)),
        ("pos", "source tags, before"): neighbours(source_tags, i - 1, i),
        ("pos", "source tags, after"): neighbours(source_tags, last, last + 1),
        ("pos", "target tags, before"): neighbours(target_tags, j - 1, j),
        ("pos", "target tags, after"): neighbours(target_tags, other_last, other_last + 1),
        ("chunk", "chunks, size"): mixed(chunked, sizes),
        ("chunk", "edges, word for word"): mixed((one.edges, 4), (other.edges, 4), straight),
        ("chunk", "goes on, size"): mixed((goes_on(pair, i, j, -1) + 2 * goes_on(pair, last, other_last, 1), 4), sizes),
        ("chunk", "chunks, found, word for word"): mixed(chunked, found, straight),
        ("chunk", "chunks, matched"): mixed(chunked, matched),
        ("chunk", "types, whole"): mixed((one.type, chunks), (other.type, chunks), whole),
        ("chunk", "same type, whole"): mixed((one.type == other.type != 0, 2), whole),
        ("paraphrase", "lists"): listed & 3 if listed & 8 else listed & 7,
        ("relatedness", "cosine, size"): mixed(cosines, sizes),
        ("context", "neighbours, found"): mixed(*around, found),
        ("lexical", "function words of source"): one.function,
        ("lexical", "function words of target"): other.function,
        ("wordnet", "related, synonymous"): (related > 0) + (related & 1),
    }


def is_candidate(pair, i, size, j, wide, parallel, known):
    """Whether two spans may be aligned: short ones, parallel ones, whole chunks, and what a table knows."""
    chunks = Span(pair.source, i, size).chunked == Span(pair.target, j, wide).chunked == 2
    return max(size, wide) <= 3 or parallel or chunks or [i, size, j, wide] in known
