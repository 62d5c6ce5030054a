//===- HardwareLimits.h - What hardware leaves of the ways to compute layers ------------------===//
//
//   HardwareLimits limits(usable, readWeight);
//   if (std::string why = limits.whyNot(layer); !why.empty()) …         // it stays in f32
//   if (std::string why = limits.whyNot(layer); !why.empty()) …   // it stays in f32
//
// A search looks for nothing else then; whether what it wrote keeps to the description is checked
// without this (checkHardware).
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_HARDWARELIMITS_H
#define WEFT_COMPILER_QUANTIZE_HARDWARELIMITS_H

#include "compiler/hardware/HardwareData.h"
#include "compiler/quantize/Equalise.h"

namespace weft {

/// The largest magnitude of a weight's bytes that no sum overflows with, whatever is read; nothing
/// where even the smallest do.
std::optional<int64_t> mostWeightOf(const IntegerLayer &layer, const LayerChoice &choice,
                                    llvm::ArrayRef<HardwareSum> sums,
                                    const std::function<const char *(llvm::StringRef)> &weight);

class HardwareLimits {
public:
  using Layers = std::vector<const IntegerLayer *>;

  HardwareLimits(HardwareData usable, std::function<const char *(llvm::StringRef)> weight)
      : hardware(std::move(usable)), weight(std::move(weight)) {}

  /// Why no choice of the layer is one of the hardware's, or empty.
  std::string whyNot(const IntegerLayer &layer) const;
  /// By which bytes one scale rounds what all these layers read, of which `least` is the least.
  InputRounding inputOf(const Layers &layers, double least) const;
  /// Those that all the layers can take, with weights that hardware has; fewer where sums would
  /// overflow.
  std::vector<EdgeChoice> kept(const std::vector<EdgeChoice> &choices, const Layers &layers,
                               double least) const;

  /// Whether channels may be divided by factors.
  bool hasFactors() const { return hardware.hasFloat("mul"); }
  bool hasTables() const;
  bool hasDeclaredPrices() const { return hardware.hasDeclaredPrices; }
  /// Seconds of a layer's multiply-adds in f32, or by a choice; 0 without rates.
  double secondsOf(double multiplyAdds, const IntegerLayer &layer, const LayerChoice *choice) const;

private:
  struct Way {
    const HardwareOperator *op;
    InputRounding input;
    bool hasOneScale, hasPowersOfTwo; ///< of the weight
  };
  std::vector<Way> waysOf(const IntegerLayer &layer, LayerChoice::Form form, double least) const;
  /// By layer, all with the same bytes of what they read; empty when there are none.
  std::vector<Way> waysTogether(const Layers &layers, LayerChoice::Form form, double least) const;
  bool hasBlocks() const;
  HardwareData hardware;
  std::function<const char *(llvm::StringRef)> weight;
};

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_HARDWARELIMITS_H
