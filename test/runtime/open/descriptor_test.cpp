#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>

#include "runtime/src/open/descriptor.h"
#include "test/runtime/fixture.h"

using namespace weft_test;

namespace {
const image &sample_image() {
  static const image code = load_sample_image();
  return code;
}

/// Checks `d` on its own, in memory of exactly its size, with the code of the sample.
std::string check(const bytes &d, uint32_t variants = 1, uint32_t step = sizeof(weft_module_v1)) {
  std::unique_ptr<uint8_t[]> copy(new uint8_t[d.size() + 1]);
  std::copy(d.begin(), d.end(), copy.get());
  weft_descriptor_t descriptor = {copy.get(), d.size(), {}};
  // Positions of the sample's code; its segment starts at 0x10000 and has 0x10000 bytes.
  int64_t base = int64_t(sample_image().address_of("weft_descriptor"));
  weft_descriptor_limits_t limits = {0x10000 - base, 0x20000 - base, 2048, variants, step};
  char reason[256];
  bool good = weft_descriptor_check(descriptor, limits, reason, sizeof reason);
  REQUIRE(good == (reason[0] == 0));
  return reason;
}

/// The reason after `change` of the module.
std::string after(const std::function<void(module &)> &change) {
  module m = make_sample().description;
  change(m);
  return check(encode(m, sample_image()));
}

/// The reason after `change` of the encoded root and bytes.
std::string after_bytes(const std::function<void(bytes &, weft_module_v1 &)> &change) {
  bytes d = encode(make_sample().description, sample_image());
  weft_module_v1 root;
  std::memcpy(&root, d.data(), sizeof root);
  change(d, root);
  std::memcpy(d.data(), &root, sizeof root);
  return check(d);
}

/// Changes function 0 in place.
std::string after_function(const std::function<void(bytes &, weft_function_v1 &)> &change) {
  return after_bytes([&](bytes &d, weft_module_v1 &root) {
    weft_function_v1 f;
    std::memcpy(&f, &d[root.functions.offset], sizeof f);
    change(d, f);
    std::memcpy(&d[root.functions.offset], &f, sizeof f);
  });
}
} // namespace

TEST_CASE("the sample's descriptor is good") {
  REQUIRE(after([](module &) {}) == "");
}

TEST_CASE("a descriptor is at least a root") {
  bytes d = encode(make_sample().description, sample_image());
  d.resize(sizeof(weft_module_v1) - 1);
  REQUIRE(check(d) == "the descriptor has 111 bytes instead of 112 or more");
}

TEST_CASE("blocks of threads are those of kernels for a device, whose code is a text") {
  auto with_code = [](uint32_t threads, const char *code) {
    return after([&](module &m) {
      m.device_code = code;
      for (kernel &each : m.kernels)
        each.block_threads = threads;
    });
  };
  REQUIRE(with_code(256, ".version 8.0") == "");
  REQUIRE(with_code(0, "") == "");
  REQUIRE(with_code(0, ".version 8.0") == "kernel 0 has blocks of 0 threads");
  REQUIRE(with_code(256, "") == "kernel 0 has blocks of 256 threads");
  REQUIRE(with_code(1025, ".version 8.0") == "kernel 0 has blocks of 1025 threads");
}

TEST_CASE("every variant is checked, and there is room for all of them") {
  module first = make_sample().description, second = first;
  second.target = "x86:v0";
  REQUIRE(check(encode({first, second}, sample_image()), 2) == "");
  second.functions[0].inputs[1].element = 99;
  bytes d = encode({first, second}, sample_image());
  REQUIRE(check(d, 2) == "function 'main': inputs: element type 99 is not known");
  REQUIRE(check(d, 1) == "");
  d.resize(2 * sizeof(weft_module_v1) - 1);
  REQUIRE(check(d, 2) == "the descriptor has 223 bytes instead of 224 or more");
  REQUIRE(check(d, 2, 95) == "variants have 95 bytes instead of 96 or more");
  REQUIRE(check(d, 2, UINT32_MAX) == "the descriptor has 223 bytes instead of 8589934590 or more");
}

