"""Samples that nobody else's work disturbed.

    seconds, was_alone = alone.sample(lambda: ...)   # taken again while others compute

What others take of the processors while a sample is taken is all that the system counts, what a hypervisor keeps included, but for this process's children.
It is judged by that alone and not by the sample, so that what is left out does not depend on the figure.
"""
import os
import resource
import time

MOST = 0.02  # of one processor: two preemptions in a sample of half a second
TRIES = 20
# Of /proc/stat: user, nice, system, irq, softirq and steal.
COUNTED = (1, 2, 3, 6, 7, 8)


def used():
    """Seconds of all processors that were in use, those of ended children, and of the clock."""
    with open("/proc/stat") as file:
        fields = file.readline().split()
    own = resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(int(fields[i]) for i in COUNTED) / os.sysconf("SC_CLK_TCK"), own.ru_utime + own.ru_stime, time.monotonic()


def by_others(before, after):
    """The part of one processor that others had between two answers of `used`."""
    whole, own, passed = (late - early for early, late in zip(before, after))
    return (whole - own) / passed


def sample(take):
    """What `take` measures by processes that it starts and waits for, and whether others let it; after some tries, with them."""
    for _ in range(TRIES):
        before = used()
        taken = take()
        if by_others(before, used()) <= MOST:
            return taken, True
    return taken, False
