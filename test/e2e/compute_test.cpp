// Products whose operands are rounded to 16 bits: the compiled program against the evaluator on the program that says so, and on the one
// that does not.
#include "compiler/eval/Evaluate.h"
#include "compiler/import/text/ImportText.h"
#include "test/support/ConvolutionProgram.h"
#include "test/support/Halves.h"
#include "llvm/ADT/StringExtras.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace weft::test;

namespace {

const std::string kRows = "!weft.tensor<[b, s, 32], f32>",
                  kHidden = "!weft.tensor<[b, s, 128], f32>",
                  kSplit = "!weft.tensor<[b, s, 2, 16], f32>",
                  kHeads = "!weft.tensor<[b, 2, s, 16], f32>",
                  kScores = "!weft.tensor<[b, 2, s, s], f32>", kNumber = "!weft.tensor<[], f32>";

std::string matrix(int64_t k, int64_t n) {
  return "!weft.tensor<[" + std::to_string(k) + ", " + std::to_string(n) + "], f32>";
}

/// A constant that keeps the size of what is multiplied with it.
std::string weight(const std::string &name, int64_t k, int64_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::string bytes;
  for (int64_t i = 0; i < k * n; ++i) {
    float value = (float(random() % 4096) / 2048 - 1) * std::sqrt(3 / float(k));
    bytes.append(reinterpret_cast<char *>(&value), 4);
  }
  return "  %" + name + " = weft.constant dense<\"0x" + llvm::toHex(bytes) + "\"> : tensor<" +
         std::to_string(k) + "x" + std::to_string(n) + "xf32> -> " + matrix(k, n) + "\n";
}

std::string product(const std::string &result, const std::string &rows, const std::string &weight,
                    int64_t k, int64_t n) {
  return "  %" + result + " = weft.contract \"b s k, k n -> b s n\" %" + rows + ", %" + weight +
         " accumulate f32 : (" + (k == 32 ? kRows : kHidden) + ", " + matrix(k, n) + ") -> " +
         (n == 32 ? kRows : kHidden) + " loc(\"/" + result + "\")\n";
}

std::string heads(const std::string &name) {
  return "  %" + name + "1 = weft.reshape %" + name + " to [b, s, 2, 16] : (" + kRows + ") -> " +
         kSplit + "\n  %" + name + "2 = weft.transpose %" + name + "1 [0, 2, 1, 3] : (" + kSplit +
         ") -> " + kHeads + "\n";
}

/// One layer of a transformer without normalisations.
std::string layer() {
  std::string text = "func.func @main(%x: " + kRows + ") -> " + kRows +
                     " attributes {weft.symbols = #weft.symbols<b, s>} {\n"
                     "  %scale = weft.fill 0.25 : f32 -> " +
                     kNumber + "\n";
  unsigned seed = 1;
  for (const char *name : {"wq", "wk", "wv", "wo"})
    text += weight(name, 32, 32, seed++);
  text += weight("wi", 32, 128, 5) + weight("wd", 128, 32, 6);
  for (const char *name : {"q", "k", "v"})
    text += product(name, "x", std::string("w") + name, 32, 32) + heads(name);
  text += "  %qk = weft.contract \"b h m d, b h n d -> b h m n\" %q2, %k2 accumulate f32 : (" +
          kHeads + ", " + kHeads + ") -> " + kScores + "\n  %scaled = weft.mul %qk, %scale : (" +
          kScores + ", " + kNumber + ") -> " + kScores + "\n  %p = weft.softmax %scaled : (" +
          kScores + ") -> " + kScores +
          "\n  %mix = weft.contract \"b h m n, b h n d -> b h m d\" %p, %v2 accumulate f32 : (" +
          kScores + ", " + kHeads + ") -> " + kHeads +
          "\n  %merged = weft.transpose %mix [0, 2, 1, 3] : (" + kHeads + ") -> " + kSplit +
          "\n  %rows = weft.reshape %merged to [b, s, 32] : (" + kSplit + ") -> " + kRows + "\n";
  text += product("o", "rows", "wo", 32, 32) + "  %r = weft.add %o, %x : (" + kRows + ", " + kRows +
          ") -> " + kRows + "\n" + product("up", "r", "wi", 32, 128) +
          "  %act = weft.activation gelu %up : (" + kHidden + ") -> " + kHidden + "\n" +
          product("down", "act", "wd", 128, 32) + "  %y = weft.add %down, %r : (" + kRows + ", " +
          kRows + ") -> " + kRows + "\n";
  return text + "  return %y : " + kRows + "\n}\n";
}

/// Of 12 by 12 pixels.
std::string images(int64_t channels) {
  return "!weft.tensor<[n, " + std::to_string(channels) + ", 12, 12], f32>";
}

/// A convolution of them by a constant filter of kernel * kernel, and relu.
std::string convolved(const std::string &result, const std::string &image, int64_t channels,
                      int64_t filters, int64_t kernel) {
  std::string side = std::to_string(kernel), pad = std::to_string(kernel / 2),
              filter = "!weft.tensor<[" + std::to_string(filters) + ", " +
                       std::to_string(channels) + ", " + side + ", " + side + "], f32>",
              y = images(filters);
  return "  %f" + result + " = weft.constant " + filterText({filters, channels, kernel, kernel}) +
         " -> " + filter + "\n  %c" + result + " = weft.conv %" + image + ", %f" + result +
         " strides [1, 1] dilations [1, 1] low [" + pad + ", " + pad + "] high [" + pad + ", " +
         pad + "] groups 1 accumulate f32 : (" + images(channels) + ", " + filter + ") -> " + y +
         " loc(\"/" + result + "\")\n  %" + result + " = weft.activation relu %c" + result +
         " : (" + y + ") -> " + y + "\n";
}

/// A stem and a block of a network of convolutions, as exporters write them: channels before
/// pixels. With a shortcut, what the stem gives is read by a sum, too.
std::string network(bool hasShortcut) {
  const std::string sums = "!weft.tensor<[n, 32], f32>", y = images(32);
  std::string text = "func.func @main(%x: " + images(3) + ") -> " + sums +
                     " attributes {weft.symbols = #weft.symbols<n>} {\n" +
                     convolved("a", "x", 3, 32, 7) + convolved("b", "a", 32, 16, 1) +
                     convolved("c", "b", 16, 16, 3) + convolved("d", "c", 16, 32, 1);
  if (hasShortcut)
    text += "  %e = weft.add %d, %a : (" + y + ", " + y + ") -> " + y + "\n";
  return text + "  %s = weft.reduce sum %" + (hasShortcut ? "e" : "d") + " [2, 3] : (" + y +
         ") -> " + sums + "\n  return %s : " + sums + "\n}\n";
}

/// What else reads values in networks of images: a largest of windows, a depthwise convolution, a mean, and a normalisation of the lines.
std::string windows() {
  const std::string y = images(16), number = "!weft.tensor<[n, 16], f32>",
                    line = "!weft.tensor<[12], f32>", filter = "!weft.tensor<[16, 1, 3, 3], f32>";
  return "func.func @main(%x: " + images(3) + ") -> " + number +
         " attributes {weft.symbols = #weft.symbols<n>} {\n" + convolved("a", "x", 3, 16, 3) +
         "  %b = weft.pool max %a kernel [3, 3] strides [1, 1] dilations [1, 1] low [1, 1] high "
         "[1, 1] : (" +
         y + ") -> " + y + "\n" + convolved("c", "b", 16, 16, 3) + "  %e = weft.constant " +
         filterText({16, 1, 3, 3}) + " -> " + filter +
         "\n  %d = weft.conv %c, %e strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups "
         "16 accumulate f32 : (" +
         y + ", " + filter + ") -> " + y + "\n  %f = weft.add %d, %b : (" + y + ", " + y + ") -> " +
         y + "\n  %one = weft.fill 1.0 : f32 -> " + line + "\n  %none = weft.fill 0.0 : f32 -> " +
         line +
         "\n  %g = weft.normalize %f, %one, %none {center = true, epsilon = 1.0e-5 : f64} : (" + y +
         ", " + line + ", " + line + ") -> " + y + "\n" + convolved("h", "g", 16, 16, 1) +
         "  %i = weft.add %h, %f : (" + y + ", " + y + ") -> " + y +
         "\n  %s = weft.reduce sum %i [2, 3] : (" + y + ") -> " + number +
         "\n  return %s : " + number + "\n}\n";
}

/// What both inputs of a product with a symbolic depth become.
const char *const kProduct = R"(
func.func @main(%x: !weft.tensor<[m, k], f32>, %y: !weft.tensor<[k, n], f32>) -> !weft.tensor<[m, n], f32>
    attributes {weft.symbols = #weft.symbols<m, k, n>} {
  %0 = weft.contract "m k, k n -> m n" %x, %y accumulate f32
      : (!weft.tensor<[m, k], f32>, !weft.tensor<[k, n], f32>) -> !weft.tensor<[m, n], f32> loc("/head/MatMul")
  return %0 : !weft.tensor<[m, n], f32>
})";