TEST_CASE("lists must lie inside, in elements of known size") {
  auto change = [](const std::function<void(weft_list_t &)> &c) {
    return after_bytes([&](bytes &, weft_module_v1 &root) { c(root.functions); });
  };
  REQUIRE(change([](weft_list_t &l) { l.offset = UINT32_MAX; }) ==
          "functions lie outside the descriptor");
  REQUIRE(change([](weft_list_t &l) { l.count = 1024; }) == "functions lie outside the descriptor");
  REQUIRE(change([](weft_list_t &l) { l.count = 2000; }) ==
          "2000 functions are more than the 1024 that are allowed");
  REQUIRE(change([](weft_list_t &l) { l.step = 16; }).find("elements of functions have 16 bytes") ==
          0);
  REQUIRE(change([](weft_list_t &l) { l.step = UINT32_MAX; }) ==
          "functions lie outside the descriptor");
  REQUIRE(change([](weft_list_t &l) { l.count = 0; }) == "there is no function");
}

TEST_CASE("newer writers may append fields to elements") {
  bytes d = encode(make_sample().description, sample_image());
  weft_module_v1 root;
  std::memcpy(&root, d.data(), sizeof root);
  weft_list_t wide = {uint32_t(d.size()), root.functions.count, root.functions.step + 24};
  for (uint32_t i = 0; i < root.functions.count; ++i) {
    size_t from = root.functions.offset + i * root.functions.step;
    bytes one(d.begin() + from, d.begin() + from + root.functions.step);
    one.resize(wide.step, 0xEE);
    d.insert(d.end(), one.begin(), one.end());
  }
  root.functions = wide;
  std::memcpy(d.data(), &root, sizeof root);
  REQUIRE(check(d) == "");
}

TEST_CASE("texts end where they say") {
  auto change = [](const std::function<void(bytes &, weft_list_t &)> &c) {
    return after_bytes([&](bytes &d, weft_module_v1 &root) { c(d, root.name); });
  };
  auto end = "the module's name does not end where it should";
  REQUIRE(change([](bytes &, weft_list_t &l) { l.count -= 1; }) == end);
  REQUIRE(change([](bytes &, weft_list_t &l) { l.count += 1; }) == end);
  REQUIRE(change([](bytes &d, weft_list_t &l) { d[l.offset + 2] = 0; }) == end);
  REQUIRE(change([](bytes &, weft_list_t &l) { l.step = 2; }) == "the module's name is not a text");
  REQUIRE(change([](bytes &d, weft_list_t &l) {
            l = {uint32_t(d.size()), 4, 1}; // the NUL would be the first byte outside
            d.insert(d.end(), 4, 'x');
          }) == end);
  REQUIRE(change([](bytes &, weft_list_t &l) { l = {UINT32_MAX, 0, 77}; }) == "");
}

TEST_CASE("arguments have known elements and as many dimensions as their rank") {
  REQUIRE(after([](module &m) { m.functions[0].inputs[1].element = 99; }) ==
          "function 'main': inputs: element type 99 is not known");
  REQUIRE(after([](module &m) { m.functions[0].outputs[0].dims.resize(9, constant(1)); }) ==
          "function 'main': outputs: rank 9 with 9 dimensions");
  REQUIRE(after([](module &m) { m.functions[0].inputs[0].dims[0].code.clear(); }) ==
          "function 'main': inputs: dimension 0 has no formula");
  auto change_input = [](const std::function<void(weft_argument_v1 &)> &c) {
    return after_function([&](bytes &d, weft_function_v1 &f) {
      weft_argument_v1 a;
      std::memcpy(&a, &d[f.inputs.offset], sizeof a);
      c(a);
      std::memcpy(&d[f.inputs.offset], &a, sizeof a);
    });
  };
  REQUIRE(change_input([](weft_argument_v1 &a) { a.flags = 1; }) ==
          "function 'main': inputs: flags 0x1 are not known");
  REQUIRE(after_function([](bytes &d, weft_function_v1 &f) {
            weft_argument_v1 a;
            std::memcpy(&a, &d[f.outputs.offset], sizeof a);
            a.flags = WEFT_ARGUMENT_LATE | 4;
            std::memcpy(&d[f.outputs.offset], &a, sizeof a);
          }) == "function 'main': outputs: flags 0x5 are not known");
  REQUIRE(change_input([](weft_argument_v1 &a) { a.rank = 1; }) ==
          "function 'main': inputs: rank 1 with 2 dimensions");
}

