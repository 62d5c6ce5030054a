"""How near a quantised model's answers are to those in f32, on calls that no tool was calibrated with. Needs only numpy.

    for feed, answer in accuracy.judged("models/minilm.judged.npz"): …
    accuracy.of("minilm", [accuracy.line("minilm", got), …], [accuracy.line("minilm", answer), …])
"""
import numpy as np

import cases


def judged(path, answered="answer"):
    """(feed, answer in f32) of each call that calls.py wrote; by another name what else it should be."""
    with np.load(path) as file:
        found = {}
        for key in file.files:
            call, name = key.split("/")
            found.setdefault(call, {})[name] = file[key]
    for call in sorted(found):
        answer = found[call].pop(answered)
        yield found[call], answer


def line(model, answer):
    """What an answer is compared by: of an encoder the embedding, the mean over the tokens of one sentence; else all of it."""
    a = answer.astype(np.float64)
    return a[0].mean(0) if model in cases.ENCODERS else a.ravel()


def unit(lines):
    lines = np.stack(lines)
    return lines / (np.linalg.norm(lines, axis=1, keepdims=True) + 1e-300)


def nearest(lines):
    """Of each line the other one with the largest cosine."""
    cosines = lines @ lines.T
    np.fill_diagonal(cosines, -2)
    return cosines.argmax(1)


def of(model, got, expected):
    """Of lines: mean and least cosine of the calls, and how often the nearest other call (of an encoder), or the largest element, is the same one."""
    got, want = unit(got), unit(expected)
    cosines = (got * want).sum(1)
    pick = nearest if model in cases.ENCODERS else lambda lines: lines.argmax(1)
    return dict(cosine=float(cosines.mean()), worst=float(cosines.min()), same=float((pick(got) == pick(want)).mean()),
                calls=len(got))
