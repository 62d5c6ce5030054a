"""torch.distributed's gloo, in the loop of main.c.

    python gloo.py PIPES MOST_BYTES RANK WORLD PORT
"""
import os
import sys
import time

import torch
import torch.distributed as dist


def calls_of(send, receive, world):
    """By kind, with the elements of the whole tensor; all_reduce takes the place of what it sums, so its numbers are zeros."""
    zeros = torch.zeros_like(receive)
    return [lambda n: dist.all_reduce(zeros[:n]),
            lambda n: dist.all_gather_into_tensor(receive[:n], send[:n // world]),
            lambda n: dist.reduce_scatter_tensor(receive[:n // world], send[:n])]


def main(pipes, most, rank, world, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=int(rank), world_size=int(world))
    send, receive = (torch.ones(int(most) // 4) for _ in range(2))
    calls = calls_of(send, receive, int(world))
    asked = open(f"{pipes}.{rank}")  # before the answers, which nobody reads until all ranks listen
    answer = open(pipes + ".answer", "w") if rank == "0" else None
    for line in asked:
        kind, size, count = map(int, line.split())
        seconds = -1.0
        try:
            calls[kind](size // 4)
            begin = time.perf_counter()
            for _ in range(count):
                calls[kind](size // 4)
            seconds = (time.perf_counter() - begin) / count
        except RuntimeError as error:
            print(error, file=sys.stderr)
        if answer:
            print(f"{seconds:.9g}", file=answer, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
