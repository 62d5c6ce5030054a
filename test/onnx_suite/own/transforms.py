"""Fourier transforms of lengths that are products, primes and powers, against numpy in f64."""
import numpy as np
from onnx import helper

from own.cases import Case, case, reals

LENGTHS = (37, 60, 257, 400)


def transforms(elements, parts, transform, **attributes):
    """An output for each length of a transform; `elements` and `transform` say what goes in and comes out."""
    nodes = [helper.make_node("DFT", [f"x{n}", f"length{n}", "axis"], [f"y{n}"], **attributes) for n in LENGTHS]
    sets = [{f"x{n}": reals(rows, elements(n), parts, seed=rows + n) / np.float32(n) ** 0.5 for n in LENGTHS} for rows in (0, 1, 3)]

    def expected(feeds):
        numbers = [feeds[f"x{n}"].astype(float) for n in LENGTHS]
        results = [transform(x[..., 0] + (1j * x[..., 1] if parts == 2 else 0), n) for x, n in zip(numbers, LENGTHS)]
        return [np.stack([y.real, y.imag] if np.iscomplexobj(y) else [y], -1).astype(np.float32) for y in results]
    constants = [("axis", np.array(1)), *((f"length{n}", np.array(n)) for n in LENGTHS)]
    return Case(nodes, {f"x{n}": ["rows", elements(n), parts] for n in LENGTHS}, sets, expected, constants=constants,
                outputs=tuple(f"y{n}" for n in LENGTHS), tolerance=(1e-5, 2e-6))


@case
def transforms_of_real_numbers():
    return transforms(lambda n: n, 1, lambda x, n: np.fft.fft(x))


@case
def transforms_of_real_numbers_to_one_side():
    return transforms(lambda n: n, 1, lambda x, n: np.fft.rfft(x.real), onesided=1)


@case
def transforms_with_zeros_behind():
    return transforms(lambda n: n - 5, 2, lambda x, n: np.fft.fft(x, n=n))


@case
def transforms_of_the_first_elements():
    return transforms(lambda n: n + 3, 2, lambda x, n: np.fft.fft(x, n=n))


@case
def inverse_transforms():
    return transforms(lambda n: n, 2, lambda x, n: np.fft.ifft(x), inverse=1)


@case
def inverse_transforms_from_one_side():
    return transforms(lambda n: n // 2 + 1, 2, lambda x, n: np.fft.irfft(x, n=n), inverse=1, onesided=1)
