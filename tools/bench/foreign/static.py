"""Writes FOLDER/MODEL.FORM.onnx with ONNX Runtime's static quantiser, calibrated with FOLDER/MODEL.calls. Runs in its environment.

    python static.py FOLDER MODEL qdq|qoperator|unsigned
qdq, qoperator: signed weights, per channel. unsigned: QDQ with unsigned weights, which the tool's own values are per tensor.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from onnxruntime.quantization import QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from quantise import Samples

FORMS = {
    "qdq": dict(quant_format=QuantFormat.QDQ, weight_type=QuantType.QInt8, per_channel=True),
    "qoperator": dict(quant_format=QuantFormat.QOperator, weight_type=QuantType.QInt8, per_channel=True),
    "unsigned": dict(quant_format=QuantFormat.QDQ, weight_type=QuantType.QUInt8),
}


def main(folder, model, form):
    source, target = (os.path.join(folder, f"{model}{suffix}.onnx") for suffix in ("", "." + form))
    prepared = target + ".prepared"
    quant_pre_process(source, prepared, skip_symbolic_shape=True)
    quantize_static(prepared, target, Samples(os.path.join(folder, model + ".calls")), activation_type=QuantType.QUInt8, **FORMS[form])
    os.remove(prepared)


if __name__ == "__main__":
    main(*sys.argv[1:])
