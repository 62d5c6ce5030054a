"""Writes FOLDER/MODEL.onnx for one image or sequence, and FOLDER/MODEL.calls/000.npz, … to calibrate with. Runs in the torch environment.

    python make.py FOLDER MODEL
"""
import logging
import os
import shutil
import sys
import warnings

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import numpy as np
import torch

import networks

torch.cuda.is_current_stream_capturing = lambda: False  # of a driver that need not be there
warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
CALLS, INPUT = 16, "input"


def main(folder, name):
    torch.set_num_threads(1)
    net, example = networks.build(name)
    random = torch.Generator().manual_seed(7)
    program = torch.onnx.export(net, (example(random),), dynamo=True, opset_version=18, input_names=[INPUT], output_names=["answer"],
                                verbose=False, external_data=False)
    calls = os.path.join(folder, name + ".calls")
    shutil.rmtree(calls, ignore_errors=True)
    os.makedirs(calls)
    for i in range(CALLS):
        np.savez(os.path.join(calls, f"{i:03}.npz"), **{INPUT: example(random).numpy()})
    program.save(os.path.join(folder, name + ".onnx"))


if __name__ == "__main__":
    main(*sys.argv[1:])
