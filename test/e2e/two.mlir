// Two operators on symbolic shapes: the smallest program that exercises every level.
func.func @main(%a: !weft.tensor<[m, 24], f32> {weft.name = "a"}, %b: !weft.tensor<[24, n], f32> {weft.name = "b"},
                %c: !weft.tensor<[n], f32> {weft.name = "c"})
    -> (!weft.tensor<[m, n], f32> {weft.name = "y"}) attributes {weft.symbols = #weft.symbols<m, n : "m <= 4096">} {
  %0 = weft.contract "m k, k n -> m n" %a, %b accumulate f32 : (!weft.tensor<[m, 24], f32>, !weft.tensor<[24, n], f32>) -> !weft.tensor<[m, n], f32>
  %1 = weft.add %0, %c : (!weft.tensor<[m, n], f32>, !weft.tensor<[n], f32>) -> !weft.tensor<[m, n], f32>
  return %1 : !weft.tensor<[m, n], f32>
}
