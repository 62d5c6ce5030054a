//===- regions_test.cpp - Kernels that run at the same time -----------------------------------===//
//
// Programs with independent branches against the evaluator, the same bits with any number of workers, and the memory of kernels that run
// together, also of random programs.
//===------------------------------------------------------------------------------------------===//

#include "compiler/import/text/ImportText.h"
#include "compiler/model/ModuleImpl.h"
#include "compiler/plan/Lower.h"
#include "mlir/Parser/Parser.h"
#include "test/differential/RandomProgram.h"
#include <catch2/catch.hpp>

namespace weft::test {
namespace {

/// Four products of a few rows: a unit each.
const char *kHeads = R"(
func.func @main(%x: !weft.tensor<[m, 512], f32>, %a: !weft.tensor<[512, 16], f32>, %b: !weft.tensor<[512, 16], f32>, %c: !weft.tensor<[512, 16], f32>, %d: !weft.tensor<[512, 16], f32>)
    -> (!weft.tensor<[m, 16], f32>, !weft.tensor<[m, 16], f32>, !weft.tensor<[m, 16], f32>, !weft.tensor<[m, 16], f32>)
    attributes {weft.symbols = #weft.symbols<m : "m <= 200">} {
  %0 = weft.contract "m k, k n -> m n" %x, %a accumulate f32 : (!weft.tensor<[m, 512], f32>, !weft.tensor<[512, 16], f32>) -> !weft.tensor<[m, 16], f32>
  %1 = weft.contract "m k, k n -> m n" %x, %b accumulate f32 : (!weft.tensor<[m, 512], f32>, !weft.tensor<[512, 16], f32>) -> !weft.tensor<[m, 16], f32>
  %2 = weft.contract "m k, k n -> m n" %x, %c accumulate f32 : (!weft.tensor<[m, 512], f32>, !weft.tensor<[512, 16], f32>) -> !weft.tensor<[m, 16], f32>
  %3 = weft.contract "m k, k n -> m n" %x, %d accumulate f32 : (!weft.tensor<[m, 512], f32>, !weft.tensor<[512, 16], f32>) -> !weft.tensor<[m, 16], f32>
  return %0, %1, %2, %3 : !weft.tensor<[m, 16], f32>, !weft.tensor<[m, 16], f32>, !weft.tensor<[m, 16], f32>, !weft.tensor<[m, 16], f32>
})";

/// Branches of one, two and three kernels and unequal widths over the same rows, each finished before the next begins.
const char *kUnequal = R"(
func.func @main(%x: !weft.tensor<[m, 96], f32>, %a: !weft.tensor<[96, 24], f32>, %b: !weft.tensor<[96, 160], f32>, %c: !weft.tensor<[160, 24], f32>, %d: !weft.tensor<[96, 40], f32>, %e: !weft.tensor<[40, 40], f32>, %f: !weft.tensor<[40, 24], f32>)
    -> !weft.tensor<[m, 24], f32> attributes {weft.symbols = #weft.symbols<m : "m <= 100">} {
  %0 = weft.contract "m k, k n -> m n" %x, %a accumulate f32 : (!weft.tensor<[m, 96], f32>, !weft.tensor<[96, 24], f32>) -> !weft.tensor<[m, 24], f32>
  %p = weft.softmax %0 : (!weft.tensor<[m, 24], f32>) -> !weft.tensor<[m, 24], f32>
  %1 = weft.contract "m k, k n -> m n" %x, %b accumulate f32 : (!weft.tensor<[m, 96], f32>, !weft.tensor<[96, 160], f32>) -> !weft.tensor<[m, 160], f32>
  %2 = weft.contract "m k, k n -> m n" %1, %c accumulate f32 : (!weft.tensor<[m, 160], f32>, !weft.tensor<[160, 24], f32>) -> !weft.tensor<[m, 24], f32>
  %q = weft.softmax %2 : (!weft.tensor<[m, 24], f32>) -> !weft.tensor<[m, 24], f32>
  %3 = weft.contract "m k, k n -> m n" %x, %d accumulate f32 : (!weft.tensor<[m, 96], f32>, !weft.tensor<[96, 40], f32>) -> !weft.tensor<[m, 40], f32>
  %4 = weft.contract "m k, k n -> m n" %3, %e accumulate f32 : (!weft.tensor<[m, 40], f32>, !weft.tensor<[40, 40], f32>) -> !weft.tensor<[m, 40], f32>
  %5 = weft.contract "m k, k n -> m n" %4, %f accumulate f32 : (!weft.tensor<[m, 40], f32>, !weft.tensor<[40, 24], f32>) -> !weft.tensor<[m, 24], f32>
  %r = weft.softmax %5 : (!weft.tensor<[m, 24], f32>) -> !weft.tensor<[m, 24], f32>
  %6 = weft.add %p, %q : (!weft.tensor<[m, 24], f32>, !weft.tensor<[m, 24], f32>) -> !weft.tensor<[m, 24], f32>
  %7 = weft.add %6, %r : (!weft.tensor<[m, 24], f32>, !weft.tensor<[m, 24], f32>) -> !weft.tensor<[m, 24], f32>
  return %7 : !weft.tensor<[m, 24], f32>
})";

