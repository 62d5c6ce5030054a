//===- RunCase.cpp ------------------------------------------------------------------------------===//
//
// A case is compiled as it is. Many cases pass axes, shapes or scales as inputs although a model has
// them as constants: only if that is why a case is refused, it is compiled once more per data set
// with the contents of its small operands.
//===------------------------------------------------------------------------------------------===//
#include "test/onnx_suite/RunCase.h"
#include "test/onnx_suite/Tolerance.h"
#include "test/support/EmulatedCall.h"
#include "tools/weft/cli/Inputs.h"
#include "tools/weft/cli/TensorFile.h"
#include "weft/compiler.hpp"
#include "weft/runtime.h"

#include <algorithm>

namespace weft::suite {
namespace {

using cli::HostTensor;

constexpr int64_t kMostConstantElements = 16;

/// What a step of a case gives: nothing when all is well.
struct Trouble {
  std::string status, message;
  explicit operator bool() const { return !status.empty(); }
};

uint32_t elementOf(const std::string &onnx) {
  static const std::map<std::string, uint32_t> elements = {{"float", WEFT_F32},
                                                           {"double", WEFT_F64},
                                                           {"float16", WEFT_F16},
                                                           {"bfloat16", WEFT_BF16},
                                                           {"float8e4m3fn", WEFT_F8E4M3},
                                                           {"float8e5m2", WEFT_F8E5M2},
                                                           {"float8e4m3fnuz", WEFT_F8E4M3FNUZ},
                                                           {"float8e5m2fnuz", WEFT_F8E5M2FNUZ},
                                                           {"float8e8m0", WEFT_F8E8M0},
                                                           {"float4e2m1", WEFT_F4E2M1},
                                                           {"bool", WEFT_BOOL},
                                                           {"int2", WEFT_I2},
                                                           {"uint2", WEFT_U2},
                                                           {"int4", WEFT_I4},
                                                           {"uint4", WEFT_U4},
                                                           {"int8", WEFT_I8},
                                                           {"uint8", WEFT_U8},
                                                           {"int16", WEFT_I16},
                                                           {"uint16", WEFT_U16},
                                                           {"int32", WEFT_I32},
                                                           {"uint32", WEFT_U32},
                                                           {"int64", WEFT_I64},
                                                           {"uint64", WEFT_U64}};
  auto found = elements.find(onnx);
  return found == elements.end() ? 0 : found->second;
}

/// ONNX says of these which values are possible, not which ones come out. Our own cases are about our numbers.
bool hasOpenNumbers(const Case &each) {
  const std::vector<std::string> &all = each.operators;
  bool ours = each.name.rfind("weft/", 0) == 0;
  return !ours && (std::count(all.begin(), all.end(), "Bernoulli") ||
                   std::count(all.begin(), all.end(), "RandomUniformLike"));
}

struct DataSet {
  std::vector<HostTensor> inputs, outputs; ///< as they are stored
};

class CaseRun {
public:
  CaseRun(const Case &each, const std::string &scratch)
      : each(each), scratch(scratch), target(test::targetsToTry({CompileOptions().target})[0]) {}

  Outcome run() {
    Trouble trouble = compile({});
    if (trouble && trouble.status == "refused" && needsContents && each.sets) {
      if (Trouble other = runWithConstants(); !other)
        return {"pass-constant", ""};
      else if (other.status != "refused" || constantsHelp)
        return {other.status, other.message};
    }
    if (trouble)
      return {trouble.status, trouble.message};
    if (!each.edge.empty())
      return {"refused",
              "the model compiles, but this test cannot give it values of kind " + each.edge};
    for (unsigned set = 0; set < each.sets; ++set)
      if (Trouble found = runSet(set, {}))
        return {found.status, found.message};
    return {"pass", ""};
  }

private:
  //===-- Compiling ------------------------------------------------------------------------------===//

