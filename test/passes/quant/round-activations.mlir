// RUN: weft-opt %s --weft-round-activations --split-input-file | FileCheck %s
// RUN: weft-opt %s --weft-round-activations --weft-form-kernels --weft-collapse-dims --split-input-file | FileCheck %s --check-prefix=KERNEL

// Rows are rounded in the blocks of the weight, inside the kernel of the product.
// CHECK-LABEL: func @linear
// CHECK-SAME:    (%[[X:.*]]: !weft.tensor<[b, s, 32], f32>)
// CHECK:         %[[R:.*]] = weft.round_blocks %[[X]] block 16
// CHECK:         weft.contract "... k, n k -> ... n" %[[R]]
// KERNEL-LABEL: func @linear
// KERNEL:         weft.kernel "contraction"
// KERNEL:           weft.round_blocks %{{.*}} block 16 : (!weft.tensor<[b*s, 32], f32>)
func.func @linear(%x: !weft.tensor<[b, s, 32], f32>) -> !weft.tensor<[b, s, 8], f32> attributes {weft.symbols = #weft.symbols<b, s>} {
  %q = weft.constant dense<1> : tensor<8x32xi8> -> !weft.tensor<[8, 32], i8>
  %s = weft.constant dense<0.5> : tensor<8x2xf32> -> !weft.tensor<[8, 2], f32>
  %w = weft.dequantize_blocks %q, %s axis 1 block 16 : (!weft.tensor<[8, 32], i8>, !weft.tensor<[8, 2], f32>) -> !weft.tensor<[8, 32], f32>
  %0 = weft.contract "... k, n k -> ... n" %x, %w accumulate f32 : (!weft.tensor<[b, s, 32], f32>, !weft.tensor<[8, 32], f32>) -> !weft.tensor<[b, s, 8], f32>
  return %0 : !weft.tensor<[b, s, 8], f32>
}

// -----

// Blocks along the columns of a weight have nothing to do with rows.
// CHECK-LABEL: func @along_columns
// CHECK-NOT:     weft.round_blocks
func.func @along_columns(%x: !weft.tensor<[m, 8], f32>) -> !weft.tensor<[m, 32], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %q = weft.constant dense<1> : tensor<8x32xi8> -> !weft.tensor<[8, 32], i8>
  %s = weft.constant dense<0.5> : tensor<8x2xf32> -> !weft.tensor<[8, 2], f32>
  %w = weft.dequantize_blocks %q, %s axis 1 block 16 : (!weft.tensor<[8, 32], i8>, !weft.tensor<[8, 2], f32>) -> !weft.tensor<[8, 32], f32>
  %0 = weft.contract "m k, k n -> m n" %x, %w accumulate f32 : (!weft.tensor<[m, 8], f32>, !weft.tensor<[8, 32], f32>) -> !weft.tensor<[m, 32], f32>
  return %0 : !weft.tensor<[m, 32], f32>
}

// -----

// Rows that are not whole blocks stay as they are.
// CHECK-LABEL: func @ragged
// CHECK-NOT:     weft.round_blocks
func.func @ragged(%x: !weft.tensor<[m, 24], f32>) -> !weft.tensor<[m, 8], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %q = weft.constant dense<1> : tensor<8x24xi8> -> !weft.tensor<[8, 24], i8>
  %s = weft.constant dense<0.5> : tensor<8x2xf32> -> !weft.tensor<[8, 2], f32>
  %w = weft.dequantize_blocks %q, %s axis 1 block 16 : (!weft.tensor<[8, 24], i8>, !weft.tensor<[8, 2], f32>) -> !weft.tensor<[8, 24], f32>
  %0 = weft.contract "m k, n k -> m n" %x, %w accumulate f32 : (!weft.tensor<[m, 24], f32>, !weft.tensor<[8, 24], f32>) -> !weft.tensor<[m, 8], f32>
  return %0 : !weft.tensor<[m, 8], f32>
}
