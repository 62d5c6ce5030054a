#include "test/support/ConvolutionProgram.h"
#include "test/support/Constant.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace weft::test {

std::string filterText(const std::vector<int64_t> &dims) {
  int64_t count = 1, sum = 1;
  std::string shape, hex;
  for (int64_t dim : dims) {
    count *= dim, sum = count / dims[0];
    shape += std::to_string(dim) + "x";
  }
  std::mt19937 random(unsigned(count + sum));
  std::uniform_real_distribution<float> number(-1, 1);
  for (int64_t i = 0; i < count; ++i) {
    float value = number(random) / std::sqrt(float(sum));
    unsigned char bytes[4];
    memcpy(bytes, &value, 4);
    for (unsigned char byte : bytes) {
      hex += "0123456789ABCDEF"[byte >> 4];
      hex += "0123456789ABCDEF"[byte & 15];
    }
  }
  return "dense<\"0x" + hex + "\"> : tensor<" + shape + "f32>";
}

static std::string joined(const std::vector<int64_t> &numbers) {
  std::string text;
  for (int64_t number : numbers)
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  return "[" + text + "]";
}

std::string list(const std::vector<Axis> &axes, int64_t Axis::*field) {
  std::vector<int64_t> numbers;
  for (const Axis &axis : axes)
    numbers.push_back(axis.*field);
  return joined(numbers);
}

/// The numbers of a filter as `weft.constant` takes them.
static std::string numbersOf(const Convolution &c, const std::vector<int64_t> &dims) {
  if (!c.filterText.empty())
    return c.filterText;
  if (c.filterElement == "f32")
    return filterText(dims);
  if (c.filterElement.back() == '8')
    return bytesText(dims, c.filterElement);
  return Constant{c.filterElement, dims}.numbers(3);
}

std::string textOf(const Convolution &c) {
  std::vector<int64_t> filter{c.filters, c.channels}, strides, dilations, low, high;
  std::string in, out;
  for (size_t i = 0; i < c.axes.size(); ++i) {
    const Axis &a = c.axes[i];
    std::string size = i + 1 == c.axes.size() ? "w" : "h";
    filter.push_back(a.kernel), strides.push_back(a.stride), dilations.push_back(a.dilation),
        low.push_back(a.low), high.push_back(a.high);
    in += ", " + size;
    out += ", floordiv(" + size + " + " +
           std::to_string(a.low + a.high - a.dilation * (a.kernel - 1) - 1) + ", " +
           std::to_string(a.stride) + ") + 1";
  }
  bool ofBytes = c.element.back() == '8', ofHalves = c.element.back() == '6';
  std::string sum = ofBytes ? "i32" : "f32";
  auto type = [&](int64_t channels, const std::string &pixels, const std::string &element) {
    std::string number = ", " + std::to_string(channels);
    return "!weft.tensor<[m" + (c.channelsLast ? pixels + number : number + pixels) + "], " +
           element + ">";
  };
  std::string x = type(c.groups * c.channels, in, c.element), sums = type(c.filters, out, sum),
              y = ofHalves ? type(c.filters, out, c.element) : sums,
              f = "!weft.tensor<" + joined(filter) + ", " + c.filterElement + ">";
  std::string epilogue = c.epilogue;
  for (size_t at; (at = epilogue.find("$y")) != std::string::npos;)
    epilogue.replace(at, 2, y);
  for (size_t at; (at = epilogue.find("$x")) != std::string::npos;)
    epilogue.replace(at, 2, x);
  std::string rounded =
      ofHalves ? "  %y = weft.convert %sum to " + c.element + " : (" + sums + ") -> " + y + "\n"
               : "";
  return "func.func @main(%x: " + x + ") -> " + y + " attributes {weft.symbols = #weft.symbols<m" +
         (c.axes.size() == 2 ? ", h" : "") + ", w>} {\n  %f = weft.constant " +
         numbersOf(c, filter) + " -> " + f + "\n  " + (ofHalves ? "%sum" : "%y") +
         " = weft.conv %x, %f strides " + joined(strides) + " dilations " + joined(dilations) +
         " low " + joined(low) + " high " + joined(high) + " groups " + std::to_string(c.groups) +
         " accumulate " + sum + (c.channelsLast ? " {channels_last}" : "") + " : (" + x + ", " + f +
         ") -> " + sums + "\n" + rounded + epilogue + "  return " +
         (epilogue.empty() ? "%y" : "%z") + " : " + y + "\n}\n";
}

static bool isOnDevice() { return std::getenv("WEFT_TEST_DEVICE"); }

/// The same inputs with two workers.
static std::vector<Tensor> runWithTwo(Program &program, const std::vector<Tensor> &inputs) {
  if (program.emulated)
    return program.run(inputs, 2);
  if (isOnDevice()) // whose threads are its own
    return program.run(inputs);
  weft_error_t error = WEFT_ERROR_INIT;
  weft_context_options_t options = {sizeof(weft_context_options_t), 2, -1, 0};
  weft_context_t *other = nullptr;
  REQUIRE(!weft_context_create(program.artifact, &options, &other, &error));
  std::swap(program.context, other);
  std::vector<Tensor> results = program.run(inputs);
  std::swap(program.context, other);
  weft_context_release(other);
  return results;
}

void checkConvolution(const std::string &text, std::initializer_list<Sizes> all,
                      const Expectation &expectation) {
  for (const std::string &target : expectation.targets) {
    if (!isTried(target))
      continue;
    CompileOptions options = exactly(target);
    options.numerics.exact = expectation.exact;
    Program program(text, options);
    INFO(target << " " << text.substr(text.find("weft.conv ")));
    INFO(program.error());
    REQUIRE(program.error().empty());
    if (!isOnDevice()) // expected are schedules of processors
      CHECK(uses(program, expectation.schedule));
    for (const Sizes &sizes : all) {
      INFO("m=" << sizes.at("m") << " w=" << sizes.at("w"));
      double difference = program.difference(sizes, 1, expectation.limit);
      INFO(program.error());
      CHECK(difference <= expectation.tolerance);
      std::vector<Tensor> inputs = program.generate(sizes, 2, expectation.limit),
                          one = program.run(inputs), other = runWithTwo(program, inputs);
      REQUIRE(one.size() == 1);
      REQUIRE(other.size() == 1);
      CHECK(one[0].bytes == other[0].bytes); // no sum depends on the number of threads
    }
  }
}

} // namespace weft::test
