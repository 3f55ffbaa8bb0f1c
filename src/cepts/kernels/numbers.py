"""Word vectors as text: decimals to float32 and back."""

from __future__ import annotations

import numpy as np

from cepts.kernels import kernel

TAB, NEWLINE, RETURN, BLANK = 9, 10, 13, 32
PLUS, MINUS, POINT, ZERO, LETTER_E = 43, 45, 46, 48, 101

# Why `text_rows` stopped.
BLOCK_DONE, ROOM_FULL, SHORT_ROW, LONG_ROW, BAD_NUMBER = range(5)

POWERS = np.array([float(f"1e{power}") for power in range(71)])
# Bounds of a product of two rounded numbers, relative to it.
BELOW, ABOVE = 1 - 2.0**-50, 1 + 2.0**-50
MANTISSA_FULL = np.uint64(10**18)

NUMBER_ROOM = 20  # bytes: "-123456789000000.0" has 18, its separator one


@kernel
def scaled(mantissa, power):
    """`mantissa` times ten to `power`, which is from -70 to 70, with a relative error of at most 2^-51."""
    if power < 0:
        return mantissa / POWERS[-power]
    return mantissa * POWERS[power]


@kernel
def is_digit(byte):
    """Whether `byte` is an ASCII digit."""
    return np.uint8(byte - ZERO) <= 9


@kernel
def parse_decimal(data, start, end):
    """Read the decimal number at the start of ``data[start:end]``.

    Returns
    -------
    tuple
        0 if there is none, else 1, or 2 if its exponent is out of range; the number, with a relative error of at most
        2^-50 (0 or infinity where out of range); and where it ends.
    """
    position = start
    negative = False
    if position < end and (data[position] == MINUS or data[position] == PLUS):
        negative = data[position] == MINUS
        position += 1
    first = position
    mantissa = np.uint64(0)
    while position < end and is_digit(data[position]):
        mantissa = mantissa * np.uint64(10) + np.uint64(data[position] - ZERO)
        position += 1
    digits = position - first
    power = 0
    if position < end and data[position] == POINT:
        position += 1
        power = position
        while position < end and is_digit(data[position]):
            mantissa = mantissa * np.uint64(10) + np.uint64(data[position] - ZERO)
            position += 1
        power -= position
        digits -= power
    if digits == 0:
        return 0, 0.0, position
    if digits > 18:
        mantissa, power = long_mantissa(data, first, position)
    if position < end and data[position] | 32 == LETTER_E:
        position += 1
        down = False
        if position < end and (data[position] == MINUS or data[position] == PLUS):
            down = data[position] == MINUS
            position += 1
        if position == end or not is_digit(data[position]):
            return 0, 0.0, position
        exponent = 0
        while position < end and is_digit(data[position]):
            exponent = min(exponent * 10 + (data[position] - ZERO), 100_000_000)
            position += 1
        power += -exponent if down else exponent
    found = 1
    value = np.float64(mantissa)
    if mantissa > np.uint64(0):
        if -70 <= power <= 70:
            value = scaled(value, power)
        else:
            found = 2
            value = 0.0 if power < 0 else np.inf
    return found, -value if negative else value, position


@kernel
def parse_number(data, start, end):
    """`parse_decimal` to the nearest float32; 2 also means that finding it needs exact arithmetic.

    This happens about once in a hundred million numbers: where one is halfway between two float32 numbers.
    """
    found, value, position = parse_decimal(data, start, end)
    low, high = np.float32(value * BELOW), np.float32(value * ABOVE)
    if found and (low != high or np.isinf(high)):
        found = 2
    return found, low, position


@kernel
def long_mantissa(data, start, end):
    """The first 19 digits of a decimal without sign and exponent, and the power of ten of the last of these digits.

    Later digits are far below the error that `BELOW` and `ABOVE` allow for.
    """
    mantissa = np.uint64(0)
    power = 0
    after_point = False
    for position in range(start, end):
        if data[position] == POINT:
            after_point = True
        elif mantissa < MANTISSA_FULL:
            mantissa = mantissa * np.uint64(10) + np.uint64(data[position] - ZERO)
            power -= after_point
        else:
            power += not after_point
    return mantissa, power


