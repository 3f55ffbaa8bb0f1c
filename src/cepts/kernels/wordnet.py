"""WordNet relations between the words of a sentence pair, from the synsets that each word reaches."""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel

# A pointer is the number of a synset (or word) in these low bits, and its role in the bits above them.
NUMBER_BITS = 20
NUMBER_MASK = (1 << NUMBER_BITS) - 1

# How a word reaches a synset: as one of its senses, by one or two steps to hypernyms, or by a pointer of another role.
SENSE, PARENT, GRANDPARENT = 0, 1, 2
# An entry is a synset, the word's column and its reach (one of these), in 32, 24 and 8 bits.
COLUMN_BITS, REACH_BITS = 24, 8

# Bits of the result, from the lowest. The target word is the source word's hypernym (and so on) if any sense of one is
# so related to any sense of the other.
RELATIONS = (
    "synonym",  # they share a synset, as a word does with itself
    "hypernym",  # one step up; of an instance, what it is an instance of
    "hyponym",
    "hypernym2",  # two steps up
    "hyponym2",
    "cohyponym",  # they share a direct hypernym but no synset
    "similar",  # adjectives of one cluster, see also, attribute and its values
    "meronym",  # the target is a part, member or substance of the source
    "holonym",
    "entailment",  # one entails or causes the other
    "verb_group",
    "derivation",  # derivationally related, pertains to, participle of; the first of the lexical roles
    "antonym",
)
SYNONYM, HYPERNYM, HYPONYM, HYPERNYM_2, HYPONYM_2, COHYPONYM, SIMILAR, MERONYM, HOLONYM, ENTAILMENT, VERB_GROUP = (
    1 << bit for bit in range(11)
)
DERIVATION = 1 << RELATIONS.index("derivation")
# The relation of two words that reach the same synset, by how the source word and the target word reach it. After
# `GRANDPARENT` come the roles other than hypernym: similar, meronym, entailment, verb group.
SHARED = np.zeros((7, 7), dtype=np.int64)
SHARED[:, SENSE] = SYNONYM, HYPERNYM, HYPERNYM_2, SIMILAR, MERONYM, ENTAILMENT, VERB_GROUP
SHARED[SENSE] = SYNONYM, HYPONYM, HYPONYM_2, SIMILAR, HOLONYM, ENTAILMENT, VERB_GROUP
SHARED[PARENT, PARENT] = COHYPONYM


@kernel
def gather(words, parts, sense_offsets, senses, part_starts, pointer_offsets, pointers, entries):
    """Fill `entries` with the synsets that each word reaches; returns their number, which may be more than fit.

    A word reaches synsets through those of its senses whose part of speech has its bit set in `parts`.
    """
    count = 0
    room = len(entries)
    for column in range(len(words)):
        word = words[column]
        if word < 0:
            continue
        place = column << REACH_BITS
        for at in range(sense_offsets[word], sense_offsets[word + 1]):
            synset = senses[at]
            part = 0
            while synset >= part_starts[part + 1]:
                part += 1
            if not parts[column] >> part & 1:
                continue
            if count < room:
                entries[count] = np.int64(synset) << 32 | place | SENSE
            count += 1
            for pointer in range(pointer_offsets[synset], pointer_offsets[synset + 1]):
                other = pointers[pointer] & NUMBER_MASK
                role = pointers[pointer] >> NUMBER_BITS
                reach = PARENT if role == 0 else GRANDPARENT + role
                if count < room:
                    entries[count] = np.int64(other) << 32 | place | reach
                count += 1
                if role == 0:
                    for second in range(pointer_offsets[other], pointer_offsets[other + 1]):
                        if pointers[second] >> NUMBER_BITS == 0:
                            if count < room:
                                entries[count] = np.int64(pointers[second] & NUMBER_MASK) << 32 | place | GRANDPARENT
                            count += 1
    return count


@kernel
def mark_relations(source_entries, target_entries, words, others, offsets, pointers, relations):
    """Set the bits of `relations[i, j]` for source word i and target word j.

    The sorted entries of both sides give the relations of words that reach the same synset; `offsets` and `pointers`
    give the lexical pointers between `words[i]` and `others[j]`, in either direction.
    """
    reach_mask = (1 << REACH_BITS) - 1
    column_mask = (1 << COLUMN_BITS) - 1
    start = 0
    for entry in source_entries:
        synset = entry >> 32
        while start < len(target_entries) and target_entries[start] >> 32 < synset:
            start += 1
        at = start
        while at < len(target_entries) and target_entries[at] >> 32 == synset:
            other = target_entries[at]
            i, j = entry >> REACH_BITS & column_mask, other >> REACH_BITS & column_mask
            relations[i, j] |= SHARED[entry & reach_mask, other & reach_mask]
            at += 1
    for i in range(len(words)):
        for j in range(len(others)):
            bits = np.int64(relations[i, j])
            if bits & SYNONYM:
                bits &= ~COHYPONYM
            if words[i] >= 0 and others[j] >= 0:
                for way in range(2):
                    word = others[j] if way else words[i]
                    other_word = words[i] if way else others[j]
                    for at in range(offsets[word], offsets[word + 1]):
                        if pointers[at] & NUMBER_MASK == other_word:
                            bits |= DERIVATION << (pointers[at] >> NUMBER_BITS)
            relations[i, j] = bits
