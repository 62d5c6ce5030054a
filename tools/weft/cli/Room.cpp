//===- Room.cpp -------------------------------------------------------------------------------===//
#include "tools/weft/cli/Room.h"

#include <algorithm>

namespace weft::cli {

namespace {

/// Bytes of `dims` from `first` on.
size_t bytesFrom(const std::vector<int64_t> &dims, size_t first, uint32_t element) {
  size_t bytes = weft_element_bits(element) / 8;
  for (size_t d = first; d < dims.size(); ++d)
    bytes *= static_cast<size_t>(dims[d]);
  return bytes;
}

/// Copies lines along `dim` from and to tensors that differ there only.
void copyLines(const HostTensor &from, const HostTensor &to, size_t dim) {
  size_t source = bytesFrom(from.dims(), dim, from.element()),
         target = bytesFrom(to.dims(), dim, to.element()), line = std::min(source, target);
  size_t lines = line ? from.bytes() / source : 0;
  for (size_t i = 0; i < lines; ++i)
    memcpy(to.data() + i * target, from.data() + i * source, line);
}

/// Gives `view` the memory of a buffer that is `room` long along `dim`, and what the tensor holds.
Result<Done> moveToBuffer(const HostTensor &tensor, size_t dim, int64_t room, weft_tensor_t *view,
                          std::vector<HostTensor> *buffers) {
  std::vector<int64_t> dims = tensor.dims();
  dims[dim] = std::max(dims[dim], room);
  Result<HostTensor> buffer = HostTensor::allocate(tensor.element(), dims);
  if (!buffer)
    return buffer.failure();
  copyLines(tensor, *buffer, dim);
  view->data = buffer->data();
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0; stride *= dims[d])
    view->stride[d] = stride;
  buffers->push_back(std::move(*buffer));
  return Done{};
}

} // namespace

Result<CallInputs> giveRoom(const FunctionView &function, const Inputs &inputs) {
  CallInputs call;
  for (const PreparedInput &input : inputs.tensors)
    call.views.push_back(input.tensor.view());
  for (const InPlaceSpec &pair : function.inPlace) {
    const HostTensor &tensor = inputs.tensors[pair.input].tensor;
    std::optional<int64_t> room =
        evaluateFormula(function.outputs[pair.output].dims[pair.dim], inputs.symbols);
    if (tensor.dims().size() <= pair.dim || !room)
      continue; // the call says what is wrong with it
    if (Result<Done> done =
            moveToBuffer(tensor, pair.dim, *room, &call.views[pair.input], &call.buffers);
        !done)
      return Failure{done.failure().exitCode,
                     "input '" + function.signature.inputs[pair.input].name +
                         "': " + done.failure().message,
                     done.failure().hint, done.failure().code};
  }
  return call;
}

Result<HostTensor> withoutGaps(const weft_tensor_t &output, std::shared_ptr<void> owner) {
  std::vector<int64_t> dims(output.dim, output.dim + output.rank), whole = dims;
  size_t longer = dims.size();
  for (size_t d = 1; d < dims.size(); ++d) {
    int64_t room = output.stride[d] > 0 ? output.stride[d - 1] / output.stride[d] : 0;
    if (room > dims[d]) {
      whole[d] = room;
      longer = d;
    }
  }
  HostTensor tensor = HostTensor::over(output.element, whole, output.data, std::move(owner));
  if (longer == dims.size())
    return tensor;
  Result<HostTensor> copy = HostTensor::allocate(output.element, dims);
  if (copy)
    copyLines(tensor, *copy, longer);
  return copy;
}

} // namespace weft::cli