@kernel
def is_blank(byte):
    """Whether `byte` separates the fields of a line."""
    return byte in (BLANK, TAB)


@kernel
def parse_numbers(data, start, end, row, matrix, slow, slows):
    """Read the numbers of one row from ``data[start:end]``, up to the end of its first line.

    Returns
    -------
    tuple
        `slows` plus the slow numbers of the row; where the first field starts that is not a number, or where the
        numbers end; and the number of columns filled.
    """
    width = matrix.shape[1]
    position = start
    for column in range(width):
        before = position
        while position < end and is_blank(data[position]):
            position += 1
        found, value, stop = parse_number(data, position, end)
        if found == 0 or position == before or (stop < end and data[stop] > BLANK):
            return slows, position, column
        matrix[row, column] = value
        if found == 2:
            slow[slows, 0], slow[slows, 1], slow[slows, 2], slow[slows, 3] = row, column, position, stop
            slows += 1
        position = stop
    return slows, position, width


@kernel
def text_rows(data, state, matrix, word_starts, word_ends, lines, slow):
    """Read rows ``word number ... number`` of `data`, from position ``state[0]`` on; blank lines are skipped.

    The last fields of a line, as many as `matrix` has columns, are its numbers; all before them is the word, which may
    have blanks.

    Parameters
    ----------
    data
        Bytes of whole lines.
    state
        Position in `data`, lines before it, rows and slow numbers so far; updated. Then, if a line is wrong, start and
        end of the line and of its wrong field.
    matrix, word_starts, word_ends, lines
        Filled for each row: the numbers, start and end of the word in `data`, the number of the line, from 1.
    slow
        Filled with row, column, start and end of each number that needs exact arithmetic.

    Returns
    -------
    int
        Why it stopped: `BLOCK_DONE`, `ROOM_FULL` (`matrix` or `slow` is full), or the fault of the line.
    """
    rows, width = matrix.shape
    position, line, row, slows = state[0], state[1], state[2], state[3]
    status = BLOCK_DONE
    while position < len(data):
        if row == rows or slows + width > len(slow):
            status = ROOM_FULL
            break
        # The usual line: a word without blanks, the numbers, a newline.
        start = position
        word_end = start
        while word_end < len(data) and data[word_end] > BLANK:
            word_end += 1
        if word_end > start:
            found, end, columns = parse_numbers(data, word_end, len(data), row, matrix, slow, slows)
            while end < len(data) and (is_blank(data[end]) or data[end] == RETURN):
                end += 1
            if columns == width and (end == len(data) or data[end] == NEWLINE):
                slows = found
                word_starts[row], word_ends[row], lines[row] = start, word_end, line + 1
                row += 1
                line += 1
                position = end + 1
                continue
        end = start
        while end < len(data) and data[end] != NEWLINE:
            end += 1
        following = end + 1
        while end > start and (is_blank(data[end - 1]) or data[end - 1] == RETURN):
            end -= 1
        while start < end and is_blank(data[start]):
            start += 1
        if start < end:
            status, word_end = word_before(data, start, end, width)
            if status == BLOCK_DONE:
                found, wrong, _ = parse_numbers(data, word_end, end, row, matrix, slow, slows)
                if wrong < end:
                    status = BAD_NUMBER
                    state[6] = state[7] = wrong
                    while state[7] < end and not is_blank(data[state[7]]):
                        state[7] += 1
            if status != BLOCK_DONE:
                state[4], state[5] = start, end
                break
            slows = found
            word_starts[row], word_ends[row], lines[row] = start, word_end, line + 1
            row += 1
        line += 1
        position = following
    state[0], state[1], state[2], state[3] = position, line, row, slows
    return status


