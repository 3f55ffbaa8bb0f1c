"""Relations between the words of a sentence pair, from the synsets that each word reaches."""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel

__all__ = ["DERIVATION", "NUMBER_BITS", "RELATIONS", "SYNONYM", "gather", "mark_lexical", "mark_relations"]

# A pointer is the number of a synset (or word) and, above these bits, its role.
NUMBER_BITS = 20
NUMBER_MASK = (1 << NUMBER_BITS) - 1

# How a word reaches a synset: as its sense, one or two hypernyms up, or by a pointer of another role.
SENSE, PARENT, GRANDPARENT = 1, 2, 4
# An entry is synset, column and reach, in 32, 24 and 8 bits.
COLUMN_BITS, REACH_BITS = 24, 8

# Bits of the result, from the lowest. The target word is the source word's ...; any sense of the one with any of the
# other.
RELATIONS = (
    "synonym",  # they share a synset; so does a word with itself
    "hypernym",  # one step up; of an instance, what it is an instance of
    "hyponym",
    "hypernym2",  # two steps up
    "hyponym2",
    "cohyponym",  # they share a direct hypernym, and no synset
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


@kernel
def gather(words, parts, sense_offsets, senses, part_starts, pointer_offsets, pointers, entries):
    """Fill `entries` with the synsets that each word reaches; returns how many there are, which may be more than fit.

    Word `w` reaches through its senses of those parts of speech whose bits `parts[w]` has.
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
                reach = PARENT if role == 0 else GRANDPARENT << role
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
def mark_relations(source_entries, target_entries, relations):
    """Set the bits of `relations` for words that reach the same synset; both arrays are sorted."""
    reach_mask = (1 << REACH_BITS) - 1
    column_mask = (1 << COLUMN_BITS) - 1
    start = 0
    for entry in source_entries:
        synset = entry >> 32
        i = entry >> REACH_BITS & column_mask
        reach = entry & reach_mask
        while start < len(target_entries) and target_entries[start] >> 32 < synset:
            start += 1
        at = start
        while at < len(target_entries) and target_entries[at] >> 32 == synset:
            j = target_entries[at] >> REACH_BITS & column_mask
            other = target_entries[at] & reach_mask
            bits = 0
            if other == SENSE:
                if reach == SENSE:
                    bits = SYNONYM
                elif reach == PARENT:
                    bits = HYPERNYM
                elif reach == GRANDPARENT:
                    bits = HYPERNYM_2
                elif reach == GRANDPARENT << 1:
                    bits = SIMILAR
                elif reach == GRANDPARENT << 2:
                    bits = MERONYM
                elif reach == GRANDPARENT << 3:
                    bits = ENTAILMENT
                else:
                    bits = VERB_GROUP
            elif reach == SENSE:
                if other == PARENT:
                    bits = HYPONYM
                elif other == GRANDPARENT:
                    bits = HYPONYM_2
                elif other == GRANDPARENT << 1:
                    bits = SIMILAR
                elif other == GRANDPARENT << 2:
                    bits = HOLONYM
                elif other == GRANDPARENT << 3:
                    bits = ENTAILMENT
                else:
                    bits = VERB_GROUP
            elif reach == PARENT and other == PARENT:
                bits = COHYPONYM
            relations[i, j] |= bits
            at += 1
    for i in range(relations.shape[0]):
        for j in range(relations.shape[1]):
            if relations[i, j] & SYNONYM:
                relations[i, j] &= ~COHYPONYM


@kernel
def mark_lexical(words, others, offsets, pointers, relations):
    """Set the bits of `relations[i, j]` for pointers from `words[i]` to `others[j]` or back."""
    for i in range(len(words)):
        for j in range(len(others)):
            if words[i] < 0 or others[j] < 0:
                continue
            for at in range(offsets[words[i]], offsets[words[i] + 1]):
                if pointers[at] & NUMBER_MASK == others[j]:
                    relations[i, j] |= DERIVATION << (pointers[at] >> NUMBER_BITS)
            for at in range(offsets[others[j]], offsets[others[j] + 1]):
                if pointers[at] & NUMBER_MASK == words[i]:
                    relations[i, j] |= DERIVATION << (pointers[at] >> NUMBER_BITS)
