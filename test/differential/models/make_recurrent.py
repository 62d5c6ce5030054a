"""Recurrences over a sequence."""
from makers import maker
from values import F32

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


@maker("RNN", "GRU", "LSTM")
def recurrent(g, op):
    direction = g.random.choice(["forward", "reverse", "bidirectional"])
    ways, gates, hidden, width = 1 + (direction == "bidirectional"), GATES[op], g.random.choice([2, 4, 5]), g.random.choice([3, 4])
    steps, batch = g.random.choice([1, 4, *g.symbols]), g.random.choice([1, 2, *g.symbols])
    x = g.operand((F32,), dims=[steps, batch, width], suits=lambda value: value.most() <= 8)
    inputs = [x, g.weight(F32, [ways, gates * hidden, width], rough=True),
              g.weight(F32, [ways, gates * hidden, hidden], rough=True)]
    if g.random.random() < 0.6:
        inputs.append(g.weight(F32, [ways, 2 * gates * hidden], rough=True))
        if g.random.random() < 0.5:
            inputs += [None, g.input(F32, [ways, batch, hidden])]
            if op == "LSTM":
                inputs.append(g.input(F32, [ways, batch, hidden]))
    attributes = {"linear_before_reset": g.random.randint(0, 1)} if op == "GRU" else {}
    g.node(op, inputs, outputs=3 if op == "LSTM" else 2, hidden_size=hidden, direction=direction, **attributes)
