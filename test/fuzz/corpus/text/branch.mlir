func.func @main(%x: !weft.tensor<[n], f32> {weft.name = "x"}, %c: !weft.tensor<[], i1> {weft.name = "c"}, %k: !weft.tensor<[], i64> {weft.name = "k"}) -> (!weft.tensor<[j], f32> {weft.name = "y"}, !weft.tensor<[u], f32> {weft.name = "z"})
    attributes {weft.symbols = #weft.symbols<n bound j, u : "j <= 2*n", "u <= n">} {
  %y = weft.if %c attributes {binds = ["j"]} : (!weft.tensor<[], i1>) -> !weft.tensor<[j], f32> {
    %a = weft.neg %x : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
    weft.yield %a : !weft.tensor<[n], f32>
  } else {
    %b = weft.concat %x, %x dim 0 : (!weft.tensor<[n], f32>, !weft.tensor<[n], f32>) -> !weft.tensor<[2*n], f32>
    weft.yield %b : !weft.tensor<[2*n], f32>
  }
  weft.bind "u" %k : !weft.tensor<[], i64>
  %e = weft.exp %x : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
  %z = weft.slice %e from [0] size [u] step [1] : (!weft.tensor<[n], f32>) -> !weft.tensor<[u], f32>
  return %y, %z : !weft.tensor<[j], f32>, !weft.tensor<[u], f32>
}
