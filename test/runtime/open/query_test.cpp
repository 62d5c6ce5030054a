#include <catch2/catch.hpp>

#include "test/runtime/fixture.h"

using namespace weft_test;

static const opened &sample_module() {
  static const opened o(make_sample().seal());
  return o;
}

template <class T> static T sized() {
  T info = {};
  info.struct_size = sizeof info;
  return info;
}

TEST_CASE("a module says what it is") {
  auto info = sized<weft_module_info_t>();
  REQUIRE(weft_module_info(sample_module().module, &info) == WEFT_OK);
  REQUIRE(std::string(info.name) == "sample");
  REQUIRE(std::string(info.producer) == "weft test");
  REQUIRE(std::string(info.target) == "x86:v1");
  REQUIRE(info.functions == 6);
  REQUIRE(info.kernels == 5);
  REQUIRE(info.weights == 1);
  REQUIRE(info.weight_bytes == 2048);
  bytes file = make_sample().seal();
  REQUIRE(info.file_size == file.size());
  REQUIRE(std::equal(info.hash, info.hash + 32, read_note(file).hash));
  REQUIRE(info.struct_size == sizeof info);
}

TEST_CASE("functions are found by name") {
  const weft_module_t *module = sample_module().module;
  REQUIRE(weft_function_find(module, "main") == 0);
  REQUIRE(weft_function_find(module, "who") == 3);
  REQUIRE(weft_function_find(module, nullptr) == 0); // several: "main"
  REQUIRE(weft_function_find(module, "") == -1);
  REQUIRE(weft_function_find(nullptr, "main") == -1);
  sample s = make_sample();
  s.description.functions = {s.description.functions[1]};
  opened only(s.seal());
  REQUIRE(weft_function_find(only.module, nullptr) == 0);
  s = make_sample();
  s.description.functions.erase(s.description.functions.begin());
  opened without_main(s.seal());
  REQUIRE(weft_function_find(without_main.module, nullptr) == -1);
}

TEST_CASE("functions, arguments, symbols, facts and checks") {
  const weft_module_t *module = sample_module().module;
  auto f = sized<weft_function_info_t>();
  REQUIRE(weft_function_info(module, 0, &f) == WEFT_OK);
  REQUIRE(std::string(f.name) == "main");
  REQUIRE(f.inputs == 2);
  REQUIRE(f.outputs == 2);
  REQUIRE(f.checks == 5);
  REQUIRE(std::string(f.arena) == "4*b*seq");
  auto a = sized<weft_argument_info_t>();
  REQUIRE(weft_argument_info(module, 0, 1, &a) == WEFT_OK);
  REQUIRE(std::string(a.name) == "mask");
  REQUIRE(a.rank == 2);
  REQUIRE(a.element == WEFT_F32);
  REQUIRE(std::string(a.dim_text[1]) == "seq");
  REQUIRE(a.dim_text[2] == nullptr);
  REQUIRE(weft_argument_info(module, 0, 3, &a) == WEFT_OK);
  REQUIRE(std::string(a.name) == "total");
  REQUIRE(weft_argument_info(module, 0, 4, &a) == WEFT_INVALID);
  auto s = sized<weft_symbol_info_t>();
  REQUIRE(weft_symbol_info(module, 0, 1, &s) == WEFT_OK);
  REQUIRE(std::string(s.name) == "seq");
  REQUIRE(s.min == 1);
  REQUIRE(s.max == 512);
  REQUIRE(s.bound_by_input == 0);
  REQUIRE(s.bound_by_dim == 1);
  REQUIRE(weft_symbol_info(module, 0, 2, &s) == WEFT_INVALID);
  REQUIRE(std::string(weft_fact_text(module, 0, 1)) == "1 <= seq <= 512");
  REQUIRE(weft_fact_text(module, 0, 2) == nullptr);
}

TEST_CASE("checks in words") {
  auto text = [](int32_t function, uint32_t row) {
    char buffer[128];
    REQUIRE(weft_check_text(sample_module().module, function, row, buffer, sizeof buffer) ==
            WEFT_OK);
    return std::string(buffer);
  };
  REQUIRE(text(0, 4) == "input 'mask': dimension 1 equals seq");
  REQUIRE(text(0, 1) == "'seq' is at least 1");
  REQUIRE(text(0, 2) == "'seq' is at most 512");
  REQUIRE(text(1, 1) == "'n' is a multiple of 2");
  REQUIRE(text(1, 0) == "input 'x': dimension 0 is a value of 2*n");
  REQUIRE(text(1, 5) == "n + m <= 100");
  REQUIRE(text(1, 6) == "no tensor is larger than 2^62 bytes");
  char small[10];
  REQUIRE(weft_check_text(sample_module().module, 0, 4, small, sizeof small) == WEFT_OK);
  REQUIRE(std::string(small) == "input 'ma");
  REQUIRE(weft_check_text(sample_module().module, 0, 5, small, sizeof small) == WEFT_INVALID);
  REQUIRE(weft_check_text(sample_module().module, 0, 0, small, 0) == WEFT_INVALID);
}

