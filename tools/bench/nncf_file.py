"""Writes FOLDER/MODEL.KIND.xml with NNCF's quantiser for OpenVINO. Runs in the environment of both.

    python nncf_file.py FOLDER MODEL nncf|nncf_transformer|nncf_int4
Calibrated with all of FOLDER/MODEL.calls. The second form tells NNCF that the model is a transformer, as its documentation advises for such; the third
rounds weights alone, all of them, to 4 bits with zero points in blocks of 32. (Scales that it estimates with calls gave a trained decoder answers without sense.)
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
    target = os.path.join(folder, f"{model}.{kind}.xml")
    if kind == "nncf_int4":
        quantised = nncf.compress_weights(program, mode=nncf.CompressWeightsMode.INT4_ASYM, ratio=1.0, group_size=32, all_layers=True)
        return openvino.save_model(quantised, target, compress_to_fp16=False)
    preset = nncf.ModelType.TRANSFORMER if kind == "nncf_transformer" else None
    quantised = nncf.quantize(program, nncf.Dataset(data), subset_size=len(data), model_type=preset)
    openvino.save_model(quantised, target, compress_to_fp16=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
