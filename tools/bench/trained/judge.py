"""One engine with one file of a trained model, in a process of its own. It answers the questions of compare.py, one line of JSON each.

    python judge.py ENGINE MODEL KIND WORK
    > {"op": "score"}             what the answers to MODEL.judged.npz are worth: percent right, bits per byte or decibels
    > {"op": "time", "ms": 60}    milliseconds of processor time of one call
"""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import numpy as np

import accuracy
import engines
import turns


def right_share(answers):
    hits = [(answer.argmax(-1) == right).mean() for answer, right in answers]
    return 100 * float(np.mean(hits))


def bits_per_byte(answers):
    losses = []
    for answer, right in answers:
        answer = answer.astype(np.float64)
        answer -= answer.max(-1, keepdims=True)
        chances = answer - np.log(np.exp(answer).sum(-1, keepdims=True))
        losses.append(-np.take_along_axis(chances, right[..., None], -1).mean() / np.log(2))
    return float(np.mean(losses))


def decibels(answers):
    errors = [((np.clip(answer, 0, 1) - right) ** 2).mean() for answer, right in answers]
    return float(-10 * np.log10(np.mean(errors)))


SCORES = {"digits": right_share, "bytes": bits_per_byte, "photos": decibels}


class Judge:
    def __init__(self, name, model, kind, work):
        self.engine = engines.load(name)(work, model, kind, 1)
        self.model, self.calls = model, list(accuracy.judged(os.path.join(work, "models", model + ".judged.npz"), "right"))
        self.call = self.engine.bind(self.calls[0][0])

    def score(self):
        answers = ((self.engine.first(self.engine.bind(feed)()), right) for feed, right in self.calls)
        return SCORES[self.model](answers)


if __name__ == "__main__":
    turns.serve(lambda: Judge(*sys.argv[1:]))
