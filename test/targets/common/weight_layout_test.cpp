#include "dialects/plan/WeightLayout.h"
#include <catch2/catch.hpp>

using namespace weft;

TEST_CASE("layouts read back what they print, as artifacts have named them always") {
  WeightLayout rows = WeightLayout::panels(16, WeightLayout::WidthByDepth, WeightLayout::BF16);
  rows.depth = 768;
  const std::pair<WeightLayout, const char *> all[] = {
      {{}, ""},
      {WeightLayout::rounded(WeightLayout::BF16), "rows_bf16"},
      {WeightLayout::rounded(WeightLayout::F16), "rows_f16"},
      {rows, "panels_bf16_t<16 of 768>"},
      {WeightLayout::panels(32, WeightLayout::DepthByWidth), "panels<32>"},
      {WeightLayout::panels(13, WeightLayout::WidthByDepth), "panels_t<13>"},
      {WeightLayout::panels(32, WeightLayout::TapByTap), "panels_w<32>"},
      {WeightLayout::panels(32, WeightLayout::WidthByDepth, WeightLayout::BF16),
       "panels_bf16_t<32>"},
      {WeightLayout::panels(16, WeightLayout::DepthByWidth, WeightLayout::F16), "panels_f16<16>"},
      {WeightLayout::panels(8, WeightLayout::DepthByWidth, WeightLayout::Bytes), "panels_8<8>"},
      {WeightLayout::panels(8, WeightLayout::WidthByDepth, WeightLayout::Nibbles), "panels_4_t<8>"},
      {WeightLayout::nibbles(8, WeightLayout::WidthByDepth, 2), "panels_4_t<8,2>"},
      {WeightLayout::dots(16, WeightLayout::WidthByDepth, 4, 1), "dots_t<16,4,1>"},
      {WeightLayout::dots(32, WeightLayout::DepthByWidth, 2, 3), "dots<32,2,3>"},
      {WeightLayout::dots(8, WeightLayout::WidthByDepth, 4, 9, 128), "dots_t<8,4,9,128>"},
      {WeightLayout::dots(8, WeightLayout::DepthByWidth, 4, 1, -128), "dots<8,4,1,-128>"},
      {WeightLayout::fewBits(32, WeightLayout::WidthByDepth, 6), "dots_6_t<32,4,1>"},
      {WeightLayout::fewBits(8, WeightLayout::DepthByWidth, 5), "dots_5<8,4,1>"},
      {WeightLayout::winograd(4, 13), "winograd4<13>"},
      {WeightLayout::winograd(4, 32, WeightLayout::I16), "winograd4_i16<32>"},
      {WeightLayout::panels(13, WeightLayout::WidthByDepth, WeightLayout::OfF16),
       "panels_of_f16_t<13>"},
      {WeightLayout::winograd(2, 13, WeightLayout::OfBF16), "winograd2_of_bf16<13>"}};
  for (const auto &[layout, text] : all) {
    CHECK(layout.str() == text);
    std::optional<WeightLayout> read = WeightLayout::parse(text);
    INFO(text);
    REQUIRE(read);
    CHECK(*read == layout);
    CHECK(read->kind == layout.kind);
    CHECK(read->columns == layout.columns);
    CHECK(read->depth == layout.depth);
    CHECK(read->shift == layout.shift);
  }
}

TEST_CASE("what no layout prints is no layout") {
  for (const char *text : {"rows",
                           "rows_8",
                           "rows_bf16<32>",
                           "rows_bf16_t",
                           "panels",
                           "panels<>",
                           "panels<0>",
                           "panels<32",
                           "panels<32>>",
                           "panels<32,2>",
                           "panels_4<32,1>",
                           "panels_4<32,0>",
                           "panels<032>",
                           "panels_t_bf16<32>",
                           "panels_q<32>",
                           "panels<32 of >",
                           "panels<32 of 0>",
                           "panels<32of 64>",
                           "panels_w<32 of 64>",
                           "dots<16 of 64,4,1>",
                           "winograd4<13 of 64>",
                           "panels<32,4,1>",
                           "dots<16>",
                           "dots<16,4>",
                           "dots<16,4,1,0>",
                           "dots<16,4,1,128,1>",
                           "dots_5<16,2,1>",
                           "dots_6<16,4,2>",
                           "dots_6<16,4,1,128>",
                           "dots_4<16,4,1>",
                           "panels_6<16>",
                           "winograd4_5<16>",
                           "panels<16,4,1,128>",
                           "winograd<13>",
                           "winograd3<13>",
                           "winograd4<>",
                           "winograd4_t<13>",
                           "winograd4_bf16<13>",
                           "winograd4_of_i16<13>",
                           "panels_of_8<8>",
                           "panels_i16<8>",
                           "dots_w<16,4,1>",
                           "dots_8<16,4,1>",
                           "<32>"}) {
    INFO(text);
    CHECK_FALSE(WeightLayout::parse(text));
  }
}
