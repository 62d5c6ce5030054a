// RUN: weft-opt %s --weft-split-functions --canonicalize | FileCheck %s

// Ranks have an early and a late piece each, of queries, keys and values; the own block of keys first, then that of the other rank, of which a
// rank computes what the mask shows: all rows and the early keys, or the late rows and all keys. Merged, divided once, and sent back.
// CHECK-LABEL: func.func @causal
// CHECK-DAG:     %[[Q:.*]] = weft.contract "s e, e n -> s n" %[[X:.*]], %arg1
// CHECK-DAG:     %[[K:.*]] = weft.contract "s e, e n -> s n" %[[X]], %arg2
// CHECK-DAG:     %[[V:.*]] = weft.contract "s e, e n -> s n" %[[X]], %arg3
// CHECK-NOT:     weft.all_gather
// CHECK:         %[[LATE:.*]] = weft.slice %[[K]] from [2, 0] size [2, 4]
// CHECK:         %[[SENT:.*]] = weft.permute %[[LATE]] by -1 over<sp = 2> {weft.because = "ranks have an early and a late piece each, of what {{.*}} reads or gives"}
// CHECK:         %[[KK:.*]] = weft.concat %{{.*}}, %[[SENT]] dim 0
// CHECK:         %[[QQ:.*]] = weft.concat
// CHECK:         %[[S:.*]] = weft.contract "i d, j d -> i j" %{{.*}}, %[[KK]]
// CHECK:         %[[O:.*]] = weft.contract "i j, j d -> i d"
// CHECK:         %[[K1:.*]] = weft.permute %[[KK]] by 1 over<sp = 2> {weft.because = "keys and values of {{.*}} go around in blocks"}
// CHECK:         %[[V1:.*]] = weft.permute %{{.*}} by 1 over<sp = 2>
// CHECK:         %[[PART:.*]] = weft.slice %[[K1]] from [0, 0] size
// CHECK:         weft.contract "i d, j d -> i j" %{{.*}}, %[[PART]]
// CHECK:         weft.maximum
// CHECK:         %[[Y:.*]] = weft.div
// CHECK:         weft.permute %{{.*}} by -1
// CHECK:         weft.all_gather %{{.*}} dim 0 to [8]
func.func @causal(%x: !weft.tensor<[8, 4], f32> {weft.placement = #weft.placement<[sp, _]>}, %wq: !weft.tensor<[4, 4], f32>, %wk: !weft.tensor<[4, 4], f32>, %wv: !weft.tensor<[4, 4], f32>) -> !weft.tensor<[8, 4], f32>
    attributes {weft.split_over = #weft.mesh<sp = 2>, weft.symbols = #weft.symbols<>} {
  %q = weft.contract "s e, e n -> s n" %x, %wq accumulate f32 {weft.placement = #weft.placement<[sp, _]>} : (!weft.tensor<[8, 4], f32>, !weft.tensor<[4, 4], f32>) -> !weft.tensor<[8, 4], f32>
  %k = weft.contract "s e, e n -> s n" %x, %wk accumulate f32 {weft.placement = #weft.placement<[sp, _]>} : (!weft.tensor<[8, 4], f32>, !weft.tensor<[4, 4], f32>) -> !weft.tensor<[8, 4], f32>
  %v = weft.contract "s e, e n -> s n" %x, %wv accumulate f32 : (!weft.tensor<[8, 4], f32>, !weft.tensor<[4, 4], f32>) -> !weft.tensor<[8, 4], f32>
  %s = weft.contract "i d, j d -> i j" %q, %k accumulate f32 : (!weft.tensor<[8, 4], f32>, !weft.tensor<[8, 4], f32>) -> !weft.tensor<[8, 8], f32>
  %n = weft.iota dim 0 : !weft.tensor<[8], i64>
  %i = weft.reshape %n to [8, 1] : (!weft.tensor<[8], i64>) -> !weft.tensor<[8, 1], i64>
  %j = weft.reshape %n to [1, 8] : (!weft.tensor<[8], i64>) -> !weft.tensor<[1, 8], i64>
  %c = weft.compare ge %i, %j : (!weft.tensor<[8, 1], i64>, !weft.tensor<[1, 8], i64>) -> !weft.tensor<[8, 8], i1>
  %least = weft.fill 0xFF800000 : f32 -> !weft.tensor<[], f32>
  %m = weft.select %c, %s, %least : (!weft.tensor<[8, 8], i1>, !weft.tensor<[8, 8], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[8, 8], f32>
  %p = weft.softmax %m : (!weft.tensor<[8, 8], f32>) -> !weft.tensor<[8, 8], f32>
  %y = weft.contract "i j, j d -> i d" %p, %v accumulate f32 : (!weft.tensor<[8, 8], f32>, !weft.tensor<[8, 4], f32>) -> !weft.tensor<[8, 4], f32>
  return %y : !weft.tensor<[8, 4], f32>
}

// Weights of attention that the caller reads are softmax of whole lines: keys are gathered.
// CHECK-LABEL: func.func @read
// CHECK-NOT:     weft.permute
// CHECK:         weft.softmax
func.func @read(%x: !weft.tensor<[s, 4], f32> {weft.placement = #weft.placement<[sp, _]>}, %w: !weft.tensor<[4, 4], f32>) -> (!weft.tensor<[s, 4], f32>, !weft.tensor<[s, s], f32>)
    attributes {weft.split_over = #weft.mesh<sp = 2>, weft.symbols = #weft.symbols<s>} {
  %k = weft.contract "s e, e n -> s n" %x, %w accumulate f32 : (!weft.tensor<[s, 4], f32>, !weft.tensor<[4, 4], f32>) -> !weft.tensor<[s, 4], f32>
  %s = weft.contract "i d, j d -> i j" %k, %k accumulate f32 : (!weft.tensor<[s, 4], f32>, !weft.tensor<[s, 4], f32>) -> !weft.tensor<[s, s], f32>
  %p = weft.softmax %s : (!weft.tensor<[s, s], f32>) -> !weft.tensor<[s, s], f32>
  %y = weft.contract "i j, j d -> i d" %p, %k accumulate f32 : (!weft.tensor<[s, s], f32>, !weft.tensor<[s, 4], f32>) -> !weft.tensor<[s, 4], f32>
  return %y, %p : !weft.tensor<[s, 4], f32>, !weft.tensor<[s, s], f32>
}
