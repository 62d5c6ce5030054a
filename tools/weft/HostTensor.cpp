//===- HostTensor.cpp -------------------------------------------------------------------------===//
#include "tools/weft/HostTensor.h"
#include "tools/weft/Elements.h"
#include "tools/weft/Values.h"

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
  case WEFT_U4:
    return WEFT_U8;
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

static unsigned nibble(const uint8_t *begin, int64_t index) {
  return begin[index / 2] >> (index % 2 * 4) & 15;
}

double HostTensor::get(int64_t i) const {
  switch (elementType) {
  case WEFT_BOOL:
    return begin[i] != 0;
  case WEFT_I4:
    return static_cast<int>(nibble(begin, i) ^ 8) - 8;
  case WEFT_U4:
    return nibble(begin, i);
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

static void storeNibble(uint8_t *begin, int64_t index, int value) {
  unsigned shift = index % 2 * 4;
  uint8_t &byte = begin[index / 2];
  byte =
      static_cast<uint8_t>((byte & ~(15u << shift)) | (static_cast<unsigned>(value) & 15) << shift);
}

void HostTensor::set(int64_t i, double value) {
  switch (elementType) {
  case WEFT_BOOL:
    begin[i] = value != 0;
    return;
  case WEFT_I4:
    return storeNibble(begin, i, static_cast<int>(clip(value, -8, 7)));
  case WEFT_U4:
    return storeNibble(begin, i, static_cast<int>(clip(value, 0, 15)));
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
  if (bits == 4)
    return nibble(begin, index) == nibble(other.begin, index);
  size_t size = bits / 8;
  return memcmp(begin + index * size, other.begin + index * size, size) == 0;
}

Result<HostTensor> packFourBits(const HostTensor &values, uint32_t element) {
  Result<HostTensor> packed = HostTensor::allocate(element, values.dims());
  if (!packed)
    return packed;
  double low = element == WEFT_I4 ? -8 : 0, high = element == WEFT_I4 ? 7 : 15;
  for (int64_t i = 0; i < values.count(); ++i) {
    double value = values.get(i);
    if (value < low || value > high)
      return Failure{ExitInputRefused,
                     "element " + std::to_string(i) + " is " + std::to_string((long long)value) +
                         ", but " + weft_element_name(element) + " holds " +
                         std::to_string((int)low) + " to " + std::to_string((int)high),
                     {},
                     "W0403"};
    packed->set(i, value);
  }
  return packed;
}

Result<HostTensor> unpackFourBits(const HostTensor &packed) {
  Result<HostTensor> values = HostTensor::allocate(npyElement(packed.element()), packed.dims());
  for (int64_t i = 0; values && i < packed.count(); ++i)
    values->set(i, packed.get(i));
  return values;
}

} // namespace weft::cli