@kernel
def word_before(data, start, end, width):
    """`BLOCK_DONE` or the fault of a line, and where its word, before the last `width` fields, ends."""
    left = end
    for _ in range(width):
        while left > start and not is_blank(data[left - 1]):
            left -= 1
        while left > start and is_blank(data[left - 1]):
            left -= 1
    if left == start:
        return SHORT_ROW, left
    last = left
    while last > start and not is_blank(data[last - 1]):
        last -= 1
    if last > start:
        found, _, stop = parse_number(data, last, left)
        if found and stop == left:
            return LONG_ROW, left  # one number too many is likelier than a word that ends in a number
    return BLOCK_DONE, left


@kernel
def write_number(value, out, position):
    """Write the finite float32 `value` with as few digits as identify it; returns the position after it."""
    if np.signbit(value):
        out[position] = MINUS
        position += 1
        value = -value
    if value == 0:
        out[position], out[position + 1], out[position + 2] = ZERO, POINT, ZERO
        return position + 3
    exact = np.float64(value)
    exponent = int(np.floor(np.log10(exact)))
    mantissa = np.int64(np.rint(scaled(exact, 8 - exponent)))
    if mantissa < 100_000_000:  # the logarithm was rounded up
        exponent -= 1
        mantissa = np.int64(np.rint(scaled(exact, 8 - exponent)))
    if mantissa >= 1_000_000_000:
        exponent += 1
        mantissa = np.int64(np.rint(scaled(exact, 8 - exponent)))
    digits = 9
    while digits > 1:
        shorter = np.int64(np.rint(scaled(exact, digits - 2 - exponent)))
        back = scaled(np.float64(shorter), exponent - digits + 2)
        if np.float32(back * BELOW) != value or np.float32(back * ABOVE) != value:
            break
        mantissa = shorter
        digits -= 1
    # Rounding may have turned 99.9 into 100, which has one more digit. Then drop zeros at the end.
    ten = 1
    for _ in range(digits):
        ten *= 10
    if mantissa >= ten:
        exponent += 1
        mantissa //= 10
    while digits > 1 and mantissa % 10 == 0:
        mantissa //= 10
        digits -= 1
    if -5 <= exponent < 15:
        return write_positional(mantissa, digits, exponent, out, position)
    return write_scientific(mantissa, digits, exponent, out, position)


@kernel
def write_positional(mantissa, digits, exponent, out, position):
    """Write the `digits` of `mantissa`, the first of which is worth ten to `exponent`, in plain notation."""
    first, last = max(exponent, 0), min(exponent - digits + 1, -1)  # powers of ten of the first and last digit
    length = first - last + 2  # with the point
    place = last
    for k in range(position + length - 1, position - 1, -1):
        if place == 0 and k == position + first + 1:
            out[k] = POINT
            continue
        digit = 0
        if exponent - digits + 1 <= place <= exponent:
            digit = mantissa % 10
            mantissa //= 10
        out[k] = ZERO + digit
        place += 1
    return position + length


@kernel
def write_scientific(mantissa, digits, exponent, out, position):
    """Write the `digits` of `mantissa` as ``d.dde-dd``."""
    length = digits + (digits > 1)
    for k in range(position + length - 1, position - 1, -1):
        if k == position + 1 and digits > 1:
            out[k] = POINT
        else:
            out[k] = ZERO + mantissa % 10
            mantissa //= 10
    position += length
    out[position] = LETTER_E
    out[position + 1] = MINUS if exponent < 0 else PLUS
    exponent = abs(exponent)
    out[position + 2] = ZERO + exponent // 10
    out[position + 3] = ZERO + exponent % 10
    return position + 4


@kernel
def write_rows(words, offsets, matrix, out):
    """Write lines ``word number ... number`` to `out`; returns their number of bytes.

    Word `w` is ``words[offsets[w]:offsets[w + 1]]``. `out` has space for the words, their newlines, and `NUMBER_ROOM`
    bytes for each number.
    """
    position = 0
    for row in range(len(matrix)):
        for k in range(offsets[row], offsets[row + 1]):
            out[position] = words[k]
            position += 1
        for column in range(matrix.shape[1]):
            out[position] = BLANK
            position = write_number(matrix[row, column], out, position + 1)
        out[position] = NEWLINE
        position += 1
    return position
