"""MiniLM with its real weights (WEFT_BENCH_MINILM names the folder) and BERT-base with random ones."""
import os

from torch import nn


class Hidden(nn.Module):
    """A BERT of transformers reduced to (ids, mask, types) -> last_hidden_state."""

    def __init__(self, bert):
        super().__init__()
        self.bert = bert

    def forward(self, input_ids, attention_mask, token_type_ids):
        return self.bert(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids,
                         return_dict=False)[0]


def minilm():
    from transformers import BertModel
    folder = os.environ["WEFT_BENCH_MINILM"]
    return Hidden(BertModel.from_pretrained(folder, add_pooling_layer=False, attn_implementation="sdpa"))


def bert_base():
    from transformers import BertConfig, BertModel
    return Hidden(BertModel(BertConfig(attn_implementation="sdpa"), add_pooling_layer=False))


MAKERS = {"minilm": minilm, "bert_base": bert_base}
