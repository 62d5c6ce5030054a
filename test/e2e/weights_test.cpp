// Products with constant weights, stored in 32, 16, 8 and 4 bits, against the evaluator.
#include "compiler/import/text/ImportText.h"
#include "test/support/Constant.h"
#include "test/support/Program.h"
#include <catch2/catch.hpp>
#include <filesystem>

using namespace weft::test;

namespace {

struct Case {
  std::string element;     ///< of the stored weight
  int64_t k, n, block = 0; ///< no block: converted, not dequantised
  bool transposed = false; ///< stored as [n, k]
  std::string zero = "";   ///< element type of zero points, or "" for none
  std::string scale = "f32";
  std::string through = ""; ///< rounded to this type
  int64_t rounded = 0;      ///< rows are rounded in such blocks
};

std::string program(const Case &c) {
  auto grid = [&](int64_t k) {
    return c.transposed ? std::vector<int64_t>{c.n, k} : std::vector<int64_t>{k, c.n};
  };
  Constant weight{c.element, grid(c.k)}, real{"f32", grid(c.k)};
  std::string x = "!weft.tensor<[b, s, " + std::to_string(c.k) + "], f32>",
              y = "!weft.tensor<[b, s, " + std::to_string(c.n) + "], f32>";
  std::string bias = Constant{"f32", {c.n}}.type();
  std::string text =
      "func.func @main(%x: " + x + ", %bias: " + bias + ") -> " + y +
      " attributes {weft.symbols = #weft.symbols<b, s>} {\n  %w = " + weight.text(1) + "\n";
  std::string name = "%w";
  if (c.block > 0) {
    int64_t blocks = (c.k + c.block - 1) / c.block;
    Constant scale{c.scale, grid(blocks)}, zero{c.zero, grid(blocks)};
    text += "  %scale = " + scale.text(2) + "\n";
    if (!c.zero.empty())
      text += "  %zero = " + zero.text(3) + "\n";
    text += "  %r = weft.dequantize_blocks %w, %scale" +
            std::string(c.zero.empty() ? "" : ", %zero") + " axis " + (c.transposed ? "1" : "0") +
            " block " + std::to_string(c.block) + " : (" + weight.type() + ", " + scale.type() +
            (c.zero.empty() ? "" : ", " + zero.type()) + ") -> " + real.type() + "\n";
    name = "%r";
  } else {
    Constant narrow{c.through, grid(c.k)};
    if (!c.through.empty()) {
      text += "  %narrow = weft.convert %w to " + c.through + " : (" + weight.type() + ") -> " +
              narrow.type() + "\n";
      name = "%narrow";
    }
    if (const Constant &from = c.through.empty() ? weight : narrow; from.element != "f32") {
      text += "  %r = weft.convert " + name + " to f32 : (" + from.type() + ") -> " + real.type() +
              "\n";
      name = "%r";
    }
  }
  std::string rows = "%x";
  if (c.rounded > 0) {
    text += "  %rows = weft.round_blocks %x block " + std::to_string(c.rounded) + " : (" + x +
            ") -> " + x + "\n";
    rows = "%rows";
  }
  return text + "  %0 = weft.contract \"" +
         (c.transposed ? "... k, n k -> ... n" : "... k, k n -> ... n") + "\" " + rows + ", " +
         name + " accumulate f32 : (" + x + ", " + real.type() + ") -> " + y +
         "\n  %1 = weft.add %0, %bias : (" + y + ", " + bias + ") -> " + y +
         "\n  return %1 : " + y + "\n}\n";
}

/// The result is right at all sizes, and the weights in the artifact have not more than `bytes`. Of the older processors one is asked, in
/// turn.
void agrees(const Case &c, uint64_t bytes) {
  // Reals are below 2; integers up to 255 cancel in the sums, which leaves the error of large terms.
  const double tolerance = (c.block ? 1e-6 * double(c.k) : 1e-5) * (c.rounded ? 2 : 1);
  std::string text = program(c);
  static unsigned count = 0;
  for (const char *target : {"x86:host", ++count % 2 ? "x86:v3" : "x86:v2"}) {
    if (c.rounded && target == std::string("x86:v2")) // has no fused product to round to steps
      target = "x86:v3";
    INFO(target << " " << c.element << " k=" << c.k << " n=" << c.n << " block=" << c.block
                << (c.transposed ? " transposed" : "") << " " << c.zero);
    weft::Result<weft::Module> module = weft::importText("test.mlir", text);
    REQUIRE(module);
    weft::CompileOptions options;
    options.target = target;
    weft::Result<weft::Artifact> checked = weft::Compiler().check(*module, options);
    REQUIRE(checked);
    CHECK(checked->weightBytes <= bytes);
    Program program(text, target);
    INFO(program.error());
    REQUIRE(program.error().empty());
    for (auto [b, s] : {std::pair<int64_t, int64_t>{0, 3},
                        {1, 1},
                        {2, 1},
                        {1, 3},
                        {2, 2},
                        {1, 5},
                        {1, 7},
                        {1, 14},
                        {3, 5},
                        {1, 29}}) {
      INFO(b << " x " << s);
      double difference = program.difference({{"b", b}, {"s", s}});
      INFO(program.error());
      CHECK(difference <= tolerance);
    }
  }
}

constexpr int64_t round32(int64_t n) { return (n + 31) / 32 * 32; }

/// Scales or zero points of a column; two of bf16, and eight of 4 bits, share a word.
int64_t blockBytes(const std::string &element, int64_t blocks) {
  if (element.empty())
    return 0;
  if (element == "bf16")
    return (blocks + 1) / 2 * 4;
  if (element == powers || element == "f8E4M3FN")
    return blocks;
  int64_t bits = std::stoi(element.substr(element.find_first_of("0123456789")));
  return bits == 4 ? (blocks + 7) / 8 * 4 : blocks * bits / 8;
}

} // namespace

