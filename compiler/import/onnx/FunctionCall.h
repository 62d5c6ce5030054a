//===- FunctionCall.h - A node that becomes the body of a given function ----------------------===//
//
//   FunctionCall call(state, services, node, opset, frame, inputs, place, function);
//   call.inlineBody();                                        // call.results, or call.refusal()
//
// The function's symbols are matched with the dimensions of what the node gives; what must hold for the
// match, and the function's own facts, become part of the contract.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_FUNCTIONCALL_H
#define WEFT_COMPILER_IMPORT_ONNX_FUNCTIONCALL_H

#include "compiler/import/onnx/graph/NodeImport.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace weft::onnx {

class FunctionCall : public NodeImport {
public:
  FunctionCall(BuildState &state, GraphServices &services, const OnnxNode &node, int64_t opset,
               const AttributeFrame *frame, llvm::ArrayRef<Value> inputs, std::string place,
               mlir::func::FuncOp function)
      : NodeImport(state, services, node, opset, frame, inputs, std::move(place)),
        function(function), symbols(symbolsOf(function)), arguments(function.getNumArguments()) {}

  void inlineBody();

private:
  void giveArguments();
  Value attributeValue(llvm::StringRef name, SymTensorType type);
  Value listValue(llvm::StringRef name, SymTensorType type);
  void giveSizes();
  void matchTypes();
  bool matchDim(SymExpr formal, SymExpr actual, const llvm::Twine &what);
  void fillOmitted();
  void refineArguments();
  void requireFacts();
  void bindInner();
  void cloneBody();
  void rename(mlir::Operation *op);
  std::string argumentName(unsigned i);
  SymTensorType argumentType(unsigned i) {
    return mlir::cast<SymTensorType>(function.getArgumentTypes()[i]);
  }

  mlir::func::FuncOp function;
  SymbolsAttr symbols;
  llvm::SmallVector<Value> arguments; ///< null: left out
  SymMap map;                         ///< the function's symbols in terms of the model's
};

} // namespace weft::onnx

#endif // WEFT_COMPILER_IMPORT_ONNX_FUNCTIONCALL_H
