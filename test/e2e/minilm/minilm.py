"""What the tests of MiniLM share: the reference module, the shapes, and skipping loudly.

    model = minilm.sentence_model(directory)            # float64, mean pooling, normalised
    for batch, seq in minilm.SHAPES: ids, mask = minilm.inputs(batch, seq)
"""

import os
import sys

SHAPES = ((1, 1), (1, 16), (3, 37), (8, 128), (32, 64), (2, 512))
OUTPUTS = ("last_hidden_state", "sentence_embedding")
SKIPPED = 77  # SKIP_RETURN_CODE in CMakeLists.txt


def skip(why):
    print(f"SKIPPED: {why}", flush=True)
    sys.exit(SKIPPED)


def directory():
    """The checkpoint's folder."""
    path = os.environ.get("WEFT_TEST_MODEL", "")
    if not os.path.isfile(os.path.join(path, "model.safetensors")):
        skip("WEFT_TEST_MODEL does not name the folder of all-MiniLM-L6-v2; tools/fetch-model prints it")
    return path


def inputs(batch, seq):
    """Token numbers and a ragged mask: the first row is full, the last has one token, others lie between."""
    import numpy

    random = numpy.random.default_rng(1000 * batch + seq)
    lengths = random.integers(1, seq + 1, size=batch)
    lengths[-1] = 1
    lengths[0] = seq
    mask = (numpy.arange(seq)[None, :] < lengths[:, None]).astype(numpy.int64)
    ids = random.integers(1, 30522, size=(batch, seq)) * mask
    return ids.astype(numpy.int64), mask


def sentence_model(path, dtype=None, attention="eager"):
    """BertModel with the mean of the unmasked states, normalised; in float64 unless said otherwise."""
    import torch
    import transformers

    # transformers asks this of a driver, and in an environment of tools/test-env there is none to answer.
    torch.cuda.is_current_stream_capturing = lambda: False
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()

    class Sentence(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bert = transformers.BertModel.from_pretrained(
                path, add_pooling_layer=False, attn_implementation=attention, dtype=dtype or torch.float64)

        def forward(self, input_ids, attention_mask):
            hidden = self.bert(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            kept = attention_mask.unsqueeze(-1).to(hidden.dtype)
            mean = (hidden * kept).sum(1) / kept.sum(1).clamp(min=1e-9)
            return hidden, torch.nn.functional.normalize(mean, p=2, dim=1)

    return Sentence().eval()
