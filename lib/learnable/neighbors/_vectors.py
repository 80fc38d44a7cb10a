"""The two inner loops of a neighbour search, written in vectors: a leaf of points at once.

A compiler turns a loop over points into vector instructions, but it keeps the sums over the coordinates in memory; the
functions here keep them in registers, which is three to five times quicker. They are written as LLVM vectors of LEAF
numbers, which every CPU's back end splits into registers of its own width. Each has a line of numpy that says the
same, in ``tests/neighbors/test_vectors.py``.

A leaf is a block of rows, one for each coordinate, and a row holds that coordinate of its LEAF points: so the loop over
coordinates loads one vector a turn, and nothing is ever gathered. No function here knows the number of points: places
without a point hold infinity.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = [
    "LEAF",
    "TOGETHER",
    "box_distances",
    "first_bit",
    "leaf_distances",
    "leaf_minima",
    "leaf_values",
    "place_of",
    "smallest",
]

LEAF = 32  # points in a leaf
TOGETHER = 4  # queries that share the loads of a leaf


def _leaf_pointer(context, builder, kind, array, leaf, element):
    """Address of a leaf's first row, the number of its rows."""
    view = context.make_array(kind)(context, builder, array)
    rows = builder.extract_value(view.shape, 1)
    start = builder.mul(leaf, builder.mul(rows, context.get_constant(types.intp, LEAF)))
    vector = ir.VectorType(element, LEAF)
    pointer = builder.bitcast(builder.gep(view.data, [start]), vector.as_pointer())
    return pointer, rows


def _spread(builder, scalar, vector):
    """A vector with the same number in all places."""
    # Insert into place 0, then shuffle with a mask of zeros: the idiom that back ends turn into one broadcast.
    seed = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LEAF), [0] * LEAF)
    return builder.shuffle_vector(seed, ir.Constant(vector, ir.Undefined), zeros)


def _load(builder, pointer, row, width):
    # Aligned as one number is, not as the vector type asks for: a slice of an array may start anywhere.
    return builder.load(builder.gep(pointer, [row]), align=width)


def _function(builder, name, result, arguments):
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, arguments), name)


def _products(context, builder, signature, args, queries):
    """Sums row_0 + Σ_j q_j row_j over a leaf in float32, one vector for each of some queries."""
    element = ir.FloatType()
    vector = ir.VectorType(element, LEAF)
    pointer, rows = _leaf_pointer(context, builder, signature.args[0], args[0], args[1], element)
    table = context.make_array(signature.args[2])(context, builder, args[2])
    columns = builder.extract_value(table.shape, 1)
    one = context.get_constant(types.intp, 1)
    # Stack slots, because the loop changes them; LLVM makes registers of them, as no address of them is passed on.
    sums = [cgutils.alloca_once(builder, vector) for _ in range(queries)]
    places = []
    first = _load(builder, pointer, context.get_constant(types.intp, 0), 4)
    for number, total in enumerate(sums):
        builder.store(first, total)
        row = builder.add(args[3], context.get_constant(types.intp, number))
        places.append(builder.gep(table.data, [builder.mul(row, columns)]))
    # One rounding or two, as the CPU likes: the bound on the error of these float32 values covers both.
    fused = _function(builder, f"llvm.fmuladd.v{LEAF}f32", vector, [vector] * 3)
    with cgutils.for_range_slice(builder, one, rows, one) as (row, _):
        values = _load(builder, pointer, row, 4)
        at = builder.sub(row, one)
        for place, total in zip(places, sums, strict=True):
            factor = _spread(builder, builder.load(builder.gep(place, [at])), vector)
            builder.store(builder.call(fused, [factor, values, builder.load(total)]), total)
    return [builder.load(total) for total in sums]


def _is_array(kind, element, ndim):
    return isinstance(kind, types.Array) and (kind.dtype, kind.ndim, kind.layout) == (element, ndim, "C")


@intrinsic
def leaf_minima(typingctx, leaves, leaf, queries, first):
    """The smallest of row_0 + Σ_j q_j row_j over a leaf, for TOGETHER rows of `queries` from `first` on; float32."""
    if not (_is_array(leaves, types.float32, 3) and _is_array(queries, types.float32, 2)):
        return None

    def codegen(context, builder, signature, args):
        lows = [_smallest(builder, total) for total in _products(context, builder, signature, args, TOGETHER)]
        return context.make_tuple(builder, signature.return_type, lows)

    result = types.UniTuple(types.float32, TOGETHER)
    return result(leaves, types.intp, queries, types.intp), codegen


@intrinsic
def leaf_values(typingctx, leaves, leaf, queries, row, limit, out):
    """Write row_0 + Σ_j q_j row_j of a leaf for one query to `out`; return the places at or below `limit` as bits."""
    if not (_is_array(leaves, types.float32, 3) and _is_array(queries, types.float32, 2)):
        return None

    def codegen(context, builder, signature, args):
        (total,) = _products(context, builder, signature, args[:4], 1)
        _store(context, builder, signature.args[5], args[5], total)
        flags = builder.fcmp_ordered("<=", total, _spread(builder, args[4], total.type))
        return builder.bitcast(flags, ir.IntType(LEAF))

    return types.uint32(leaves, types.intp, queries, types.intp, types.float32, out), codegen


