"""One engine with one file of the decoder, in a process of its own: turns.py asks.

    python judge.py ENGINE KIND WORK
score: the divergence from f32 of the tokens that follow, over the sequences that nothing was calibrated with; time: one token behind walk.PAST.

    python judge.py calls WORK
Writes the calls to calibrate with, WORK/models/llama160m.calls, and what f32 answers to the other sequences.
"""
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import numpy as np

import cases
import engines
import turns
import walk

KEPT = (1, walk.STEPS // 2, walk.STEPS)  # steps of a sequence that are calls to calibrate with


def answers_of(work):
    return os.path.join(work, "models", walk.MODEL + ".walked.npy")


class Judge:
    def __init__(self, name, kind, work):
        self.engine = engines.load(name)(work, walk.MODEL, kind, 1)
        self.is_weft, self.wanted = engines.base(name) == "weft", np.load(answers_of(work))
        self.call = self.engine.bind(cases.inputs(walk.MODEL, f"decode{walk.PAST}")[0])

    def logits(self, sequence):
        return walk.logits(self.engine.model, sequence) if self.is_weft else self.engine.walk(sequence, walk.PAST)

    def score(self):
        return walk.divergence(self.wanted, np.stack([self.logits(sequence) for sequence in walk.sequences()[1]]))


def write_calls(work):
    model, (calibrated, judged) = engines.load("weft")(work, walk.MODEL, "walked", 1).model, walk.sequences()
    folder = os.path.join(work, "models", walk.MODEL + ".calls")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for i, sequence in enumerate(calibrated):
        for step, (feed, _) in enumerate(walk.calls(model, sequence)):
            if step in KEPT or (step == 0 and i < 6):
                np.savez(os.path.join(folder, f"{i:03}_{step:02}.npz"), **feed)
    np.save(answers_of(work), np.stack([walk.logits(model, sequence) for sequence in judged]))


if __name__ == "__main__":
    if sys.argv[1] == "calls":
        write_calls(sys.argv[2])
    else:
        turns.serve(lambda: Judge(*sys.argv[1:]))
