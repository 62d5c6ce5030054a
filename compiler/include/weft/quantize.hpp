//===- quantize.hpp - Which parts of a model integers compute, found by measuring ------------------===//
//
//   weft::QuantizeOptions options;
//   options.calibration = {calls.size(), [&](size_t i) -> weft::Result<weft::Call> { return calls[i]; }};
//   if (weft::Result<weft::Quantization> found = compiler.quantize(module, options))
//     compiler.compile(found->module, compileOptions) …
//
// Programs are compiled and called on this machine while it looks: accuracy and time are measured, not guessed. Only for a machine
// that is not here its data say how long they take.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_QUANTIZE_HPP
#define WEFT_QUANTIZE_HPP

#include "weft/hardware.hpp"
#include "weft/machine.hpp"
#include <cmath>

namespace weft {

/// One tensor of a call, row-major.
struct CallTensor {
  std::string name;                  ///< of the model's input
  std::string element;               ///< "f32", "i64", …
  std::vector<int64_t> dims;         ///< sizes may differ from call to call
  const void *data;                  ///< elements as the runtime has them
  std::shared_ptr<const void> owner; ///< of the bytes; may be null
};

/// The inputs of one call of the model.
struct Call {
  std::string name;                ///< for messages: the path of a file
  std::vector<CallTensor> tensors; ///< in any order
};

/// Calls that are read when they are needed, several times, so that memory does not grow with their number.
struct Calls {
  size_t count = 0;                         ///< how many there are
  std::function<Result<Call>(size_t)> read; ///< the one of a number
};

/// How far outputs are from those of the model in f32, over all calls. Lines are what the last dimension of an output has; of outputs
/// of four dimensions or more, which are pictures, whole ones for `cosine`, and the channels of a place for `top1` and `kl`. Where
/// outputs differ, the worst one counts.
struct Accuracy {
  double cosine = 1;      ///< mean of the cosines of lines
  double worstCosine = 1; ///< the smallest of them
  double sqnr = 0;        ///< signal to noise, decibels; infinity where nothing differs
  double top1 = 1;        ///< share of lines whose largest element is at the same place
  double kl = 0;      ///< mean divergence of lines' softmax, nats; both nan of an output that is an
                      ///< input with something behind it
  double score = NAN; ///< by the caller's own measure, of whole strategies only
};

/// An accuracy that the caller measures. For every whole strategy that is tried, `add` gets the outputs of each call, in order, and then `finish`
/// says what they are worth; larger is better.
struct QuantizeScore {
  std::function<Result<void>(size_t call, const std::vector<CallTensor> &outputs)>
      add;                                ///< the tensors live until it returns
  std::function<Result<double>()> finish; ///< the score of what was added since the last time
};

/// What a quantised model must keep.
struct QuantizeBudget {
  /// The first five are of Accuracy; Latency is the time of a call as a part of the f32 model's, Seconds that time itself, Size the bytes of the
  /// artifact, up to 1 as a part of the f32 model's.
  enum Metric { Cosine, Sqnr, Top1, Kl, Score, Latency, Seconds, Size } metric = Cosine;
  double bound = 0; ///< the least that Cosine, Sqnr, Top1 and Score may be, the most of the others

