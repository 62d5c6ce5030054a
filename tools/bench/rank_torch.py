"""PyTorch's tensor parallelism over gloo, a rank of one thread that computes a case as often as its pipe says: `CASE CALLS`.

    python rank_torch.py PIPES MODEL RANK WORLD PORT
"""
import os
import sys
import time

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

import cases
import models
from models.make import arguments

# The pairs of an encoder of transformers: what is split by outputs, and what sums behind it.
PAIRS = {"attention.self.query": ColwiseParallel, "attention.self.key": ColwiseParallel, "attention.self.value": ColwiseParallel,
         "attention.output.dense": RowwiseParallel, "intermediate.dense": ColwiseParallel, "output.dense": RowwiseParallel}


def build(name, world):
    net = models.build(name)
    mesh = init_device_mesh("cpu", (world,))
    for layer in net.bert.encoder.layer:
        parallelize_module(layer, mesh, {path: style() for path, style in PAIRS.items()})
    return net


def main(pipes, name, rank, world, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=int(rank), world_size=int(world))
    net = build(name, int(world))
    asked = open(f"{pipes}.{rank}")  # before the answers, which nobody reads until all ranks listen
    answer = open(pipes + ".answer", "w") if rank == "0" else None
    for line in asked:
        case, calls = line.split()
        values = arguments(name, cases.inputs(name, case)[0])
        with torch.inference_mode():
            result = net(*values)
            begin = time.perf_counter()
            for _ in range(int(calls)):
                result = net(*values)
            seconds = (time.perf_counter() - begin) / int(calls)
        reference = cases.references(os.path.join(os.environ["WEFT_BENCH_MODELS"]), name, case)[0]
        right = cases.judge(result.float().numpy(), reference, name, "f32")["right"]
        if answer:
            print(f"{seconds if right else -1:.9g}", file=answer, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