TEST_CASE("formulas are code over the function's symbols") {
  REQUIRE(after([](module &m) { m.functions[0].arena.code = {WEFT_CODE_ADD}; }) ==
          "function 'main': the code of 'arena' is not a formula");
  REQUIRE(after([](module &m) { m.functions[0].scratch = symbol(2, "k"); }) ==
          "function 'main': the code of 'scratch' is not a formula");
  REQUIRE(after([](module &m) { m.functions[0].inputs[0].dims[1] = symbol(7, "k"); }) ==
          "function 'main': the code of a dimension is not a formula");
  REQUIRE(after_function([](bytes &, weft_function_v1 &f) { f.flops.code.step = 4; }) ==
          "function 'main': the code of 'flops' is not a list of bytes");
}

TEST_CASE("symbols have values and are bound by dimensions that exist") {
  REQUIRE(after([](module &m) { m.functions[0].symbols[1].min = 513; }) ==
          "function 'main': symbol 1 has no values");
  REQUIRE(after([](module &m) { m.functions[0].symbols[1].multiple = 0; }) ==
          "function 'main': symbol 1 has no values");
  REQUIRE(after([](module &m) { m.functions[0].symbols[1].input = 2; }) ==
          "function 'main': a symbol: input 2 of 2");
  REQUIRE(after([](module &m) { m.functions[0].symbols[1].dim = 2; }) ==
          "function 'main': a symbol: dimension 2 of 2");
  REQUIRE(after([](module &m) {
            m.functions[0].symbols[1].input = m.functions[0].symbols[1].dim = WEFT_NO_INDEX;
          }) == "");
}

TEST_CASE("checks are of a known kind and name what exists") {
  REQUIRE(after([](module &m) { m.functions[0].checks[0].kind = 10; }) ==
          "function 'main': check 0 has the unknown kind 10");
  REQUIRE(after([](module &m) { m.functions[0].checks[0].kind = 0; }) ==
          "function 'main': check 0 has the unknown kind 0");
  REQUIRE(after([](module &m) { m.functions[0].checks[1].symbol = 2; }) ==
          "function 'main': check 1: symbol 2 of 2");
  REQUIRE(after([](module &m) { m.functions[0].checks[3].input = 5; }) ==
          "function 'main': a check: input 5 of 2");
  REQUIRE(after([](module &m) { m.functions[0].checks[3].dim = 2; }) ==
          "function 'main': a check: dimension 2 of 2");
  REQUIRE(after([](module &m) { m.functions[0].checks[3].expected.code.clear(); }) ==
          "function 'main': check 3 has no formula");
}

TEST_CASE("late blocks have formulas over the function's symbols") {
  auto with = [](late_block block) {
    return after([&](module &m) { m.functions[0].late_blocks = {{constant(64), 0}, block}; });
  };
  REQUIRE(with({symbol(1, "s"), WEFT_LATE_PER_WORKER}) == "");
  REQUIRE(with({symbol(2, "k"), 0}) ==
          "function 'main': the code of a late block is not a formula");
  REQUIRE(with({constant(1), 2}) == "function 'main': late block 1: flags 0x2 are not known");
  REQUIRE(after_function([](bytes &d, weft_function_v1 &f) {
            f.late_blocks = {uint32_t(d.size()) - 8, 1, sizeof(weft_late_block_v1)};
          }) == "function 'main': late blocks lie outside the descriptor");
  REQUIRE(after_function([](bytes &, weft_function_v1 &f) {
            f.late_blocks = {0, 1025, sizeof(weft_late_block_v1)};
          }) == "function 'main': 1025 late blocks are more than the 1024 that are allowed");
}

