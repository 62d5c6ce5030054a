//===- CallSymbols.cpp ------------------------------------------------------------------------===//

#include "compiler/eval/CallSymbols.h"
#include "compiler/model/EntryPlan.h"
#include "dialects/weft/Mesh.h"

using namespace mlir;

namespace weft {

static llvm::Error fail(const Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
}

llvm::Error CallSymbols::set(StringAttr name, int64_t value, const Twine &where) {
  if (value < 0 || value > kMaxSymbolValue)
    return fail(where + "'" + name.getValue() + "', which the contents of tensors decide, is " +
                Twine(value) +
                (value < 0 ? "" : ", but sizes are at most " + Twine(kMaxSymbolValue)).str());
  values[name] = value;
  for (const SymPred &fact : declared.getFacts()) {
    if (!llvm::is_contained(fact.symbols(), name))
      continue;
    FailureOr<bool> holds = fact.evaluate(values);
    if (succeeded(holds) && !*holds)
      return fail("'" + fact.str() + "' does not hold with '" + name.getValue() +
                  "' = " + Twine(value));
  }
  return llvm::Error::success();
}

llvm::Expected<SymValues> bindInputs(FunctionOpInterface function, ArrayRef<RefTensor> inputs,
                                     SymValues ofRank) {
  if (inputs.size() != function.getNumArguments())
    return fail("the model has " + Twine(function.getNumArguments()) + " inputs, but " +
                Twine(inputs.size()) + " were given");
  OwningOpRef<FunctionOpInterface> signature = withWholes(function);
  llvm::Expected<EntryPlan> plan = planEntry(*signature);
  if (!plan)
    return plan.takeError();
  std::vector<DimValues> dims;
  std::vector<std::string> names;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    SymTensorType type = wholeArgument(function, i);
    names.push_back(inputName(function, i));
    dims.emplace_back(input.dims.begin(), input.dims.end());
    if (input.dims.size() != type.getRank())
      return fail("input '" + names.back() + "' must have rank " + Twine(type.getRank()) +
                  ", but has rank " + Twine(input.dims.size()));
    if (input.element != type.getElementType())
      return fail("input '" + names.back() + "' has another element type than the model's");
  }
  return plan->bind(dims, names, std::move(ofRank));
}

llvm::Expected<DimValues> dimsOf(SymTensorType type, const SymValues &values) {
  ReferenceCall call;
  call.symbols = &values;
  FailureOr<DimValues> sizes = call.dims(type);
  if (failed(sizes))
    return fail(call.error);
  return *sizes;
}

llvm::Error refuseSize(SymTensorType type, const SymValues &values) {
  double bytes = 8;
  for (SymExpr dim : type.getDims()) {
    FailureOr<int64_t> size = dim.evaluate(values);
    if (succeeded(size) && *size < 0)
      return fail("this call needs a tensor with a dimension of '" + dim.str() + "', which is " +
                  Twine(*size));
    bytes *= succeeded(size) ? double(*size) : 1; // an operator says what fails
  }
  if (bytes < 4.0e18)
    return llvm::Error::success();
  return fail("this call needs a tensor of more than 2^62 bytes");
}

llvm::Error checkPositions(const RefTensor &positions, DimsAttr sizes, const SymValues &values,
                           const Twine &where) {
  SmallVector<int64_t> limits;
  for (SymExpr size : sizes.getDims()) {
    FailureOr<int64_t> value = size.evaluate(values);
    if (failed(value))
      return fail("'" + size.str() + "' is not a size");
    limits.push_back(*value);
  }
  std::optional<OutsidePosition> outside = findOutside(positions, limits);
  return outside ? fail(where + outside->text()) : llvm::Error::success();
}

} // namespace weft