  Trouble compile(const std::vector<InputConstant> &constants) {
    ImportOptions import;
    import.constants = constants;
    weft::Result<Module> module = compiler.importFile(each.folder + "/model.onnx", import);
    if (!module)
      return refusal(module.diagnostics());
    CompileOptions options;
    options.target = target;
    options.outputPath = scratch;
    options.jobs = 1;
    weft::Result<Artifact> artifact = compiler.compile(*module, options);
    return artifact ? Trouble() : refusal(artifact.diagnostics());
  }

  /// Errors say what is refused in one line each, and at least one says where.
  Trouble refusal(const std::vector<Diagnostic> &diagnostics) {
    std::string first;
    bool named = false, oneLine = true;
    needsContents = false;
    for (const Diagnostic &diagnostic : diagnostics) {
      if (diagnostic.severity != Diagnostic::Error)
        continue;
      std::string where = diagnostic.where;
      if (where.rfind(each.folder, 0) == 0) // the folder's name contains the operator's
        where.erase(0, std::min(where.size(), each.folder.size() + sizeof("/model.onnx: ") - 1));
      std::string line = where.empty() ? diagnostic.text : where + ": " + diagnostic.text;
      oneLine &= line.find('\n') == std::string::npos;
      named |= names(line);
      needsContents |= line.find("contents of") != std::string::npos ||
                       line.find("must be a constant") != std::string::npos;
      first = first.empty() ? line : first;
    }
    std::replace(first.begin(), first.end(), '\n', ' ');
    return {named && oneLine ? "refused" : "unclear",
            first.empty() ? "refused without a reason" : first};
  }

  /// A node, an input or output, an operator of the model, or the version of the operators.
  bool names(const std::string &line) const {
    for (const char *word : {"node '", "input '", "output '", "version "})
      if (line.find(word) != std::string::npos)
        return true;
    return std::any_of(each.operators.begin(), each.operators.end(), [&](const std::string &op) {
      return line.find(op.substr(op.rfind(':') + 1)) != std::string::npos;
    });
  }

  //===-- Data -----------------------------------------------------------------------------------===//

  Trouble read(unsigned set, DataSet &data) {
    auto file = cli::readTensorFile(each.folder + "/set_" + std::to_string(set) + ".npz");
    if (!file)
      return {"wrong", file.failure().message};
    for (const cli::NamedTensor &named : *file)
      (named.name[0] == 'i' ? data.inputs : data.outputs).push_back(named.tensor);
    if (data.inputs.size() != each.inputs.size() || data.outputs.size() > each.outputs.size())
      return {"wrong", "the data set has other inputs or outputs than the model"};
    return {};
  }

  static bool isSmallOperand(const HostTensor &tensor) {
    int64_t most = tensor.element() == WEFT_BOOL ? 1 : kMostConstantElements;
    return tensor.dims().size() <= 1 && tensor.count() <= most;
  }

  std::vector<InputConstant> constantsOf(const DataSet &data) const {
    std::vector<InputConstant> constants;
    for (size_t i = 0; i < data.inputs.size(); ++i) {
      const HostTensor &tensor = data.inputs[i];
      if (isSmallOperand(tensor))
        constants.push_back({each.inputs[i].name,
                             weft_element_name(tensor.element()),
                             tensor.dims(),
                             {tensor.data(), tensor.data() + tensor.bytes()}});
    }
    return constants;
  }

  //===-- Running --------------------------------------------------------------------------------===//

  Trouble runWithConstants() {
    for (unsigned set = 0; set < each.sets; ++set) {
      DataSet data;
      if (Trouble trouble = read(set, data))
        return trouble;
      std::vector<InputConstant> constants = constantsOf(data);
      if (constants.empty())
        return {"refused", ""};
      if (Trouble trouble = compile(constants)) {
        constantsHelp = !needsContents; // then the other reason is the interesting one
        return trouble;
      }
      if (Trouble trouble = runSet(set, constants))
        return trouble;
    }
    return {};
  }

