"""The models of over_ranks.py: how each is split, and at which sizes.

A layout is placements, with the mesh for so many ranks. Placements are those of docs/ranks.md: column and row pairs, tokens between them,
a batch for each rank, blocks on a grid, the vocabulary, a cache split by sequence, and channels of images.
"""
import dataclasses

TP = {1: "tp=1", 2: "tp=2", 3: "tp=3", 4: "tp=4", 8: "tp=8"}
BATCH = {1: "dp=1", 2: "dp=2", 3: "dp=3", 4: "dp=2,tp=2", 8: "dp=4,tp=2"}
GRID = {1: "r=1,c=1", 2: "r=1,c=2", 3: "r=3,c=1", 4: "r=2,c=2", 8: "r=2,c=4"}
SEVERAL = 1, 2, 4
TOGETHER = "--fuse-comm", "always"


@dataclasses.dataclass(frozen=True)
class Layout:
    name: str
    meshes: dict
    places: list
    even: tuple = ()  # numbers of ranks whose parts are whole panels: kernels are those of one rank, but for `others`
    others: frozenset = frozenset()
    once: tuple = ()  # numbers of ranks that one file is for, whose weights are no more than one rank's
    words: tuple = ()  # further options of 'weft compile'


@dataclasses.dataclass(frozen=True)
class Model:
    layouts: list
    sizes: list
    most: float = 1e-5  # that results differ from those of one rank, of their scale
    targets: tuple = ()  # whose code does not run everywhere, each with the schedule of its products
    runs_plans: bool = False  # whether plans that are found are compiled and run, too
    pieces: tuple = ()  # sizes of which layouts that compute while rows travel have several pieces


def pairs(columns):
    return [f"attention.[qkv]*.weight*={columns}", f"mlp.[ug]*.weight*={columns}"]


def layers(columns, of_batch=()):
    """Of an encoder's or decoder's layer on `x`. `of_batch`: schedules that ranks with a part of the batch have besides."""
    return [
        Layout("pairs", TP, pairs(columns), (2, 4), once=(2,)),
        # Products of attention, as keys and values are gathered behind queries. Those of weights compute while rows travel.
        Layout("tokens", TP, ["x=[_, tp, _]", *pairs(columns)], (2,), frozenset({"product"}), (2,), TOGETHER),
        Layout("batch", BATCH, ["x=[dp, _, _]", *pairs(columns)], (4,), frozenset(of_batch), (4,)),
        Layout("tokens on a grid", GRID, ["x=[_, r, _]", *pairs(columns.replace("tp", "c"))]),
    ]


COLUMNS, ROWS, FILTERS, CHANNELS = "[_, tp]", "[tp, _]", "[tp, _, _, _]", "[_, tp, _, _]"
IMAGES = [  # whose few filters are stored as panels of many
    Layout("filters", TP, [f"block*.up.weight={FILTERS}"], (2, 4)),
    Layout("all filters", TP, [f"*.weight={FILTERS}"]),
    Layout("channels", TP, [f"block*.mid.weight={CHANNELS}"], (2,)),
    Layout("batch", BATCH, ["x=[dp, _, _, _]", f"block*.up.weight={FILTERS}"], (4,)),
]
GATHERED = Layout("gathered weights", {2: "dp=2"}, ["x=[dp, _, _]", "*.weight*=[_, dp*]"], (2,), once=(2,))  # columns of bytes are panels
GATHERED_FILTERS = Layout("gathered filters", {2: "dp=2"}, ["x=[dp, _, _, _]", "*.weight=[dp*, _, _, _]"])
GPT = [
    Layout("pairs", TP, pairs(COLUMNS), (2, 4), once=SEVERAL),
    Layout("vocabulary", TP, ["embedding.weight=[tp, _]", *pairs(COLUMNS)]),
    Layout("cache by sequence", TP, ["new_*=[_, _, tp, _]"]),
    Layout("batch", BATCH, ["ids=[dp, _]", "past_*=[dp, _, _, _]", *pairs(COLUMNS)], once=SEVERAL),
]
LLAMA = [  # ranks have different numbers of three heads of keys
    Layout("pairs", TP, pairs(COLUMNS), (2, 4), once=SEVERAL),
    Layout("vocabulary", TP, ["embedding.weight=[tp, _]", "head.weight=[_, tp]", "mlp.[ug]*.weight=[_, tp]"], once=SEVERAL),
    Layout("tokens", TP, ["ids=[_, tp]", *pairs(COLUMNS)]),
    Layout("grid", GRID, ["attention.*.weight=[r, c]", "mlp.*.weight=[r, c]"]),
]
VIT = [
    Layout("pairs", TP, pairs(COLUMNS), (2, 4), once=SEVERAL),
    Layout("patches", TP, ["patches.weight=[tp, _, _, _]", "head.weight=[tp, _]"]),
    Layout("tokens", TP, ["/tokens=[_, tp, _]", *pairs(COLUMNS)], once=SEVERAL),
    Layout("batch", BATCH, ["x=[dp, _, _, _]", *pairs(COLUMNS)], once=SEVERAL),
]
MINILM_PAIRS = ["*.attention.self.*.weight=[tp, _]", "*.intermediate.dense.weight=[tp, _]"]
MINILM = [
    Layout("pairs", TP, MINILM_PAIRS, (2, 4), once=SEVERAL),
    Layout("vocabulary", TP, ["*.word_embeddings.weight=[tp, _]"]),
    Layout("tokens", TP, ["input_ids=[_, tp]", "attention_mask=[_, tp]"]),
    Layout("batch", BATCH, ["input_ids=[dp, _]", "attention_mask=[dp, _]", *MINILM_PAIRS], once=SEVERAL),
]
ROWS_OF_TOKENS = [{"n": 2, "s": 7}, {"n": 1, "s": 1}]
PIECES_OF_TOKENS = {"n": 1, "s": 301}, {"n": 3, "s": 67}  # of a part, of a batch

ALL = {
    "minilm": Model(MINILM, [{"batch": 2, "seq": 7}, {"batch": 1, "seq": 1}]),
    "gpt": Model(GPT, [{"n": 2, "s": 3, "p": 5}, {"n": 1, "s": 1, "p": 1}, {"n": 3, "s": 6, "p": 0}]),
    "llama": Model(LLAMA, ROWS_OF_TOKENS),
    "vit": Model(VIT, [{"n": 3}, {"n": 1}]),
    "qdq": Model([*layers(COLUMNS), GATHERED], ROWS_OF_TOKENS, 0, (("x86:v4+vnni", "integer_contraction"),), True, PIECES_OF_TOKENS),
    # The first products read rows of a slice of what all have, which nothing computes before.
    "int4": Model(layers(ROWS, {"product"}), ROWS_OF_TOKENS, targets=(("x86:v4", "contraction"),)),
    "int4_a4": Model(layers(ROWS)[:1], [{"n": 1, "s": 5}], targets=(("x86:v4+vnni", "block_dots"),)),
    "cnn": Model([*IMAGES, GATHERED_FILTERS], [{"n": 2, "h": 17, "w": 12}, {"n": 1, "h": 1, "w": 3}]),
    # A fourth of its channels is too few for tiles of results.
    "cnn_qdq": Model([dataclasses.replace(IMAGES[0], even=(2,))], [{"n": 2, "h": 17, "w": 12}], 1e-6),
}
