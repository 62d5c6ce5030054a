"""Writes FOLDER/MODEL.nncf.xml, or FOLDER/MODEL.nncf_transformer.xml, with NNCF's quantiser for OpenVINO. Runs in the environment of both.

    python nncf_file.py FOLDER MODEL nncf|nncf_transformer
Calibrated with all of FOLDER/MODEL.calls. The second form tells NNCF that the model is a transformer, as its documentation advises for such.
"""
import glob
import os
import sys

import nncf
import numpy as np
import openvino


def calls(folder):
    for path in sorted(glob.glob(os.path.join(folder, "*.npz"))):
        with np.load(path) as file:
            yield {name: file[name] for name in file.files}


def main(folder, model, kind):
    program = openvino.Core().read_model(os.path.join(folder, model + ".onnx"))
    data = list(calls(os.path.join(folder, model + ".calls")))
    preset = nncf.ModelType.TRANSFORMER if kind == "nncf_transformer" else None
    quantised = nncf.quantize(program, nncf.Dataset(data), subset_size=len(data), model_type=preset)
    openvino.save_model(quantised, os.path.join(folder, f"{model}.{kind}.xml"), compress_to_fp16=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
