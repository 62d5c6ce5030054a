//===- RankTensors.h - What each rank of a call gets and gives, for tests ----------------------===//
//
//   RankTensors tensors(function, views);               // of a whole call
//   tensors.inputs(1)                                    // rank 1's parts, and the whole of all else
//   tensors.together(results, failure)                   // of all ranks, which agree or have parts
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_SUPPORT_RANKTENSORS_H
#define WEFT_TEST_SUPPORT_RANKTENSORS_H

#include "compiler/eval/LocalParts.h"
#include "test/support/Program.h"
#include <deque>

namespace weft::test {

class RankTensors {
public:
  /// A call that binds no symbols is left to the runtime, which says why.
  RankTensors(mlir::func::FuncOp function, const std::vector<weft_tensor_t> &inputs);

  std::vector<weft_tensor_t> inputs(unsigned rank);
  std::vector<Tensor> together(std::vector<std::vector<Tensor>> results, std::string &failure);

private:
  mlir::func::FuncOp function;
  MeshAttr mesh;
  const std::vector<weft_tensor_t> &given;
  std::vector<std::deque<Tensor>> parts; ///< by rank
};

} // namespace weft::test

#endif // WEFT_TEST_SUPPORT_RANKTENSORS_H