TEST_CASE("weights in 32 bits") {
  for (bool transposed : {false, true}) {
    agrees({"f32", 5, 3, 0, transposed}, 5 * 32 * 4);
    agrees({"f32", 96, 160, 0, transposed}, 96 * 160 * 4);
    agrees({"f32", 201, 133, 0, transposed}, 201 * 160 * 4);
  }
}

TEST_CASE("few rows times weights have the same bits with any number of workers") {
  // In one stream, in several, and with panels left over where workers' pieces end.
  for (const Case &c : {Case{"f32", 200, 330}, Case{"f32", 1500, 384}, Case{"bf16", 1500, 384}}) {
    std::string text = program(c);
    Program one(text), two(text, "x86:host", 2), three(text, "x86:host", 3);
    INFO(one.error());
    REQUIRE(one.error().empty());
    for (int64_t rows : {1, 2, 3, 6, 9}) {
      INFO(c.element << " k=" << c.k << " rows=" << rows);
      std::vector<Tensor> inputs = one.generate({{"b", 1}, {"s", rows}}, unsigned(rows));
      std::vector<char> expected = one.run(inputs)[0].bytes;
      CHECK(two.run(inputs)[0].bytes == expected);
      CHECK(three.run(inputs)[0].bytes == expected);
    }
  }
}

TEST_CASE("weights in 16 bits stay so, also when they are rounded while compiling") {
  for (bool transposed : {false, true}) {
    agrees({"bf16", 201, 133, 0, transposed}, 202 * 160 * 2);
    agrees({"f16", 96, 70, 0, transposed}, 96 * 96 * 2);
    agrees({"f32", 97, 40, 0, transposed, "", "", "bf16"}, 98 * 64 * 2);
    agrees({"f32", 97, 40, 0, transposed, "", "", "f16"}, 98 * 64 * 2);
  }
}

TEST_CASE("an option rounds constant matrices while compiling") {
  std::string text = program({"f32", 96, 64});
  weft::Result<weft::Module> module = weft::importText("test.mlir", text);
  REQUIRE(module);
  weft::CompileOptions options;
  uint64_t bytes[2];
  for (bool narrow : {false, true}) {
    options.numerics.weights = narrow ? "bf16" : "";
    weft::Result<weft::Artifact> checked = weft::Compiler().check(*module, options);
    REQUIRE(checked);
    bytes[narrow] = checked->weightBytes;
  }
  CHECK(bytes[1] * 2 == bytes[0]);
  options.numerics.weights = "i4";
  weft::Result<weft::Artifact> refused = weft::Compiler().check(*module, options);
  REQUIRE(!refused);
  CHECK(refused.diagnostics()[0].text == "weights cannot be stored as 'i4'");
}

TEST_CASE("weights in 8 and 4 bits with a scale per block stay packed") {
  struct Shape {
    int64_t k, n, block, blocks;
    const char *zero, *scale;
  } shapes[] = {{64, 33, 32, 2, "", "f32"},
                {104, 70, 32, 4, "same", "f32"},
                {131, 65, 16, 9, "same", "f16"},
                {300, 40, 256, 2, "", "bf16"},
                {96, 31, 128, 1, "ui4", "f32"}};
  unsigned turn = 0;
  for (bool transposed : {false, true})
    for (const char *element : {"i4", "ui4", "i8", "ui8"}) {
      const Shape &shape = shapes[turn++ % std::size(shapes)];
      std::string zero = shape.zero == std::string("same") ? element : shape.zero;
      int64_t bits = element[strlen(element) - 1] - '0', columns = round32(shape.n);
      agrees({element, shape.k, shape.n, shape.block, transposed, zero, shape.scale},
             (shape.k + 7) / 8 * 8 * columns * bits / 8 +
                 (blockBytes(shape.scale, shape.blocks) + blockBytes(zero, shape.blocks)) *
                     columns +
                 128);
    }
}