/// Two values that a loop carries, computed from each other's last ones.
const char *kInLoop = R"(
func.func @main(%x: !weft.tensor<[m, 128], f32>, %y: !weft.tensor<[m, 128], f32>, %w: !weft.tensor<[128, 128], f32>, %v: !weft.tensor<[128, 128], f32>)
    -> (!weft.tensor<[m, 128], f32>, !weft.tensor<[m, 128], f32>) attributes {weft.symbols = #weft.symbols<m bound i : "m <= 60">} {
  %a, %b = weft.loop "i" trips [3] (%x, %y) : (!weft.tensor<[m, 128], f32>, !weft.tensor<[m, 128], f32>) -> (!weft.tensor<[m, 128], f32>, !weft.tensor<[m, 128], f32>) {
  ^bb0(%p: !weft.tensor<[m, 128], f32>, %q: !weft.tensor<[m, 128], f32>):
    %0 = weft.contract "m k, k n -> m n" %p, %w accumulate f32 : (!weft.tensor<[m, 128], f32>, !weft.tensor<[128, 128], f32>) -> !weft.tensor<[m, 128], f32>
    %1 = weft.softmax %0 : (!weft.tensor<[m, 128], f32>) -> !weft.tensor<[m, 128], f32>
    %2 = weft.contract "m k, k n -> m n" %q, %v accumulate f32 : (!weft.tensor<[m, 128], f32>, !weft.tensor<[128, 128], f32>) -> !weft.tensor<[m, 128], f32>
    %3 = weft.softmax %2 : (!weft.tensor<[m, 128], f32>) -> !weft.tensor<[m, 128], f32>
    weft.yield %3, %1 : !weft.tensor<[m, 128], f32>, !weft.tensor<[m, 128], f32>
  }
  return %a, %b : !weft.tensor<[m, 128], f32>, !weft.tensor<[m, 128], f32>
})";

/// Numbers of kernels in the regions of several.
std::vector<unsigned> regionSizes(Program &program) {
  std::vector<unsigned> sizes;
  for (uint32_t kernel, region = 0;
       weft_region_kernel(program.artifact, 0, region, 0, &kernel) == WEFT_OK; ++region) {
    sizes.push_back(0);
    while (weft_region_kernel(program.artifact, 0, region, sizes.back(), &kernel) == WEFT_OK)
      ++sizes.back();
  }
  return sizes;
}

/// Against the evaluator with one worker, and the same bits with more.
void agrees(const char *text, std::vector<int64_t> rows, std::vector<unsigned> expectedRegions) {
  Program program(text);
  INFO(program.error());
  REQUIRE(program.error().empty());
  CHECK(regionSizes(program) == expectedRegions);
  weft_context_t *alone = program.context;
  for (int64_t m : rows) {
    INFO("m = " << m);
    CHECK(program.difference({{"m", m}}, unsigned(m)) <= 1e-4);
    std::vector<Tensor> inputs = program.generate({{"m", m}}, unsigned(m)),
                        expected = program.run(inputs);
    for (int workers : {2, 3, 5}) {
      weft_context_options_t options = {sizeof(weft_context_options_t), workers, -1, 0};
      REQUIRE(weft_context_create(program.artifact, &options, &program.context, nullptr) ==
              WEFT_OK);
      std::vector<Tensor> got = program.run(inputs);
      weft_context_release(program.context);
      program.context = alone;
      REQUIRE(got.size() == expected.size());
      for (size_t i = 0; i < got.size(); ++i)
        CHECK(got[i].bytes == expected[i].bytes);
    }
  }
}

} // namespace

TEST_CASE("branches of a unit each, and unequal ones: right, and the same bits with any number of "
          "workers") {
  agrees(kHeads, {0, 1, 7, 150}, {4});
  agrees(kUnequal, {0, 1, 5, 33, 100}, {3, 3});
  agrees(kInLoop, {0, 1, 6, 60}, {2, 2, 2});
}

//===-- Who is asked ----------------------------------------------------------------------------===//

/// An embedder's `parallel` with three workers that counts what it is asked for.
struct Asked {
  std::vector<int64_t> units;
  static void run(void *user, void (*body)(void *, int64_t, int64_t, int32_t), void *argument,
                  int64_t units, int64_t) {
    static_cast<Asked *>(user)->units.push_back(units);
    for (int64_t i = 0; i < units; ++i)
      body(argument, i, i + 1, int32_t(i % 3));
  }
};

