// Types and spaces of PTX as its text names them.
#ifndef WEFT_EMULATED_TEXT_TYPES_H
#define WEFT_EMULATED_TEXT_TYPES_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft_emulated {

enum class type : uint8_t {
  none,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  bf16,
  f32,
  f64,
  u16x2,
  s16x2,
  f16x2,
  bf16x2,
  tf32,
  e4m3x2,
  e5m2x2,
  e4m3,
  e5m2,
  pred
};

enum class space : uint8_t { generic, global, shared, local, param, constant };

/// Bytes of one element; a predicate has none.
constexpr uint32_t bytes_of(type t) {
  switch (t) {
  case type::none:
  case type::pred:
    return 0;
  case type::b8:
  case type::u8:
  case type::s8:
  case type::e4m3:
  case type::e5m2:
    return 1;
  case type::b16:
  case type::u16:
  case type::s16:
  case type::f16:
  case type::bf16:
  case type::e4m3x2:
  case type::e5m2x2:
    return 2;
  case type::b64:
  case type::u64:
  case type::s64:
  case type::f64:
    return 8;
  case type::b128:
    return 16;
  default:
    return 4;
  }
}

constexpr bool is_signed(type t) {
  return t == type::s8 || t == type::s16 || t == type::s32 || t == type::s64;
}

constexpr bool is_float(type t) {
  return t == type::f16 || t == type::bf16 || t == type::f32 || t == type::f64 ||
         t == type::f16x2 || t == type::bf16x2;
}

/// "f32", "u64", "pred", … without the dot.
std::optional<type> type_named(std::string_view name);

} // namespace weft_emulated

#endif
