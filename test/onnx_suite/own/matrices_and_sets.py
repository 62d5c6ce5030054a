"""Determinants and sets."""
import numpy as np

from own.cases import Case, case, node, reals


@case
def det_of_any_size():
    sets = [{"x": reals(b, n, n)} for b, n in [(0, 2), (1, 0), (1, 1), (3, 2), (2, 9)]]
    sets.append({"x": np.array([[[0, 2], [3, 0]], [[1, 2], [2, 4]], [[0, 0], [0, 1]]], np.float32)})
    return Case([node("Det")], {"x": ["b", "n", "n"]}, sets,
                lambda feeds: [np.linalg.det(feeds["x"].astype(float)).astype(np.float32)], tolerance=(1e-4, 1e-4))


def unique(axis, ordered):
    def expected(feeds):
        x = feeds["x"]
        y, first, inverse, counts = np.unique(x, True, True, True, axis=axis)
        inverse = inverse.reshape(-1)
        if not ordered:
            order = np.argsort(first)
            place = np.empty_like(order)
            place[order] = np.arange(len(order))
            y = np.take(y, order, axis=axis or 0)
            first, inverse, counts = first[order], place[inverse], counts[order]
        return [y] + [each.astype(np.int64) for each in (first, inverse, counts)]
    sizes = [(1, 1), (2, 17), (30, 3)] + ([(0, 3)] if axis is None else [])
    sets = [{"x": np.random.RandomState(m).randint(0, 3, (m, n)).astype(np.float32)} for m, n in sizes]
    keys = {} if axis is None else {"axis": axis}
    return Case([node("Unique", "x", "y first inverse counts", sorted=int(ordered), **keys)], {"x": ["m", "n"]}, sets, expected,
                outputs=("y", "first", "inverse", "counts"))


for _axis in (None, 0, 1):
    for _ordered in (True, False):
        def _make(axis=_axis, ordered=_ordered):
            return unique(axis, ordered)
        _make.__name__ = f"unique_{'flat' if _axis is None else f'axis_{_axis}'}_{'sorted' if _ordered else 'as_found'}"
        case(_make)
