#!/usr/bin/env python3
"""Fits the polynomials of the vector math functions and prints Coefficients.h.

    python3 fit_coefficients.py > Coefficients.h         (needs mpmath; gmpy2 makes it quick)

Remez exchange on a Chebyshev grid at 50 digits, minimising the weighted (mostly relative) error.
Coefficients are rounded to f32 or f64 one after another, refitting those not yet rounded, so the
rounded polynomial stays close to the best one. The error reached stands beside each array.
"""
import textwrap

import mpmath as mp

mp.mp.dps = 50
SINGLE, DOUBLE = 24, 53


def round_to(value, bits):
    if value == 0:
        return mp.mpf(0)
    mantissa, exponent = mp.frexp(value)
    return mp.ldexp(mp.nint(mp.ldexp(mantissa, bits)), exponent - bits)


def chebyshev_grid(low, high, count):
    low, high = mp.mpf(low), mp.mpf(high)
    middle, half = (low + high) / 2, (high - low) / 2
    return [middle - half * mp.cos(mp.pi * k / (count - 1)) for k in range(count)]


def extrema(errors):
    """The largest error of each run of equal sign."""
    found, i = [], 0
    while i < len(errors):
        if errors[i] == 0:
            i += 1
            continue
        positive, best = errors[i] > 0, i
        while i < len(errors) and errors[i] != 0 and (errors[i] > 0) == positive:
            if abs(errors[i]) > abs(errors[best]):
                best = i
            i += 1
        found.append(best)
    return found


def keep_largest(points, errors, count):
    """Drops extrema, smallest first, so that signs still alternate."""
    while len(points) > count:
        if len(points) == count + 1:
            points.pop(0 if abs(errors[points[0]]) < abs(errors[points[-1]]) else -1)
        else:
            pairs = [max(abs(errors[a]), abs(errors[b])) for a, b in zip(points, points[1:])]
            i = pairs.index(min(pairs))
            del points[i:i + 2]
    return points


def remez(target, bases, weight):
    """Coefficients c minimising max weight*|target - sum c*base| over the grid."""
    n, count = len(bases), len(target)
    reference = [round(i * (count - 1) / n) for i in range(n + 1)]
    best = None
    for _ in range(30):
        matrix, right = mp.matrix(n + 1, n + 1), mp.matrix(n + 1, 1)
        for row, i in enumerate(reference):
            for column in range(n):
                matrix[row, column] = bases[column][i] * weight[i]
            matrix[row, n] = (-1)**row
            right[row] = target[i] * weight[i]
        solution = mp.lu_solve(matrix, right)
        c = [solution[i] for i in range(n)]
        errors = [weight[i] * (target[i] - sum(c[k] * bases[k][i] for k in range(n)))
                  for i in range(count)]
        worst = max(abs(e) for e in errors)
        if best is None or worst < best[0]:
            best = (worst, c)
        points = extrema(errors)
        if worst <= abs(solution[n]) * mp.mpf("1.001") or len(points) < n + 1:
            break
        reference = keep_largest(points, errors, n + 1)
    return best[1]


def residual(target, bases, fixed):
    return [t - sum(c * bases[k][i] for k, c in fixed.items()) for i, t in enumerate(target)]


def rounded_fit(target, bases, weight, bits):
    """Remez, rounding coefficients in order and refitting the rest, or (long polynomials, where
    refitting chases rounding errors) rounding all at once. Returns the better and its error."""
    fixed, first = {}, None
    for k in range(len(bases)):
        c = remez(residual(target, bases, fixed), bases[k:], weight)
        first = first or c
        fixed[k] = round_to(c[0], bits)
    candidates = [fixed, {k: round_to(c, bits) for k, c in enumerate(first)}]
    errors = [max(w * abs(e) for w, e in zip(weight, residual(target, bases, c)))
              for c in candidates]
    best = candidates[errors.index(min(errors))]
    return [best[k] for k in range(len(bases))], min(errors)


def show(name, comment, values, bits):
    digits = 9 if bits == SINGLE else 17
    text = ", ".join(mp.nstr(v, digits, min_fixed=-4, max_fixed=6) for v in values)
    print(f"/// {comment}\ninline constexpr double {name}[] = {{")
    print(textwrap.fill(text, 100, initial_indent="    ", subsequent_indent="    ") + "};\n")


