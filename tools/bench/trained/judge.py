"""One engine with one file of a trained model, in a process of its own. It answers the questions of compare.py, one line of JSON each.

    python judge.py ENGINE MODEL KIND WORK
    > {"op": "score"}             what the answers to MODEL.judged.npz are worth: percent right, bits per byte or decibels
    > {"op": "time", "ms": 60}    milliseconds of processor time of one call
"""
import json
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import numpy as np

import accuracy
import engines


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
        self.timed = self.engine.bind(self.calls[0][0])

    def score(self):
        answers = ((self.engine.first(self.engine.bind(feed)()), right) for feed, right in self.calls)
        return dict(score=SCORES[self.model](answers))

    def time(self, ms):
        self.timed()
        end, spent = time.process_time() + ms / 1e3, []
        while not spent or time.process_time() < end:
            begin = time.process_time()
            self.timed()
            spent.append((time.process_time() - begin) * 1e3)
        return dict(ms=float(np.median(spent)))


def main(*arguments):
    out = os.dup(1)
    os.dup2(2, 1)  # libraries print; the answers keep the real stdout
    say = lambda answer: os.write(out, (json.dumps(answer) + "\n").encode())
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    try:
        judge = Judge(*arguments)
    except Exception as error:
        return say(dict(failed=engines.why(error)))
    say({})
    for line in sys.stdin:
        question = json.loads(line)
        say(getattr(judge, question.pop("op"))(**question))
    os._exit(0)  # some engines crash in their destructors


if __name__ == "__main__":
    main(*sys.argv[1:])
