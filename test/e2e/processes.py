"""What Linux says of processes that a test has started, and what launchers find in the environment."""

import os

ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
SET_BY_LAUNCHERS = ("WEFT_", "OMPI_", "PMI", "SLURM_", "RANK", "WORLD_SIZE", "LOCAL_", "MASTER_", "TORCHELASTIC_")


def under_launcher(own=None):
    """This environment without what another launcher says in it, with the variables `own`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(SET_BY_LAUNCHERS)}
    return {**kept, **ROOT, **(own or {})}


def children(parent):
    """In the order in which they were started."""
    with open(f"/proc/{parent}/task/{parent}/children", encoding="ascii") as file:
        return [int(each) for each in file.read().split()]


def is_there(process):
    """A process may also end between opening its file and reading it: then reading says that there is no such process."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
