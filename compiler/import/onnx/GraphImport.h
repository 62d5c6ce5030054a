//===- GraphImport.h - Walks the graphs of a model and imports their nodes --------------------===//
//
// Imports the nodes that the outputs need, in an order in which every value exists before its use.
// A node that is refused does not end the walk: what depends on it is skipped, and the rest is
// imported to find all reasons at once.
//
//   GraphImport import(model, given, impl, contract, operators, limits);
//   if (!import.run()) report(import.problem(), import.refusals());
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_GRAPHIMPORT_H
#define WEFT_COMPILER_IMPORT_ONNX_GRAPHIMPORT_H

#include "compiler/import/onnx/GivenOperators.h"
#include "compiler/import/onnx/graph/Constants.h"
#include "compiler/import/onnx/graph/InputConstants.h"
#include "compiler/import/onnx/graph/NodeImport.h"
#include "compiler/import/onnx/graph/NodeOrder.h"
#include "compiler/import/onnx/operators/Operators.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace weft::onnx {

/// A node that was not imported.
struct RefusedNode {
  std::string domain, op, name;
  int64_t opset = 0;
  bool wholeOperator =
      false; ///< no version or no such operator, as opposed to a detail of this node
  Refusal refusal;
};

class GraphImport : public GraphServices {
public:
  GraphImport(const OnnxModel &model, const GivenConstants &given, Module::Impl &impl,
              Contract &contract, GivenOperators &operators, const Limits &limits);

  /// See OnnxImportOptions; may be empty.
  std::function<void(const std::string &name, SymTensorType type)> onValue;

  /// Builds `main` in the module. False when the graph as a whole is wrong or nodes were refused.
  bool run();

  /// What is wrong with the graph as a whole, if anything.
  const std::optional<Refusal> &problem() const { return graphProblem; }
  llvm::ArrayRef<RefusedNode> refusals() const { return refusedNodes; }
  llvm::ArrayRef<std::string> warnings() const { return warningTexts; }

  llvm::Expected<Value> constantOf(const OnnxTensor &tensor, llvm::StringRef name) override;
  Value reinterpret(Value constant, SymTensorType type) override {
    return constants.reinterpret(state, constant, type);
  }
  bool inlineGraph(const OnnxGraph &graph, llvm::ArrayRef<Value> arguments,
                   llvm::SmallVectorImpl<Value> &outputs) override;

private:
  /// Names that are visible in one graph or function body. A null value was refused.
  struct Scope {
    Scope *parent = nullptr;
    const OnnxFunction *function = nullptr; ///< whose body it is part of
    const AttributeFrame *frame = nullptr;
    llvm::StringMap<Value> values;
    llvm::StringMap<const OnnxTensor *> initializers;
    llvm::StringSet<> omitted;                ///< optional inputs that a function's caller left out
    llvm::StringMap<std::string> unavailable; ///< why a value exists in the file but not here
  };

  bool fail(const llvm::Twine &text, Refusal::Kind kind = Refusal::Wrong);
  bool declareInputs(Scope &scope);
  bool bindConstant(const OnnxValueInfo &input, const GivenConstant &constant, Scope &scope);
  bool finish(Scope &scope);
  void checkOutput(const OnnxValueInfo &declared, Value value);
  bool addInitializers(const OnnxGraph &graph, Scope &scope);
  bool countNodes(uint64_t more);
  bool importNodes(llvm::ArrayRef<OnnxNode> nodes, llvm::Expected<llvm::ArrayRef<unsigned>> order,
                   Scope &scope);
  void importNode(const OnnxNode &node, Scope &scope);
  void importOperator(const OnnxNode &node, Scope &scope, llvm::ArrayRef<Value> inputs);
  void callGiven(const OnnxNode &node, mlir::func::FuncOp function, Scope &scope,
                 llvm::ArrayRef<Value> inputs);
  void bindResults(const OnnxNode &node, NodeImport &n, Scope &scope);
  void convert(const OnnxNode &node, const OnnxOperator &entry, int64_t opset, Scope &scope,
               llvm::ArrayRef<Value> inputs);
  void importCall(const OnnxNode &node, const OnnxFunction &function, Scope &scope,
                  llvm::ArrayRef<Value> inputs);
  void refuseNode(const OnnxNode &node, const Scope &scope, bool wholeOperator, Refusal refusal);
  void poison(const OnnxNode &node, Scope &scope);
  /// What a name stands for. No value: a caller left the input out, or the node that makes it was refused.
  struct Found {
    Value value;
    bool isPoisoned = false; ///< the latter
  };
  llvm::Expected<Found> lookUp(llvm::StringRef name, Scope &scope);
  bool bind(llvm::StringRef name, Scope &scope, Value value);
  void tell(llvm::StringRef name, const Scope &scope, Value value);
  const OnnxFunction *functionOf(const OnnxNode &node) const;
  int64_t opsetOf(llvm::StringRef domain, const Scope &scope) const;
  llvm::Expected<llvm::ArrayRef<unsigned>>
  orderOf(llvm::ArrayRef<OnnxNode> nodes, llvm::ArrayRef<llvm::StringRef> outputs, const void *key);

  const OnnxModel &model;
  const GivenConstants &given; ///< contents of inputs
  Module::Impl &impl;
  BuildState state;
  Contract &contract;
  GivenOperators &operators;
  const Limits &limits;
  mlir::OwningOpRef<mlir::ModuleOp> ownedModule;
  Constants constants;
  mlir::func::FuncOp function;   ///< main
  Scope *currentScope = nullptr; ///< of the node being converted
  llvm::SmallVector<const OnnxFunction *> calls;
  std::map<const void *, std::vector<unsigned>> orders;   ///< of nodes, by graph or function
  llvm::DenseMap<const OnnxTensor *, Value> tensorValues; ///< initializers already made
  std::map<std::tuple<llvm::StringRef, llvm::StringRef, llvm::StringRef>, const OnnxFunction *>
      functions;
  std::vector<RefusedNode> refusedNodes;
  std::vector<std::string> warningTexts;
  std::optional<Refusal> graphProblem;
  unsigned depth = 0;
  uint64_t importedNodes = 0;
};

} // namespace weft::onnx

#endif // WEFT_COMPILER_IMPORT_ONNX_GRAPHIMPORT_H
