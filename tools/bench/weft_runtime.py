"""The C ABI of the runtime through ctypes: as much as a benchmark needs.

    model = Model("libweft_runtime.so", "model.weft", threads=1)
    call = model.bind(inputs, model.allocate(inputs));  outputs = call()
"""
import ctypes as c

import numpy as np

# numpy knows bfloat16 once somebody imported ml_dtypes.
ELEMENTS = {"bool": 1, "int8": 4, "uint8": 5, "int32": 8, "int64": 10, "float16": 14, "bfloat16": 15, "float32": 16, "float64": 17}
DTYPES = {number: name for name, number in ELEMENTS.items()}


class Error(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("status", c.c_int32), ("code", c.c_char * 8), ("message", c.c_char * 488),
                ("hint", c.c_char * 256)]


class Tensor(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("element", c.c_uint16), ("rank", c.c_uint16), ("flags", c.c_uint32),
                ("device", c.c_int32), ("data", c.c_void_p), ("capacity", c.c_int64), ("dim", c.c_int64 * 8), ("stride", c.c_int64 * 8)]


class Options(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("threads", c.c_int32), ("spin_us", c.c_int32), ("memory_limit", c.c_int64)]


class FunctionInfo(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("name", c.c_char_p)] + \
               [(name, c.c_uint32) for name in ("inputs", "outputs", "symbols", "facts", "checks")] + \
               [(name, c.c_char_p) for name in ("arena", "scratch", "flops", "bytes_moved")]


class ArgumentInfo(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("name", c.c_char_p), ("element", c.c_uint16), ("rank", c.c_uint16),
                ("flags", c.c_uint32), ("dim_text", c.c_char_p * 8)]


class InPlaceInfo(c.Structure):
    _fields_ = [(name, c.c_uint32) for name in ("struct_size", "input", "output", "dim", "symbol")]


def tensor(array):
    """Of None, one without memory."""
    if array is None:
        return Tensor(c.sizeof(Tensor), 0, 0, 0, -1)
    t = Tensor(c.sizeof(Tensor), ELEMENTS[array.dtype.name], array.ndim, 0, -1, array.ctypes.data)
    for i, (size, stride) in enumerate(zip(array.shape, array.strides)):
        t.dim[i], t.stride[i] = size, stride // array.itemsize
    t.capacity = 0 if array.base is not None else array.nbytes
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
        info = FunctionInfo(c.sizeof(FunctionInfo))
        self.check(self.lib.weft_function_info(self.module, 0, c.byref(info)))
        names = [self.argument(i).name.decode() for i in range(info.inputs + info.outputs)]
        self.inputs, self.outputs = names[:info.inputs], names[info.inputs:]
        self.in_place, pair = [], InPlaceInfo(c.sizeof(InPlaceInfo))
        while self.lib.weft_in_place_info(self.module, 0, len(self.in_place), c.byref(pair)) == 0:
            self.in_place.append((pair.input, pair.output, pair.dim))

    def check(self, status):
        if status:
            raise RuntimeError(self.error.message.decode())

    def argument(self, index):
        info = ArgumentInfo(c.sizeof(ArgumentInfo))
        self.check(self.lib.weft_argument_info(self.module, 0, index, c.byref(info)))
        return info

    def with_room(self, inputs, room):
        """The same inputs, those that grow in place as views of buffers that are `room` long."""
        inputs = list(inputs)
        for i, _, dim in self.in_place:
            past = inputs[i]
            buffer = np.zeros(past.shape[:dim] + (room,) + past.shape[dim + 1:], past.dtype)
            inputs[i] = buffer[(slice(None),) * dim + (slice(past.shape[dim]),)]
            inputs[i][:] = past
        return inputs

    def allocate(self, inputs):
        """Arrays for the outputs of a call with these inputs; None for those that lie in an input's memory."""
        ins, outs = (Tensor * len(inputs))(*map(tensor, inputs)), (Tensor * len(self.outputs))()
        for out in outs:
            out.struct_size, out.device = c.sizeof(Tensor), -1
        self.check(self.lib.weft_query_outputs(self.module, 0, ins, len(inputs), outs, len(outs), c.byref(self.error)))
        in_place = {output for _, output, _ in self.in_place}
        return [None if i in in_place else np.zeros(tuple(out.dim[:out.rank]), DTYPES[out.element])
                for i, out in enumerate(outs)]

    def bind(self, inputs, outputs):
        """A function without arguments that runs one call on these arrays."""
        ins, outs = (Tensor * len(inputs))(*map(tensor, inputs)), (Tensor * len(outputs))(*map(tensor, outputs))
        keep = (inputs, outputs)

        def call():
            self.check(self.lib.weft_call(self.context, None, ins, len(inputs), outs, len(outputs), c.byref(self.error)))
            return keep[1]

        return call
