"""Writes the sentence embedder of a checkpoint directory as ONNX with dynamic batch and length (TorchScript exporter, opset 17)."""
import sys

import torch
from transformers import BertModel


class Embedder(torch.nn.Module):
    def __init__(self, directory):
        super().__init__()
        self.model = BertModel.from_pretrained(directory, attn_implementation="eager").eval()

    def forward(self, input_ids, attention_mask):
        hidden = self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        weight = attention_mask.unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * weight).sum(1) / weight.sum(1).clamp(min=1e-9)
        return hidden, torch.nn.functional.normalize(mean, p=2, dim=1)


directory, path = sys.argv[1:]
ids, mask = torch.randint(0, 30522, (2, 16)), torch.ones(2, 16, dtype=torch.int64)
axes = {0: "batch", 1: "seq"}
with torch.no_grad():
    torch.onnx.export(Embedder(directory), (ids, mask), path, dynamo=False, opset_version=17, input_names=["input_ids", "attention_mask"],
                      output_names=["last_hidden_state", "sentence_embedding"],
                      dynamic_axes={"input_ids": axes, "attention_mask": axes, "last_hidden_state": axes, "sentence_embedding": {0: "batch"}})
