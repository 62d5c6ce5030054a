#include "runtime/plugins/emulated/text/types.h"

namespace weft_emulated {

std::optional<type> type_named(std::string_view name) {
  static constexpr struct {
    std::string_view name;
    type value;
  } all[] = {{"b8", type::b8},         {"b16", type::b16},     {"b32", type::b32},
             {"b64", type::b64},       {"b128", type::b128},   {"u8", type::u8},
             {"u16", type::u16},       {"u32", type::u32},     {"u64", type::u64},
             {"s8", type::s8},         {"s16", type::s16},     {"s32", type::s32},
             {"s64", type::s64},       {"f16", type::f16},     {"bf16", type::bf16},
             {"f32", type::f32},       {"f64", type::f64},     {"f16x2", type::f16x2},
             {"bf16x2", type::bf16x2}, {"tf32", type::tf32},   {"e4m3x2", type::e4m3x2},
             {"e5m2x2", type::e5m2x2}, {"e4m3", type::e4m3},   {"e5m2", type::e5m2},
             {"u16x2", type::u16x2},   {"s16x2", type::s16x2}, {"pred", type::pred}};
  for (const auto &row : all)
    if (row.name == name)
      return row.value;
  return std::nullopt;
}

} // namespace weft_emulated
