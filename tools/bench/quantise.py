"""Writes FOLDER/MODEL.PRECISION.onnx with ONNX Runtime's quantiser; every engine runs this file. Runs in its environment.

    python quantise.py FOLDER MODEL int8|int4
int8: encoders (with FOLDER/sentences.npz) and CNNs are calibrated (QDQ, weights per channel); decoders quantise activations when they run (MatMulInteger).
int4: weights of products in blocks of 32 (MatMulNBits), activations of products may be rounded to bytes (accuracy level 4).
"""
import contextlib
import os
import sys

import numpy as np
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

import cases


def sentence(ids):
    ids = ids[ids > 0][None]
    return {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}


class Samples(CalibrationDataReader):
    """Inputs like those that are measured, but not the same; real text, since random tokens are far from what a model is made for."""

    def __init__(self, folder, is_encoder):
        random = np.random.default_rng(99)
        with np.load(os.path.join(folder, "sentences.npz")) if is_encoder else contextlib.nullcontext() as text:
            feeds = [sentence(ids) for ids in text["ids"]] if is_encoder else [cases.image(random, 1) for _ in range(16)]
        self.feeds = iter(feeds)

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
    is_encoder = model in cases.ENCODERS
    quantize_static(prepared, target, Samples(folder, is_encoder), quant_format=QuantFormat.QDQ, per_channel=True,
                    op_types_to_quantize=["MatMul"] if is_encoder else None, activation_type=QuantType.QUInt8,
                    weight_type=QuantType.QInt8)
    os.remove(prepared)


if __name__ == "__main__":
    main(*sys.argv[1:])
