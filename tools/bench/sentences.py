"""Writes FILE.npz with English sentences as tokens of a checkpoint, one per row, padded with 0. Runs in the torch environment.

    python sentences.py CHECKPOINT FILE.npz [COUNT]
The sentences are what Python's standard library says of itself: real text, which ranges of activations are found with.
"""
import importlib
import inspect
import os
import sys
import warnings

import numpy as np
from tokenizers import Tokenizer

COUNT, MOST_TOKENS, FEWEST_WORDS = 128, 128, 6


def documented(module):
    for _, member in sorted(vars(module).items()):
        if inspect.isroutine(member) or inspect.isclass(member):
            yield inspect.getdoc(member) or ""


def sentences(count):
    """The first paragraph of each, in an order of chance that is always the same."""
    found = {}
    for name in ("argparse", "ast", "asyncio", "calendar", "collections", "csv", "datetime", "decimal", "difflib", "email", "fractions",
                 "functools", "heapq", "inspect", "itertools", "json", "logging", "os", "pathlib", "random", "re", "shutil", "socket",
                 "statistics", "string", "subprocess", "tempfile", "textwrap", "threading", "typing", "unittest", "urllib.parse", "zipfile"):
        for text in documented(importlib.import_module(name)):
            first = " ".join(text.split("\n\n")[0].split())
            if len(first.split()) >= FEWEST_WORDS:
                found[first] = None
    texts = list(found)
    return [texts[i] for i in np.random.default_rng(5).permutation(len(texts))[:count]]


def main(checkpoint, path, count=COUNT):
    warnings.simplefilter("ignore")
    tokeniser = Tokenizer.from_file(os.path.join(checkpoint, "tokenizer.json"))
    tokeniser.no_padding()
    tokeniser.enable_truncation(MOST_TOKENS)
    rows = [encoded.ids for encoded in tokeniser.encode_batch(sentences(int(count)))]
    ids = np.zeros((len(rows), MOST_TOKENS), np.int64)
    for row, tokens in zip(ids, rows):
        row[:len(tokens)] = tokens
    np.savez(path, ids=ids)


if __name__ == "__main__":
    main(*sys.argv[1:])
