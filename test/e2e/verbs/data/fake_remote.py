"""A remote of 'weft tune' that times nothing: fake_remote.py SCENARIO weft bench --answer

How long a candidate takes follows from the names of its kernels, so a search ends the same way on every machine. Some scenarios break
what the protocol says. State that outlives a connection lies in the folder 'remote'.
"""

import hashlib
import io
import os
import pathlib
import re
import struct
import sys
import time
import zipfile

VERSION, PIECE = 1, 1 << 16
scenario = sys.argv[1]
state = pathlib.Path("remote")
state.mkdir(exist_ok=True)
files = {}


def say(word, payload=b"", *arguments):
    line = " ".join([word, str(len(payload)), *arguments])
    sys.stdout.buffer.write(line.encode() + b"\n" + payload)
    sys.stdout.buffer.flush()


def receive():
    line = sys.stdin.buffer.readline().decode().split()
    if not line:
        sys.exit(0)
    return line[0], line[2:], sys.stdin.buffer.read(int(line[1]))


def npy(dims, kind, data):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({''.join(f'{d}, ' for d in dims)}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def numbers(dims, values):
    return npy(dims, "<f8", struct.pack(f"<{len(values)}d", *values))


def kernels_with(rows, content):
    """How many kernels of the model 'two.mlir' have register tiles of so many rows."""
    return len(set(re.findall(rb"weft_k_contraction_rows%d_([0-9a-f]{12})" % rows, content)))


def seconds_of(content):
    """Tiles of six rows are fast, of four slow."""
    return 1e-3 * (0.5 if kernels_with(6, content) else 2 if kernels_with(4, content) else 1)


def times(asked, lies):
    roles = {}
    for line in asked.decode().splitlines():
        role, value = line.split(" ", 1)
        roles.setdefault(role, []).append(value)
    tensors, turns, kernels = {}, 6, 1 if scenario == "one-kernel" else 2
    for who in ("base", "other"):
        if who not in roles:
            continue
        time_of_one = seconds_of(bytes(files[roles[who][0]]))
        if lies and who == "other":
            time_of_one = float("nan")
        tensors[f"{who}.whole.0"] = numbers([turns], [2.5 * time_of_one] * turns)
        count = kernels + (scenario == "other-kernels")
        tensors[f"{who}.kernels.0"] = numbers([count, turns], [time_of_one] * (count * turns))
        tensors[f"{who}.turn"] = numbers([], [5e-3])
    rows = 7 if scenario == "other-sizes" and "other" in roles else 24
    columns = 384 if scenario == "one-kernel" else 256
    tensors["output.0.0"] = npy([rows, columns], "<f4", bytes(rows * columns * 4))
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as out:
        for name, content in tensors.items():
            out.writestr(name + ".npy", content)
    return archive.getvalue()


def is_first(event):
    """Once for all connections."""
    try:
        (state / event).mkdir()
        return True
    except FileExistsError:
        return False


def trouble(content):
    """What goes wrong with a candidate, if anything does."""
    if scenario == "news" and b"weft_k_product_" in content and is_first("death"):
        sys.exit(1)
    if scenario == "troubles" and b"_block200_" in content:
        return "crash"
    if scenario == "troubles" and kernels_with(4, content) == 2:
        time.sleep(600)
    if scenario == "troubles" and kernels_with(4, content) == 1:
        name = hashlib.sha256(content).hexdigest()
        if is_first("one") or (state / name).exists():
            is_first(name)
            sys.exit(1)
        return "lie"
    if scenario == "gone" and content:
        is_first("gone")
        sys.exit(1)
    return ""


def answer_time(asked):
    candidates = [line.split()[1] for line in asked.decode().splitlines() if line.startswith("other ")]
    what = trouble(bytes(files[candidates[0]]) if candidates else b"")
    if what == "crash":
        return say("failed", b"it crashes: Segmentation fault")
    say("times", times(asked, what == "lie"))


def run():
    if scenario == "silent":
        time.sleep(600)
    if scenario == "gone" and (state / "gone").exists():
        sys.exit("ssh: connect to host board port 22: No route to host")
    if scenario == "news":
        print("Welcome to board.\nLast login: today")
    if scenario == "other-protocol":
        print("weft-trials 2", flush=True)
        return
    print(f"weft-trials {VERSION}", flush=True)
    version = os.popen("weft version").read().split()[1]
    say("about", b"processor\t: 0\n", "9.9.9" if scenario == "other-version" else version, "aarch64")
    while True:
        word, arguments, payload = receive()
        if word == "features":
            has = [] if scenario == "none" else [f for f in arguments if f in ("fp", "neon")]
            say("features", b"", *has)
        elif word == "file":
            name, size = arguments[0], int(arguments[1])
            files[name] = bytearray(size)
            lacks = b"1" * ((size + PIECE - 1) // PIECE)
            say("lacks", lacks[1:] if scenario == "fewer-pieces" else lacks)
        elif word == "piece":
            begin = int(arguments[0]) * PIECE
            files[name][begin : begin + len(payload)] = payload
        elif word == "end":
            say("stored")
        elif word == "drop":
            for each in arguments:
                files.pop(each, None)
        elif word == "time":
            answer_time(payload)


run()