weft::CompileOptions computing(const std::string &element, const std::string &target = "host") {
  weft::CompileOptions options;
  options.target = target;
  options.numerics.compute = element;
  return options;
}

weft::Module import(const std::string &text) {
  weft::Result<weft::Module> module = weft::importText("test.mlir", text);
  REQUIRE(module);
  return *module;
}

/// The program as the passes on the graph leave it.
std::string rounded(const std::string &text, const weft::CompileOptions &options) {
  weft::Result<std::string> after = weft::Compiler().programAfter("graph", import(text), options);
  REQUIRE(after);
  return *after;
}

std::vector<weft::RefTensor> evaluate(const weft::Module &module,
                                      const std::vector<Tensor> &inputs) {
  auto function = module.get().module->lookupSymbol<mlir::func::FuncOp>("main");
  std::vector<weft::RefTensor> tensors;
  for (auto [type, input] : llvm::zip_equal(function.getArgumentTypes(), inputs))
    tensors.push_back(weft::fromBytes(mlir::cast<weft::SymTensorType>(type).getElementType(),
                                      input.dims, input.bytes.data()));
  auto results = weft::evaluateFunction(function, tensors, {});
  REQUIRE(bool(results));
  return std::move(*results);
}

/// The root of the mean square.
double size(const weft::RefTensor &a) {
  double sum = 0;
  for (double each : a.reals)
    sum += each * each;
  return std::sqrt(sum / double(a.size()));
}