TEST_CASE("regions name kernels of the variant") {
  auto with = [](std::vector<uint32_t> region) {
    return after([&](module &m) { m.functions[0].regions = {{0, 1}, region}; });
  };
  REQUIRE(with({4, 0, 4}) == "");
  REQUIRE(with({4, 5}) == "function 'main': region 1: kernel 5 of 5");
  REQUIRE(with(std::vector<uint32_t>(9, 0)) ==
          "function 'main': 9 kernels of a region are more than the 8 that are allowed");
  REQUIRE(after_function([](bytes &d, weft_function_v1 &f) {
            f.regions = {uint32_t(d.size()) - 4, 1, sizeof(weft_region_v1)};
          }) == "function 'main': regions lie outside the descriptor");
}

TEST_CASE(
    "older writers know neither late blocks, late outputs, regions, pairs in place nor meshes") {
  for (uint32_t known :
       {uint32_t(offsetof(weft_function_v1, late_blocks)),
        uint32_t(offsetof(weft_function_v1, regions)),
        uint32_t(offsetof(weft_function_v1, in_place)), uint32_t(offsetof(weft_function_v1, mesh)),
        uint32_t(offsetof(weft_function_v1, weights_read))}) {
    bytes d = encode(make_sample().description, sample_image());
    weft_module_v1 root;
    std::memcpy(&root, d.data(), sizeof root);
    weft_list_t narrow = {uint32_t(d.size()), root.functions.count, known};
    for (uint32_t i = 0; i < root.functions.count; ++i) {
      size_t from = root.functions.offset + i * root.functions.step;
      bytes one(d.begin() + from, d.begin() + from + known);
      d.insert(d.end(), one.begin(), one.end());
    }
    root.functions = narrow;
    std::memcpy(d.data(), &root, sizeof root);
    REQUIRE(check(d) == "");
    weft_descriptor_t descriptor = {d.data(), d.size(), root};
    REQUIRE(weft_item<weft_function_v1>(descriptor, narrow, 0).late_blocks.count == 0);
    REQUIRE(weft_item<weft_function_v1>(descriptor, narrow, 0).in_place.count == 0);
    REQUIRE(weft_item<weft_function_v1>(descriptor, narrow, 0).mesh.count == 0);
    REQUIRE(weft_variant_ranks(descriptor, root) == 1);
  }
}

TEST_CASE("a mesh has ranks, its groups axes that it has, and collectives groups") {
  auto with = [](const std::function<void(module &)> &change) {
    return after([&](module &m) {
      make_ranked(m);
      change(m);
    });
  };
  REQUIRE(with([](module &) {}) == "");
  REQUIRE(with([](module &m) { m.mesh[0].size = 0; }) ==
          "function 'main': the mesh has no ranks or more than 65536");
  REQUIRE(with([](module &m) { m.mesh[0].size = 40000; }) ==
          "function 'main': the mesh has no ranks or more than 65536");
  REQUIRE(with([](module &m) { m.functions[0].rank_symbols[1] = 2; }) ==
          "function 'main': axis 1: symbol 2 of 2");
  REQUIRE(with([](module &m) { m.functions[0].rank_symbols.pop_back(); }) ==
          "function 'main': 2 axes with 1 symbols of ranks and 2 groups");
  REQUIRE(with([](module &m) { m.groups[1][1] = 2; }) ==
          "function 'main': group 1: axis 2 of 2, or twice");
  REQUIRE(with([](module &m) { m.groups[1][1] = 1; }) ==
          "function 'main': group 1: axis 1 of 2, or twice");
  REQUIRE(with([](module &m) { m.functions[0].exchanges[0].group = 2; }) ==
          "function 'main': collective 0: group 2 of 2");
  REQUIRE(with([](module &m) { m.functions[0].traffic[0] = symbol(2, "k"); }) ==
          "function 'main': the code of bytes sent is not a formula");
  REQUIRE(with([](module &m) { m.functions[0].weights_read = symbol(2, "k"); }) ==
          "function 'main': the code of 'weights read' is not a formula");
  REQUIRE(with([](module &m) { m.functions[0].rank_symbols.clear(); }) ==
          "function 'main': collective 0: group 1 of 0");
}

