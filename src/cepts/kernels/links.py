"""Links as text: parsing and formatting Pharaoh and NAACL files, byte by byte."""

from __future__ import annotations

from cepts.kernels import kernel
from cepts.kernels.numbers import BLANK, MINUS, NEWLINE, POINT, ZERO, is_digit, parse_decimal
from cepts.kernels.text import is_space, skip_blanks

COLON, QUESTION, LETTER_P, LETTER_S, SMALL_P, BAR = 58, 63, 80, 83, 112, 124
LARGEST = 2**31 - 1


@kernel
def parse_integer(data, position):
    """The whole number that starts at `position`, and where it ends; -1 if there is none that fits into an int32."""
    start = position
    value = 0
    while position < len(data) and is_digit(data[position]):
        value = 10 * value + data[position] - ZERO
        if value > LARGEST:
            return -1, position
        position += 1
    return (value if position > start else -1), position


@kernel
def parse_confidence(data, position):
    """The decimal number without a sign that starts at `position`, and where it ends; -1 unless it is in [0, 1]."""
    found, value = 0, -1.0
    if position < len(data) and (is_digit(data[position]) or data[position] == POINT):
        found, value, position = parse_decimal(data, position, len(data))
    return (value if found and value <= 1.0 else -1.0), position


@kernel
def end_of_score(data, position):
    """The end of the line if its rest, from `position` on, is ``|||`` and a number; otherwise -1."""
    bars = 0
    while position < len(data) and data[position] == BAR:
        bars += 1
        position += 1
    found, _, position = parse_decimal(data, skip_blanks(data, position), len(data))
    position = skip_blanks(data, position)
    ended = position >= len(data) or data[position] == NEWLINE
    return position if bars == 3 and found > 0 and ended else -1


@kernel
def parse_pharaoh(data, base, line_ends, source, target, confidence, sure, counts):
    """Parse links ``i-j``, ``i?j`` or ``ipj``, ``i-j:p`` and ``i-j-p``, one line for each sentence pair.

    A line may end in ``|||`` and a number, as those of fast_align with scores do; the number is ignored.

    Parameters
    ----------
    data
        Bytes of whole lines.
    base
        The number of a sentence's first word.
    line_ends
        Filled with the number of links before each newline.
    source, target, confidence, sure
        Filled with the links in the order of the file.
    counts
        Filled: links, lines.

    Returns
    -------
    int
        Start of the first token that is not a link; -1 if there is none.
    """
    position = links = lines = 0
    failed = -1
    while position < len(data):
        byte = data[position]
        if is_space(byte):
            position += 1
            if byte == NEWLINE:
                line_ends[lines] = links
                lines += 1
            continue
        start = position
        if byte == BAR:
            position = end_of_score(data, position)
            if position < 0:
                failed = start
                break
            continue
        i, position = parse_integer(data, position)
        mark = data[position] if position < len(data) else NEWLINE
        j, position = parse_integer(data, position + 1)
        p = 1.0
        if position < len(data) and (data[position] == COLON or data[position] == MINUS):
            p, position = parse_confidence(data, position + 1)
        ended = position >= len(data) or is_space(data[position])
        if not (ended and i >= base and j >= base and p >= 0.0 and mark in (MINUS, QUESTION, SMALL_P)):
            failed = start
            break
        source[links] = i - base
        target[links] = j - base
        confidence[links] = p
        sure[links] = mark == MINUS
        links += 1
    counts[0], counts[1] = links, lines
    return failed


