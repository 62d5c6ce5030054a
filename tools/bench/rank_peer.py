"""Ranks of one library that wait at pipes until they are asked, each at its own, so that nobody waits awake for his turn.

    peer = Peer("openmpi", folder, ranks, lambda pipes: ([["mpirun", …, pipes]], {"VARIABLE": "…"}))
    peer.ask("0 1024 100")            the number that rank 0 answers
"""
import atexit
import contextlib
import os
import select
import signal
import subprocess

import environment

LIMIT_SECONDS = 120


class Peer:
    def __init__(self, name, folder, ranks, start):
        """`start`: the commands of the processes and variables of their environment, given the path of the pipes."""
        self.name, self.pipes, self.processes = name, os.path.join(folder, name), []
        atexit.register(self.end)  # however this ends, nobody goes on waiting
        for end in [*map(str, range(ranks)), "answer"]:
            os.mkfifo(f"{self.pipes}.{end}")
        commands, variables = start(self.pipes)
        for command in commands:
            self.processes.append(subprocess.Popen(command, env=dict(os.environ, **variables), start_new_session=True))
        self.asked = [self.open(str(rank), os.O_WRONLY) for rank in range(ranks)]
        self.answer = self.open("answer", os.O_RDONLY)

    def open(self, end, mode):
        """A pipe, as soon as its other end is open: until then a writer is refused."""
        for _ in range(LIMIT_SECONDS * 20):
            if any(process.poll() for process in self.processes):
                break
            with contextlib.suppress(OSError):
                opened = os.open(f"{self.pipes}.{end}", mode | os.O_NONBLOCK)
                os.set_blocking(opened, True)
                return opened
            select.select([], [], [], 0.05)
        self.end()
        raise environment.Missing(f"{self.name} did not start")

    def ask(self, question):
        for pipe in self.asked:
            os.write(pipe, question.encode() + b"\n")
        if not select.select([self.answer], [], [], LIMIT_SECONDS)[0]:
            raise environment.Missing(f"{self.name}: no answer within {LIMIT_SECONDS} s")
        line = os.read(self.answer, 100)
        if not line:
            raise environment.Missing(f"{self.name} ended")
        return float(line)

    def end(self):
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
