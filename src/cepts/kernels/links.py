"""Links as text: parsing and formatting the numbers of Pharaoh and NAACL files, byte by byte."""

from __future__ import annotations

from cepts.kernels import kernel
from cepts.kernels.text import is_space

NEWLINE = 10
BLANK = 32
PLUS = 43
MINUS = 45
POINT = 46
ZERO = 48
COLON = 58
QUESTION = 63
LETTER_E = 69
LETTER_P = 80
LETTER_S = 83
LARGEST = 2**31 - 1


@kernel
def parse_number(data, position):
    """The number that starts at `position`, and where it ends; -1 where there is none that int32 can hold."""
    start = position
    value = 0
    while position < len(data) and ZERO <= data[position] <= ZERO + 9:
        value = 10 * value + data[position] - ZERO
        if value > LARGEST:
            return -1, position
        position += 1
    return (value if position > start else -1), position


@kernel
def parse_confidence(data, position):
    """The decimal number that starts at `position`, and where it ends; -1 unless it lies in [0, 1]."""
    mantissa = 0
    exponent = digits = 0
    fraction = False
    while position < len(data):
        byte = data[position]
        if ZERO <= byte <= ZERO + 9:
            digits += 1
            if mantissa < 10**15:
                mantissa = 10 * mantissa + byte - ZERO
                exponent -= fraction
            elif not fraction:
                exponent += 1
        elif byte == POINT and not fraction:
            fraction = True
        else:
            break
        position += 1
    if digits == 0:
        return -1.0, position
    if position < len(data) and data[position] & 0xDF == LETTER_E:
        position += 1
        negative = position < len(data) and data[position] == MINUS
        if negative or (position < len(data) and data[position] == PLUS):
            position += 1
        shift, position = parse_number(data, position)
        if shift < 0:
            return -1.0, position
        exponent += -shift if negative else shift
    value = float(mantissa)
    if mantissa > 0 and exponent > 0:
        # Larger than 1 unless the mantissa is 0.
        value = 2.0
    elif exponent < 0:
        # Up to 10^22 a power of ten is exact, so the quotient is rounded but once.
        power = 1.0
        for _ in range(min(-exponent, 300)):
            power *= 10.0
        value /= power
    return (value if value <= 1.0 else -1.0), position


@kernel
def parse_pharaoh(data, base, line_ends, source, target, confidence, sure, counts):
    """Parse links ``i-j``, ``i?j``, ``i-j:p`` and ``i-j-p``, a sentence pair a line.

    Parameters
    ----------
    data
        Bytes of whole lines.
    base
        The number of a sentence's first word.
    line_ends
        Filled with the count of links before each newline.
    source, target, confidence, sure
        Filled with the links as they stand.
    counts
        Filled: links, lines.

    Returns
    -------
    int
        Where the first token starts that is no link; -1 if there is none.
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
        i, position = parse_number(data, position)
        mark = data[position] if position < len(data) else NEWLINE
        j, position = parse_number(data, position + 1)
        p = 1.0
        if position < len(data) and (data[position] == COLON or data[position] == MINUS):
            p, position = parse_confidence(data, position + 1)
        ended = position >= len(data) or is_space(data[position])
        if not (ended and i >= base and j >= base and p >= 0.0 and mark in (MINUS, QUESTION)):
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
def skip_blanks(data, position):
    """The next position that is no white space, or is a newline."""
    while position < len(data) and data[position] != NEWLINE and is_space(data[position]):
        position += 1
    return position


@kernel
def parse_naacl(data, line, sentence, source, target, confidence, sure, counts):
    """Parse lines ``sentence source target [S|P] [confidence]``, all from 1; position 0 is null and no link.

    Parameters
    ----------
    data
        Bytes of whole lines.
    line, sentence, source, target, confidence, sure
        Filled with the links as they stand, all numbered from 0.
    counts
        Filled: links, lines before the end or the failure.

    Returns
    -------
    int
        Where the first line starts that is wrong; -1 if there is none.
    """
    position = links = lines = 0
    failed = -1
    while position < len(data):
        start = position
        position = skip_blanks(data, position)
        if position < len(data) and data[position] != NEWLINE:
            n, position = parse_number(data, position)
            i, after = parse_number(data, skip_blanks(data, position))
            apart = after > position and position < len(data) and is_space(data[position])
            j, position = parse_number(data, skip_blanks(data, after))
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
            if i > 0 and j > 0:
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
    """Write `value` in decimal at `position`; returns where it ends."""
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
    """Write a number of [0, 1] with four decimals at `position`; returns where it ends."""
    out[position] = ZERO + ten_thousandths // 10000
    out[position + 1] = POINT
    rest = ten_thousandths % 10000
    for k in range(position + 5, position + 1, -1):
        out[k] = ZERO + rest % 10
        rest //= 10
    return position + 6


@kernel
def format_pharaoh(offsets, source, target, confidence, sure, base, scored, out):
    """Write a line of links for each sentence pair to `out`; returns how many bytes.

    Links take at most 22 bytes, with `scored` 29.
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
    """Write a line for each link to `out`, the first pair as number `first`; returns how many bytes.

    The confidence is left out where it is 1, which is what its absence means. Links take at most 50 bytes.
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