  Trouble runSet(unsigned set, const std::vector<InputConstant> &constants) {
    DataSet data;
    if (Trouble trouble = read(set, data))
      return trouble;
    std::vector<HostTensor> tensors;
    std::vector<weft_tensor_t> inputs;
    for (size_t i = 0; i < data.inputs.size(); ++i) {
      auto isIt = [&](const InputConstant &constant) {
        return constant.name == each.inputs[i].name;
      };
      if (std::any_of(constants.begin(), constants.end(), isIt))
        continue;
      auto tensor =
          cli::asElement(data.inputs[i], elementOf(each.inputs[i].element), each.inputs[i].name);
      if (!tensor)
        return {"wrong", tensor.failure().message};
      tensors.push_back(*tensor);
      inputs.push_back(tensors.back().view());
    }
    return test::isEmulated(target) ? callElsewhere(inputs, data) : call(inputs, data);
  }

  Trouble callElsewhere(const std::vector<weft_tensor_t> &inputs, const DataSet &data) {
    std::vector<test::EmulatedTensor> results;
    if (std::string why = test::callEmulated(scratch, inputs, results); !why.empty())
      return {"wrong", why};
    for (size_t i = 0; i < data.outputs.size(); ++i) {
      test::EmulatedTensor &got = results[i];
      weft_tensor_t raw = weft_tensor_of(got.bytes.data(), weft_element_t(got.element),
                                         int32_t(got.dims.size()), got.dims.data());
      if (Trouble trouble = compare(raw, data.outputs[i], each.outputs[i]))
        return trouble;
    }
    return {};
  }

  Trouble call(const std::vector<weft_tensor_t> &inputs, const DataSet &data) {
    weft_error_t error = WEFT_ERROR_INIT;
    weft_module_t *artifact = nullptr;
    weft_context_t *context = nullptr;
    weft_context_options_t options = {sizeof options, 1, -1, 0, nullptr, test::deviceFor(target)};
    std::vector<weft_tensor_t> outputs(each.outputs.size(), weft_tensor_t(WEFT_TENSOR_EMPTY));
    Trouble trouble;
    if (weft_module_open(nullptr, scratch.c_str(), &artifact, &error) ||
        weft_context_create(artifact, &options, &context, &error) ||
        weft_call(context, nullptr, inputs.data(), uint32_t(inputs.size()), outputs.data(),
                  uint32_t(outputs.size()), &error))
      trouble = {"wrong", error.message};
    for (size_t i = 0; i < data.outputs.size() && !trouble; ++i)
      trouble = compare(outputs[i], data.outputs[i], each.outputs[i]);
    for (weft_tensor_t &output : outputs)
      weft_tensor_release(context, &output);
    weft_context_release(context);
    weft_module_release(artifact);
    return trouble;
  }

  Trouble compare(const weft_tensor_t &raw, const HostTensor &stored, const Edge &edge) const {
    HostTensor got =
        HostTensor::over(raw.element, {raw.dim, raw.dim + raw.rank}, raw.data, nullptr);
    auto expected = cli::asElement(stored, elementOf(edge.element), edge.name);
    if (!expected)
      return {"wrong", expected.failure().message};
    std::string why = hasOpenNumbers(each)
                          ? differenceInKind(got, *expected)
                          : differenceOf(got, *expected, {each.relative, each.absolute});
    return why.empty() ? Trouble() : Trouble{"wrong", "output '" + edge.name + "' " + why};
  }

  const Case &each;
  const std::string &scratch;
  const std::string target;
  Compiler compiler;
  bool needsContents = false; ///< the last refusal was about what a tensor contains
  bool constantsHelp = false; ///< with constants the case got further
};

} // namespace

Outcome runCase(const Case &each, const std::string &scratch) {
  return CaseRun(each, scratch).run();
}

} // namespace weft::suite
