"""Weft's ranks on this machine beside what else exchanges between processes; tools/bench/ranks starts it.

    ranks.py collectives [--ranks 2] [--rounds 9] [--peers openmpi,impi,gloo] [--out FILE.json]
    ranks.py models [--models minilm,bert_base,llama160m] [--rounds 7] [--peers torch] [--out FILE.json]
    ranks.py plans [--models minilm,bert_base,gpt2,llama160m] [--rounds 7] [--out FILE.json]
    ranks.py overlap [--models 'BERT-base up,BERT-base down'] [--rounds 7] [--out docs/performance/overlap.json]
    ranks.py steps [--rounds 7] [--out FILE.json]

`collectives`: all_reduce, all_gather and reduce_scatter of f32 from 1 KiB to 8 MiB with the result in every rank's own memory, one loop for all
libraries (collectives/main.c), in turns; a figure is the median of the ratios within a round.
`models`: two ranks of one thread beside one process with two threads of Weft, and beside PyTorch's tensor parallelism with two ranks of one thread.
`plans`: the plan that `--ranks 2` finds beside named ones.
`overlap`: products that send or receive their own rows beside those that wait, over links of several speeds; the table goes into the page beside --out.
`steps`: a ring of attention, and encoders with tokens split, over a link, with exchanges beside what is computed and before or behind it.
"""
import argparse
import json
import os
import signal
import sys

import environment
import rank_collectives
import rank_models
import rank_overlap
import rank_plans
import rank_steps

BENCHES = {"collectives": rank_collectives, "models": rank_models, "plans": rank_plans, "overlap": rank_overlap, "steps": rank_steps}


def cpu():
    with open("/proc/cpuinfo") as file:
        return next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown")


def parse(arguments):
    parser = argparse.ArgumentParser(prog="tools/bench/ranks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=BENCHES)
    parser.add_argument("--ranks", type=int, default=2, help="of `collectives`")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--models", help="some of them; default: all that it measures")
    parser.add_argument("--peers", help="some of them; default: all that can be had")
    parser.add_argument("--out", help="all samples, as JSON")
    return parser.parse_args(arguments)


def main(arguments):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    options = parse(arguments)
    bench = BENCHES[options.what]
    options.models = options.models or ",".join(getattr(bench, "CASES", ()))
    peers = options.peers.split(",") if options.peers is not None else list(bench.PEERS)
    if unknown := set(filter(None, peers)) - set(bench.PEERS):
        raise SystemExit(f"error: no peer is called '{unknown.pop()}'\n  hint: {', '.join(bench.PEERS)}")
    print(f"{cpu()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}", flush=True)
    rows = bench.measure(options, list(filter(None, peers)))
    bench.report(rows)
    if options.out:
        with open(options.out, "w") as file:
            json.dump(dict(cpu=cpu(), what=options.what, rows=rows), file, indent=1)
        if hasattr(bench, "publish"):
            bench.publish(rows, options.out)


if __name__ == "__main__":
    main(sys.argv[1:])
