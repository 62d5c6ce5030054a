"""Writes FOLDER/MODEL.PRECISION.onnx with ONNX Runtime's quantiser; every engine runs this file. Runs in its environment.

    python quantise.py FOLDER MODEL int8|int8_entropy|int8_percentile|dynamic|int4
int8: encoders and CNNs are calibrated with FOLDER/MODEL.calls (QDQ, weights per channel); decoders quantise activations when they run (MatMulInteger).
int8_entropy, int8_percentile: the same with the tool's other ways to find ranges.
dynamic: every model does so.
int4: weights of products in blocks of 32 (MatMulNBits), activations of products may be rounded to bytes (accuracy level 4).
"""
import glob
import os
import sys

import numpy as np
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_dynamic, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

import cases

METHODS = {"int8": CalibrationMethod.MinMax, "int8_entropy": CalibrationMethod.Entropy, "int8_percentile": CalibrationMethod.Percentile}


class Samples(CalibrationDataReader):
    """Inputs like those that are measured, but not the same; real text, since random tokens are far from what a model is made for."""

    def __init__(self, folder):
        self.paths = iter(sorted(glob.glob(os.path.join(folder, "*.npz"))))

    def get_next(self):
        if path := next(self.paths, None):
            with np.load(path) as file:
                return dict(file)
        return None


def four_bits(source, target):
    import onnx
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
    quantiser = MatMulNBitsQuantizer(onnx.load(source), block_size=32, is_symmetric=True, accuracy_level=4)
    quantiser.process()
    quantiser.model.save_model_to_file(target, False)


def main(folder, model, precision):
    source, target = (os.path.join(folder, f"{model}{suffix}.onnx") for suffix in ("", "." + precision))
    if precision == "int4":
        return four_bits(source, target)
    if model in cases.DECODERS or precision == "dynamic":
        return quantize_dynamic(source, target, weight_type=QuantType.QInt8, per_channel=True, op_types_to_quantize=["MatMul"])
    prepared = target + ".prepared"
    quant_pre_process(source, prepared, skip_symbolic_shape=True)
    is_encoder = model in cases.ENCODERS
    quantize_static(prepared, target, Samples(os.path.join(folder, model + ".calls")), quant_format=QuantFormat.QDQ, per_channel=True,
                    op_types_to_quantize=["MatMul"] if is_encoder else None, activation_type=QuantType.QUInt8,
                    weight_type=QuantType.QInt8, calibrate_method=METHODS[precision])
    os.remove(prepared)


if __name__ == "__main__":
    main(*sys.argv[1:])
