#!/usr/bin/env python3
"""Writes inputs and float64 answers of MiniLM for all shapes: reference.py OUT

OUT/BxS-in.npz and OUT/BxS-out.npz, which compare.py reads.
"""

import os
import sys

import minilm


def main(out):
    path = minilm.directory()
    import numpy
    import torch

    os.makedirs(out, exist_ok=True)
    model = minilm.sentence_model(path)
    for batch, seq in minilm.SHAPES:
        ids, mask = minilm.inputs(batch, seq)
        with torch.no_grad():
            answers = model(torch.from_numpy(ids), torch.from_numpy(mask))
        assert all(answer.dtype == torch.float64 for answer in answers)
        assert all(torch.isfinite(answer).all() for answer in answers)
        name = os.path.join(out, f"{batch}x{seq}")
        numpy.savez(name + "-in.npz", input_ids=ids, attention_mask=mask)
        numpy.savez(name + "-out.npz", **{n: a.numpy() for n, a in zip(minilm.OUTPUTS, answers)})
        print(f"{batch}x{seq}: {int(mask.sum())} of {mask.size} tokens kept")


if __name__ == "__main__":
    main(*sys.argv[1:])
