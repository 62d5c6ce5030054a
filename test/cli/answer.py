#!/usr/bin/env python3
"""What 'weft bench --answer' answers: answer.py ARTIFACT COMMAND...

COMMAND is weft, or an emulator and weft. It is asked as docs/tuning-remote.md says, rightly and wrongly; whatever happens to a trial, the
next one is answered.
"""

import hashlib
import io
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import time
import zipfile

PIECE = 1 << 16


def check(holds, what):
    if not holds:
        sys.exit(f"broken promise: {what}")


class Remote:
    def __init__(self, command):
        self.process = subprocess.Popen(command + ["bench", "--answer"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        check(self.process.stdout.readline() == b"weft-trials 1\n", "it greets")
        word, arguments, self.processors = self.hear()
        check(word == "about" and len(arguments) == 2, "it says what it is")
        self.version, self.machine = arguments

    def say(self, word, *arguments, payload=b""):
        self.process.stdin.write(" ".join([word, str(len(payload)), *arguments]).encode() + b"\n" + payload)
        self.process.stdin.flush()

    def hear(self):
        words = self.process.stdout.readline().decode().split()
        return words[0], words[2:], self.process.stdout.read(int(words[1]))

    def ask(self, *message, payload=b""):
        self.say(*message, payload=payload)
        return self.hear()

    def failure(self, *message, payload=b""):
        word, _, text = self.ask(*message, payload=payload)
        check(word == "failed" and text and b"\n" not in text, f"{message} is refused in one line, not {word} {text}")
        return text.decode()

    def give(self, content, name=None):
        pieces = [content[i : i + PIECE] for i in range(0, len(content), PIECE)]
        name = name or hashlib.sha256(content).hexdigest()
        digests = b"".join(hashlib.sha256(piece).digest() for piece in pieces)
        word, _, lacks = self.ask("file", name, str(len(content)), payload=digests)
        check(word == "lacks" and len(lacks) == len(pieces), "it says what it lacks")
        for index, piece in enumerate(pieces):
            if lacks[index : index + 1] == b"1":
                self.say("piece", str(index), payload=piece)
        self.say("end")
        return name, lacks, self.hear()

    def children(self):
        parent = self.process.pid
        return [int(pid) for pid in pathlib.Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


def npy(rows, columns):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    values = [1 / (1 + i) for i in range(rows * columns)]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}f", *values)


def npz(**members):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as out:
        for name, content in members.items():
            out.writestr(name.lstrip("_") + ".npy", content)
    return archive.getvalue()


def numbers(times, name, kind="<d"):
    with zipfile.ZipFile(io.BytesIO(times)) as archive:
        content = archive.read(name + ".npy")
    begin = 10 + struct.unpack("<H", content[8:10])[0]
    return [value for (value,) in struct.iter_unpack(kind, content[begin:])]


def files_are_checked(remote, artifact):
    name, lacks, answer = remote.give(artifact)
    check(answer[0] == "stored" and set(lacks) == {ord("1")}, "a new file is stored")
    changed = artifact + b"one more"
    _, lacks, answer = remote.give(changed)
    count = (len(artifact) - 1) // PIECE
    check(answer[0] == "stored" and lacks == b"0" * count + b"1" * (len(lacks) - count), "pieces that it has are not lacked")
    remote.say("drop", hashlib.sha256(changed).hexdigest())
    _, _, answer = remote.give(b"other bytes", "0" * 64)
    check(answer[0] == "failed", "a file that has another hash is refused")
    remote.failure("file", "1" * 64, "100", payload=b"no digest")
    remote.failure("file", "1" * 64, "-1")
    remote.failure("file")
    remote.failure("end")
    remote.say("piece", "7", payload=b"of nothing")
    return name


def trials(remote, name, emulated):
    good, _, _ = remote.give(npz(_0=npy(2, 16), _1=npy(2, 16)))
    bad, _, _ = remote.give(npz(_0=npy(2, 16), _1=npy(3, 16)))
    asked = f"base {name}\nother {name}\ninputs {good}\nfunction main\n".encode()
    word, _, times = remote.ask("time", "1", "500", payload=asked)
    check(word == "times", f"a trial is timed, not {word} {times}")
    for who in ("base", "other"):
        whole = numbers(times, who + ".whole.0")
        check(len(whole) >= 6 and min(whole) > 0, "there are times of calls")
        check(len(numbers(times, who + ".kernels.0")) % len(whole) == 0, "and of kernels")
    wanted = [1 / (1 + i) ** 2 + i % 16 for i in range(2 * 16)]  # the sample computes y = ids * mask + 0, 1, 2, …
    check(all(abs(got - y) < 1e-5 for got, y in zip(numbers(times, "output.0.0", "<f"), wanted, strict=True)), "outputs are the model's")
    check(remote.ask("time", "1", "500", payload=asked.replace(b"other", b"inputs", 1))[0] == "failed", "an artifact is no input")
    alone = f"base {name}\ninputs {good}\nfunction main\n".encode()
    check(len(numbers(remote.ask("time", "1", "500", payload=alone)[2], "base.whole.0")) == 3, "three turns alone")
    check("more than 0 s" in remote.failure("time", "1", "0", payload=asked), "what hangs is ended")
    for payload in (asked.replace(good.encode(), bad.encode()), asked.replace(b"main", b"mine"), asked + b"other " + b"2" * 64 + b"\n",
                    asked + b"what " + name.encode(), b"", asked.replace(name.encode(), good.encode()), asked.replace(good.encode(), name.encode())):
        remote.failure("time", "1", "500", payload=payload)
    for arguments in ((), ("1",), ("0", "5"), ("5000", "5"), ("1", "x")):
        remote.failure("time", *arguments, payload=asked)
    if not emulated:
        crash(remote, asked)
    check(remote.ask("time", "1", "500", payload=asked)[0] == "times", "the next trial is timed")
    return asked


def crash(remote, asked):
    remote.say("time", "1", "500", payload=asked)
    while not remote.children():
        time.sleep(0.01)
    time.sleep(0.1)
    os.kill(remote.children()[0], signal.SIGKILL)
    word, _, text = remote.hear()
    check(word == "failed" and b"crashes" in text, "a trial that crashes is said to")


def ends(remote, asked):
    """A connection that breaks in a trial ends it, and leaves nothing."""
    remote.say("time", "1", "500", payload=asked)
    time.sleep(0.3)
    remote.process.stdin.close()
    begin = time.monotonic()
    remote.process.wait(timeout=60)
    check(time.monotonic() - begin < 10, "a trial ends with its connection")


def main():
    artifact, command = pathlib.Path(sys.argv[1]).read_bytes(), sys.argv[2:]
    remote = Remote(command)
    check(re.fullmatch(r"\d+\.\d+\.\d+\S*", remote.version), "it says its version")
    word, has, _ = remote.ask("features", "no-such-feature")
    check(word == "features" and not has, "it has no feature that nobody knows")
    remote.failure("what", "is", "this")
    name = files_are_checked(remote, artifact)
    asked = trials(remote, name, emulated=len(command) > 1)
    ends(remote, asked)
    for garbage in (b"time\n", b"\n", b"time 99999999999999 1 1\n", b"x" * 100000, b"features 0 \x01\n"):
        other = Remote(command)
        other.process.stdin.write(garbage)
        other.process.stdin.close()
        check(other.process.wait(timeout=60) == 4, "what is no message ends it")


main()
