"""Vectors of eight single-precision numbers, the *lanes*, as values inside kernels.

A loop that LLVM vectorises by itself has to be long, and its sums depend on the width of the registers. Operations on
lanes become vector instructions in any case, and every lane is computed as a scalar loop would compute it. Places in
arrays are not checked, and negative ones do not count from the end.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

LANES = 8
VECTOR = ir.VectorType(ir.FloatType(), LANES)


class LanesType(types.Type):
    """Numba's type of a vector."""

    def __init__(self) -> None:
        super().__init__(name=f"Lanes({LANES})")


lanes = LanesType()


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    """A vector is a value of LLVM."""

    def __init__(self, manager: Any, kind: LanesType) -> None:
        super().__init__(manager, kind, VECTOR)


def _pointer(context: Any, builder: Any, array: Any, value: Any, place: Any) -> Any:
    return builder.gep(context.make_array(array)(context, builder, value).data, [place])


def _all_lanes(builder: Any, number: Any) -> Any:
    first = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, ir.Constant(VECTOR, ir.Undefined), zeros)


@intrinsic
def load(typing: Any, array: Any, place: Any) -> Any:
    """The numbers of a contiguous array of float32 from `place` on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], *arguments)
        return builder.load(builder.bitcast(pointer, VECTOR.as_pointer()), align=4)

    return lanes(array, types.intp), generate


@intrinsic
def store(typing: Any, array: Any, place: Any, vector: Any) -> Any:
    """Write a vector to a contiguous array of float32 from `place` on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], *arguments[:2])
        builder.store(arguments[2], builder.bitcast(pointer, VECTOR.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), generate


@intrinsic
def at(typing: Any, array: Any, place: Any) -> Any:
    """The number at `place` of a contiguous array, counted through all its dimensions."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_pointer(context, builder, signature.args[0], *arguments))

    return array.dtype(array, types.intp), generate


@intrinsic
def put(typing: Any, array: Any, place: Any, number: Any) -> Any:
    """Write a number to `place` of a contiguous array, counted through all its dimensions."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _pointer(context, builder, signature.args[0], *arguments[:2]))
        return context.get_dummy_value()

    return types.void(array, types.intp, array.dtype), generate


@intrinsic
def load_one(typing: Any, array: Any, place: Any) -> Any:
    """The number at `place` of a contiguous array of float32, in all lanes."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _all_lanes(builder, builder.load(_pointer(context, builder, signature.args[0], *arguments)))

    return lanes(array, types.intp), generate


@intrinsic
def spread(typing: Any, number: Any) -> Any:
    """A number in all lanes."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _all_lanes(builder, *arguments)

    return lanes(types.float32), generate


@intrinsic
def multiply_add(typing: Any, a: Any, b: Any, c: Any) -> Any:
    """The sum a * b + c, rounded once where the processor can."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(VECTOR, [VECTOR] * 3)
        return builder.call(
            cgutils.get_or_insert_function(builder.module, kind, f"llvm.fmuladd.v{LANES}f32"), arguments
        )

    return lanes(lanes, lanes, lanes), generate


def _offer(operation: Any, instruction: str) -> None:
    @type_callable(operation)
    def typer(context: Any) -> Any:
        return lambda a, b: lanes if a == lanes and b == lanes else None

    @lower_builtin(operation, LanesType, LanesType)
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return getattr(builder, instruction)(*arguments)


_offer(operator.add, "fadd")
_offer(operator.sub, "fsub")
_offer(operator.mul, "fmul")
_offer(operator.truediv, "fdiv")