@intrinsic
def leaf_distances(typingctx, leaves, leaf, query, out):
    """Squared distances Σ_j (q_j − row_j)² of a leaf in float64, summed in the order of j, to `out`; the smallest."""
    if not (_is_array(leaves, types.float64, 3) and _is_array(query, types.float64, 1)):
        return None

    def gap_of(builder, pointer, row, centre):
        return builder.fsub(centre, _load(builder, pointer, row, 8))

    return types.float64(leaves, types.intp, query, out), _sum_of_squares(gap_of, 1)


@intrinsic
def box_distances(typingctx, boxes, group, query, out):
    """Squared distances of a query from LEAF boxes in float64, to `out`; returns the smallest.

    Rows 2j and 2j + 1 are the lower and upper ends of coordinate j. Every operation is monotone and the order of the
    sum is that of `leaf_distances`; so the rounded distance of a box never exceeds that of a point in it.
    """
    if not (_is_array(boxes, types.float64, 3) and _is_array(query, types.float64, 1)):
        return None

    def gap_of(builder, pointer, row, centre):
        below = builder.fsub(_load(builder, pointer, row, 8), centre)
        above = builder.fsub(centre, _load(builder, pointer, builder.add(row, row.type(1)), 8))
        apart = builder.select(builder.fcmp_ordered(">", below, above), below, above)
        # The larger of two gaps of which at most one is positive, or zero inside the box.
        zero = ir.Constant(apart.type, [0.0] * LEAF)
        return builder.select(builder.fcmp_ordered(">", apart, zero), apart, zero)

    return types.float64(boxes, types.intp, query, out), _sum_of_squares(gap_of, 2)


def _sum_of_squares(gap_of, rows_each):
    """Code that adds the squares of gaps over the coordinates, stores the sums and returns the smallest."""

    def codegen(context, builder, signature, args):
        element = ir.DoubleType()
        vector = ir.VectorType(element, LEAF)
        pointer, _ = _leaf_pointer(context, builder, signature.args[0], args[0], args[1], element)
        query = context.make_array(signature.args[2])(context, builder, args[2])
        sums = cgutils.alloca_once(builder, vector)
        builder.store(ir.Constant(vector, [0.0] * LEAF), sums)
        with cgutils.for_range(builder, builder.extract_value(query.shape, 0)) as loop:
            centre = _spread(builder, builder.load(builder.gep(query.data, [loop.index])), vector)
            row = builder.mul(loop.index, loop.index.type(rows_each))
            gap = gap_of(builder, pointer, row, centre)
            # Not fused: the same bits on every CPU, so that equal distances stay equal and are told apart by index.
            builder.store(builder.fadd(builder.load(sums), builder.fmul(gap, gap)), sums)
        total = builder.load(sums)
        _store(context, builder, signature.args[3], args[3], total)
        return _smallest(builder, total)

    return codegen


@intrinsic
def smallest(typingctx, values):
    """The smallest of LEAF numbers, none of them NaN."""
    if not _is_array(values, types.float64, 1):
        return None

    def codegen(context, builder, signature, args):
        return _smallest(builder, _vector_of(context, builder, signature.args[0], args[0]))

    return types.float64(values), codegen


@intrinsic
def place_of(typingctx, values, value):
    """The first of LEAF places that holds `value`, which one of them does."""
    if not _is_array(values, types.float64, 1):
        return None

    def codegen(context, builder, signature, args):
        vector = _vector_of(context, builder, signature.args[0], args[0])
        flags = builder.fcmp_ordered("==", vector, _spread(builder, args[1], vector.type))
        bits = builder.bitcast(flags, ir.IntType(LEAF))
        return builder.zext(builder.cttz(bits, ir.IntType(1)(1)), ir.IntType(64))

    return types.intp(values, types.float64), codegen


@intrinsic
def first_bit(typingctx, bits):
    """The place of the lowest bit of a number other than zero."""

    def codegen(context, builder, signature, args):
        return builder.zext(builder.cttz(args[0], ir.IntType(1)(1)), ir.IntType(64))

    return types.intp(types.uint32), codegen


def _smallest(builder, vector):
    kind = "f32" if isinstance(vector.type.element, ir.FloatType) else "f64"
    function = _function(builder, f"llvm.vector.reduce.fmin.v{LEAF}{kind}", vector.type.element, [vector.type])
    # The promise that no number is NaN lets the back end use its minimum instruction, without a comparison around it.
    return builder.call(function, [vector], fastmath=("nnan", "nsz"))


def _vector_of(context, builder, kind, array):
    data = context.make_array(kind)(context, builder, array).data
    return builder.load(builder.bitcast(data, ir.VectorType(ir.DoubleType(), LEAF).as_pointer()), align=8)


def _store(context, builder, kind, array, vector):
    data = context.make_array(kind)(context, builder, array).data
    width = 4 if isinstance(vector.type.element, ir.FloatType) else 8
    builder.store(vector, builder.bitcast(data, vector.type.as_pointer()), align=width)
