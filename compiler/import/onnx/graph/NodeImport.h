//===- NodeImport.h - One ONNX node while it becomes operations -------------------------------===//
//
// What a converter gets: the node's inputs as values, its attributes, what is known about shape
// operands, and (as a GraphBuilder) the means to build. Attributes that a converter does not ask for
// are refused, so each one that exists is either meant or named in ignoreAttributes.
//
//   void convertFlatten(NodeImport &n) {
//     int64_t axis = n.axis(n.intAttribute("axis", 1), n.rank(0) + 1);
//     ...
//     n.result(n.reshape(n.input(0), dims));
//   }
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_GRAPH_NODEIMPORT_H
#define WEFT_COMPILER_IMPORT_ONNX_GRAPH_NODEIMPORT_H

#include "compiler/import/onnx/file/OnnxTensorData.h"
#include "compiler/import/onnx/graph/GraphBuilder.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace weft::onnx {

/// The values of a function's attributes while its body is imported.
using AttributeFrame = llvm::StringMap<const OnnxAttribute *>;

/// The meaning of a size that is the element of an operand.
constexpr llvm::StringLiteral kItself = "itself";

/// What converters may ask of the graph around their node.
class GraphServices {
public:
  virtual ~GraphServices() = default;
  /// A constant, or a weight called `name`. Fails when its data cannot be used.
  virtual llvm::Expected<Value> constantOf(const OnnxTensor &tensor, llvm::StringRef name) = 0;
  /// The bytes of a constant as elements of another type and number; null when it is none.
  virtual Value reinterpret(Value constant, SymTensorType type) = 0;
  /// The outputs of a subgraph that sees the values around the node, built at the builder's position.
  /// `arguments` are its inputs. False when it was refused, which is reported by its own nodes.
  virtual bool inlineGraph(const OnnxGraph &graph, llvm::ArrayRef<Value> arguments,
                           llvm::SmallVectorImpl<Value> &outputs) = 0;
};

class NodeImport : public GraphBuilder {
public:
  NodeImport(BuildState &state, GraphServices &services, const OnnxNode &node, int64_t opset,
             const AttributeFrame *frame, llvm::ArrayRef<Value> inputs, std::string place)
      : GraphBuilder(state, std::move(place)), node(node), opset(opset), services(services),
        frame(frame), inputs(inputs) {}

  const OnnxNode &node;
  const int64_t opset;
  GraphServices &services;

  //===-- Inputs and outputs ------------------------------------------------------------------===//

  unsigned inputCount() const { return inputs.size(); }
  bool hasInput(unsigned i) const { return i < inputs.size() && inputs[i]; }
  /// Refuses when it is missing.
  Value input(unsigned i);
  /// Null when it is missing.
  Value optionalInput(unsigned i) const { return hasInput(i) ? inputs[i] : Value(); }
  llvm::ArrayRef<Value> allInputs(); ///< refuses when one is missing
  unsigned rank(unsigned i) { return input(i) ? rankOf(input(i)) : 0; }
  Type element(unsigned i) { return input(i) ? elementOf(input(i)) : Type(); }
  Dims dims(unsigned i) { return input(i) ? Dims(typeOf(input(i)).getDims()) : Dims(); }
  SymExpr dim(unsigned i, unsigned d) { return typeOf(input(i)).getDim(d); }
  bool wantsOutput(unsigned i) const { return i < node.outputs.size() && !node.outputs[i].empty(); }

  void result(Value value) { results.assign(1, value); }
  llvm::SmallVector<Value, 2> results; ///< null for an output that nobody wants

  //===-- Attributes --------------------------------------------------------------------------===//

  int64_t intAttribute(llvm::StringRef name, int64_t otherwise);
  std::optional<int64_t> intAttribute(llvm::StringRef name);
  double floatAttribute(llvm::StringRef name, double otherwise);
  std::optional<double> floatAttribute(llvm::StringRef name);
  std::string textAttribute(llvm::StringRef name, llvm::StringRef otherwise);
  std::optional<llvm::SmallVector<int64_t>> intsAttribute(llvm::StringRef name);
  std::optional<llvm::SmallVector<double>> floatsAttribute(llvm::StringRef name);
  std::optional<llvm::SmallVector<std::string>> textsAttribute(llvm::StringRef name);
  const OnnxTensor *tensorAttribute(llvm::StringRef name);
  const OnnxGraph *graphAttribute(llvm::StringRef name); ///< refuses when it is missing
  bool hasAttribute(llvm::StringRef name) const { return find(name) != nullptr; }
  void ignoreAttributes(llvm::ArrayRef<llvm::StringRef> names);
  /// The name of an attribute that nobody asked for; empty when there is none.
  llvm::StringRef unusedAttribute() const;
  /// What the call of a function passes on for its body.
  AttributeFrame passedAttributes() const;

  //===-- Operands that are shapes --------------------------------------------------------------===//

  /// Input `i` as a list of expressions. Refuses when it depends on tensor contents.
  std::optional<Dims> shapeOperand(unsigned i);
  /// The same for sizes, in SizeOperands.cpp: what depends on tensor contents becomes symbols that the program binds.
  std::optional<Dims> sizesOperand(unsigned i);
  std::optional<SymExpr> sizeScalar(unsigned i);
  /// What is known of a list; null for elements that tensor contents decide.
  std::optional<Dims> knownOperand(unsigned i);
  Value operandElement(unsigned i, unsigned k); ///< 0-d, i64
  /// A symbol for a size that `compute` finds from element `k`; the same one where an earlier node found it with the same meaning.
  SymExpr bindOnce(unsigned i, unsigned k, const llvm::Twine &meaning, SymExpr limit,
                   llvm::function_ref<Value()> compute);
  /// Input `i` as integers that are constant in the file or follow from constant dimensions.
  std::optional<llvm::SmallVector<int64_t>> constantOperand(unsigned i);
  std::optional<llvm::SmallVector<double>> constantReals(unsigned i);
  /// One element of either; nothing (and refused) when there are more.
  std::optional<SymExpr> shapeScalar(unsigned i);
  std::optional<int64_t> constantScalar(unsigned i);
  /// Axes: an attribute below the opset in which they became input `i`. Nothing when absent.
  std::optional<llvm::SmallVector<int64_t>> axesOperand(llvm::StringRef name, unsigned i);

  /// An axis counted from 0; refuses one outside of `rank`. At least 0 in any case.
  unsigned axis(int64_t axis, int64_t rank);
  /// Ascending axes from 0, each once.
  llvm::SmallVector<int64_t> axes(llvm::ArrayRef<int64_t> list, int64_t rank);

  //===-- Types ---------------------------------------------------------------------------------===//

  /// The element type of an attribute such as `to`; null and refused when it has none here.
  Type elementType(int64_t onnxType);
  Value constantOf(const OnnxTensor &tensor);

private:
  const OnnxAttribute *find(llvm::StringRef name) const;
  const OnnxAttribute *find(llvm::StringRef name, OnnxAttribute::Kind kind);
  std::string inputName(unsigned i) const;
  std::string symbolWish(unsigned i, bool isItself) const;
  void learnElement(unsigned i, unsigned k, SymExpr symbol);

  const AttributeFrame *frame;
  llvm::ArrayRef<Value> inputs;
  llvm::StringSet<> used;
};

/// Null when Weft has no such element type.
Type elementTypeOf(mlir::MLIRContext *context, OnnxElementType type);

} // namespace weft::onnx

#endif // WEFT_COMPILER_IMPORT_ONNX_GRAPH_NODEIMPORT_H
