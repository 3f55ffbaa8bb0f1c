"""Slow, plain twins of the lexical tables: WordNet, paraphrases, names."""

from __future__ import annotations

import numpy as np


def relations(synsets, pointers, lexical, one, other, one_parts, other_parts):
    """Names of the relations of two words; parts are the parts of speech whose senses count."""

    def senses(word, parts):
        return {n for n, (part, words) in enumerate(synsets) if part in parts and word in map(str.lower, words)}

    def reached(starts, role):
        return {b for a, b, r in pointers if a in starts and r == role}

    a, b = senses(one.lower(), one_parts), senses(other.lower(), other_parts)
    above, others_above = reached(a, "hypernym"), reached(b, "hypernym")
    found = set()
    if a & b:
        found.add("synonym")
    if above & b:
        found.add("hypernym")
    if others_above & a:
        found.add("hyponym")
    if reached(above, "hypernym") & b:
        found.add("hypernym2")
    if reached(others_above, "hypernym") & a:
        found.add("hyponym2")
    if above & others_above and not a & b:
        found.add("cohyponym")
    if reached(a, "meronym") & b:
        found.add("meronym")
    if reached(b, "meronym") & a:
        found.add("holonym")
    for role in ("similar", "entailment", "verb_group"):
        if reached(a, role) & b or reached(b, role) & a:
            found.add(role)
    known = {word.lower() for _, words in synsets for word in words}
    for first, second, role in lexical:
        pair = {first.lower(), second.lower()}
        if pair <= known and pair == {one.lower(), other.lower()}:
            found.add(role)
    return found


def code(text):
    """FNV-1a of the UTF-8 bytes, its halves folded into the lower one."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value ^ value >> 32


def paraphrases(rules, first, second, source, target, source_length, target_length):
    """Bits and scores of every pair of spans that the lists and rules know: {(i, l, j, m): (kind, scores or None)}."""

    def useful(a, b):
        return a.lower() != b.lower() and any(c.isalpha() for c in a + b)

    def marks(a, b):
        rank = {}
        for rule in rules:
            if (rule.source.lower(), rule.target.lower()) == (a, b):
                plain = rule.symbol.upper() == "[X]"
                rank.setdefault((plain, rule.scores[4] + rule.scores[7]), rule)
        best = rank[min(rank)] if rank else None
        listed = [any((x.lower(), y.lower()) == (a, b) for x, y in pairs) for pairs in (first, second)]
        return listed, best

    found = {}
    for i in range(len(source)):
        for size in range(1, min(source_length, len(source) - i) + 1):
            for j in range(len(target)):
                for width in range(1, min(target_length, len(target) - j) + 1):
                    a = " ".join(source[i : i + size]).lower()
                    b = " ".join(target[j : j + width]).lower()
                    if not useful(a, b):
                        continue
                    (ahead, rule), (back, reverse) = marks(a, b), marks(b, a)
                    kind = sum(1 << bit for bit in (0, 1) if ahead[bit] or back[bit])
                    rules_here = [each for each in (rule, reverse) if each]
                    if rules_here:
                        kind |= 4
                        if all(each.symbol.upper() == "[X]" for each in rules_here):
                            kind |= 8
                    if kind and not any(ahead) and not rule:
                        kind |= 16
                    scores = None
                    if rule:
                        scores = rule.scores
                    elif reverse:
                        scores = tuple(reverse.scores[n] for n in (1, 0, 5, 6, 7, 2, 3, 4))
                    if kind:
                        found[i, size, j, width] = kind, scores
    return found


def symbol(character):
    return ord(character) - ord("a") if "a" <= character <= "z" else 26


def edits(source, target, steps, ends, changes, inserts, last=0):
    """Every way to turn `source` into `target`: its probability and its edits (kind, last edit, old, new)."""
    if not source and not target:
        yield ends[last, 1], [("stop", last, None, None)]
    if source:
        for p, rest in edits(source[1:], target, steps, ends, changes, inserts, 4):
            yield steps[last, 3] * p, [("delete", last, None, None), *rest]
    if target:
        new = symbol(target[0])
        insert, kind = (steps[last, 2], "insert") if source else (ends[last, 0], "insert at end")
        for p, rest in edits(source, target[1:], steps, ends, changes, inserts, 3):
            yield insert * inserts[new] * p, [(kind, last, None, new), *rest]
    if source and target:
        old = symbol(source[0])
        copied = source[0] == target[0]
        p_edit = steps[last, 0] if copied else steps[last, 1] * changes[old, new]
        for p, rest in edits(source[1:], target[1:], steps, ends, changes, inserts, 1 if copied else 2):
            yield p_edit * p, [("copy" if copied else "change", last, old, new), *rest]


def edit_counts(source, target, steps, ends, changes, inserts):
    """P(target | source), and the expected number of each edit given both, in arrays like the parameters."""
    ways = list(edits(source, target, steps, ends, changes, inserts))
    total = sum(p for p, _ in ways)
    counts = [np.zeros_like(each) for each in (steps, ends, changes, inserts)]
    for p, way in ways:
        for kind, last, old, new in way:
            if kind in ("copy", "change", "insert", "delete"):
                counts[0][last, ("copy", "change", "insert", "delete").index(kind)] += p / total
            else:
                counts[1][last, int(kind == "stop")] += p / total
            if kind == "change":
                counts[2][old, new] += p / total
            if kind.startswith("insert"):
                counts[3][new] += p / total
    return total, counts