/// That of a difference, as a share of `a`.
double distance(const weft::RefTensor &a, const weft::RefTensor &b) {
  REQUIRE(a.dims == b.dims);
  weft::RefTensor difference = a;
  for (int64_t i = 0; i < a.size(); ++i)
    difference.reals[i] -= b.reals[i];
  return size(difference) / size(a);
}

int64_t arena(const Program &program, std::vector<int64_t> symbols) {
  weft_cost_t cost = {sizeof cost};
  weft_error_t error = WEFT_ERROR_INIT;
  REQUIRE(weft_query_cost(program.artifact, 0, symbols.data(), &cost, &error) == WEFT_OK);
  return cost.arena;
}

/// Called in every call.
uint64_t kernelsOf(const Program &program) {
  uint64_t calls = 0;
  weft_kernel_info_t info = {sizeof info};
  for (uint32_t i = 0; weft_kernel_info(program.artifact, i, &info) == WEFT_OK; ++i)
    calls += info.calls;
  return calls;
}

std::string refusalOf(const weft::Numerics &numerics, const std::string &text = kProduct) {
  weft::CompileOptions options;
  options.numerics = numerics;
  weft::Result<weft::Artifact> checked = weft::Compiler().check(import(text), options);
  if (checked)
    return "";
  const weft::Diagnostic &why = checked.diagnostics()[0];
  return why.code + ": " + why.text + " (" + why.hint + ")";
}

} // namespace

