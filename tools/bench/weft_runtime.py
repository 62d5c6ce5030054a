"""The C ABI of the runtime through ctypes: as much as a benchmark needs."""
import ctypes as c

import numpy as np

ELEMENTS = {np.dtype("bool"): 1, np.dtype("int8"): 4, np.dtype("uint8"): 5, np.dtype("int32"): 8, np.dtype("int64"): 10,
            np.dtype("float32"): 16, np.dtype("float64"): 17}


class Error(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("status", c.c_int32), ("code", c.c_char * 8), ("message", c.c_char * 488),
                ("hint", c.c_char * 256)]


class Tensor(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("element", c.c_uint16), ("rank", c.c_uint16), ("flags", c.c_uint32),
                ("device", c.c_int32), ("data", c.c_void_p), ("capacity", c.c_int64), ("dim", c.c_int64 * 8), ("stride", c.c_int64 * 8)]


class Options(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("threads", c.c_int32), ("spin_us", c.c_int32), ("memory_limit", c.c_int64)]


def tensor(array):
    t = Tensor(c.sizeof(Tensor), ELEMENTS[array.dtype], array.ndim, 0, -1, array.ctypes.data, array.nbytes)
    for i, size in enumerate(array.shape):
        t.dim[i] = size
    return t


class Model:
    """One artifact and one context. Outputs are given by the caller, so that calls allocate nothing."""

    def __init__(self, library, path, threads):
        self.lib = c.CDLL(library)
        self.error = Error(c.sizeof(Error))
        self.module, self.context = c.c_void_p(), c.c_void_p()
        self.check(self.lib.weft_module_open(None, path.encode(), c.byref(self.module), c.byref(self.error)))
        options = Options(c.sizeof(Options), threads, -1, 0)
        self.check(self.lib.weft_context_create(self.module, c.byref(options), c.byref(self.context), c.byref(self.error)))

    def check(self, status):
        if status:
            raise RuntimeError(self.error.message.decode())

    def bind(self, inputs, outputs):
        """A function without arguments that runs one call on these arrays."""
        ins, outs = (Tensor * len(inputs))(*map(tensor, inputs)), (Tensor * len(outputs))(*map(tensor, outputs))
        keep = (inputs, outputs)

        def call():
            self.check(self.lib.weft_call(self.context, None, ins, len(inputs), outs, len(outputs), c.byref(self.error)))
            return keep[1]

        return call
