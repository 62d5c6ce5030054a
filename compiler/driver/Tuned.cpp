//===- Tuned.cpp -----------------------------------------------------------------------------------===//

#include "compiler/driver/Tuned.h"
#include <set>

namespace weft {

std::string Tuned::text(const std::string &processor) const {
  std::string text = std::to_string(kernels) + " of " + std::to_string(all) + " kernels";
  if (exchanges)
    text += " and " + std::to_string(exchanges) + (exchanges == 1 ? " exchange" : " exchanges");
  return text + " as measured on " + processor;
}

Tuned tunedOf(const Program &program, const Tuning &tuning, const std::string &scope) {
  Tuned tuned{0, 0, program.kernels.size()};
  for (const PlannedKernel &kernel : program.kernels)
    tuned.kernels += kernel.isTuned;
  std::set<std::string> keys;
  for (const PlannedFunction &function : program.functions)
    for (const PlannedExchange &each : function.exchanges)
      if (std::optional<OverlapOffer> offer = offerOf(each.op); offer && tuning.find(*offer, scope))
        keys.insert(offer->key);
  tuned.exchanges = keys.size();
  return tuned;
}

} // namespace weft
