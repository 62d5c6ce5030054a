//===- Strategy.h - What every layer becomes, in a program ------------------------------------===//
//
//   Result<Module> program = realised(module, decisions, strategy);
//   Result<std::unique_ptr<Simulation>> all = Simulation::create(module, options, decisions);
//   (*all)->call(bound, strategy);                  // as that program would, without compiling it
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_STRATEGY_H
#define WEFT_COMPILER_QUANTIZE_STRATEGY_H

#include "compiler/quantize/Equalise.h"
#include "compiler/quantize/propose/Solve.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace weft {

/// The layers that read one edge decide together; tables and products of values, which are no
/// layers, each for itself.
struct Decision {
  std::vector<size_t> layers; ///< positions among integerLayers; none is of two decisions
  std::vector<EdgeChoice> choices;
  std::optional<size_t> table;  ///< a position among byteTables, whose one choice is bytes
  std::optional<size_t> values; ///< a position among valueProducts, whose one choice is bf16
};

/// The function that is called: the only public one, or main.
Result<mlir::func::FuncOp> calledFunction(const Module &module);

Result<Module> realised(const Module &module, const std::vector<Decision> &decisions,
                        const Strategy &strategy);

class Simulation {
public:
  static Result<std::unique_ptr<Simulation>> create(const Module &module,
                                                    const QuantizeOptions &options,
                                                    const std::vector<Decision> &decisions);
  Result<BoundCall> bind(Call call) const { return session->bind(std::move(call)); }
  Result<void> call(const BoundCall &call, const Strategy &strategy);
  /// Another range for a static choice, counted from 1: the program stays.
  void setRange(size_t decision, unsigned choice, const StaticRange &range);
  const std::vector<weft_tensor_t> &outputs() const { return session->outputs(); }
  std::string outputName(size_t index) const { return session->outputName(index); }

private:
  std::unique_ptr<Session> session;
  /// By layer with choices, in program order, then by table and by products of values.
  std::vector<size_t> decisionOf;
  std::vector<float> scales;                        ///< of static choices, by layer
  std::vector<std::pair<size_t, unsigned>> scaleOf; ///< decisions and choices that they are of
  std::vector<uint8_t> zeros;
};

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_STRATEGY_H