  /// Whether outputs decide whether it holds.
  bool isOfAccuracy() const { return metric < Latency; }
  /// Of a Size.
  double bytesOf(double plainBytes) const { return bound > 1 ? bound : bound * plainBytes; }
};

/// How whole strategies are found, which are then measured. All but the first are for comparison.
struct QuantizeSearch {
  /// Where it looks for them.
  enum Kind {
    Exact,  ///< the fastest within a sum of losses, which is halved until the budgets are just kept
    All,    ///< every layer in its narrowest choice
    Random, ///< mixes of choices by chance
    Greedy, ///< from the fastest on, one layer after the other that loses most for what it saves
  } kind = Exact;
  uint64_t seed = 1; ///< of Random
};

/// A quantised file of somebody else's, as a point in the report.
struct QuantizedPeer {
  std::string name; ///< for the report: the path of a file
  Module module;    ///< with the inputs and outputs of the model, in its order
};

/// For what is quantised, and how far.
struct QuantizeOptions {
  /// Target, numerics, indices and jobs that programs are compiled with while looking; without a `machine` it must run here.
  CompileOptions compile;
  Calls calibration; ///< of data as the model will see them
  /// Kept from calibration and measured on. None: a fifth of the calls.
  Calls evaluation;
  /// That latency counts at. None: of those to calibrate with one of the middle size, and the largest.
  Calls timed;
  /// The calls say nothing of what the model will see, as generated ones: only what needs no ranges is chosen, which is rows with scales of
  /// their own, tables and products of two values.
  bool withoutRanges = false;
  /// The input that says which positions of a call mean something, such as attention_mask; empty: all do. Where an element is 0, nothing is
  /// looked at, and outputs' lines with these positions are not compared.
  std::string mask;
  /// As ImportOptions::cache, of a module whose caches are as they were: what is found has them so. Calls are the module's, and outputs are
  /// compared with its own.
  std::string cache;
  QuantizeScore score; ///< needed for budgets on it
  std::vector<QuantizedPeer>
      peers; ///< compiled and measured as what was found is; none with a `cache`
  /// All hold together; of what holds them the fastest is taken, or, where only Latency or Seconds are bounded, the most accurate. Empty: a cosine of 0.995.
  std::vector<QuantizeBudget> budgets;
  QuantizeSearch search; ///< among strategies
  /// Products and convolutions of nodes whose name is such a pattern stay as they are: `*` is any text, `?` any character.
  std::vector<std::string> keepF32;
  /// The ONNX file that the module was imported from, when writeOnnx is to edit it: what such a file cannot say is not looked for, which are
  /// rows with scales of their own and layers whose node it does not write. Empty: anything is.
  std::string onnxFile;
  /// What it is to run on: nothing is chosen that this does not compute so. Empty: what Weft's kernels compute.
  Hardware hardware;
  /// It will run there, and its data say how long programs take, so that nothing is timed here. compile.target is the target there, which need
  /// not run here; "host" is the machine's own. Losses are measured with the same integers here.
  Machine machine;
  unsigned threads = 1; ///< of calls
  /// That a search may take: phases look at fewer calls, estimate prices that were not measured by the sizes of weights, and the best so far
  /// is the result. What is compiled is not interrupted. 0: any.
  double seconds = 0;
  /// Records of what was timed before, as lines that onPrice was given. They are not measured again, so the same model, calls and records give
  /// the same program. Those of another processor, target or number of threads are passed over.
  std::string prices;
  std::function<void(const std::string &line)> onPrice; ///< called when something was timed
  /// A folder for artifacts that are only called; it stays, they go. Empty: the system's for temporary files.
  std::string folder;
  /// Asked between calls; once true, nothing is found, with code W0399.
  std::function<bool()> cancelled;
  /// Called as work goes on: what is done, how much of how much.
  std::function<void(const std::string &phase, size_t done, size_t of)> onProgress;
};

/// What a layer could become.
struct QuantizedChoice {
  std::string form;     ///< as in QuantizedLayer
  double strength = -1; ///< of the equalisation of its channels; -1: none
  double loss = 0;      ///< as in QuantizedLayer
  double seconds = 0;   ///< that it saves of the timed calls; less than 0: that it costs
  double range = 1;     ///< of a static one: the part of what was read that its scale reaches
  std::string
      rounded; ///< of blocks: "nearest", or "moments" where channels make up for those before
  /// Of a static one: the method that chose the range, such as "extremes" or "least squares".
  std::string rangeBy;
  int64_t mostWeight =
      127; ///< the largest magnitude of a weight's bytes: small ones are faster on some processors
};

/// Time of calls as a part of f32's, and the mean cosine.
struct QuantizedPoint {
  std::string name;        ///< of a peer, else empty
  double latency = 1;      ///< time of calls, as a part of f32's
  double cosine = 1;       ///< of the worst output
  bool isMeasured = false; ///< accuracy was, of the whole strategy; else both are sums of choices'
};

/// What a product, a convolution or a table became, or products of two values that become one kernel (named after the first).
struct QuantizedLayer {
  std::string name; ///< of the model's node
  std::string
      form; ///< "f32", "static", "everywhere", "rows", "rows16", "blocks4", "blocks4x8", "bf16", or of a table "bytes"
  double strength = -1; ///< of the equalisation of its channels; -1: none
  double loss =
      0; ///< 1 - cosine when everything else stays f32, together with what reads the same value
  double seconds = 0;                   ///< that it saves of the timed calls
  std::string reason;                   ///< why it stayed f32, or empty
  std::vector<QuantizedChoice> choices; ///< what it could become
  double range = 1;                     ///< as in QuantizedChoice
  std::string rounded, rangeBy;         ///< as in QuantizedChoice
  int64_t mostWeight = 127;             ///< as in QuantizedChoice
  double least = 0, most = 0;           ///< of what it reads; both 0 where nothing was seen
};

/// What was found.
struct Quantization {
  Module module;         ///< the program, with quantize and dequantize where integers stand
  QuantizeSearch search; ///< that found it
  std::vector<QuantizedLayer> layers; ///< in program order; then tables, then products of values
  Accuracy simulated, measured;       ///< what the search promised; of the compiled program
  std::vector<std::pair<std::string, Accuracy>> outputs; ///< measured, by output
  std::optional<Accuracy> caches; ///< measured, where nothing but caches is rounded
  double plainScore = NAN;        ///< QuantizeOptions::score in f32, with the same caches
  double latency =
      1; ///< time of timed calls, as a part of the f32 model's with the same caches, by `clock`
  double seconds = 0;                   ///< of the timed calls the mean, by `clock`
  double predictedLatency = 1;          ///< as the sum of prices says
  double predictedCosine = 1;           ///< as the sum of what single choices lose says
  uint64_t bytes = 0, plainBytes = 0;   ///< of the artifacts: quantised and in f32
  size_t calibrated = 0, evaluated = 0; ///< numbers of calls
  bool isJudgedByCalibration = false;   ///< as there were too few to keep any for the evaluation
  std::string target, processor;        ///< what was compiled for, and where it was timed
  bool isReached = true;                ///< whether all budgets hold; else this is the nearest
  /// Who says what programs take: a clock, rates of the hardware's description, or data of a machine.
  enum Clock { Timed, Declared, Predicted } clock = Timed;
  bool isTimeOver = false; ///< whether QuantizeOptions::seconds cut anything short
  /// What other budgets would lead to, the fastest first; strategies that were measured; peers.
  std::vector<QuantizedPoint> front, tried, peers;
  std::string strategy; ///< what was decided, as sorted lines of text that applyStrategy reads
  /// Numbers that these lines name, as the bytes of a file `strategyWeights` beside them. Empty: there are none.
  std::string strategyWeights;
};

/// The path of the numbers of rounded weights that belong to a strategy: that path and `.safetensors`.
std::string strategyWeights(const std::string &path);

/// The program that a strategy in a file describes, with what stands beside it, without calls and without measuring. Refuses, with code W0324, what is no strategy or one
/// of another model or other weights.
Result<Module> applyStrategy(const Module &module, const std::string &path);

/// Writes the ONNX file `model`, which the module was imported from, with QuantizeLinear and DequantizeLinear as Quantization::strategy says.
/// Refuses, with code W0326, what such files cannot say.
Result<void> writeOnnx(const Module &module, const std::string &strategy, const std::string &model,
                       const std::string &path);

/// Writes the program as text that Compiler::importFile reads, and its weights beside it.
Result<void> writeProgramText(const Module &module, const std::string &path);

} // namespace weft

#endif // WEFT_QUANTIZE_HPP