def polynomial(name, comment, function, low, high, count, weight, bits):
    """function(x) ~ sum of `count` coefficients times powers of x."""
    xs = chebyshev_grid(low, high, 500)
    bases = [[x**k for x in xs] for k in range(count)]
    c, error = rounded_fit([function(x) for x in xs], bases, [weight(x) for x in xs], bits)
    show(name, f"{comment}; error 2^{mp.nstr(mp.log(error, 2), 4)}", c, bits)


def near_zero(limit, value, function):
    """function, or its limit where the formula would divide zero by zero."""
    return lambda x: mp.mpf(value) if abs(x) < mp.mpf(limit) else function(x)


def exponentials():
    half = mp.log(2) / 2 * mp.mpf("1.0001")
    tail = near_zero("1e-12", mp.mpf(1) / 2, lambda r: (mp.expm1(r) - r) / r**2)
    weight = lambda r: r * r / mp.exp(r)
    for suffix, count, bits in (("F32", 5, SINGLE), ("F64", 10, DOUBLE)):
        polynomial("exp" + suffix, "(e^r - 1 - r) / r^2", tail, -half, half, count, weight, bits)
    half = mp.mpf("0.50001")
    tail = near_zero("1e-20", mp.log(2), lambda r: (mp.power(2, r) - 1) / r)
    weight = lambda r: abs(r) / mp.power(2, r)
    for suffix, count, bits in (("F32", 6, SINGLE), ("F64", 12, DOUBLE)):
        polynomial("exp2" + suffix, "(2^r - 1) / r", tail, -half, half, count, weight, bits)
    tail = near_zero("1e-12", mp.mpf(1) / 6,
                     lambda u: (mp.sinh(mp.sqrt(u)) / mp.sqrt(u) - 1) / u)
    for suffix, count, bits in (("F32", 4, SINGLE), ("F64", 8, DOUBLE)):
        polynomial("sinh" + suffix, "(sinh x - x) / x^3 in x^2, |x| < 1", tail, 0, 1, count,
                   lambda u: u, bits)


def logarithms():
    tail = near_zero("1e-10", mp.mpf(1) / 3, lambda f: (mp.log1p(f) - f + f * f / 2) / f**3)
    weight = near_zero("1e-10", 0, lambda f: abs(f**3 / mp.log1p(f)))
    for suffix, count, bits in (("F32", 9, SINGLE), ("F64", 21, DOUBLE)):
        polynomial("log" + suffix, "(log(1+f) - f + f^2/2) / f^3, 3/4 <= 1+f < 3/2", tail, -0.25,
                   0.5, count, weight, bits)


def trigonometric():
    high = (mp.pi / 4 * mp.mpf("1.001"))**2
    sine = near_zero("1e-15", -mp.mpf(1) / 6,
                     lambda u: (mp.sin(mp.sqrt(u)) / mp.sqrt(u) - 1) / u)
    cosine = near_zero("1e-12", mp.mpf(1) / 24, lambda u: (mp.cos(mp.sqrt(u)) - 1 + u / 2) / u**2)
    for suffix, count, bits in (("F32", 3, SINGLE), ("F64", 6, DOUBLE)):
        polynomial("sin" + suffix, "(sin r - r) / r^3 in r^2", sine, 0, high, count, lambda u: u,
                   bits)
        polynomial("cos" + suffix, "(cos r - 1 + r^2/2) / r^4 in r^2", cosine, 0, high, count,
                   lambda u: u * u, bits)
    inverse = near_zero("1e-15", mp.mpf(1) / 6,
                        lambda u: (mp.asin(mp.sqrt(u)) / mp.sqrt(u) - 1) / u)
    for suffix, count, bits in (("F32", 5, SINGLE), ("F64", 14, DOUBLE)):
        polynomial("asin" + suffix, "(asin x - x) / x^3 in x^2, |x| <= 1/2", inverse, 0, 0.25,
                   count, lambda u: u, bits)
    inverse = near_zero("1e-15", -mp.mpf(1) / 3,
                        lambda u: (mp.atan(mp.sqrt(u)) / mp.sqrt(u) - 1) / u)
    for suffix, count, bits in (("F32", 9, SINGLE), ("F64", 21, DOUBLE)):
        polynomial("atan" + suffix, "(atan x - x) / x^3 in x^2, |x| <= 1", inverse, 0, 1, count,
                   lambda u: u, bits)