TEST_CASE("weights of floats with a scale per block stay packed") {
  auto most = [](int64_t bits, int64_t k, int64_t n, int64_t blocks, const std::string &scale) {
    return (k + 7) / 8 * 8 * round32(n) * bits / 8 + round32(n) * blockBytes(scale, blocks) + 128;
  };
  for (bool transposed : {false, true}) {
    agrees({f4, 64, 33, 32, transposed, "", powers}, most(4, 64, 33, 2, powers));           // MXFP4
    agrees({f4, 112, 70, 16, transposed, "", "f8E4M3FN"}, most(4, 112, 70, 7, "f8E4M3FN")); // NVFP4
    agrees({f4, 131, 9, 32, transposed, "", "bf16"}, most(4, 131, 9, 5, "bf16"));
    agrees({"f8E4M3FN", 96, 31, 32, transposed, "", powers}, most(8, 96, 31, 3, powers)); // MXFP8
  }
  agrees({f4, 64, 64, 32, true, "", powers, "", 32},
         most(4, 64, 64, 2, powers)); // no products of bytes
  Program irregular(
      program({f4, 30, 9, 5, false, f4})); // zero points of floats, blocks that no panel divides
  INFO(irregular.error());
  REQUIRE(irregular.error().empty());
  CHECK(irregular.difference({{"b", 2}, {"s", 3}}) <= 1e-4);
}

TEST_CASE("rounded rows times weights of 8 and 4 bits") {
  struct Shape {
    int64_t k, n, block;
    const char *zero;
  } shapes[] = {{64, 33, 32, ""},   {128, 70, 64, "same"}, {48, 65, 16, "same"},
                {256, 40, 256, ""}, {384, 31, 128, "ui4"}, {144, 96, 48, ""}};
  unsigned turn = 0;
  for (bool transposed : {false, true})
    for (const char *element : {"i4", "ui4", "i8", "ui8"})
      for (unsigned i = 0; i < 2; ++i) {
        const Shape &shape = shapes[turn++ % std::size(shapes)];
        std::string zero = shape.zero == std::string("same") ? element : shape.zero;
        int64_t bits = element[strlen(element) - 1] - '0', columns = round32(shape.n),
                blocks = shape.k / shape.block;
        agrees({element, shape.k, shape.n, shape.block, transposed, zero, "f32", "", shape.block},
               shape.k * columns * bits / 8 + columns * (blocks * 4 + blockBytes(zero, blocks)) +
                   128);
      }
}

TEST_CASE("rounded rows times other weights are products of reals") {
  agrees({"f32", 96, 40, 0, false, "", "f32", "", 32}, 96 * 64 * 4);
  agrees({"i4", 128, 40, 64, true, "", "f32", "", 32}, 64 * 64 + 2 * 64 * 4 + 128); // other blocks
  Program irregular(program({"i4", 40, 9, 20, false, "", "f32", "", 20}));
  INFO(irregular.error());
  REQUIRE(irregular.error().empty());
  CHECK(irregular.difference({{"b", 2}, {"s", 3}}) <= 1e-4);
}

TEST_CASE("rounded rows are summed in integers where the processor has products of bytes") {
  weft::Result<weft::Module> module =
      weft::importText("test.mlir", program({"i4", 64, 64, 32, true, "", "f32", "", 32}));
  REQUIRE(module);
  for (auto [target, schedule] :
       {std::pair<const char *, const char *>{"x86:v4+vnni", "block_dots"},
        {"x86:v4", "contraction"},
        {"x86:v3", "contraction"}}) {
    weft::CompileOptions options;
    options.target = target;
    options.temporariesDirectory = "schedules_of_rounded_rows." + std::string(target + 4);
    options.outputPath = options.temporariesDirectory + ".weft";
    REQUIRE(weft::Compiler().compile(*module, options));
    bool found = false;
    for (auto &file : std::filesystem::directory_iterator(options.temporariesDirectory))
      found |= file.path().filename().string().find(std::string("weft_k_") + schedule) == 0;
    INFO(target);
    CHECK(found);
  }
}

