//===- Program.h - Runs one program through compiler and evaluator, for tests ---------------------------===//
//
//   Program program(text);                       // textual IR; fails the test when it does not compile
//   program.compare({{"m", 7}, {"n", 5}});       // generated inputs; compiled against evaluated
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_SUPPORT_PROGRAM_H
#define WEFT_TEST_SUPPORT_PROGRAM_H

#include "compiler/model/EntryPlan.h"
#include "compiler/model/ModuleImpl.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "test/support/EmulatedCall.h"
#include "weft/compiler.hpp"
#include "weft/group.h"
#include "weft/runtime.h"
#include <map>
#include <random>

namespace weft::test {

using Sizes = std::map<std::string, int64_t>;

/// One input or output in memory.
struct Tensor {
  mlir::Type element;
  std::vector<int64_t> dims;
  std::vector<char> bytes;
  RefTensor reference() const { return fromBytes(element, dims, bytes.data()); }
  weft_tensor_t view() const; ///< as an input of a call
};

/// What programs of one test share, which have most kernels in common: on other numbers of threads or ranks.
std::shared_ptr<KernelCode> kernelsOfAll();

class Program {
public:
  /// Compiles for `target`. On failure `error()` is not empty.
  explicit Program(const std::string &text, const std::string &target = "host", int threads = 1);
  explicit Program(Module module, const std::string &target = "host", int threads = 1);
  /// As the options say; their output path is not used.
  Program(Module module, const CompileOptions &options, int threads = 1);
  Program(const std::string &text, const CompileOptions &options);
  ~Program();
  const std::string &error() const { return failure; }

  /// Inputs for these sizes from a seed: floats in [-2, 2), integers in [0, limit).
  std::vector<Tensor> generate(const Sizes &sizes, unsigned seed, int64_t limit = 8);
  /// Compiled results, or nothing with `error()` set. Where ranks run it they are threads, and all have the same bits.
  std::vector<Tensor> run(const std::vector<Tensor> &inputs);
  /// The same with so many workers, where calls are emulated.
  std::vector<Tensor> run(const std::vector<Tensor> &inputs, int threads);
  /// What was evaluated of the text that was imported last is kept.
  std::vector<RefTensor> evaluate(const std::vector<Tensor> &inputs);
  /// Largest difference, relative where values exceed 1; infinity when shapes, elements or nan-ness differ.
  double difference(const Sizes &sizes, unsigned seed = 1, int64_t limit = 8);
  /// The same from what was evaluated before.
  double difference(const std::vector<Tensor> &inputs, const std::vector<RefTensor> &expected);

  /// Opens the emulated GPU anew, with these options beside those that WEFT_EMULATED had when the process began. False with `error()` set.
  bool openEmulated(const std::string &options);

  weft_context_t *context = nullptr; ///< of what one rank runs
  weft_module_t *artifact = nullptr; ///< null where calls are emulated
  bool emulated = false;             ///< by EmulatedCall.h
  const char *device = nullptr;      ///< of EmulatedCall.h, where kernels run
  std::string path;                  ///< of the artifact
  bool guarded = false;              ///< inputs end where memory does that nobody may touch

private:
  bool import(const std::string &text);
  void compile(CompileOptions options, int threads);
  mlir::func::FuncOp function();
  weft_status_t openContext(weft_group_t *group, weft_context_t **out, weft_error_t *error) const;
  std::vector<Tensor> callElsewhere(const std::vector<weft_tensor_t> &inputs);
  std::vector<Tensor> callAlone(const std::vector<weft_tensor_t> &inputs);
  std::vector<Tensor> callOnRanks(const std::vector<weft_tensor_t> &inputs);
  weft_status_t call(weft_context_t *own, const std::vector<weft_tensor_t> &inputs,
                     std::vector<Tensor> &results, weft_error_t *error);
  std::vector<RefTensor> evaluateAgain(const std::vector<Tensor> &inputs);
  int threadsOfRank = 1;
  std::string source; ///< the text, where there is one
  std::optional<Module> module;
  std::string failure;
};

/// For a target whose schedules round no more than the operators do.
CompileOptions exactly(const std::string &target);

/// Whether the artifact has a kernel of this schedule.
bool uses(const Program &program, const std::string &schedule);
/// Whether artifacts for the target run on this machine, and shall.
bool isSupported(const std::string &target);
/// Bytes as dense elements, no two neighbours alike on purpose, the whole range.
std::string bytesText(const std::vector<int64_t> &dims, const std::string &element);

} // namespace weft::test

#endif // WEFT_TEST_SUPPORT_PROGRAM_H
