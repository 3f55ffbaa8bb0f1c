"""Slow, plain twins of rectangles, of phrase synthesis, and of the scores of phrases and judgements."""

from __future__ import annotations

from itertools import product


def is_full(links, top, bottom, left, right):
    return all((i, j) in links for i in range(top, bottom) for j in range(left, right))


def rectangles(links, max_source=10**9, max_target=10**9, every_link=False):
    """Spans (top, bottom, left, right) of greedy rectangles, by testing every larger one whole."""
    left_over = set(links)
    found = []
    while left_over:
        top, left = min(left_over)
        bottom, right = top + 1, left + 1
        grown = True
        while grown:
            grown = False
            if bottom - top < max_source and is_full(left_over, top, bottom + 1, left, right):
                bottom, grown = bottom + 1, True
            if right - left < max_target and is_full(left_over, top, bottom, left, right + 1):
                right, grown = right + 1, True
        found.append((top, bottom, left, right))
        if every_link:
            left_over -= set(product(range(top, bottom), range(left, right)))
        else:
            left_over = {(i, j) for i, j in left_over if i >= bottom}
    return sorted(found)


def chunks(labels):
    """Spans of chunks in labels whose I always follow a B or I of their kind."""
    starts = [n for n, label in enumerate(labels) if label.startswith("B")]
    stops = [next((m for m in range(n + 1, len(labels)) if not labels[m].startswith("I")), len(labels)) for n in starts]
    return list(zip(starts, stops, strict=True))


def synthesise(links, source_labels, target_labels):
    filled = set(links)
    for (i0, i1), (j0, j1) in product(chunks(source_labels), chunks(target_labels)):
        inside = [(i, j) for i, j in links if i0 <= i < i1 and j0 <= j < j1]
        one_to_one = sorted(i for i, _ in inside) == list(range(i0, i1)) and sorted(j for _, j in inside) == list(
            range(j0, j1)
        )
        monotone = all((a < c) == (b < d) for a, b in inside for c, d in inside)
        if one_to_one and monotone:
            filled |= set(product(range(i0, i1), range(j0, j1)))
    return filled


def ratio(part, whole, empty=0.0):
    return part / whole if whole else empty


def harmonic(precision, recall):
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def kinds(source, target, sure, allowed, predicted):
    """For each kind of links: predicted, right, gold and found ones, as sets. `allowed` are sure and possible links."""

    def select(test):
        return [
            {link for link in predicted if test(link)},
            {link for link in predicted & allowed if test(link)},
            {link for link in sure if test(link)},
            {link for link in predicted & sure if test(link)},
        ]

    boxes_gold, boxes_allowed, boxes = (set(rectangles(links)) for links in (sure, sure | allowed, predicted))

    def boxed(test):
        return [
            {box for box in boxes if test(box)},
            {box for box in boxes & (boxes_gold | boxes_allowed) if test(box)},
            {box for box in boxes_gold if test(box)},
            {box for box in boxes_gold & boxes if test(box)},
        ]

    def single(box):
        return box[1] - box[0] == 1 and box[3] - box[2] == 1

    return {
        "all": select(lambda link: True),
        "identical": select(lambda link: source[link[0]] == target[link[1]]),
        "other": select(lambda link: source[link[0]] != target[link[1]]),
        "token": boxed(single),
        "phrase": boxed(lambda box: not single(box)),
    }


def phrase_scores(pairs, protocol):
    """Part -> (precision, recall, F1), and the share of exact matches.

    Each pair is (source, target, sure, allowed, predicted), tokens and sets of links.
    """
    exact = sum(sure <= predicted <= allowed for _, _, sure, allowed, predicted in pairs) / len(pairs)
    every = [kinds(*pair) for pair in pairs]
    scores = {}
    for part in every[0]:
        running = [0, 0, 0, 0]
        precisions, recalls = [], []
        for pair in every:
            counts = [len(found) for found in pair[part]]
            running = [a + b for a, b in zip(running, counts, strict=True)]
            used = running if protocol == "jacana" and part != "all" else counts
            nothing = protocol == "multimwa" and counts[0] == counts[2] == 0
            precisions.append(ratio(used[1], used[0], float(nothing)))
            recalls.append(ratio(used[3], used[2], float(nothing)))
        precision, recall = sum(precisions) / len(pairs), sum(recalls) / len(pairs)
        if protocol == "micro":
            precision, recall = ratio(running[1], running[0]), ratio(running[3], running[2])
        scores[part] = precision, recall, harmonic(precision, recall)
    return scores, exact


def best_accuracy(scores, labels):
    """The highest number of right judgements that any threshold gives."""
    thresholds = [*scores, max(scores) + 1]
    return max(sum((s >= t) == (y > 0) for s, y in zip(scores, labels, strict=True)) for t in thresholds)


def average_precision(ranked, wanted):
    """Of labels in the order of their ranks."""
    precisions = [sum(ranked[:n]) / n for n in range(1, len(ranked) + 1) if ranked[n - 1]]
    return sum(precisions) / max(wanted, 1)


def reciprocal_rank(ranked):
    return next((1 / n for n, right in enumerate(ranked, start=1) if right), 0.0)
