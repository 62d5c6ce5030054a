//===- compiler.hpp - The compiler as a C++ library ------------------------------------------------===//
//
//   weft::Compiler compiler;
//   weft::Result<weft::Module> module = compiler.importFile("bert.onnx");
//   if (!module) { for (const weft::Diagnostic &d : module.diagnostics()) show(d); return 1; }
//   weft::CompileOptions options;
//   options.outputPath = "bert.weft";
//   if (weft::Result<weft::Artifact> done = compiler.compile(*module, options); !done) …
//
// Values and results; no exceptions, no global state. Diagnostics are data. A Module may be used by one thread at a time.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_HPP
#define WEFT_COMPILER_HPP

#include "weft/limits.hpp"
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// One finding about a model or an option. code: "W0207"; where: file and node; hint may be empty.
struct Diagnostic {
  /// What it means for the result: there is none, there is one, or it explains another finding.
  enum Severity { Error, Warning, Note } severity = Error;
  std::string code, where, text, hint; ///< text is one sentence, hint what to do
};

/// A value, or the diagnostics that say why there is none. Warnings may accompany a value.
template <typename T> class Result {
public:
  /// With a value.
  Result(T value) : holder(std::move(value)) {}
  /// Without one; an error is among the diagnostics.
  Result(std::vector<Diagnostic> diagnostics) : list(std::move(diagnostics)) {}
  Result(Diagnostic diagnostic) : list{std::move(diagnostic)} {}
  /// Whether there is a value. Only then may it be looked at.
  explicit operator bool() const { return holder.has_value(); }
  /// The value, which the result keeps.
  T &operator*() { return *holder; }
  const T &operator*() const { return *holder; }
  /// A member of the value.
  T *operator->() { return &*holder; }
  const T *operator->() const { return &*holder; }
  /// In the order they were found.
  const std::vector<Diagnostic> &diagnostics() const { return list; }
  std::vector<Diagnostic> &diagnostics() { return list; }

private:
  std::optional<T> holder;
  std::vector<Diagnostic> list;
};

/// Success, or the diagnostics that say why not.
template <> class Result<void> {
public:
  /// Success.
  Result() = default;
  /// Failure; an error is among the diagnostics.
  Result(std::vector<Diagnostic> diagnostics) : succeeded(false), list(std::move(diagnostics)) {}
  Result(Diagnostic diagnostic) : succeeded(false), list{std::move(diagnostic)} {}
  /// Whether it is success.
  explicit operator bool() const { return succeeded; }
  /// In the order they were found; none of a success.
  const std::vector<Diagnostic> &diagnostics() const { return list; }

private:
  bool succeeded = true;
  std::vector<Diagnostic> list;
};

/// A model at the graph level, together with the mapped files its weights lie in.
class Module {
public:
  /// The compiler's own part.
  struct Impl;
  /// For the compiler: importFile and Builder::finish make modules.
  explicit Module(std::shared_ptr<Impl> impl) : impl(std::move(impl)) {}
  /// The program as text that importFile reads back beside its files. Weights in memory are part of it.
  std::string text() const;
  /// For the compiler. Lives as long as the module.
  Impl &get() const { return *impl; }

private:
  std::shared_ptr<Impl> impl;
};

/// Contents for an input of an ONNX model, which then is a constant of the program instead of an input.
struct InputConstant {
  std::string name; ///< of the input
  /// As Weft prints types: "f32", "i64", "bool". What .npy lacks may come as it stores that: bf16 as "u16", floats of 8 and
  /// 4 bits as "u8", integers of 4 and 2 bits as "i8" or "u8", one per byte. Empty: int64 numbers that become the input's type and, when alone, its rank 0.
  std::string element;
  std::vector<int64_t> dims; ///< none for a single number
  std::vector<char> bytes;   ///< row-major
};

/// An ONNX operator as a function of textual IR: for operators that Weft does not know, or instead of one that it knows.
struct OperatorFile {
  std::string name; ///< "com.acme:ScaledTanh"; without a domain one of ONNX's own
  std::string path; ///< of the .mlir file
};

