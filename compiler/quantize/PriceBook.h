//===- PriceBook.h - What programs took when they were timed, now and before ------------------===//
//
//   Result<PriceBook> book = PriceBook::open(module, options);
//   book->setCalls(timed);
//   if (std::optional<Timed> known = book->find(base, other)) …
//   Timed taken = book->add(base, other, measured);          // as a later search will read it
//
// A program is known by what it computes, not by the numbers in it: scales and weights may change.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_PRICEBOOK_H
#define WEFT_COMPILER_QUANTIZE_PRICEBOOK_H

#include "compiler/quantize/PriceLines.h"
#include "compiler/quantize/Strategy.h"
#include "compiler/quantize/Timing.h"
#include <map>

namespace weft {

class PriceBook {
public:
  /// Refuses, with code W0325, records that are none. Those of other processors, targets, builds of
  /// Weft or numbers of threads are passed over. The options live as long as the book.
  static Result<PriceBook> open(const Module &module, const QuantizeOptions &options);

  /// The calls that everything is timed with.
  void setCalls(const std::vector<BoundCall> &calls);
  /// `base` and `other` are texts that are equal where programs are, numbers aside.
  std::optional<Timed> find(const std::string &base, const std::string &other) const;
  /// Whether it was timed only once.
  bool isAlone(const std::string &base, const std::string &other) const;
  /// Keeps a measurement, unless one before was less disturbed, tells the caller, and gives it in
  /// the digits that records have.
  Timed add(const std::string &base, const std::string &other, const Timed &taken);

private:
  std::string keyFor(const std::string &base, const std::string &other) const;

  const QuantizeOptions *options = nullptr;
  std::string processor, target;
  std::string program; ///< the model's text without large constants
  std::string sizes;   ///< of the calls
  struct Known {
    PriceRecord record; ///< of several the least disturbed
    size_t times = 0;
    void add(PriceRecord other);
  };
  std::map<std::string, Known> known; ///< by key
};

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_PRICEBOOK_H
