// RUN: weft-opt %s --weft-fuse="target=cuda:sm_80" --weft-plan="target=cuda:sm_80" --verify-diagnostics

// A launch counts blocks of all results. Where dimensions are sums of four symbols each, that is too long a formula: it is refused, as no number may stand for it.
func.func @main(%x: !weft.tensor<[a + b + c + d, e + f + g + h, i + j + k + l, m + n + o + p], f32> {weft.name = "x"},
                %s0: !weft.tensor<[a, b, c, d], f32> {weft.name = "s0"}, %s1: !weft.tensor<[e, f, g, h], f32> {weft.name = "s1"},
                %s2: !weft.tensor<[i, j, k, l], f32> {weft.name = "s2"}, %s3: !weft.tensor<[m, n, o, p], f32> {weft.name = "s3"})
    -> (!weft.tensor<[a + b + c + d, e + f + g + h, i + j + k + l], f32> {weft.name = "y"})
    attributes {weft.symbols = #weft.symbols<a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p>} {
  // expected-error @below {{no formula of 64 bits says how this kernel is launched: its dimensions are sums of too many symbols}}
  // expected-note @below {{hint: give some of them a size, as --dim does}}
  %y = weft.reduce sum %x [3] : (!weft.tensor<[a + b + c + d, e + f + g + h, i + j + k + l, m + n + o + p], f32>) -> !weft.tensor<[a + b + c + d, e + f + g + h, i + j + k + l], f32>
  return %y : !weft.tensor<[a + b + c + d, e + f + g + h, i + j + k + l], f32>
}