/// What importFile does with a model beyond reading it.
struct ImportOptions {
  /// Facts the caller promises, as predicates: "1 <= seq", "seq <= 512", "mod(seq, 8) == 0", "batch == 4". A symbol that they leave
  /// one value for is a number in the module.
  std::vector<std::string> facts;
  std::vector<InputConstant> constants; ///< of ONNX models; a name that is no input is refused
  /// What a decoder keeps between calls: "i8", with a scale for each row, "f16", "bf16", or empty for as it is. Inputs and outputs have other
  /// types then, and scales are the last ones.
  std::string cache = "";
  std::vector<OperatorFile>
      operators; ///< of ONNX models; their bodies take the nodes' places before any pass
  Limits limits; ///< what the model may ask of this process
};

/// What changes numbers beyond the order of a sum. The same for every target of an artifact, whose manifest says it.
struct Numerics {
  /// No method that rounds more than the operators do, such as Winograd's for convolutions of floats.
  bool exact = false;
  /// Rows that meet weights in blocks are rounded to bytes, block by block.
  bool roundActivations = false;
  /// What constant operands of products are rounded to and stored as: "bf16", "f16", or empty for as they are.
  std::string weights = "";
  /// What all operands of products and convolutions of f32 are rounded to: "bf16", "f16", or empty for as they are. Sums and results stay
  /// f32, and so do products of quantised operands and convolutions in groups, along three dimensions or of an odd number of channels.
  std::string compute = "";
  /// With `compute`: values that lie in memory between kernels are of that type, too. Inputs and results of the model stay as they are.
  bool storage = false;
  /// Of `compute` excepted: products and convolutions of nodes whose name is such a pattern, where `*` is any text and `?` any character. One
  /// that is of none is refused.
  std::vector<std::string> keepF32;
};

/// What a call does whose data hold a position that is none: an index of an embedding, of a gather or a scatter.
enum class Indices {
  Check,    ///< it is refused, and the message says which
  Clamp,    ///< the nearest position is read instead; what would be written there is left out
  Unchecked ///< any memory may be read or written
};

/// Whether ranks compute while they exchange something. Numbers do not change.
enum class FuseComm {
  Auto, ///< where it is cheaper over `links` by an estimate at `planSizes`: nowhere without them
  Never,
  Always ///< wherever kernels allow it
};

/// Code of kernels, for compilations of programs that are much alike: what one made, others take. Any number of threads may share it.
class KernelCode {
public:
  KernelCode();
  ~KernelCode();
  /// The compiler's own part.
  struct Impl;
  /// For the compiler.
  Impl &get() const { return *impl; }

private:
  std::unique_ptr<Impl> impl;
};

/// Instead of an artifact: files for a C program that has no runtime, all called as the model. docs/howto/embed-without-files.md
struct Embedding {
  bool object = false;        ///< MODEL.o, an ELF object with code and, if not elsewhere, weights
  bool header = false;        ///< MODEL.h, its functions and sizes in C99
  bool weightsInFile = false; ///< MODEL.weights, whose address the functions take
};

