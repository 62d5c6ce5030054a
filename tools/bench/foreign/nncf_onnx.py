"""Writes FOLDER/MODEL.FORM.onnx with NNCF's quantiser for ONNX, calibrated with FOLDER/MODEL.calls. Runs in NNCF's environment.

    python nncf_onnx.py FOLDER MODEL nncf_onnx|nncf_onnx_transformer|nncf_onnx_mixed
nncf_onnx: NNCF's own values. nncf_onnx_transformer: it is told that the model is one. nncf_onnx_mixed: activations may be unsymmetric.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import nncf
import onnx

from nncf_file import calls

FORMS = {
    "nncf_onnx": {},
    "nncf_onnx_transformer": dict(model_type=nncf.ModelType.TRANSFORMER),
    "nncf_onnx_mixed": dict(preset=nncf.QuantizationPreset.MIXED),
}


def main(folder, model, form):
    data = list(calls(os.path.join(folder, model + ".calls")))
    program = onnx.load(os.path.join(folder, model + ".onnx"))
    quantised = nncf.quantize(program, nncf.Dataset(data), subset_size=len(data), **FORMS[form])
    onnx.save(quantised, os.path.join(folder, f"{model}.{form}.onnx"))


if __name__ == "__main__":
    main(*sys.argv[1:])
