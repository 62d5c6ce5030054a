"""IREE with a program per case, all sizes known: its code for symbolic dimensions is much slower."""
from engines import artifact, iree_engine, per_shape


class Engine(iree_engine.Engine):
    STATIC = True

    @classmethod
    def compile(cls, work, model, precision):
        per_shape.build_each(artifact(work, "iree_static", model, precision), work, model, precision, iree_engine.build)

    def open(self, work, model, precision):
        self.folder = artifact(work, "iree_static", model, precision)

    def bind(self, feed):
        self.function = self.load(per_shape.program(self.folder, feed))
        return super().bind(feed)