TEST_CASE("blocks with numbers that have no step") {
  std::string x = "!weft.tensor<[2, 32], f32>";
  Program rounding("func.func @main(%x: " + x + ") -> " + x +
                   " {\n  %r = weft.round_blocks %x block 16 : (" + x + ") -> " + x +
                   "\n  return %r : " + x + "\n}\n");
  INFO(rounding.error());
  REQUIRE(rounding.error().empty());
  std::vector<Tensor> inputs = rounding.generate({}, 1);
  auto *values = reinterpret_cast<float *>(inputs[0].bytes.data());
  std::fill(values, values + 16, 0.0f);
  values[16] = INFINITY;
  std::fill(values + 32, values + 48, 1e-42f); // 127 / x is more than f32 holds
  values[50] = NAN;
  std::vector<Tensor> results = rounding.run(inputs);
  REQUIRE(results.size() == 1);
  auto *got = reinterpret_cast<const float *>(results[0].bytes.data());
  std::vector<double> wanted = rounding.evaluate(inputs)[0].reals;
  for (int i = 0; i < 64; ++i) {
    bool nan = (i >= 16 && i < 32) || i >= 48;
    INFO(i);
    CHECK(std::isnan(got[i]) == nan);
    CHECK(std::isnan(wanted[i]) == nan);
    if (!nan)
      CHECK((got[i] == 0 && wanted[i] == 0));
  }
}

TEST_CASE("an option rounds rows that meet weights in blocks") {
  weft::Result<weft::Module> module =
      weft::importText("test.mlir", program({"ui4", 64, 64, 32, true, "ui4"}));
  REQUIRE(module);
  weft::CompileOptions options;
  for (bool round : {false, true}) {
    options.numerics.roundActivations = round;
    weft::Result<std::string> text = weft::Compiler().programAfter("fuse", *module, options);
    REQUIRE(text);
    CHECK((text->find("weft.round_blocks") != std::string::npos) == round);
  }
}

TEST_CASE("blocks that no panel divides are computed all the same") {
  Program program(::program({"i4", 30, 9, 5}));
  REQUIRE(program.error().empty());
  CHECK(program.difference({{"b", 2}, {"s", 3}}) <= 1e-4);
}

TEST_CASE("a gather from a dequantised table") {
  Constant table{"ui4", {7, 64}}, scale{"f32", {7, 2}};
  std::string text = "func.func @main(%i: !weft.tensor<[n], i64>) -> !weft.tensor<[n, 64], f32> "
                     "attributes {weft.symbols = #weft.symbols<n>} {\n  %q = " +
                     table.text(1) + "\n  %s = " + scale.text(2) +
                     "\n  %t = weft.dequantize_blocks %q, %s axis 1 block 32 : (" + table.type() +
                     ", " + scale.type() +
                     ") -> !weft.tensor<[7, 64], f32>\n  %y = weft.gather %t, %i axis 0 : "
                     "(!weft.tensor<[7, 64], f32>, !weft.tensor<[n], i64>) -> "
                     "!weft.tensor<[n, 64], f32>\n  return %y : !weft.tensor<[n, 64], f32>\n}\n";
  for (const char *target : {"x86:host", "x86:v3", "x86:v2"}) {
    Program program(text, target);
    INFO(program.error());
    REQUIRE(program.error().empty());
    for (int64_t n : {0, 1, 19})
      CHECK(program.difference({{"n", n}}, 1, 7) <= 1e-5);
  }
}

TEST_CASE("rows do not depend on the number of threads") {
  for (int64_t rounded : {0, 32}) {
    std::string text = program({"i4", 768, 600, 32, true, "", "f32", "", rounded});
    Program one(text), two(text, "x86:host", 2);
    for (int64_t s : {1, 3, 40}) {
      std::vector<Tensor> inputs = one.generate({{"b", 1}, {"s", s}}, 1);
      CHECK(one.run(inputs)[0].bytes == two.run(inputs)[0].bytes);
    }
  }
}

TEST_CASE("workers part the rows or the panels of a weight in several blocks, and miss none") {
  std::string text = program({"f32", 500, 600});
  Program one(text);
  REQUIRE(one.error().empty());
  for (int threads : {2, 3, 5}) {
    Program several(text, "x86:host", threads);
    for (int64_t s : {20, 100, 115, 131}) {
      std::vector<Tensor> inputs = one.generate({{"b", 1}, {"s", s}}, 1);
      INFO(s << " rows, " << threads << " threads");
      CHECK(several.run(inputs)[0].bytes == one.run(inputs)[0].bytes);
      if (threads == 2)
        CHECK(one.difference(inputs, one.evaluate(inputs)) <= 1e-4);
    }
  }
}
