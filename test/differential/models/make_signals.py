"""Windows and transforms of signals."""
import numpy as np

from makers import maker
from values import F32, I64


@maker("HannWindow", "HammingWindow", "BlackmanWindow")
def window(g, op):
    size = g.constant(np.array(g.random.choice([4, 7, 10]), I64))
    made, = g.node(op, [size], periodic=g.random.randint(0, 1))
    g.node("Mul", [made, g.input(F32, [*g.some_dims(1), int(size.native[0])])])


@maker("DFT")
def dft(g, op):
    x = g.input(F32, [g.random.choice([1, *g.symbols]), g.random.choice([4, 5, 8, 37, 60]), g.random.choice([1, 2])])
    axis = {"axis": 1} if g.opset < 20 else {}
    inputs = [x] if g.opset < 20 else [x, None, g.constant(np.array(1, I64))]
    one = {"onesided": 1} if x.static(2) == 1 and g.random.random() < 0.5 else {"inverse": g.random.randint(0, 1)}
    g.node(op, inputs, **axis, **one)


@maker("STFT")
def stft(g, op):
    frame = g.random.choice([8, 36])
    x = g.input(F32, [g.random.choice([1, "n"]), 2 * frame, 1])
    g.node(op, [x, g.constant(np.array(4, I64)), g.weight(F32, [frame])], onesided=1)
