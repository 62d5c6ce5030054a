func.func @main(%x: !weft.tensor<[2*m + 1, n], bf16>) -> !weft.tensor<[floordiv(n, 2), 2*m + 1], ui8> attributes {weft.symbols = #weft.symbols<m, n>} {
  %0 = weft.slice %x from [0, 0] size [2*m + 1, floordiv(n, 2)] step [1, 2] : (!weft.tensor<[2*m + 1, n], bf16>) -> !weft.tensor<[2*m + 1, floordiv(n, 2)], bf16>
  %1 = weft.transpose %0 [1, 0] : (!weft.tensor<[2*m + 1, floordiv(n, 2)], bf16>) -> !weft.tensor<[floordiv(n, 2), 2*m + 1], bf16>
  %2 = weft.convert %1 to ui8 : (!weft.tensor<[floordiv(n, 2), 2*m + 1], bf16>) -> !weft.tensor<[floordiv(n, 2), 2*m + 1], ui8>
  return %2 : !weft.tensor<[floordiv(n, 2), 2*m + 1], ui8>
}