def error_function():
    """-log(erfc x) / x, less its leading constant, weighted for the error in erf."""
    slope = 2 / mp.sqrt(mp.pi)
    weight = lambda x: mp.erfc(x) * x / mp.erf(x) if x else 1 / slope
    for suffix, high, count, bits in (("F32", "3.95", 9, SINGLE), ("F64", "6", 26, DOUBLE)):
        series = lambda x: (-mp.log(mp.erfc(x)) / x if x else slope) - round_to(slope, bits)
        polynomial("erf" + suffix, f"-log(erfc x) / x - 2/sqrt(pi) rounded, 0 <= x <= {high}",
                   series, 0, high, count, weight, bits)


def error_function_table(name, function, intervals, step, count):
    """erf or erfc around multiples of `step` as polynomials of the distance, for processors that look
    up 16 lanes at once: one row of the table per power."""
    columns, worst = [], 0
    for i in range(intervals):
        centre, half = i * step, step * mp.mpf("0.502")
        xs = chebyshev_grid(-half if i else mp.mpf(0), half, 80)
        first = 0 if i or function(0) else 1
        bases = [[x**k for x in xs] for k in range(first, count)]
        target = [function(centre + x) for x in xs]
        weight = [1 / t if t else mp.mpf(0) for t in target]
        c, error = rounded_fit(target, bases, weight, SINGLE)
        columns.append([mp.mpf(0)] * first + c)
        worst = max(worst, error)
    print(f"/// {name} near multiples of {float(step).hex()}, a row for each power of the distance; "
          f"error 2^{mp.nstr(mp.log(worst, 2), 4)}")
    print(f"inline constexpr float {name}Table[{count}][{intervals}] = {{")
    for row in zip(*columns):
        text = ", ".join(mp.nstr(v, 9, min_fixed=-4, max_fixed=6) for v in row)
        print("    {" + textwrap.fill(text, 94, subsequent_indent="     ") + "},")
    print("};\n")


def powers():
    """powf of f32 runs in f64 lanes but needs only about 40 good bits; that of f64 needs 65."""
    limit = (mp.sqrt(2) - 1)**2 / (mp.sqrt(2) + 1)**2 * mp.mpf("1.001")
    series = near_zero("1e-15", 2 / mp.log(2) / 3,
                       lambda z: (2 * mp.atanh(mp.sqrt(z)) / mp.log(2) / mp.sqrt(z)
                                  - 2 / mp.log(2)) / z)
    polynomial("powLog2", "(log2((1+s)/(1-s)) - 2s/ln 2) / s^3 in s^2", series, 0, limit, 6,
               lambda z: z, DOUBLE)
    series = near_zero("1e-15", mp.mpf(1) / 5,
                       lambda z: ((mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 1) / z - mp.mpf(1) / 3) / z)
    polynomial("powSeriesF64", "(atanh s - s - s^3/3) / s^5 in s^2", series, 0, limit, 10,
               lambda z: z * z, DOUBLE)
    half = mp.mpf("0.50001")
    tail = near_zero("1e-20", mp.log(2), lambda r: (mp.power(2, r) - 1) / r)
    polynomial("powExp2", "(2^r - 1) / r", tail, -half, half, 7,
               lambda r: abs(r) / mp.power(2, r), DOUBLE)


def main():
    title = "//===- Coefficients.h - Printed by fit_coefficients.py; do not edit "
    print(title + "-" * (95 - len(title)) + "===//\n")
    print("#ifndef WEFT_TARGETS_CPU_MATH_COEFFICIENTS_H")
    print("#define WEFT_TARGETS_CPU_MATH_COEFFICIENTS_H\n")
    print("namespace weft::lanes::fit {\n")
    exponentials()
    logarithms()
    trigonometric()
    error_function()
    for name, function in (("erf", mp.erf), ("erfc", mp.erfc)):
        error_function_table(name, function, 16, round_to(1 / mp.mpf("3.9"), SINGLE), 6)
    powers()
    print("} // namespace weft::lanes::fit\n")
    print("#endif // WEFT_TARGETS_CPU_MATH_COEFFICIENTS_H")


if __name__ == "__main__":
    main()
