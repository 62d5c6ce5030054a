"""The weights of the Llama as GGUF files for llama.cpp. Runs in the torch environment; `gguf` lies beside it in GGUF_PATH.

    python gguf_file.py FOLDER MODEL      FOLDER/MODEL.PRECISION.gguf: f32, f16, bf16, int8 (Q8_0), int4 (Q4_0)
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.environ["GGUF_PATH"])

import gguf
import numpy as np

import models
from models.decoder import CONFIGURATIONS


def interleaved(w, heads):
    """Rotary halves as pairs, the order of llama.cpp for this architecture."""
    return w.reshape(heads, 2, w.shape[0] // heads // 2, w.shape[1]).swapaxes(1, 2).reshape(w.shape)


def describe(writer, c):
    writer.add_name("llama")
    writer.add_block_count(c["layers"])
    writer.add_context_length(c["positions"])
    writer.add_embedding_length(c["dim"])
    writer.add_feed_forward_length(c["inner"])
    writer.add_head_count(c["heads"])
    writer.add_head_count_kv(c["kv_heads"])
    writer.add_rope_dimension_count(c["dim"] // c["heads"])
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(c["vocabulary"])
    writer.add_tokenizer_model("no_vocab")


def weights(net, c):
    """(GGUF's name, array)"""
    yield from (("token_embd", net.embedding.weight.numpy()), ("output", net.head.weight.numpy()),
                ("output_norm", net.norm.weight.numpy()))
    for i, block in enumerate(net.blocks):
        yield f"blk.{i}.attn_q", interleaved(block.q.weight.numpy(), c["heads"])
        yield f"blk.{i}.attn_k", interleaved(block.k.weight.numpy(), c["kv_heads"])
        for name, module in (("attn_v", block.v), ("attn_output", block.o), ("ffn_gate", block.gate), ("ffn_up", block.up),
                             ("ffn_down", block.down), ("attn_norm", block.norm1), ("ffn_norm", block.norm2)):
            yield f"blk.{i}.{name}", module.weight.numpy()


def main(folder, model):
    net, c, kinds = models.build(model), CONFIGURATIONS[model], gguf.GGMLQuantizationType
    for precision, kind in (("f32", None), ("f16", kinds.F16), ("bf16", kinds.BF16), ("int8", kinds.Q8_0), ("int4", kinds.Q4_0)):
        writer = gguf.GGUFWriter(os.path.join(folder, f"{model}.{precision}.gguf"), "llama")
        describe(writer, c)
        for name, array in weights(net, c):
            array = np.ascontiguousarray(array)
            if array.ndim == 1 or kind is None:
                writer.add_tensor(name + ".weight", array)
            else:
                writer.add_tensor(name + ".weight", gguf.quants.quantize(array, kind), raw_dtype=kind)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
