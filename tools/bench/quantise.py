"""Writes FOLDER/MODEL.PRECISION.onnx with ONNX Runtime's quantiser; every engine runs this file. Runs in its environment.

    python quantise.py FOLDER MODEL int8|int4
int8: encoders and CNNs are calibrated (QDQ, weights per channel); decoders quantise activations when they run (MatMulInteger).
int4: weights of products in blocks of 32 (MatMulNBits), activations of products may be rounded to bytes (accuracy level 4).
"""
import os
import sys

import numpy as np
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

import cases


class Samples(CalibrationDataReader):
    """Inputs like those that are measured, but not the same."""

    def __init__(self, model):
        random = np.random.default_rng(99)
        make = (lambda: cases.tokens(random, 1, int(random.integers(16, 129)))) if "b1s128" in cases.CASES[model] else \
            (lambda: cases.image(random, 1))
        self.feeds = iter([make() for _ in range(16)])

    def get_next(self):
        return next(self.feeds, None)


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
    if model in cases.DECODERS:
        return quantize_dynamic(source, target, weight_type=QuantType.QInt8, per_channel=True, op_types_to_quantize=["MatMul"])
    prepared = target + ".prepared"
    quant_pre_process(source, prepared, skip_symbolic_shape=True)
    only = ["MatMul"] if "b1s128" in cases.CASES[model] else None
    quantize_static(prepared, target, Samples(model), quant_format=QuantFormat.QDQ, per_channel=True, op_types_to_quantize=only,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
    os.remove(prepared)


if __name__ == "__main__":
    main(*sys.argv[1:])