TEST_CASE("all functions for several ranks have the same mesh") {
  auto second = [](const std::function<void(bytes &, weft_function_v1 &)> &change) {
    module m = make_sample().description;
    make_ranked(m);
    m.functions[1].rank_symbols = {UINT32_MAX, UINT32_MAX};
    bytes d = encode(m, sample_image());
    weft_module_v1 root;
    std::memcpy(&root, d.data(), sizeof root);
    weft_function_v1 f;
    uint8_t *place = &d[root.functions.offset + root.functions.step];
    std::memcpy(&f, place, sizeof f);
    change(d, f);
    std::memcpy(place, &f, sizeof f);
    return check(d);
  };
  REQUIRE(second([](bytes &, weft_function_v1 &) {}) == "");
  REQUIRE(second([](bytes &, weft_function_v1 &f) {
            f.groups.count = 1;
          }).find("it has another mesh than an earlier function") != std::string::npos);
}

TEST_CASE("bind and run lie in the code") {
  for (int32_t position : {0, -1, INT32_MAX, INT32_MIN}) {
    REQUIRE(after_function([&](bytes &, weft_function_v1 &f) { f.bind = position; }) ==
            "function 'main': 'bind' lies outside the code");
    REQUIRE(after_function([&](bytes &, weft_function_v1 &f) { f.run = position; }) ==
            "function 'main': 'run' lies outside the code");
  }
}

TEST_CASE("weights lie in the weights") {
  REQUIRE(after([](module &m) { m.weights[0].offset = 1; }) == "weight 0 lies outside the weights");
  REQUIRE(after([](module &m) { m.weights[0].offset = UINT64_MAX; }) ==
          "weight 0 lies outside the weights");
  REQUIRE(after([](module &m) { m.weights[0].dims[0] = -1; }) ==
          "weight 0 has a negative dimension");
  REQUIRE(after([](module &m) { m.weights[0].element = 0; }) == "weight 0 has an unknown form");
}

TEST_CASE("lists that share their bytes without end are refused quickly") {
  bytes d = encode(make_sample().description, sample_image());
  weft_module_v1 root;
  std::memcpy(&root, d.data(), sizeof root);
  // 10,000 kernels whose nodes are all one list of 10,000 texts: 100 million texts in 600 KB.
  weft_list_t nodes = {uint32_t(d.size()), 10000, sizeof(weft_list_t)};
  for (int i = 0; i < 10000; ++i)
    d.insert(d.end(), (uint8_t *)&root.name, (uint8_t *)(&root.name + 1));
  weft_kernel_v1 kernel = {};
  kernel.nodes = nodes;
  root.kernels = {uint32_t(d.size()), 10000, sizeof kernel};
  for (int i = 0; i < 10000; ++i)
    d.insert(d.end(), (uint8_t *)&kernel, (uint8_t *)(&kernel + 1));
  std::memcpy(d.data(), &root, sizeof root);
  REQUIRE(check(d) == "the lists are larger than the descriptor");
}

TEST_CASE("damage anywhere is either refused or harmless") {
  const bytes good = encode(make_sample().description, sample_image());
  std::mt19937 random(1);
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    bytes d = good;
    for (unsigned flips = 1 + random() % 3; flips; --flips)
      d[random() % d.size()] = random() % 2 ? uint8_t(random()) : uint8_t(random() % 3);
    refused += check(d) != "";
  }
  REQUIRE(refused > 5000);
  for (size_t size = 0; size < good.size(); size += 7)
    check(bytes(good.begin(), good.begin() + size));
}
