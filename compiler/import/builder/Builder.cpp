//===- Builder.cpp - Signature, scopes, findings, and how operations are made -----------------===//

#include "compiler/import/builder/BuilderImpl.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include <atomic>

using mlir::failed;
using mlir::succeeded;

namespace weft {

Builder::Impl::Impl(const std::string &name)
    : module(Module::Impl::create(name)), ops(module->context.get()) {
  start();
}

void Builder::Impl::start() {
  static std::atomic<uint32_t> programs{0};
  id = ++programs;
  mlir::Location unknown = ops.getUnknownLoc();
  module->module = mlir::ModuleOp::create(unknown);
  ops.setInsertionPointToEnd(module->module->getBody());
  function = ops.create<mlir::func::FuncOp>(unknown, "main", ops.getFunctionType({}, {}));
  body = function.addEntryBlock();
  ops.setInsertionPointToEnd(body);
}

//===-- Messages ------------------------------------------------------------------------------===//

void Builder::Impl::report(Diagnostic diagnostic) {
  failed |= diagnostic.severity == Diagnostic::Error;
  if (diagnostic.where.empty())
    diagnostic.where = scope.empty() ? module->name : scope;
  findings.push_back(std::move(diagnostic));
}

void Builder::Impl::error(const llvm::Twine &text, const llvm::Twine &hint) {
  report({Diagnostic::Error, kProgramError.str(), "", text.str(), hint.str()});
}

mlir::Location Builder::Impl::location() {
  if (scope.empty())
    return ops.getUnknownLoc();
  return mlir::NameLoc::get(ops.getStringAttr(scope));
}

//===-- Values --------------------------------------------------------------------------------===//

Value Builder::Impl::wrap(mlir::Value value) {
  Value handle;
  handle.owner = id;
  if (value) {
    handle.index = values.size();
    values.push_back(value);
  }
  return handle;
}

mlir::Value Builder::Impl::unwrap(Value value, const char *operation) {
  if (value.owner == id)
    return value.index < values.size() ? values[value.index] : mlir::Value();
  error(llvm::Twine("'") + operation + "' is given " +
        (value.owner == 0 ? "an empty value" : "a value of another builder"));
  return {};
}

bool Builder::Impl::unwrap(llvm::ArrayRef<Value> list, const char *operation,
                           llvm::SmallVectorImpl<mlir::Value> &unwrapped) {
  for (Value value : list) {
    mlir::Value known = unwrap(value, operation);
    if (!known)
      return false;
    unwrapped.push_back(known);
  }
  return true;
}

//===-- Operations ----------------------------------------------------------------------------===//

/// The result type of an operation, or null with a diagnostic. The builders that ODS generates
/// abort when inference fails, so it is asked before there is an operation.
static mlir::Type inferType(mlir::Location location, llvm::StringRef opName,
                            mlir::ValueRange operands, mlir::DictionaryAttr attributes) {
  mlir::MLIRContext *context = location.getContext();
  mlir::OperationName name(opName, context);
  auto *inference = name.getInterface<mlir::InferTypeOpInterface>();
  assert(inference && "create() is for operators that infer their result");
  alignas(std::max_align_t) char storage[512];
  assert(name.getOpPropertyByteSize() <= int(sizeof(storage)) &&
         "properties of an operator are few");
  mlir::OpaqueProperties properties(nullptr);
  if (name.getOpPropertyByteSize() > 0) {
    properties = mlir::OpaqueProperties(storage);
    name.initOpProperties(properties, mlir::OpaqueProperties(nullptr));
  }
  llvm::SmallVector<mlir::Type> types;
  auto emitError = [&] { return mlir::emitError(location); };
  bool good = !properties ||
              succeeded(name.setOpPropertiesFromAttribute(name, properties, attributes, emitError));
  good = good && succeeded(inference->inferReturnTypes(context, location, operands, attributes,
                                                       properties, {}, types));
  if (properties)
    name.destroyOpProperties(properties);
  return good ? types.front() : mlir::Type();
}

mlir::Operation *Builder::Impl::createTyped(llvm::StringRef name, mlir::ValueRange operands,
                                            Attributes attributes, mlir::TypeRange results) {
  mlir::OperationState state(location(), name, operands, results, attributes);
  mlir::Operation *op = ops.create(state);
  if (succeeded(collecting([&] { return op->getName().verifyInvariants(op); })))
    return op;
  op->erase();
  if (!failed) // a refusal without a reason must not pass for success
    error("'" + name + "' was refused");
  return nullptr;
}

Value Builder::Impl::create(llvm::StringLiteral name, llvm::ArrayRef<Value> operands,
                            Attributes attributes) {
  llvm::SmallVector<mlir::Value> values;
  if (!unwrap(operands, name.data(), values))
    return wrap({});
  auto dictionary = mlir::DictionaryAttr::get(context(), attributes);
  mlir::Type type = collecting([&] { return inferType(location(), name, values, dictionary); });
  if (!type && !failed)
    error("'" + name + "' was refused");
  if (!type)
    return wrap({});
  mlir::Operation *op = createTyped(name, values, attributes, type);
  return wrap(op ? op->getResult(0) : mlir::Value());
}

//===-- Text ----------------------------------------------------------------------------------===//

std::optional<llvm::SmallVector<SymExpr>> Builder::Impl::parseDims(const Dims &dims,
                                                                   bool declares) {
  llvm::SmallVector<SymExpr> parsed;
  for (const Dim &dim : dims) {
    llvm::Expected<SymExpr> expr = parseSymExpr(context(), dim.text());
    if (!expr) {
      error("size '" + dim.text() + "' is not an expression: " + llvm::toString(expr.takeError()));
      return std::nullopt;
    }
    for (mlir::StringAttr symbol : expr->symbols())
      if (declares) {
        symbols.insert(symbol);
      } else if (!symbols.contains(symbol)) {
        error("size '" + dim.text() + "' speaks of '" + symbol.getValue() +
              "', but no input has that symbol");
        return std::nullopt;
      }
    parsed.push_back(*expr);
  }
  return parsed;
}

DimsAttr Builder::Impl::dimsAttribute(const Dims &dims) {
  auto parsed = parseDims(dims);
  return parsed ? DimsAttr::get(context(), *parsed) : DimsAttr();
}

SymTensorType Builder::Impl::tensorType(Element element, const Dims &dims, bool declares) {
  auto parsed = parseDims(dims, declares);
  if (!parsed)
    return {};
  return collecting([&] {
    return SymTensorType::getChecked([&] { return mlir::emitError(location()); }, context(),
                                     DimsAttr::get(context(), *parsed).getDimAttributes(),
                                     toType(context(), element));
  });
}

std::optional<int64_t> Builder::Impl::countAxis(mlir::Value tensor, int64_t axis,
                                                const char *operation) {
  auto type = mlir::cast<SymTensorType>(tensor.getType());
  int64_t rank = type.getRank();
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  error("'" + llvm::Twine(operation) + "' has no axis " + llvm::Twine(axis) +
        " in a tensor of rank " + llvm::Twine(rank));
  return std::nullopt;
}

//===-- The end -------------------------------------------------------------------------------===//

void Builder::Impl::declareFunction() {
  llvm::SmallVector<mlir::Value> results;
  for (auto &output : outputs)
    results.push_back(output.second);
  ops.create<mlir::func::ReturnOp>(ops.getUnknownLoc(), results);
  function.setType(
      ops.getFunctionType(body->getArgumentTypes(), mlir::ValueRange(results).getTypes()));
  for (auto [i, name] : llvm::enumerate(inputNames))
    function.setArgAttr(i, kNameAttr, ops.getStringAttr(name));
  for (auto [i, output] : llvm::enumerate(outputs))
    function.setResultAttr(i, kNameAttr, output.first);
  function->setAttr(kSymbolsAttr, SymbolsAttr::get(context(), symbols.getArrayRef(), facts));
}

Result<Module> Builder::Impl::finish() {
  for (const SymPred &fact : facts)
    for (mlir::StringAttr symbol : fact.symbols())
      if (!symbols.contains(symbol))
        error("fact '" + fact.str() + "' speaks of '" + symbol.getValue() +
              "', but no input has that symbol");
  if (outputs.empty() && !failed)
    error("the program has no output");
  if (!failed) {
    declareFunction();
    // A failure that left no diagnostic would otherwise pass as a module.
    bool valid = collecting([&] { return succeeded(mlir::verify(*module->module)); });
    if (!valid && !failed)
      error("the program is not valid");
  }
  if (failed)
    return Result<Module>(std::move(findings));
  Result<Module> result{Module(module)};
  result.diagnostics() = std::move(findings);
  return result;
}

void Builder::Impl::clear() {
  module = Module::Impl::create(module->name);
  ops = mlir::OpBuilder(module->context.get());
  values.clear();
  inputNames.clear();
  outputs.clear();
  symbols.clear();
  facts.clear();
  findings.clear();
  failed = finished = true;
  start();
}

//===-- The public face -----------------------------------------------------------------------===//

Builder::Builder(const std::string &name) : impl(std::make_unique<Impl>(name)) {}
Builder::Builder(Builder &&) noexcept = default;
Builder::~Builder() = default;

Value Builder::input(const std::string &name, Element element, const Dims &dims) {
  if (llvm::is_contained(impl->inputNames, name)) {
    impl->error("two inputs are called '" + name + "'");
    return impl->wrap({});
  }
  SymTensorType type = impl->tensorType(element, dims, /*declares=*/true);
  if (!type)
    return impl->wrap({});
  impl->inputNames.push_back(name);
  auto loc = mlir::NameLoc::get(impl->ops.getStringAttr(name));
  return impl->wrap(impl->body->addArgument(type, loc));
}

void Builder::fact(const std::string &predicate) {
  llvm::Expected<SymPred> parsed = parseSymPred(impl->context(), predicate);
  if (parsed)
    impl->facts.push_back(*parsed);
  else
    impl->error("fact '" + predicate +
                "' is not a predicate: " + llvm::toString(parsed.takeError()));
}

void Builder::output(const std::string &name, Value value) {
  mlir::Value known = impl->unwrap(value, "output");
  if (known && !impl->outputs.insert({impl->ops.getStringAttr(name), known}).second)
    impl->error("two outputs are called '" + name + "'");
}

Result<Module> Builder::finish() {
  if (impl->finished)
    return Diagnostic{Diagnostic::Error, kProgramError.str(), impl->module->name,
                      "finish() was called before", ""};
  Result<Module> result = impl->finish();
  impl->clear();
  return result;
}

Builder::Scope Builder::scope(const std::string &name) {
  Scope entered(impl.get(), impl->scope.size());
  impl->scope += (impl->scope.empty() ? "" : ".") + name;
  return entered;
}

Builder::Scope::~Scope() {
  if (builder)
    static_cast<Builder::Impl *>(builder)->scope.resize(length);
}

const std::string &Builder::scopeName() const { return impl->scope; }
void Builder::report(Diagnostic diagnostic) { impl->report(std::move(diagnostic)); }
bool Builder::failed() const { return impl->failed; }
Value Builder::failedValue() { return impl->wrap({}); }

} // namespace weft
