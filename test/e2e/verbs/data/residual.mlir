// A sum around a product: what the second product reads is added to its result. w.bin holds three times 64 x 64 numbers.
weft.weight @u from "w.bin" at 0 bytes 16384 : !weft.tensor<[64, 64], f32>
weft.weight @v from "w.bin" at 16384 bytes 16384 : !weft.tensor<[64, 64], f32>
weft.weight @w from "w.bin" at 32768 bytes 16384 : !weft.tensor<[64, 64], f32>
func.func @main(%x: !weft.tensor<[m, 64], f32> {weft.name = "x"}) -> (!weft.tensor<[m, 64], f32> {weft.name = "y"})
    attributes {weft.symbols = #weft.symbols<m : "m <= 64">} {
  %u = weft.constant @u -> !weft.tensor<[64, 64], f32>
  %v = weft.constant @v -> !weft.tensor<[64, 64], f32>
  %w = weft.constant @w -> !weft.tensor<[64, 64], f32>
  %0 = weft.contract "m k, k n -> m n" %x, %u accumulate f32
      : (!weft.tensor<[m, 64], f32>, !weft.tensor<[64, 64], f32>) -> !weft.tensor<[m, 64], f32> loc("/first/MatMul")
  %1 = weft.activation relu %0 : (!weft.tensor<[m, 64], f32>) -> !weft.tensor<[m, 64], f32>
  %2 = weft.contract "m k, k n -> m n" %1, %v accumulate f32
      : (!weft.tensor<[m, 64], f32>, !weft.tensor<[64, 64], f32>) -> !weft.tensor<[m, 64], f32> loc("/second/MatMul")
  %3 = weft.add %2, %1 : (!weft.tensor<[m, 64], f32>, !weft.tensor<[m, 64], f32>) -> !weft.tensor<[m, 64], f32> loc("/second/Add")
  %y = weft.contract "m k, k n -> m n" %3, %w accumulate f32
      : (!weft.tensor<[m, 64], f32>, !weft.tensor<[64, 64], f32>) -> !weft.tensor<[m, 64], f32> loc("/third/MatMul")
  return %y : !weft.tensor<[m, 64], f32>
}
