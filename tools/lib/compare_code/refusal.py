"""What tools/compare-code cannot use: one line, and perhaps a hint."""


class Refusal(Exception):
    def __init__(self, text, hint=""):
        super().__init__(text)
        self.hint = hint