TEST_CASE("kernels and the manifest") {
  const weft_module_t *module = sample_module().module;
  auto k = sized<weft_kernel_info_t>();
  REQUIRE(weft_kernel_info(module, 0, &k) == WEFT_OK);
  REQUIRE(std::string(k.name) == "multiply");
  REQUIRE(k.nodes == 2);
  REQUIRE(std::string(weft_kernel_node(module, 0, 1)) == "/mask");
  REQUIRE(weft_kernel_node(module, 0, 2) == nullptr);
  REQUIRE(weft_kernel_node(module, 5, 0) == nullptr);
  REQUIRE(weft_kernel_info(module, 5, &k) == WEFT_INVALID);
  const char *text;
  size_t size;
  REQUIRE(weft_module_text(module, "manifest", &text, &size) == WEFT_OK);
  REQUIRE(std::string(text, size) == "{\"producer\": \"weft test\"}");
  REQUIRE(text[size] == 0);
  REQUIRE(weft_module_text(module, "poem", &text, &size) == WEFT_NOT_FOUND);
}

TEST_CASE("regions name the kernels that run together") {
  const weft_module_t *module = sample_module().module;
  uint32_t kernel = 0;
  REQUIRE(weft_region_kernel(module, 4, 1, 1, &kernel) == WEFT_OK);
  REQUIRE(kernel == 3);
  REQUIRE(weft_region_kernel(module, 4, 1, 3, &kernel) == WEFT_INVALID);
  REQUIRE(weft_region_kernel(module, 4, 3, 0, &kernel) == WEFT_INVALID);
  REQUIRE(weft_region_kernel(module, 0, 0, 0, &kernel) == WEFT_INVALID);
  REQUIRE(weft_region_kernel(module, 5, 0, 0, &kernel) == WEFT_INVALID);
  REQUIRE(weft_region_kernel(nullptr, 4, 0, 0, &kernel) == WEFT_INVALID);
  REQUIRE(weft_region_kernel(module, 4, 0, 0, nullptr) == WEFT_INVALID);
}

TEST_CASE("structs of another size are refused, bad arguments too") {
  const weft_module_t *module = sample_module().module;
  weft_module_info_t info = {};
  REQUIRE(weft_module_info(module, &info) == WEFT_INVALID);
  REQUIRE(weft_module_info(module, nullptr) == WEFT_INVALID);
  info.struct_size = sizeof info + 100; // a caller of a newer version
  REQUIRE(weft_module_info(module, &info) == WEFT_OK);
  REQUIRE(info.struct_size == sizeof info + 100);
  auto f = sized<weft_function_info_t>();
  for (int32_t index : {-1, 6, INT32_MAX, INT32_MIN})
    REQUIRE(weft_function_info(module, index, &f) == WEFT_INVALID);
  REQUIRE(weft_fact_text(nullptr, 0, 0) == nullptr);
}

TEST_CASE("costs are formulas of the symbols") {
  const weft_module_t *module = sample_module().module;
  weft_error_t err = WEFT_ERROR_INIT;
  auto cost = sized<weft_cost_t>();
  int64_t symbols[2] = {16, 512};
  REQUIRE(weft_query_cost(module, 0, symbols, &cost, &err) == WEFT_OK);
  REQUIRE(cost.arena == 4 * 16 * 512);
  REQUIRE(cost.scratch_per_worker == 4 * 512);
  REQUIRE(cost.outputs == 4 * 16 * 512 + 4 * 16);
  REQUIRE(cost.flops == 3 * 16 * 512);
  REQUIRE(cost.bytes_moved == 12 * 16 * 512);
  symbols[1] = 513;
  REQUIRE(weft_query_cost(module, 0, symbols, &cost, &err) == WEFT_INVALID);
  REQUIRE(text_of(err) == "W0413 'seq' is 513, but is at most 512");
  REQUIRE(weft_query_cost(module, 7, symbols, &cost, &err) == WEFT_INVALID);
  REQUIRE(weft_query_cost(module, 0, symbols, nullptr, &err) == WEFT_INVALID);
}

TEST_CASE("a cost that overflows is an error") {
  sample s = make_sample();
  s.description.functions[0].flops = constant(INT64_MAX) * symbol(0, "b");
  opened o(s.seal());
  auto cost = sized<weft_cost_t>();
  int64_t symbols[2] = {2, 3};
  REQUIRE(weft_query_cost(o.module, 0, symbols, &cost, &o.err) == WEFT_OVER_LIMIT);
  REQUIRE(text_of(o.err) == "W0422 the cost of this call overflows (b = 2, seq = 3)");
}

TEST_CASE("shapes of outputs need no data") {
  weft_error_t err = WEFT_ERROR_INIT;
  int64_t dim[2] = {7, 100};
  weft_tensor_t in[2] = {weft_tensor_of(nullptr, WEFT_F32, 2, dim),
                         weft_tensor_of(nullptr, WEFT_F32, 2, dim)};
  weft_tensor_t out[2] = {WEFT_TENSOR_EMPTY, WEFT_TENSOR_EMPTY};
  const weft_module_t *module = sample_module().module;
  REQUIRE(weft_query_outputs(module, 0, in, 2, out, 2, &err) == WEFT_OK);
  REQUIRE(out[0].rank == 2);
  REQUIRE(out[0].dim[0] == 7);
  REQUIRE(out[0].dim[1] == 100);
  REQUIRE(out[1].rank == 1);
  REQUIRE(out[1].dim[0] == 7);
  REQUIRE(out[1].element == WEFT_F32);
  REQUIRE(out[0].data == nullptr);
  in[1].dim[0] = 8;
  REQUIRE(weft_query_outputs(module, 0, in, 2, out, 2, &err) == WEFT_INVALID);
  REQUIRE(std::string(err.code) == "W0411");
  REQUIRE(weft_query_outputs(module, 0, in, 1, out, 2, &err) == WEFT_INVALID);
  REQUIRE(weft_query_outputs(nullptr, 0, in, 2, out, 2, &err) == WEFT_INVALID);
}
