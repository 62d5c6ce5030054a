"""What Linux says of processes that a test has started."""


def children(parent):
    """In the order in which they were started."""
    with open(f"/proc/{parent}/task/{parent}/children", encoding="ascii") as file:
        return [int(each) for each in file.read().split()]


def is_there(process):
    try:
        with open(f"/proc/{process}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
