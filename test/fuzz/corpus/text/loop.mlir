func.func @main(%x: !weft.tensor<[n, 4], f32> {weft.name = "x"}) -> (!weft.tensor<[4], f32> {weft.name = "sum"}, !weft.tensor<[n, 4], f32> {weft.name = "each"})
    attributes {weft.symbols = #weft.symbols<n bound i : "i <= n">} {
  %zero = weft.fill 0.0 : f32 -> !weft.tensor<[4], f32>
  %sum, %each = weft.loop "i" trips [n] (%zero) : (!weft.tensor<[4], f32>) -> (!weft.tensor<[4], f32>, !weft.tensor<[n, 4], f32>) {
  ^bb0(%s: !weft.tensor<[4], f32>):
    %row = weft.slice %x from [i, 0] size [1, 4] step [1, 1] : (!weft.tensor<[n, 4], f32>) -> !weft.tensor<[1, 4], f32>
    %r = weft.reshape %row to [4] : (!weft.tensor<[1, 4], f32>) -> !weft.tensor<[4], f32>
    %next = weft.add %s, %r : (!weft.tensor<[4], f32>, !weft.tensor<[4], f32>) -> !weft.tensor<[4], f32>
    weft.yield %next, %next : !weft.tensor<[4], f32>, !weft.tensor<[4], f32>
  }
  return %sum, %each : !weft.tensor<[4], f32>, !weft.tensor<[n, 4], f32>
}
