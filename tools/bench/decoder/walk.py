"""Tokens by chance that a decoder reads: PAST of them at once, then STEPS one by one, each with the caches of the calls before.

    for feed, answer in walk.calls(model, sequence): …        a Model of weft_runtime; what it is given and gives
    walk.divergence(logits, other)                            mean KL of the next tokens' distributions
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import numpy as np

import cases

MODEL, PAST, STEPS = "llama160m", 128, 8
CALIBRATED, JUDGED = 16, 12  # sequences


def sequences():
    """Those to calibrate with, and others."""
    tokens = np.random.default_rng(5).integers(0, cases.DECODERS[MODEL][3], (CALIBRATED + JUDGED, PAST + STEPS))
    return tokens[:CALIBRATED], tokens[CALIBRATED:]


def calls(model, sequence):
    layers, heads, size, _ = cases.DECODERS[MODEL]
    names = [f"{kind}_{i}" for i in range(layers) for kind in ("key", "value")]
    feed = {"past_" + name: np.zeros((1, heads, 0, size), np.float32) for name in names}
    feed["input_ids"] = sequence[None, :PAST]
    for step in range(STEPS + 1):
        inputs = [np.ascontiguousarray(feed[name]) for name in model.inputs]
        answer = dict(zip(model.outputs, model.bind(inputs, model.allocate(inputs))()))
        yield feed, answer
        feed = {"past_" + name: answer["present_" + name] for name in names}
        feed["input_ids"] = sequence[None, PAST + step:PAST + step + 1]


def logits(model, sequence):
    """Of each step with one token."""
    return np.stack([answer["logits"][0, -1] for _, answer in calls(model, sequence)][1:])


def divergence(wanted, got):
    def logarithms(numbers):
        numbers = numbers.astype(np.float64) - numbers.max(-1, keepdims=True)
        return numbers - np.log(np.exp(numbers).sum(-1, keepdims=True))
    a, b = logarithms(wanted), logarithms(got)
    return float((np.exp(a) * (a - b)).sum(-1).mean())
