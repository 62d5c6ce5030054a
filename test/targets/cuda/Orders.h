//===- Orders.h - One program, called in several orders of warps, blocks and copies ----------------------===//
//
//   agreeInOrders(compiled, {{{"m", 7}, {"n", 5}}}, 1e-4);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_TARGETS_CUDA_ORDERS_H
#define WEFT_TEST_TARGETS_CUDA_ORDERS_H

#include "test/support/Program.h"
#include <catch2/catch.hpp>

namespace weft::test {

/// Copies beside threads land as late as they may, at once, and at any time between.
inline const char *const kOrders[] = {"seed=7,blocks=random,lazy", "seed=8,blocks=random,eager",
                                      "seed=9,blocks=random"};

/// The program that `text` says does not differ from the evaluator by more than this at any of these sizes: each in every order where
/// WEFT_TEST_ORDERS is set, else one after the other in the next. Integers of inputs are below `limit`.
inline void agreeInOrders(Program &program, const std::string &text,
                          const std::vector<Sizes> &calls, double most, int64_t limit = 8) {
  std::vector<std::vector<Tensor>> inputs;
  std::vector<std::vector<RefTensor>> expected;
  for (const Sizes &sizes : calls) {
    inputs.push_back(program.generate(sizes, 1, limit));
    expected.push_back(program.evaluate(inputs.back()));
  }
  bool isEach = getenv("WEFT_TEST_ORDERS");
  for (size_t first = 0; first < std::size(kOrders); ++first) {
    const char *order = kOrders[first];
    REQUIRE(program.openEmulated(order));
    for (size_t i = isEach ? 0 : first; i < calls.size(); i += isEach ? 1 : std::size(kOrders)) {
      std::string at;
      for (auto &[symbol, size] : calls[i])
        at += symbol + "=" + std::to_string(size) + " ";
      INFO(at << order << "\n" << text);
      double difference = program.difference(inputs[i], expected[i]);
      INFO(program.error());
      REQUIRE(difference <= most);
    }
  }
}

} // namespace weft::test

#endif // WEFT_TEST_TARGETS_CUDA_ORDERS_H