TEST_CASE("kernels of a unit each go to several workers, and not where a call is short") {
  Program program(kHeads);
  REQUIRE(program.error().empty());
  Asked asked;
  weft_env_t env = {};
  env.struct_size = sizeof env;
  env.user = &asked;
  env.parallel = Asked::run;
  env.workers = 3;
  weft_error_t error = WEFT_ERROR_INIT;
  weft_module_t *module = nullptr;
  REQUIRE(weft_module_open(&env, program.path.c_str(), &module, &error) == WEFT_OK);
  weft_context_t *context = nullptr, *own = program.context;
  REQUIRE(weft_context_create(module, nullptr, &context, &error) == WEFT_OK);
  std::vector<Tensor> inputs = program.generate({{"m", 150}}, 1), expected = program.run(inputs);
  program.context = context;
  std::vector<Tensor> got = program.run(inputs);
  CHECK(asked.units == std::vector<int64_t>{3});
  for (size_t i = 0; i < got.size(); ++i)
    CHECK(got[i].bytes == expected[i].bytes);
  asked.units.clear();
  program.run(program.generate({{"m", 1}}, 1));
  CHECK(asked.units.empty());
  program.context = own;
  weft_context_release(context);
  weft_module_release(module);
}

//===-- Memory ----------------------------------------------------------------------------------===//

namespace {

/// The offsets of all classes of the arena, as bind computes them.
std::vector<int64_t> offsetsAt(const LoweredFunction &lowered, const SymValues &values) {
  std::vector<int64_t> offsets(lowered.classes.size(), 0);
  for (unsigned i : lowered.plan.order)
    for (unsigned j : lowered.plan.below[i])
      offsets[i] = std::max(offsets[i], offsets[j] + *lowered.classes[j].bytes.evaluate(values));
  return offsets;
}

/// Whether the arena bytes that one call writes are apart from all that another call of its region touches.
bool areApart(const LoweredFunction &lowered, const KernelCall &writer, const KernelCall &other,
              const SymValues &values) {
  std::vector<int64_t> offsets = offsetsAt(lowered, values);
  size_t inputs = KernelOp(writer.op).getInputs().size();
  auto end = [&](unsigned i) { return offsets[i] + *lowered.classes[i].bytes.evaluate(values); };
  auto inArena = [&](const Buffer &buffer) {
    return buffer.kind == Buffer::Arena && lowered.classes[buffer.index].block == 0;
  };
  for (const Buffer &written : llvm::ArrayRef(writer.pointers).drop_front(inputs))
    for (const Buffer &touched : other.pointers)
      if (inArena(written) && inArena(touched) && offsets[written.index] < end(touched.index) &&
          offsets[touched.index] < end(written.index))
        return false;
  return true;
}

struct Counts {
  unsigned regions = 0, pairs = 0;
};

/// Checks all regions of the program; the first problem, or nothing.
std::string checkRegions(const Module &module, Counts &counts) {
  CompileOptions options;
  Result<std::string> fused = Compiler().programAfter("fuse", module, options);
  if (!fused)
    return "";
  auto impl = Module::Impl::create("regions");
  mlir::OwningOpRef<mlir::ModuleOp> parsed =
      mlir::parseSourceString<mlir::ModuleOp>(*fused, impl->context.get());
  auto targets = findTargets(CompileOptions().target);
  std::vector<StoredWeight> weights;
  mlir::FailureOr<weft::Program> program =
      lowerProgram(*parsed, *targets->front().kernels, Tuning(), weights);
  if (mlir::failed(program))
    return "";
  for (const LoweredFunction &lowered : program->functions)
    for (const CallRegion &region : lowered.regions) {
      auto calls = llvm::ArrayRef(lowered.calls).slice(region.first, region.count);
      counts.regions += region.count > 1;
      llvm::SmallVector<mlir::StringAttr> names;
      for (const EntrySymbol &symbol : lowered.entry.symbols)
        names.push_back(symbol.name);
      for (const SymValues &values : sizesToTry(names, symbolsOf(lowered.function).asFacts()))
        for (const KernelCall &writer : calls)
          for (const KernelCall &other : calls) {
            if (&writer == &other)
              continue;
            ++counts.pairs;
            for (mlir::Value input : KernelOp(other.op).getInputs())
              if (baseOf(input).getDefiningOp() == KernelOp(writer.op).getOperation())
                return "a kernel reads what another of its region writes";
            if (!areApart(lowered, writer, other, values))
              return "kernels of a region share memory";
          }
    }
  return "";
}

} // namespace

TEST_CASE("kernels that run together share no byte that one of them writes") {
  Counts counts;
  for (const char *text : {kUnequal, kInLoop}) {
    Result<Module> module = importText("test.mlir", text);
    REQUIRE(module);
    CHECK(checkRegions(*module, counts) == "");
  }
  REQUIRE(counts.pairs > 0);
  counts = {};
  for (unsigned seed = 1; seed <= 150; ++seed) {
    INFO("seed " << seed);
    CHECK(checkRegions(randomProgram(seed).module, counts) == "");
  }
  CHECK(counts.regions >= 50);
}

} // namespace weft::test