TEST_CASE("a product of rounded operands is summed in f32") {
  for (const std::string &target : targetsToTry({"x86:host", "x86:v3", "x86:v2"}))
    for (const char *element : {"bf16", "f16"}) {
      weft::CompileOptions options = computing(element, target);
      Program narrow(kProduct, options);
      weft::Module said = import(rounded(kProduct, options));
      INFO(target << " " << element << " " << narrow.error());
      REQUIRE(narrow.error().empty());
      for (const Sizes &sizes :
           {Sizes{{"m", 1}, {"k", 1}, {"n", 1}}, Sizes{{"m", 7}, {"k", 33}, {"n", 17}},
            Sizes{{"m", 16}, {"k", 64}, {"n", 32}}, Sizes{{"m", 0}, {"k", 3}, {"n", 5}},
            Sizes{{"m", 3}, {"k", 0}, {"n", 5}}}) {
        std::vector<Tensor> inputs = narrow.generate(sizes, 1);
        CHECK(narrow.difference(inputs, evaluate(said, inputs)) <= 1e-5);
      }
    }
}

/// Compiled as its program says, by this schedule, at sizes around those of vectors.
void agrees(const Convolution &convolution, const std::string &schedule,
            const weft::CompileOptions &options, double tolerance) {
  std::string text = textOf(convolution);
  Program narrow(text, options);
  weft::Module said = import(rounded(text, options));
  INFO(options.target << " " << options.numerics.compute << " " << narrow.error());
  REQUIRE(narrow.error().empty());
  CHECK(uses(narrow, schedule));
  for (int64_t w : {0, 1, 15, 16, 17, 33}) {
    std::vector<Tensor> inputs =
        narrow.generate(convolution.axes.size() == 1 ? line(2, w) : sizes(2, 5, w), 1);
    CHECK(narrow.difference(inputs, evaluate(said, inputs)) <= tolerance);
  }
}

const Axis kSame{3, 1, 1, 1, 1}, kHalf{3, 2, 1, 1, 1};

TEST_CASE("a convolution of rounded operands has the schedule of its twin in 16 bits") {
  const std::pair<const char *, std::vector<std::string>> all[] = {
      {"bf16", {"x86:host", "plain:v4+bf16", "x86:v3"}}, {"f16", {"x86:host", "x86:v2"}}};
  for (auto &[element, targets] : all)
    for (const std::string &target : targetsToTry(targets)) {
      weft::CompileOptions options = computing(element, target);
      options.numerics.exact = true;
      agrees({8, 33, 1, {kHalf, kHalf}, "", true}, "window_convolution", options, 1e-5);
      agrees({16, 7, 1, {kSame}, "", true}, "window_convolution", options, 1e-5);
      agrees({4, 14, 1, {kHalf, {1, 1, 1, 0, 0}}}, "convolution", options, 1e-5);
    }
}

TEST_CASE("filters are rounded before they are transformed") {
  for (auto [element, target] : {std::pair("bf16", "x86:v3"), std::pair("f16", "x86:host")}) {
    if (!isTried(target))
      continue;
    weft::CompileOptions options = computing(element, target);
    agrees({16, 33, 1, {kSame, kSame}, "", true}, "winograd_last", options, 1e-4);
    agrees({16, 13, 1, {kSame, kSame}}, "winograd", options, 1e-4);
  }
}

TEST_CASE("a layer is computed as its program says, and so much nearer to it than to f32") {
  const std::string text = layer();
  Program plain(text);
  weft::Module wide = import(text);
  for (const char *element : {"bf16", "f16"}) {
    weft::CompileOptions options = computing(element);
    Program narrow(text, options);
    weft::Module said = import(rounded(text, options));
    INFO(element << " " << narrow.error());
    REQUIRE(narrow.error().empty());
    const double step = element == std::string("bf16") ? 1.0 / 256 : 1.0 / 2048;
    for (const Sizes &sizes : {Sizes{{"b", 2}, {"s", 9}}, Sizes{{"b", 1}, {"s", 33}}}) {
      std::vector<Tensor> inputs = narrow.generate(sizes, 7);
      weft::RefTensor got = narrow.run(inputs).at(0).reference();
      double toWide = distance(evaluate(wide, inputs).at(0), got);
      // Sums in another order may round an operand to its other neighbour: seldom, and by one step.
      CHECK(distance(evaluate(said, inputs).at(0), got) <= toWide / 20);
      CHECK(toWide >= step / 8);
      CHECK(toWide <= step * 2);
    }
    CHECK(arena(narrow, {4, 64}) < arena(plain, {4, 64}) * 3 / 4);
  }
}

