//===- HostTensor.cpp -------------------------------------------------------------------------===//
#include "tools/weft/cli/HostTensor.h"
#include "tools/weft/cli/Elements.h"
#include "tools/weft/cli/Values.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <sys/mman.h>
#include <unistd.h>

namespace weft::cli {

std::optional<TensorSize> tensorSize(uint32_t element, const std::vector<int64_t> &dims) {
  int64_t count = 1, bits;
  bool empty = false;
  for (int64_t dim : dims) {
    if (dim < 0)
      return std::nullopt;
    empty |= dim == 0;
  }
  for (int64_t dim : dims)
    if (!empty && __builtin_mul_overflow(count, dim, &count))
      return std::nullopt;
  if (empty)
    count = 0;
  if (__builtin_mul_overflow(count, static_cast<int64_t>(weft_element_bits(element)), &bits) ||
      bits > std::numeric_limits<int64_t>::max() - 7)
    return std::nullopt;
  return TensorSize{count, (bits + 7) / 8};
}

std::string printDims(const std::vector<int64_t> &dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

bool isFloat(uint32_t element) {
  switch (element) {
  case WEFT_F8E4M3:
  case WEFT_F8E5M2:
  case WEFT_F8E4M3FNUZ:
  case WEFT_F8E5M2FNUZ:
  case WEFT_F8E8M0:
  case WEFT_F4E2M1:
  case WEFT_F16:
  case WEFT_BF16:
  case WEFT_F32:
  case WEFT_F64:
    return true;
  default:
    return false;
  }
}

uint32_t npyElement(uint32_t element) {
  switch (element) {
  case WEFT_BF16:
    return WEFT_U16;
  case WEFT_F8E4M3:
  case WEFT_F8E5M2:
  case WEFT_F8E4M3FNUZ:
  case WEFT_F8E5M2FNUZ:
  case WEFT_F8E8M0:
  case WEFT_F4E2M1:
  case WEFT_U2:
  case WEFT_U4:
    return WEFT_U8;
  case WEFT_I2:
  case WEFT_I4:
    return WEFT_I8;
  default:
    return element;
  }
}

Result<HostTensor> HostTensor::allocate(uint32_t element, std::vector<int64_t> dims) {
  std::optional<TensorSize> size = tensorSize(element, dims);
  std::string shape = std::string(weft_element_name(element)) + " " + printDims(dims);
  if (!size || weft_element_bits(element) == 0)
    return Failure{
        ExitInputRefused, "a tensor " + shape + " is not possible: its size overflows", {}, {}};
  double machine = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE));
  // Fresh pages from the system: aligned, zero, and only real where they are written.
  size_t length = static_cast<size_t>(std::max<int64_t>(size->bytes, 1));
  void *pages = size->bytes > machine ? MAP_FAILED
                                      : mmap(nullptr, length, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    return Failure{ExitMachineLacks,
                   "a tensor " + shape + " needs " + printBytes(size->bytes) +
                       ", but this machine has " + printBytes(machine) + " of memory",
                   {},
                   {}};
  std::shared_ptr<void> owner(pages, [length](void *p) { munmap(p, length); });
  return over(element, std::move(dims), pages, std::move(owner));
}

HostTensor HostTensor::over(uint32_t element, std::vector<int64_t> dims, void *data,
                            std::shared_ptr<void> owner) {
  HostTensor tensor;
  tensor.elementType = element;
  std::optional<TensorSize> size = tensorSize(element, dims);
  tensor.elements = size ? size->count : 0;
  tensor.dimensions = std::move(dims);
  tensor.begin = static_cast<uint8_t *>(data);
  tensor.owner = std::move(owner);
  return tensor;
}

weft_tensor_t HostTensor::view() const {
  // An empty vector may have no address, which memcpy forbids even for no bytes.
  static const int64_t none = 0;
  return weft_tensor_of(begin, static_cast<weft_element_t>(elementType),
                        static_cast<uint16_t>(dimensions.size()),
                        dimensions.empty() ? &none : dimensions.data());
}

HostTensor HostTensor::reinterpreted(uint32_t element) const {
  HostTensor other = *this;
  other.elementType = element;
  return other;
}

template <typename T> static T load(const uint8_t *begin, int64_t index) {
  T value;
  memcpy(&value, begin + index * sizeof(T), sizeof(T));
  return value;
}

/// One of the elements of `width` bits that share a byte, the first in its lowest bits.
static unsigned loadPart(const uint8_t *begin, int64_t index, uint32_t width) {
  int64_t at = index * width;
  return begin[at / 8] >> (at % 8) & ((1u << width) - 1);
}

double HostTensor::get(int64_t i) const {
  switch (elementType) {
  case WEFT_BOOL:
    return begin[i] != 0;
  case WEFT_I2:
    return static_cast<int>(loadPart(begin, i, 2) ^ 2) - 2;
  case WEFT_U2:
    return loadPart(begin, i, 2);
  case WEFT_I4:
    return static_cast<int>(loadPart(begin, i, 4) ^ 8) - 8;
  case WEFT_U4:
    return loadPart(begin, i, 4);
  case WEFT_F4E2M1:
    return decodeFloat(elementType, loadPart(begin, i, 4));
  case WEFT_I8:
    return load<int8_t>(begin, i);
  case WEFT_U8:
    return load<uint8_t>(begin, i);
  case WEFT_I16:
    return load<int16_t>(begin, i);
  case WEFT_U16:
    return load<uint16_t>(begin, i);
  case WEFT_I32:
    return load<int32_t>(begin, i);
  case WEFT_U32:
    return load<uint32_t>(begin, i);
  case WEFT_I64:
    return static_cast<double>(load<int64_t>(begin, i));
  case WEFT_U64:
    return static_cast<double>(load<uint64_t>(begin, i));
  case WEFT_F8E4M3:
  case WEFT_F8E5M2:
  case WEFT_F8E4M3FNUZ:
  case WEFT_F8E5M2FNUZ:
  case WEFT_F8E8M0:
    return decodeFloat(elementType, begin[i]);
  case WEFT_F16:
  case WEFT_BF16:
    return decodeFloat(elementType, load<uint16_t>(begin, i));
  case WEFT_F32:
    return load<float>(begin, i);
  default: // WEFT_F64
    return load<double>(begin, i);
  }
}

template <typename T> static void store(uint8_t *begin, int64_t index, T value) {
  memcpy(begin + index * sizeof(T), &value, sizeof(T));
}

/// Nearest whole number in [low, high]; NaN becomes 0.
static double clip(double value, double low, double high) {
  return std::isnan(value) ? 0 : std::min(std::max(std::nearbyint(value), low), high);
}

template <typename T> static void storeInteger(uint8_t *begin, int64_t index, double value) {
  using Limits = std::numeric_limits<T>;
  double low = static_cast<double>(Limits::min()), high = static_cast<double>(Limits::max());
  double whole = clip(value, low, high);
  // 2^63 - 1 is no double: the clipped value would be one too large.
  store<T>(begin, index, whole >= high ? Limits::max() : static_cast<T>(whole));
}

static void storePart(uint8_t *begin, int64_t index, uint32_t width, unsigned value) {
  int64_t at = index * width;
  unsigned mask = (1u << width) - 1, shift = at % 8;
  uint8_t &byte = begin[at / 8];
  byte = static_cast<uint8_t>((byte & ~(mask << shift)) | (value & mask) << shift);
}

/// Least and largest value of an integer type of less than a byte.
static std::pair<int, int> partRange(uint32_t element) {
  int count = 1 << weft_element_bits(element);
  bool isSigned = element == WEFT_I2 || element == WEFT_I4;
  return isSigned ? std::pair(-count / 2, count / 2 - 1) : std::pair(0, count - 1);
}

void HostTensor::set(int64_t i, double value) {
  switch (elementType) {
  case WEFT_BOOL:
    begin[i] = value != 0;
    return;
  case WEFT_I2:
  case WEFT_U2:
  case WEFT_I4:
  case WEFT_U4: {
    auto [low, high] = partRange(elementType);
    int whole = static_cast<int>(clip(value, low, high));
    return storePart(begin, i, weft_element_bits(elementType), static_cast<unsigned>(whole));
  }
  case WEFT_F4E2M1:
    return storePart(begin, i, 4, encodeFloat(elementType, value));
  case WEFT_I8:
    return storeInteger<int8_t>(begin, i, value);
  case WEFT_U8:
    return storeInteger<uint8_t>(begin, i, value);
  case WEFT_I16:
    return storeInteger<int16_t>(begin, i, value);
  case WEFT_U16:
    return storeInteger<uint16_t>(begin, i, value);
  case WEFT_I32:
    return storeInteger<int32_t>(begin, i, value);
  case WEFT_U32:
    return storeInteger<uint32_t>(begin, i, value);
  case WEFT_I64:
    return storeInteger<int64_t>(begin, i, value);
  case WEFT_U64:
    return storeInteger<uint64_t>(begin, i, value);
  case WEFT_F8E4M3:
  case WEFT_F8E5M2:
  case WEFT_F8E4M3FNUZ:
  case WEFT_F8E5M2FNUZ:
  case WEFT_F8E8M0:
    begin[i] = static_cast<uint8_t>(encodeFloat(elementType, value));
    return;
  case WEFT_F16:
  case WEFT_BF16:
    return store(begin, i, static_cast<uint16_t>(encodeFloat(elementType, value)));
  case WEFT_F32:
    return store(begin, i, static_cast<float>(value));
  default: // WEFT_F64
    return store(begin, i, value);
  }
}

bool HostTensor::sameBits(const HostTensor &other, int64_t index) const {
  uint32_t bits = weft_element_bits(elementType);
  if (bits < 8)
    return loadPart(begin, index, bits) == loadPart(other.begin, index, bits);
  size_t size = bits / 8;
  return memcmp(begin + index * size, other.begin + index * size, size) == 0;
}

Result<HostTensor> packParts(const HostTensor &values, uint32_t element) {
  Result<HostTensor> packed = HostTensor::allocate(element, values.dims());
  if (!packed)
    return packed;
  auto [low, high] = partRange(element);
  for (int64_t i = 0; i < values.count(); ++i) {
    double value = values.get(i);
    if (value < low || value > high)
      return Failure{ExitInputRefused,
                     "element " + std::to_string(i) + " is " + std::to_string((long long)value) +
                         ", but " + weft_element_name(element) + " holds " + std::to_string(low) +
                         " to " + std::to_string(high),
                     {},
                     "W0403"};
    storePart(packed->data(), i, weft_element_bits(element),
              static_cast<unsigned>(static_cast<int>(value)));
  }
  return packed;
}

Result<HostTensor> unpackParts(const HostTensor &packed) {
  uint32_t stored = npyElement(packed.element());
  Result<HostTensor> values = HostTensor::allocate(stored, packed.dims());
  for (int64_t i = 0; values && i < packed.count(); ++i)
    values->set(i, isFloat(packed.element()) ? loadPart(packed.data(), i, 4) : packed.get(i));
  return values;
}

} // namespace weft::cli