/// For what is compiled, how, and where it goes.
struct CompileOptions {
  /// "host", which is what this machine has, or a family and its level as docs/getting-started.md lists them, or several levels: "x86:v3,v4".
  std::string target = "host";
  std::string outputPath; ///< of the artifact; nothing else is written but what is asked for below
  std::optional<Embedding> embedding; ///< instead of the artifact: `outputPath` is their folder
  /// As in ImportOptions, for a module that was imported or built without them.
  std::vector<std::string> facts;
  /// Ranks that share the work, as a grid of named axes: "dp=2,tp=2". Empty: the program is for one rank, or says itself for which. Several:
  /// the artifact has the program for each, with the weights once, and the number of ranks that open it picks; no two have the same one.
  std::vector<std::string> mesh;
  /// Which axes split values, by patterns over the names of inputs, outputs, weights and nodes: "*.up.weight=[_, tp]". What nothing is
  /// said of follows from what is. A pattern that no name matches is refused. An axis that a mesh lacks and another has is of one rank there.
  std::vector<std::string> placements;
  /// How to find mesh and placements: "auto", by the price of a call; "tp", "sp", "dp", "fsdp", "2d" or "3d", as docs/ranks.md says; or the path of a file
  /// that holds Artifact::plan. Empty: by `placements`, and where there are none but a mesh or `ranks`, "auto". What `placements` say stays.
  std::string plan;
  int64_t ranks =
      0; ///< that share the work, when a plan chooses the mesh, too; 0: as the mesh says
  /// Sizes at which plans are priced. Of others a guess: 1 for what leads an input, such as a batch, and 128.
  std::map<std::string, int64_t> planSizes;
  /// What ranks have between them: "2GB/s,20us" or, for an axis, "dp=1GB/s,30us". By default the memory of one machine.
  std::vector<std::string> links;
  /// Bytes that a rank may send for one exchange that follows from no placement, at `planSizes`; sums of parts are not meant. 0: any number.
  int64_t maxReshard = 0;
  FuseComm fuseComm = FuseComm::Auto; ///< products that send and receive their own rows
  Numerics numerics;                  ///< what changes numbers
  Indices indices = Indices::Check;   ///< what a call does with a position outside
  /// Files of records that `weft tune` wrote: kernels that one is about are computed as it says. Nothing is measured while compiling: the
  /// same files and processor give the same bytes.
  std::vector<std::string> tuningFiles;
  /// The processor whose records are used, as the files name it; empty: this machine's.
  std::string tunedFor;
  /// Outputs that are an input with something behind it lie in that input's memory: callers give inputs with room.
  bool inPlace = false;
  /// The inputs to take for that; empty: all that are such.
  std::vector<std::string> inPlaceInputs;
  /// Bytes of arena and of one worker's scratch that every allowed call must do with; 0: no limit. A plan that is found has to do with them for
  /// a rank's weights and values, at `planSizes`.
  int64_t maxMemory = 0;
  unsigned jobs = 0; ///< threads that compile kernels; 0: as many as cores
  std::shared_ptr<KernelCode>
      kernelCode; ///< that is taken where there is some, and added to; bytes do not depend on it
  /// When set, the program after every phase is written there.
  std::string dumpDirectory;
  /// When set, specification and object code of every kernel are kept there.
  std::string temporariesDirectory;
  /// Asked between phases and kernels; once true, compile ends with code W0399 and leaves nothing.
  std::function<bool()> cancelled;
  /// Called when a phase has ended, on the thread that compiles.
  std::function<void(const std::string &phase, const std::string &summary, double seconds)> onPhase;
};

/// What was written, or would be.
struct Artifact {
  std::string path;                                   ///< as the options said
  uint64_t bytes = 0, weightBytes = 0, codeBytes = 0; ///< of the file, and of its parts
  unsigned kernels = 0, tunedKernels = 0;             ///< distinct ones; computed as records say
  std::string target, peak; ///< "x86:v4, x86:v3"; the arena formula of the first
  /// Mesh and placements, as text that CompileOptions::plan takes from a file; empty: for one rank, or as the program says.
  std::string plan;
};

/// In weft/quantize.hpp.
struct QuantizeOptions;
/// In weft/quantize.hpp.
struct Quantization;

/// Imports and compiles. Holds no state: any number may exist, on any threads.
class Compiler {
public:
  /// Reads a .onnx file, a checkpoint directory (config.json + *.safetensors) or textual IR (.mlir). The kind is told from the content.
  Result<Module> importFile(const std::string &path, const ImportOptions &options = {});
  /// Compiles and writes options.outputPath beside and renamed: on failure nothing is left.
  Result<Artifact> compile(const Module &module, const CompileOptions &options);
  /// Refuses what compile would refuse before it generates code. Writes nothing: sizes of code and file stay 0.
  Result<Artifact> check(const Module &module, const CompileOptions &options);
  /// Looks for the products and convolutions that integers compute faster on this machine while budgets on accuracy hold.
  Result<Quantization> quantize(const Module &module, const QuantizeOptions &options);
  /// The program that every rank of `options.mesh` runs, which is one.
  Result<Module> partition(const Module &module, const CompileOptions &options);
  /// The program after a phase as text: "import" (with the options' facts) or "fuse" (grouped into kernels).
  Result<std::string> programAfter(const std::string &phase, const Module &module,
                                   const CompileOptions &options);
};

} // namespace weft

#endif // WEFT_COMPILER_HPP