TEST_CASE("a network of convolutions is rounded by the kernels that compute its values") {
  weft::CompileOptions options = computing("bf16");
  for (bool hasShortcut : {false, true}) {
    const std::string text = network(hasShortcut);
    Program plain(text), narrow(text, options);
    INFO(narrow.error());
    REQUIRE(narrow.error().empty());
    CHECK(kernelsOf(narrow) ==
          kernelsOf(plain) + 1); // what rounds the input, which nobody computes
    if (!hasShortcut)
      CHECK(arena(narrow, {4}) < arena(plain, {4}));
    std::vector<Tensor> inputs = narrow.generate({{"n", 2}}, 7);
    weft::RefTensor got = narrow.run(inputs).at(0).reference();
    double toWide = distance(evaluate(import(text), inputs).at(0), got);
    weft::Module said = import(rounded(text, options));
    CHECK(distance(evaluate(said, inputs).at(0), got) <= toWide / 5);
    CHECK(toWide <= 1.0 / 128);
  }
}

/// Kernels that only convert and move what other kernels computed.
unsigned countConverters(const std::string &text, const weft::CompileOptions &options) {
  weft::Result<std::string> fused = weft::Compiler().programAfter("fuse", import(text), options);
  REQUIRE(fused);
  unsigned count = 0;
  weft::Module module = import(*fused);
  module.get().module->walk([&](weft::KernelOp kernel) {
    bool readsKernels = llvm::none_of(kernel.getInputs(), [](mlir::Value input) {
      while (auto reshape = input.getDefiningOp<weft::ReshapeOp>())
        input = reshape.getInput();
      return mlir::isa<mlir::BlockArgument>(input);
    });
    count += readsKernels && llvm::all_of(kernel.getBody().front(), [](mlir::Operation &op) {
               auto element = mlir::dyn_cast<weft::ElementOpInterface>(op);
               return mlir::isa<weft::ConvertOp, weft::YieldOp>(op) ||
                      (element && element.rootKind() == weft::RootKind::View);
             });
  });
  return count;
}

weft::CompileOptions storing(const std::string &element, const std::string &target = "host") {
  weft::CompileOptions options = computing(element, target);
  options.numerics.storage = true;
  return options;
}

/// Sizes to try with a program of rows or of images.
std::vector<Sizes> sizesOf(const std::string &text) {
  std::vector<Sizes> all;
  if (text.find("#weft.symbols<n>") != std::string::npos)
    return {{{"n", 0}}, {{"n", 1}}, {{"n", 3}}};
  for (int64_t size : {0, 1, 15, 16, 17, 33})
    all.push_back({{"b", 2}, {"s", size}});
  return all;
}

/// Compiled for the target as the rounded program says, which is the same for all of them.
void storesAs(const std::string &text, const weft::CompileOptions &options,
              const std::vector<std::vector<weft::RefTensor>> &wide,
              const std::vector<std::vector<weft::RefTensor>> &meant) {
  Program narrow(text, options);
  INFO(options.target << " " << options.numerics.compute << " " << narrow.error());
  REQUIRE(narrow.error().empty());
  for (auto [i, sizes] : llvm::enumerate(sizesOf(text))) {
    weft::RefTensor got = narrow.run(narrow.generate(sizes, 7)).at(0).reference();
    REQUIRE(got.dims == meant[i][0].dims);
    if (got.size() == 0)
      continue;
    // Sums in another order may round a value to its other neighbour.
    double toWide = distance(wide[i][0], got), toMeant = distance(meant[i][0], got);
    INFO("sizes " << i << ": " << toMeant << " from the rounded program, " << toWide
                  << " from that of f32");
    CHECK(toMeant <= toWide / 4);
    CHECK(toWide <= 1.0 / 64);
  }
}

