"""Whether two results agree."""
import numpy as np


class Leave:
    """How far results may lie apart: reals by so much, integers by so many steps."""

    def __init__(self, error, slack):
        self.error, self.slack = error, slack

    @classmethod
    def of(cls, value):
        return cls(0.0 if value.exact else value.error, value.slack)

    @classmethod
    def unknown(cls, expected):
        """For values of bodies, which were made in one turn only."""
        if expected.dtype.kind != "f":
            return cls(0.0, 0)
        finite = expected[np.isfinite(expected)].astype(np.float64)
        return cls(1e3 * float(np.finfo(expected.dtype).eps) * float(np.abs(finite).max(initial=1)), 0)

    def fields(self):
        return [self.error, self.slack]


def judge(got, expected, leave):
    """What is wrong, or an empty text. nan equals nan, and zeros of both signs are one."""
    if got.dtype != expected.dtype:
        return f"has elements of type {got.dtype} instead of {expected.dtype}"
    if got.shape != expected.shape:
        return f"has shape {list(got.shape)} instead of {list(expected.shape)}"
    if got.size == 0:
        return ""
    real = got.dtype.kind == "f"
    mine, theirs = (each.astype(np.float64 if real else object) for each in (got, expected))
    good = np.asarray(mine == theirs, bool)
    with np.errstate(invalid="ignore"):
        good |= np.asarray(abs(mine - theirs) <= (leave.error if real else leave.slack), bool)
    if real:
        good |= np.isnan(mine) & np.isnan(theirs)
    if good.all():
        return ""
    at = tuple(int(index) for index in np.argwhere(~good)[0])
    return (f"{int((~good).sum())} of {got.size} elements differ, first {got[at]} instead of {expected[at]} at {list(at)}; "
            f"{leave.error if real else leave.slack:.3g} allowed")
