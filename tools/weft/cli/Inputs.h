//===- Inputs.h - The tensors that one call gets ----------------------------------------------===//
//
// --input, --dim and --seed become one tensor per input of the function: from a file, generated, or
// as written. The same command line gives the same tensors in `run`, `bench`, `eval` and `verify`.
//
//   Result<InputRequest> request = readInputRequest(options);
//   Result<Inputs> inputs = prepareInputs(signature, *request);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_INPUTS_H
#define WEFT_TOOLS_WEFT_CLI_INPUTS_H

#include "tools/weft/cli/Console.h"
#include "tools/weft/cli/Formula.h"
#include "tools/weft/cli/HostTensor.h"

#include <map>
#include <string>
#include <vector>

namespace weft::cli {

class ParsedOptions;

/// What a function takes, as far as making its inputs goes.
struct InputSpec {
  std::string name;
  uint32_t element;
  std::vector<std::string> dims;       ///< formulas over the symbols
  std::vector<std::string> below = {}; ///< formulas: elements are positions, less than each
};
struct SymbolSpec {
  std::string name;
  int64_t min, max, multiple;
  int32_t input, dim; ///< what determines it, or -1
};
struct Signature {
  std::string function;
  std::vector<InputSpec> inputs;
  std::vector<SymbolSpec> symbols;
};

/// One --input: from `file` when that is not empty, else as `text` says (zeros, ones, rand, range
/// or a value).
struct InputSource {
  std::string name; ///< empty: all tensors of `file`
  std::string file, text;
};

struct InputRequest {
  std::vector<InputSource> sources;
  SymbolValues dims;
  int64_t seed = 1;
};

/// The grammar of --input and --dim. bench has lists in --dim and sets `dims` by itself.
Result<InputRequest> readInputRequest(const ParsedOptions &options, bool readDims = true);

/// --dim or --at, SYM=N,SYM=N,…: one whole number for each symbol.
Result<SymbolValues> readSymbols(const ParsedOptions &options, std::string_view option);

/// --dim SYM=N,N,… as bench and tune have it: all combinations, the first symbol slowest, at most `most`.
Result<std::vector<SymbolValues>> readSizeLists(const ParsedOptions &options, size_t most);

struct PreparedInput {
  HostTensor tensor;
  std::string origin; ///< "ids.npy", "generated, 0..99"
};

struct Inputs {
  std::vector<PreparedInput> tensors; ///< in the function's order
  SymbolValues symbols;               ///< as far as they had to be known
  std::vector<std::string> assumed;   ///< symbols nobody gave a value: "seq=16"
};

/// Symbols take their value from --dim, then from the files' shapes, then a small assumed one.
/// Shapes of files are not judged here but by the entry check of the call.
Result<Inputs> prepareInputs(const Signature &signature, const InputRequest &request);

/// "assumed  batch=1 seq=16  (set with --dim)"; nothing is said where nothing was assumed.
void sayAssumed(Console &console, const std::vector<std::string> &assumed,
                const std::string &option = "--dim");

/// `tensor`, read from a file, as the element type that `what` needs: numpy has no bf16, 8-bit
/// floats or elements of less than a byte.
Result<HostTensor> asElement(const HostTensor &tensor, uint32_t element, const std::string &what);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_INPUTS_H