TEST_CASE("tensors between kernels take half the memory, and no kernel only converts") {
  for (const std::string &text : {layer(), network(true), windows()}) {
    Program plain(text), computed(text, computing("bf16")), stored(text, storing("bf16"));
    CHECK(kernelsOf(stored) <= kernelsOf(computed));
    CHECK(countConverters(text, storing("bf16")) == 0);
    std::vector<int64_t> sizes =
        sizesOf(text).size() == 3 ? std::vector<int64_t>{4} : std::vector<int64_t>{4, 64};
    CHECK(double(arena(stored, sizes)) <= 0.55 * double(arena(plain, sizes)));
  }
}

TEST_CASE("tensors between kernels are rounded as the program says, on every level") {
  const std::pair<const char *, std::vector<std::string>> all[] = {
      {"bf16", {"x86:host", "x86:v3", "plain:v4+bf16"}}, {"f16", {"x86:v2"}}};
  for (const std::string &text : {layer(), windows()})
    for (auto &[element, targets] : all) {
      std::vector<std::vector<weft::RefTensor>> wide, meant;
      Program plain(text);
      weft::Module given = import(text), said = import(rounded(text, storing(element)));
      for (const Sizes &sizes : sizesOf(text)) {
        std::vector<Tensor> inputs = plain.generate(sizes, 7);
        wide.push_back(evaluate(given, inputs));
        meant.push_back(evaluate(said, inputs));
      }
      for (const std::string &target : targets)
        if (isTried(target))
          storesAs(text, storing(element, target), wide, meant);
    }
}

TEST_CASE("what a kept product reads lies in memory as it is") {
  weft::CompileOptions options = storing("bf16");
  options.numerics.keepF32 = {"/up", "/down"};
  std::string text = rounded(layer(), options);
  weft::Module module = import(text);
  unsigned kept = 0;
  module.get().module->walk([&](weft::ContractOp op) {
    auto type = mlir::cast<weft::SymTensorType>(op.getLhs().getType());
    auto widened = op.getLhs().getDefiningOp<weft::ConvertOp>();
    kept += type.getElementType().isF32() && !widened;
  });
  CHECK(kept == 2);
}

TEST_CASE("products that are kept have the numbers of f32, and the manifest says so") {
  weft::CompileOptions options = computing("bf16");
  options.numerics.keepF32 = {"*/head/*"};
  Program kept(kProduct, options);
  REQUIRE(kept.error().empty());
  CHECK(kept.difference({{"m", 7}, {"k", 33}, {"n", 17}}) <= 1e-5);
  const char *text = nullptr;
  size_t length = 0;
  REQUIRE(weft_module_text(kept.artifact, "manifest", &text, &length) == WEFT_OK);
  std::string manifest(text, length);
  CHECK(manifest.find("\"compute\":\"bf16\"") != std::string::npos);
  CHECK(manifest.find("\"keep_f32\":[\"*/head/*\"]") != std::string::npos);
}

TEST_CASE("narrow weights beside rounded operands change nothing") {
  const std::string text = layer();
  weft::CompileOptions both = computing("bf16");
  both.numerics.weights = "bf16";
  CHECK(rounded(text, both) == rounded(text, computing("bf16")));
}

TEST_CASE("what cannot be computed so is refused in a line") {
  weft::Numerics numerics;
  numerics.compute = "i4";
  CHECK(refusalOf(numerics) == "W0309: operands of products and convolutions cannot be rounded to "
                               "'i4' (they can be rounded to bf16 and f16)");
  numerics.compute = "f16";
  numerics.weights = "bf16";
  CHECK(refusalOf(numerics) ==
        "W0309: weights cannot be stored as bf16 where operands of products "
        "and convolutions are rounded to f16 ('--compute f16' rounds weights, too)");
  numerics.weights = "";
  numerics.keepF32 = {"*/MatMul", "/body/*"};
  CHECK(refusalOf(numerics) == "W0309: '--keep-f32 /body/*' names no product or convolution of "
                               "the model (one of them is '/head/MatMul')");
  numerics.keepF32 = {"[a"};
  CHECK(refusalOf(numerics).find("W0309: '--keep-f32 [a' is no pattern: ") == 0);
  numerics.keepF32 = {"*"};
  CHECK(refusalOf(numerics).empty());
  numerics.compute = "";
  CHECK(refusalOf(numerics).find("W0309: '--keep-f32 *' has no effect") == 0);
  numerics.storage = true;
  CHECK(refusalOf(numerics) == "W0309: tensors cannot be stored in 16 bits where operands are not "
                               "rounded ('--compute bf16,storage' does both)");
}

