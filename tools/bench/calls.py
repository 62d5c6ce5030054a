"""Writes FOLDER/MODEL.calls/000.npz, …, which tools that quantise are calibrated with, and FOLDER/MODEL.judged.npz: other calls, with the
answers of the model in f32 by ONNX Runtime. Runs in its environment.

    python calls.py FOLDER MODEL
Encoders get sentences (FOLDER/sentences.npz), others inputs as they are timed with. `judged` has 0000/NAME for each input and 0000/answer.
"""
import os
import shutil
import sys

import numpy as np
import onnxruntime

import cases

CALIBRATED = 128  # sentences; the others are judged
IMAGES, JUDGED_IMAGES = 32, 64


def sentence(ids):
    ids = ids[ids > 0][None]
    return {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}


def feeds(folder, model):
    """Those to calibrate with, and those to judge by."""
    if model in cases.ENCODERS:
        with np.load(os.path.join(folder, "sentences.npz")) as file:
            all_feeds = [sentence(ids) for ids in file["ids"]]
        return all_feeds[:CALIBRATED], all_feeds[CALIBRATED:]
    random = np.random.default_rng(99)
    images = [cases.image(random, 1) for _ in range(IMAGES + JUDGED_IMAGES)]
    return images[:IMAGES], images[IMAGES:]


def main(folder, model):
    calibrated, judged = feeds(folder, model)
    calls = os.path.join(folder, model + ".calls")
    shutil.rmtree(calls, ignore_errors=True)
    os.makedirs(calls)
    for i, feed in enumerate(calibrated):
        np.savez(os.path.join(calls, f"{i:03}.npz"), **feed)
    session = onnxruntime.InferenceSession(os.path.join(folder, model + ".onnx"), providers=["CPUExecutionProvider"])
    arrays = {}
    for i, feed in enumerate(judged):
        arrays.update({f"{i:04}/{name}": array for name, array in feed.items()})
        arrays[f"{i:04}/answer"] = session.run(None, feed)[0]
    np.savez(os.path.join(folder, model + ".judged.npz"), **arrays)


if __name__ == "__main__":
    main(*sys.argv[1:])
