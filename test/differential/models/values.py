"""Numbers of random models: element types, values at several sizes, and when no computation rounds them."""
import numpy as np

F16, F32, F64 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)
I8, I16, I32, I64 = (np.dtype(f"int{bits}") for bits in (8, 16, 32, 64))
U8, U16, U32, U64 = (np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64))
BOOL = np.dtype(bool)
REALS, SIGNED, UNSIGNED = (F32, F64, F16), (I32, I64, I8, I16), (U8, U32, U16, U64)
INTEGERS = SIGNED + UNSIGNED
ELEMENTS = REALS + INTEGERS + (BOOL,)

#: Chances of element types where an operator takes several.
WEIGHTS = {F32: 12, F64: 3, F16: 3, I32: 3, I64: 3, BOOL: 2}
#: Fraction bits and whole bits of exact values: products and sums of some hundreds still fit the type's digits.
GRID = {F16: (3, 4), F32: (8, 9), F64: (16, 20)}
#: Larger finite values lose too many digits to say something.
MOST = {F16: 500.0, F32: 1e5, F64: 1e9}


class Unfit(Exception):
    """A piece that cannot be here; the graph is as it was."""


class Value:
    """`native` and `wide` (in double where it is a real) hold the numbers at each size."""

    def __init__(self, name, native, wide, exact, error=0.0, constant=False, slack=0):
        self.name, self.native, self.wide, self.exact = name, native, wide, exact
        self.error, self.constant = error, constant
        self.slack = slack  # whole steps that integers may be off
        self.element, self.rank = native[0].dtype, native[0].ndim

    def dim(self, axis):
        return tuple(array.shape[axis] for array in self.native)

    def dims(self):
        return [self.dim(axis) for axis in range(self.rank)]

    def static(self, axis):
        """The size of a dimension that is no symbol, else None."""
        sizes = set(self.dim(axis))
        return sizes.pop() if len(sizes) == 1 else None

    def most(self):
        return max((largest(array) for array in self.native), default=0)

    def least(self):
        finite = [array[np.isfinite(array)] if array.dtype.kind == "f" else array for array in self.native]
        return min((float(array.min()) for array in finite if array.size), default=0)

    def has_empty(self):
        return any(array.size == 0 for array in self.native)


def largest(array):
    if array.dtype.kind == "f":
        array = array[np.isfinite(array)]
    return float(np.abs(array.astype(np.float64)).max()) if array.size else 0.0


def widened(array):
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def on_grid(array):
    """Whether reals are so short that no order of sums and products rounds them."""
    if array.dtype.kind != "f":
        return True
    fraction, whole = GRID[array.dtype]
    array = array[np.isfinite(array)].astype(np.float64)
    return bool((np.abs(array) < 2.0 ** whole).all() and (array * 2 ** fraction == np.rint(array * 2 ** fraction)).all())


def last_place(element):
    return float(np.finfo(element).eps) if element.kind == "f" else 0.0


def finite_difference(a, b):
    both = np.isfinite(a) & np.isfinite(b)
    return largest(a[both].astype(np.float64) - b[both])
