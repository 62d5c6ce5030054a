"""Samples that nobody else's work disturbed.

    seconds, was_alone = alone.sample(lambda: ...)   # taken again while others compute
    samples = alone.rounds(5, ["product", "unfused", "fused"], seconds_of, 1.2e-3)

What others take of the processors while a sample is taken is all that the system counts, what a hypervisor keeps included, but for this process's children.
It is judged by that alone and not by the sample, so that what is left out does not depend on the figure. Who computes on the other half of a core of this machine is
not counted by it and makes all times half as long again, for seconds: rounds are for what is compared, and are judged by one of the ways.
"""
import os
import resource
import time

MOST = 0.02  # of one processor: two preemptions in a sample of half a second
TRIES = 20
STEADY = 1.08  # of the times of one way that count as the same
ROUNDS_TRIED = 4  # for each that is wanted
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


def rounds(count, ways, seconds_of, reference):
    """{way: seconds by round}, of rounds at whose beginning and end the first way took `reference` seconds; others are taken again, some times."""
    samples, first = {way: [] for way in ways}, ways[0]
    is_same = lambda seconds: max(seconds, reference) <= STEADY * min(seconds, reference)
    for turn in range(count * ROUNDS_TRIED):
        if len(samples[first]) == count:
            break
        begin = seconds_of(first)
        if not is_same(begin):
            continue
        taken = {way: seconds_of(way) for way in (ways[:0:-1] if turn % 2 else ways[1:])}
        end = seconds_of(first)
        if is_same(end):
            for way, seconds in {first: (begin + end) / 2, **taken}.items():
                samples[way].append(seconds)
    return samples