TEST_CASE("who compiles learns where operands of 16 bits would be faster, and where they are not") {
  auto notesOf = [](int64_t k, const std::string &target, const weft::Numerics &numerics) {
    std::string rows = "!weft.tensor<[m, " + std::to_string(k) + "], f32>";
    std::string text = "func.func @main(%x: " + rows + ") -> " + rows +
                       " attributes {weft.symbols = #weft.symbols<m>} {\n  %w = weft.constant "
                       "dense<0.5> : tensor<" +
                       std::to_string(k) + "x" + std::to_string(k) + "xf32> -> " + matrix(k, k) +
                       "\n  %y = weft.contract \"m k, k n -> m n\" %x, %w accumulate f32 : (" +
                       rows + ", " + matrix(k, k) + ") -> " + rows + "\n  return %y : " + rows +
                       "\n}\n";
    weft::CompileOptions options;
    options.target = target;
    options.numerics = numerics;
    weft::Result<weft::Artifact> checked = weft::Compiler().check(import(text), options);
    REQUIRE(checked);
    std::string notes;
    for (const weft::Diagnostic &each : checked.diagnostics())
      if (each.severity == weft::Diagnostic::Note)
        notes += each.text;
    return notes;
  };
  weft::Numerics bf16, f16, exact;
  bf16.compute = "bf16", f16.compute = "f16", exact.exact = true;
  const std::string fast = "plain:v4+bf16", slow = "x86:v3";
  CHECK(notesOf(1024, fast, {}) == fast + " multiplies bf16 2 times as fast as f32");
  CHECK(notesOf(1024, "plain:v4+amx", {}) == "plain:v4+amx multiplies bf16 8 times as fast as f32");
  CHECK(notesOf(64, fast, {}).empty()); // too small to matter
  CHECK(notesOf(1024, fast, exact).empty());
  CHECK(notesOf(1024, fast, bf16).empty());
  CHECK(notesOf(1024, slow, {}).empty());
  CHECK(notesOf(1024, slow, bf16) == slow + " has no unit for products of bf16: they take the time "
                                            "of f32 or more, and save memory only");
  CHECK(notesOf(1024, fast, f16).find(fast + " has no unit for products of f16") == 0);
}

TEST_CASE("weights of convolutions count where bf16 would be faster, but of those that stay f32") {
  auto notesOf = [](int64_t groups) {
    Convolution wide{512 / groups, 512, groups, {{9}}};
    wide.filterText = "dense<0.5> : tensor<512x" + std::to_string(wide.channels) + "x9xf32>";
    weft::CompileOptions options;
    options.target = "plain:v4+bf16";
    weft::Result<weft::Artifact> checked = weft::Compiler().check(import(textOf(wide)), options);
    REQUIRE(checked);
    return std::count_if(checked.diagnostics().begin(), checked.diagnostics().end(),
                         [](auto &each) { return each.severity == weft::Diagnostic::Note; });
  };
  CHECK(notesOf(1) == 1);
  CHECK(notesOf(2) == 0);
}

TEST_CASE("a program that is grouped into kernels is not rounded any more") {
  weft::Result<std::string> fused = weft::Compiler().programAfter("fuse", import(kProduct), {});
  REQUIRE(fused);
  weft::Numerics numerics;
  numerics.compute = "bf16";
  CHECK(refusalOf(numerics, *fused)
            .find("W0309: operands of products and convolutions cannot be rounded any more") == 0);
}
