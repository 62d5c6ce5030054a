//===- RoundedCaches.h - Quantising a decoder that keeps fewer bits between calls -------------===//
//
//   Result<std::unique_ptr<RoundedCaches>> caches = RoundedCaches::create(model, options);
//   (*caches)->program()                   // with other types, and scales
//   (*caches)->callsOf(options.timed)      // calls of it
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_ROUNDEDCACHES_H
#define WEFT_COMPILER_QUANTIZE_ROUNDEDCACHES_H

#include "compiler/quantize/Session.h"

namespace weft {

class RoundedCaches {
public:
  /// `options` says which type they are of. Refuses a model without caches.
  static Result<std::unique_ptr<RoundedCaches>> create(const Module &model,
                                                       const QuantizeOptions &options);

  const Module &program() const { return rounded; }
  /// As often as one is read the program here makes it. They live as long as this.
  Calls callsOf(Calls calls);

private:
  RoundedCaches(Module rounded) : rounded(std::move(rounded)) {}
  Result<Call> callOf(Call call);

  Module rounded;
  std::unique_ptr<Session> maker; ///< rounds what calls have
};

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_ROUNDEDCACHES_H