@kernel
def parse_naacl(data, line, sentence, source, target, confidence, sure, counts):
    """Parse lines ``sentence source target [S|P] [confidence]``, numbered from 1; position 0 is null.

    Parameters
    ----------
    data
        Bytes of whole lines.
    line, sentence, source, target, confidence, sure
        Filled with the links in the order of the file, numbered from 0; null is -1. A link of null to null is left out.
    counts
        Filled: links, lines before the end or the failure.

    Returns
    -------
    int
        Start of the first wrong line; -1 if there is none.
    """
    position = links = lines = 0
    failed = -1
    while position < len(data):
        start = position
        position = skip_blanks(data, position)
        if position < len(data) and data[position] != NEWLINE:
            n, position = parse_integer(data, position)
            i, after = parse_integer(data, skip_blanks(data, position))
            apart = after > position and position < len(data) and is_space(data[position])
            j, position = parse_integer(data, skip_blanks(data, after))
            apart = apart and after < len(data) and is_space(data[after])
            apart = apart and (position >= len(data) or is_space(data[position]))
            p = 1.0
            possible = False
            position = skip_blanks(data, position)
            if position < len(data) and (data[position] == LETTER_S or data[position] == LETTER_P):
                possible = data[position] == LETTER_P
                position += 1
                apart = apart and (position >= len(data) or is_space(data[position]))
                position = skip_blanks(data, position)
            if position < len(data) and data[position] != NEWLINE:
                p, position = parse_confidence(data, position)
                position = skip_blanks(data, position)
            ended = position >= len(data) or data[position] == NEWLINE
            if not (ended and apart and n >= 1 and i >= 0 and j >= 0 and p >= 0.0):
                failed = start
                break
            if i > 0 or j > 0:
                line[links] = lines
                sentence[links] = n - 1
                source[links] = i - 1
                target[links] = j - 1
                confidence[links] = p
                sure[links] = not possible
                links += 1
        position += 1
        lines += 1
    counts[0], counts[1] = links, lines
    return failed


@kernel
def put_number(out, position, value):
    """Write the whole number `value` at `position`; returns where it ends."""
    digits = 1
    rest = value // 10
    while rest > 0:
        digits += 1
        rest //= 10
    end = position + digits
    for k in range(end - 1, position - 1, -1):
        out[k] = ZERO + value % 10
        value //= 10
    return end


@kernel
def put_confidence(out, position, ten_thousandths):
    """Write a number from 0 to 1 with four decimals at `position`; returns where it ends."""
    out[position] = ZERO + ten_thousandths // 10000
    out[position + 1] = POINT
    rest = ten_thousandths % 10000
    for k in range(position + 5, position + 1, -1):
        out[k] = ZERO + rest % 10
        rest //= 10
    return position + 6


@kernel
def format_pharaoh(offsets, source, target, confidence, sure, base, scored, out):
    """Write one line of links for each sentence pair to `out`; returns the number of bytes.

    A link takes at most 22 bytes, or 29 with its confidence (`scored`).
    """
    position = 0
    for pair in range(len(offsets) - 1):
        for link in range(offsets[pair], offsets[pair + 1]):
            if link > offsets[pair]:
                out[position] = BLANK
                position += 1
            position = put_number(out, position, source[link] + base)
            out[position] = MINUS if sure[link] else QUESTION
            position = put_number(out, position + 1, target[link] + base)
            if scored:
                out[position] = COLON
                position = put_confidence(out, position + 1, int(confidence[link] * 10000.0 + 0.5))
        out[position] = NEWLINE
        position += 1
    return position


@kernel
def format_naacl(offsets, source, target, confidence, sure, first, out):
    """Write one line for each link to `out`, the first pair as number `first`; returns the number of bytes.

    A confidence of 1 is the default of the format and is not written. A line takes at most 50 bytes.
    """
    position = 0
    for pair in range(len(offsets) - 1):
        for link in range(offsets[pair], offsets[pair + 1]):
            position = put_number(out, position, first + pair)
            out[position] = BLANK
            position = put_number(out, position + 1, source[link] + 1)
            out[position] = BLANK
            position = put_number(out, position + 1, target[link] + 1)
            out[position] = BLANK
            out[position + 1] = LETTER_S if sure[link] else LETTER_P
            position += 2
            ten_thousandths = int(confidence[link] * 10000.0 + 0.5)
            if ten_thousandths != 10000:
                out[position] = BLANK
                position = put_confidence(out, position + 1, ten_thousandths)
            out[position] = NEWLINE
            position += 1
    return position
