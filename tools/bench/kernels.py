"""Single products of f32 matrices: `weft bench --kernels` against the peers from PyPI, one thread, ratio per size.

    python3 tools/bench/kernels.py --weft build/release/bin/weft [--sizes 128x768x3072,1x768x768] [--rounds 5] [--json FILE]

A peer multiplies with a constant weight that it has packed as it likes: torch through MKL's packed linear and through oneDNN's,
ONNX Runtime as a MatMul with an initializer. Each runs in the Python environment of tools/bench that has it (environment.py), in
turns with Weft; a result that differs from float64 voids the cell. A ratio is peer / Weft: above 1 means that Weft is faster.
"""
import argparse
import json
import math
import statistics
import subprocess
import sys
import time

SIZES = "128x384x384,128x384x1536,128x1536x384,128x768x768,128x768x3072,128x3072x768,512x384x384,512x384x1536,512x1536x384," \
        "512x768x768,512x768x3072,512x3072x768,1024x768x3072,1024x1024x1024,2048x2048x2048,128x4096x4096,1x384x384,1x768x768,1x768x3072," \
        "1x3072x768,1x4096x4096"
PEERS = {"mkl": "torch", "onednn": "torch", "onnxruntime": "onnxruntime"}
PIECE_SECONDS, PIECES = 4e-3, 3  # a figure is the best of some pieces, as in `weft bench --kernels`


def torch_linear(kind, x, w):
    """A call of torch's linear whose weight is packed beforehand."""
    import torch
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    x, wt = torch.from_numpy(x), torch.from_numpy(w).t().contiguous()
    if kind == "mkl":
        packed = torch.ops.mkl._mkl_reorder_linear_weight(wt, x.shape[0])
        return lambda: torch.ops.mkl._mkl_linear(x, packed, wt, None, x.shape[0]).numpy()
    packed = torch.ops.mkldnn._reorder_linear_weight(wt, x.shape[0])
    return lambda: torch.ops.mkldnn._linear_pointwise(x, packed, None, "none", [], "").numpy()


def onnxruntime_matmul(x, w):
    """A session of one MatMul, with input and output bound."""
    import onnx
    import onnxruntime as ort
    from onnx import TensorProto, helper, numpy_helper
    info = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "product", [info("x", list(x.shape))],
                              [info("y", [x.shape[0], w.shape[1]])], [numpy_helper.from_array(w, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    binding.bind_cpu_input("x", x)
    binding.bind_output("y", "cpu")

    def call():
        session.run_with_iobinding(binding)
        return binding

    return call


def result(made):
    return made.copy_outputs_to_cpu()[0] if hasattr(made, "copy_outputs_to_cpu") else made


def seconds_of(call, times):
    begin = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - begin) / times


def serve(peer):
    """Answers lines `MxKxN` with the seconds of one call, or with an error. Calls are kept for the next round."""
    import numpy as np
    calls = {}
    for line in sys.stdin:
        size = line.strip()
        try:
            if size not in calls:
                m, k, n = map(int, size.split("x"))
                numbers = np.random.default_rng(1)
                x, w = (numbers.uniform(-1, 1, shape).astype(np.float32) for shape in ((m, k), (k, n)))
                call = onnxruntime_matmul(x, w) if peer == "onnxruntime" else torch_linear(peer, x, w)
                rows = range(0, m, max(1, m // 4))
                wrong = np.abs(result(call())[rows] - x[rows].astype(np.float64) @ w.astype(np.float64)).max()
                if not wrong <= 1e-5 * k:
                    raise ValueError(f"differs by {wrong:.2g}")
                calls[size] = call, max(1, int(PIECE_SECONDS / seconds_of(call, 1)))
            call, times = calls[size]
            print(json.dumps({"seconds": min(seconds_of(call, times) for _ in range(PIECES))}), flush=True)
        except Exception as error:  # of any library
            print(json.dumps({"error": str(error).splitlines()[0][:100]}), flush=True)


def ask(process, size):
    process.stdin.write(size + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline() or '{"error": "the process ended"}')


def measure(weft, sizes, peers, rounds):
    """{size: {name: [seconds of each round]}}, and {size: share of the peak, by round}."""
    import environment
    workers = {peer: subprocess.Popen([environment.python(PEERS[peer]), __file__, "--serve", peer], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for peer in peers}
    seconds, shares = {size: {} for size in sizes}, {size: [] for size in sizes}
    for _ in range(rounds):
        done = subprocess.run([weft, "bench", "--kernels", ",".join(sizes), "--rounds", "7", "--json", "-q"], stdout=subprocess.PIPE,
                              check=True)
        for row in json.loads(done.stdout)["rows"]:
            size = f"{row['m']}x{row['k']}x{row['n']}"
            seconds[size].setdefault("weft", []).append(row["median_seconds"])
            shares[size].append(row["share"])
        for size in sizes:
            for peer, worker in workers.items():
                answer = ask(worker, size)
                seconds[size].setdefault(peer, []).append(answer.get("seconds", math.nan))
                if "error" in answer:
                    print(f"{peer} {size}: {answer['error']}", file=sys.stderr)
    for worker in workers.values():
        worker.stdin.close()
        worker.wait()
    return seconds, shares


def rows_of(seconds, shares):
    """One dictionary per size: GFLOP/s of Weft, its share of the peak, and the ratio of every peer."""
    rows = []
    for size, times in seconds.items():
        m, k, n = map(int, size.split("x"))
        own = statistics.median(times["weft"])
        ratios = {peer: statistics.median(list_) / own for peer, list_ in times.items() if peer != "weft"}
        rows.append({"size": size, "gflops": 2e-9 * m * k * n / own, "share": statistics.median(shares[size]), "ratios": ratios})
    return rows


def mean(values):
    values = [value for value in values if value == value]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def table(rows):
    peers = list(rows[0]["ratios"])
    lines = ["| m x k x n | GFLOP/s | of peak | " + " | ".join(peers) + " |", "|--:" * (3 + len(peers)) + "|"]
    for row in rows:
        lines.append(f"| {row['size']} | {row['gflops']:.1f} | {100 * row['share']:.0f} % | " +
                     " | ".join(f"{row['ratios'][peer]:.2f}" for peer in peers) + " |")
    lines.append("| geometric mean | | | " + " | ".join(f"{mean([row['ratios'][peer] for row in rows]):.2f}" for peer in peers) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weft")
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json")
    parser.add_argument("--serve", choices=PEERS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(options.serve)
    if not options.weft:
        parser.error("--weft is needed: build/release/bin/weft")
    rows = rows_of(*measure(options.weft, options.sizes.split(","), [peer for peer in options.peers.split(",") if peer],
                            options.rounds))
    print(table(rows))
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
