"""Processes of engines that end at a time limit, whatever the engine and its children do."""
import contextlib
import json
import os
import select
import signal
import subprocess

TOO_LATE = "no answer within"
EXIT_SECONDS = 10  # from the end of its output to the end of a process


def kill(process):
    """The process and all that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    for stream in (process.stdin, process.stdout):
        with contextlib.suppress(BrokenPipeError):  # what nobody read
            if stream:
                stream.close()


def start(command, **options):
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL, start_new_session=True, **options)


def answer(process, limit):
    """The next line that the process says, as JSON, or why there is none."""
    if not select.select([process.stdout], [], [], limit)[0]:
        kill(process)
        return dict(failed=f"{TOO_LATE} {limit:g} s")
    line = process.stdout.readline()
    if line.strip():
        return json.loads(line)
    try:
        code = process.wait(EXIT_SECONDS)
    except subprocess.TimeoutExpired:
        code = 0
    kill(process)
    return dict(failed=f"the process ended by {signal.Signals(-code).name}" if code < 0 else f"the process ended with {code}")


def one_answer(command, limit, env):
    """Of a process that says one line."""
    process = start(command, env=env)
    try:
        return answer(process, limit)
    finally:
        kill(process)


class Process:
    """A worker and the conversation with it. One that died is started again for the next case."""

    def __init__(self, command, limit, env):
        self.command, self.limit, self.env = command, limit, env
        self.begin()

    def begin(self):
        self.process = start(self.command, stdin=subprocess.PIPE, env=self.env)
        self.loaded = answer(self.process, self.limit)

    def ask(self, op, **question):
        if "failed" not in self.loaded and op == "prepare" and self.process.poll() is not None:
            self.begin()
        if "failed" in self.loaded:
            return dict(self.loaded)
        if self.process.poll() is not None:
            return dict(failed="the process ended")
        try:
            self.process.stdin.write(json.dumps(dict(question, op=op)) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return dict(failed="the process ended")
        return answer(self.process, self.limit)

    def end(self):
        kill(self.process)
