//===- Decoder.h - One layer of a decoder, for tests ------------------------------------------------------===//
#ifndef WEFT_TEST_SUPPORT_DECODER_H
#define WEFT_TEST_SUPPORT_DECODER_H

#include <string>

namespace weft::test {

/// Attention of 6 heads over caches of 2, as decoders have it: keys are scaled before they are kept.
inline const std::string kDecoder = R"(
func.func @main(%q: !weft.tensor<[b, 6, s, 16], f32>, %k: !weft.tensor<[b, s, 2, 16], f32>, %v: !weft.tensor<[b, s, 2, 16], f32>,
    %pk: !weft.tensor<[b, 2, p, 16], f32> {weft.name = "past_key"}, %pv: !weft.tensor<[b, 2, p, 16], f32> {weft.name = "past_value"})
    -> (!weft.tensor<[b, 6, s, 16], f32>, !weft.tensor<[b, 2, p + s, 16], f32> {weft.name = "present_key"},
        !weft.tensor<[b, 2, p + s, 16], f32> {weft.name = "present_value"}, !weft.tensor<[b, 2], f32>)
    attributes {weft.symbols = #weft.symbols<b, s, p>} {
  %c = weft.fill 0.5 : f32 -> !weft.tensor<[], f32>
  %0 = weft.transpose %k [0, 2, 1, 3] : (!weft.tensor<[b, s, 2, 16], f32>) -> !weft.tensor<[b, 2, s, 16], f32>
  %1 = weft.mul %0, %c : (!weft.tensor<[b, 2, s, 16], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[b, 2, s, 16], f32>
  %2 = weft.concat %pk, %1 dim 2 : (!weft.tensor<[b, 2, p, 16], f32>, !weft.tensor<[b, 2, s, 16], f32>) -> !weft.tensor<[b, 2, p + s, 16], f32>
  %3 = weft.transpose %v [0, 2, 1, 3] : (!weft.tensor<[b, s, 2, 16], f32>) -> !weft.tensor<[b, 2, s, 16], f32>
  %4 = weft.concat %pv, %3 dim 2 : (!weft.tensor<[b, 2, p, 16], f32>, !weft.tensor<[b, 2, s, 16], f32>) -> !weft.tensor<[b, 2, p + s, 16], f32>
  %5 = weft.reshape %2 to [b, 2, 1, p + s, 16] : (!weft.tensor<[b, 2, p + s, 16], f32>) -> !weft.tensor<[b, 2, 1, p + s, 16], f32>
  %6 = weft.expand %5 to [b, 2, 3, p + s, 16] : (!weft.tensor<[b, 2, 1, p + s, 16], f32>) -> !weft.tensor<[b, 2, 3, p + s, 16], f32>
  %7 = weft.reshape %6 to [b, 6, p + s, 16] : (!weft.tensor<[b, 2, 3, p + s, 16], f32>) -> !weft.tensor<[b, 6, p + s, 16], f32>
  %8 = weft.reshape %4 to [b, 2, 1, p + s, 16] : (!weft.tensor<[b, 2, p + s, 16], f32>) -> !weft.tensor<[b, 2, 1, p + s, 16], f32>
  %9 = weft.expand %8 to [b, 2, 3, p + s, 16] : (!weft.tensor<[b, 2, 1, p + s, 16], f32>) -> !weft.tensor<[b, 2, 3, p + s, 16], f32>
  %10 = weft.reshape %9 to [b, 6, p + s, 16] : (!weft.tensor<[b, 2, 3, p + s, 16], f32>) -> !weft.tensor<[b, 6, p + s, 16], f32>
  %11 = weft.contract "b h m d, b h n d -> b h m n" %q, %7 accumulate f32 : (!weft.tensor<[b, 6, s, 16], f32>, !weft.tensor<[b, 6, p + s, 16], f32>) -> !weft.tensor<[b, 6, s, p + s], f32>
  %12 = weft.softmax %11 : (!weft.tensor<[b, 6, s, p + s], f32>) -> !weft.tensor<[b, 6, s, p + s], f32>
  %13 = weft.contract "b h m n, b h n d -> b h m d" %12, %10 accumulate f32 : (!weft.tensor<[b, 6, s, p + s], f32>, !weft.tensor<[b, 6, p + s, 16], f32>) -> !weft.tensor<[b, 6, s, 16], f32>
  %14 = weft.reduce sum %pk [2, 3] : (!weft.tensor<[b, 2, p, 16], f32>) -> !weft.tensor<[b, 2], f32>
  return %13, %2, %4, %14 : !weft.tensor<[b, 6, s, 16], f32>, !weft.tensor<[b, 2, p + s, 16], f32>, !weft.tensor<[b, 2, p + s, 16], f32>, !weft.tensor<[b, 2], f32>
})";

} // namespace weft::test

#endif // WEFT_TEST_SUPPORT_DECODER_H
