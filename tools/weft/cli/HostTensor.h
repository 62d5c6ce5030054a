//===- HostTensor.h - A tensor in this process's memory ---------------------------------------===//
//
//   Result<HostTensor> tensor = HostTensor::allocate(WEFT_F32, {2, 3});
//   tensor->set(0, 1.5);
//   weft_tensor_t view = tensor->view();            // for weft_call
//
// Row-major, 64-byte aligned, elements of 4 and 2 bits packed into bytes as weft_call wants them. Copies
// share the bytes.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_HOSTTENSOR_H
#define WEFT_TOOLS_WEFT_CLI_HOSTTENSOR_H

#include "tools/weft/cli/Options.h"
#include "tools/weft/cli/Result.h"
#include "weft/runtime.h"

#include <memory>
#include <optional>
#include <vector>

namespace weft::cli {

class HostTensor {
public:
  /// Zeros. Refuses shapes that overflow or that this machine's memory cannot hold.
  static Result<HostTensor> allocate(uint32_t element, std::vector<int64_t> dims);
  /// Bytes that somebody else owns; `owner` keeps them alive. They must be as many as the shape
  /// needs.
  static HostTensor over(uint32_t element, std::vector<int64_t> dims, void *data,
                         std::shared_ptr<void> owner);

  uint32_t element() const { return elementType; }
  const std::vector<int64_t> &dims() const { return dimensions; }
  int64_t count() const { return elements; }
  size_t bytes() const { return (elements * weft_element_bits(elementType) + 7) / 8; }
  uint8_t *data() const { return begin; }
  weft_tensor_t view() const;

  /// Element `index` in row-major order, exact but for 64-bit integers beyond 2^53.
  double get(int64_t index) const;
  /// Rounds to the nearest value of the element type, ties to even; integers saturate.
  void set(int64_t index, double value);
  /// Whether both hold the same bits at `index`; the element types must be equal.
  bool sameBits(const HostTensor &other, int64_t index) const;

  /// The same bits under another element type of the same width.
  HostTensor reinterpreted(uint32_t element) const;

private:
  uint32_t elementType = 0;
  std::vector<int64_t> dimensions;
  int64_t elements = 0;
  uint8_t *begin = nullptr;
  std::shared_ptr<void> owner;
};

/// Product of `dims` and the bytes they need, or nothing when a dimension is negative or the size
/// overflows.
struct TensorSize {
  int64_t count, bytes;
};
std::optional<TensorSize> tensorSize(uint32_t element, const std::vector<int64_t> &dims);

/// "[2, 16]"
std::string printDims(const std::vector<int64_t> &dims);

bool isFloat(uint32_t element);

/// What numpy stores a type as: types that .npy lacks travel as bit patterns (bf16 as u16, floats of 8
/// and 4 bits as u8), integers of 4 and 2 bits as values (i8, u8).
uint32_t npyElement(uint32_t element);

/// Elements of less than a byte from one per byte, as npyElement says. Refuses values that do not fit.
Result<HostTensor> packParts(const HostTensor &values, uint32_t element);
/// One per byte from elements of less than a byte.
Result<HostTensor> unpackParts(const HostTensor &packed);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_HOSTTENSOR_H
