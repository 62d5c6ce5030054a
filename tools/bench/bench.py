"""MiniLM in one artifact against ONNX Runtime on the exported model: interleaved in one process, warm, ratios of medians.

Every result is compared with ONNX Runtime's before it is timed; a wrong number voids the row. A ratio above 1 means Weft is faster."""
import argparse
import statistics
import sys
import time

import numpy as np
import onnxruntime

from weft_runtime import Model


def session(path, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def timed(call, seconds):
    """Mean time of one call over about `seconds`."""
    count, begin = 0, time.perf_counter()
    while True:
        call()
        count += 1
        elapsed = time.perf_counter() - begin
        if elapsed >= seconds:
            return elapsed / count


def row(weft, peer, batch, seq, rounds, seconds):
    random = np.random.default_rng(batch * 1000 + seq)
    ids = random.integers(0, 30522, (batch, seq), dtype=np.int64)
    mask = np.ones((batch, seq), np.int64)
    outputs = [np.empty((batch, seq, 384), np.float32), np.empty((batch, 384), np.float32)]
    ours = weft.bind([ids, mask], outputs)
    theirs = lambda: peer.run(None, {"input_ids": ids, "attention_mask": mask})
    worst = max(float(np.abs(a - b).max()) for a, b in zip(ours(), theirs()))
    times = ([], [])
    for _ in range(rounds):
        for each, call in zip(times, (ours, theirs)):
            each.append(timed(call, seconds))
    a, b = map(statistics.median, times)
    spread = max((max(t) - min(t)) / statistics.median(t) for t in times)
    verdict = f"{b / a:5.2f}" if worst < 1e-4 else "wrong"
    print(f"| {batch:5} | {seq:4} | {a * 1e3:8.2f} ms | {b * 1e3:8.2f} ms | {verdict} | {spread * 100:5.1f} % | {worst:.1e} |")
    return worst < 1e-4


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", required=True)
    parser.add_argument("--artifact", required=True)
    parser.add_argument("--onnx", required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.1, help="of each engine per round")
    parser.add_argument("--sizes", default="1x16,1x128,8x128", help="batch x seq, separated by commas")
    options = parser.parse_args()
    weft, peer = Model(options.library, options.artifact, options.threads), session(options.onnx, options.threads)
    print(f"onnxruntime {onnxruntime.__version__}, {options.threads} thread(s); ratio = onnxruntime / weft")
    print("| batch |  seq |        weft | onnxruntime | ratio |  spread | difference |")
    print("|------:|-----:|------------:|------------:|------:|--------:|-----------:|")
    right = [row(weft, peer, *map(int, size.split("x")), options.rounds, options.seconds) for size in options.sizes.split(",")]
    return 0 if all(right) else 3


if __name__ == "__main__":
    sys.exit(main())
