//===- KernelBench.cpp ------------------------------------------------------------------------===//

#include "tools/weft/compile_verbs/KernelBench.h"
#include "tools/weft/model/ModelImport.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <tuple>

namespace weft::cli {

namespace {

constexpr double kTolerance = 1e-5, kRoundedTolerance = 1e-2;
constexpr int kCheckedElements = 256;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double medianOf(std::vector<double> samples) {
  auto middle = samples.begin() + static_cast<ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

/// Numbers in [-1, 1) that depend on `seed` only.
std::vector<float> numbers(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float &value : values)
    value = float(random() % 65536) / 32768 - 1;
  return values;
}

std::string programText(int64_t k, int64_t n) {
  std::string ks = std::to_string(k), ns = std::to_string(n);
  std::string x = "!weft.tensor<[m, " + ks + "], f32>", y = "!weft.tensor<[m, " + ns + "], f32>",
              w = "!weft.tensor<[" + ks + ", " + ns + "], f32>";
  return "weft.weight @w from \"w.bin\" at 0 bytes " + std::to_string(4 * k * n) + " : " + w +
         "\nfunc.func @main(%x: " + x + ") -> " + y +
         " attributes {weft.symbols = #weft.symbols<m>} {\n  %w = weft.constant @w -> " + w +
         "\n  %y = weft.contract \"m k, k n -> m n\" %x, %w accumulate f32 : (" + x + ", " + w +
         ") -> " + y + "\n  return %y : " + y + "\n}\n";
}

Result<Done> writeFile(const std::string &path, const void *bytes, size_t size) {
  FILE *file = fopen(path.c_str(), "wb");
  bool good = file && fwrite(bytes, 1, size, file) == size;
  if (file)
    good &= fclose(file) == 0;
  if (!good)
    return Failure{ExitInputRefused, "cannot write '" + path + "'", "", ""};
  return Done{};
}

/// The largest difference of some elements of y from sums in double, over the sum of their terms' sizes.
double worstError(const ProductSize &size, const std::vector<float> &x, const std::vector<float> &w,
                  const std::vector<float> &y) {
  std::mt19937 random(7);
  double worst = 0;
  for (int i = 0; i < kCheckedElements; ++i) {
    int64_t row = int64_t(random()) % size.m, column = int64_t(random()) % size.n;
    double sum = 0, terms = 0;
    for (int64_t k = 0; k < size.k; ++k) {
      double term = double(x[size_t(row * size.k + k)]) * double(w[size_t(k * size.n + column)]);
      sum += term;
      terms += std::fabs(term);
    }
    double error = std::fabs(double(y[size_t(row * size.n + column)]) - sum) / terms;
    if (!(error <= worst)) // a NaN is the worst
      worst = error;
  }
  return worst;
}

} // namespace

double ProductBench::Row::median() const { return medianOf(seconds); }
double ProductBench::Row::peak() const { return medianOf(peaks); }

Result<ProductBench> ProductBench::create(const std::vector<ProductSize> &sizes,
                                          const CompileOptions &options,
                                          const TemporaryFolder &folder) {
  ProductBench bench;
  bench.options = options;
  bench.tolerance = options.numerics.compute.empty() ? kTolerance : kRoundedTolerance;
  std::vector<ProductSize> sorted = sizes;
  std::stable_sort(sorted.begin(), sorted.end(), [](const ProductSize &a, const ProductSize &b) {
    return std::pair(a.k, a.n) < std::pair(b.k, b.n);
  });
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i == 0 || sorted[i].k != sorted[i - 1].k || sorted[i].n != sorted[i - 1].n)
      if (Result<Done> done = bench.compile(sorted[i], folder); !done)
        return done.failure();
    if (Result<Done> done = bench.addRow(sorted[i]); !done)
      return done.failure();
  }
  bench.weight = {};
  std::sort(bench.all.begin(), bench.all.end(), [](const Row &a, const Row &b) {
    return std::tuple(a.size.isRead(), a.size.m, a.size.k, a.size.n) <
           std::tuple(b.size.isRead(), b.size.m, b.size.k, b.size.n);
  });
  return bench;
}

Result<Done> ProductBench::compile(const ProductSize &size, const TemporaryFolder &folder) {
  weight = numbers(size.k * size.n, 1);
  std::string text = programText(size.k, size.n), path = folder.path() + "/product.mlir";
  if (Result<Done> done =
          writeFile(folder.path() + "/w.bin", weight.data(), weight.size() * sizeof(float));
      !done)
    return done;
  if (Result<Done> done = writeFile(path, text.data(), text.size()); !done)
    return done;
  weft::Result<Module> module = Compiler().importFile(path);
  if (!module)
    return failureOf(module.diagnostics());
  Result<std::string> compiled = compileAside(*module, options, folder);
  if (!compiled)
    return compiled.failure();
  Result<Artifact> opened = Artifact::open(*compiled, false);
  if (!opened)
    return opened.failure();
  artifact = *opened;
  options.target = artifact.info().target;
  if (machine)
    return Done{};
  // The artifact was opened: this machine runs the target's code.
  Result<MachinePeak> created = MachinePeak::create(options.target);
  if (!created)
    return created.failure();
  machine = *created;
  return Done{};
}

Result<Done> ProductBench::addRow(const ProductSize &size) {
  Row row;
  row.size = size;
  row.unit = unitUsed();
  row.bytesOfWeight = options.numerics.compute.empty() ? 4 : 2;
  row.x = numbers(size.m * size.k, 2);
  row.y.resize(size_t(size.m * size.n));
  weft_context_options_t options{};
  options.struct_size = sizeof options;
  options.threads = 1;
  options.spin_us = -1;
  Result<Context> context = artifact.createContext(options);
  if (!context)
    return context.failure();
  row.context = *context;
  Result<double> first = call(row, 1), second = first ? call(row, 1) : first;
  if (!second)
    return second.failure();
  row.error = worstError(size, row.x, weight, row.y);
  if (!(row.error <= tolerance)) {
    char text[160];
    snprintf(text, sizeof text,
             "the product %lldx%lldx%lld is wrong: an element differs by %.2g of its terms",
             (long long)size.m, (long long)size.k, (long long)size.n, row.error);
    return Failure{ExitComparisonFailed, text, "", ""};
  }
  row.callsPerPiece = std::clamp<int64_t>(int64_t(MachinePeak::kPieceSeconds / *second), 1, 100000);
  all.push_back(std::move(row));
  return Done{};
}

/// A product that is not of f32 is named in the manifest.
std::string ProductBench::unitUsed() const {
  for (const std::string &unit : machine->unitNames())
    if (!artifact.listed(unit).empty())
      return unit;
  return "f32";
}

/// Seconds of one of `times` calls.
Result<double> ProductBench::call(Row &row, int64_t times) {
  const int64_t xDims[] = {row.size.m, row.size.k};
  weft_tensor_t in = weft_tensor_of(row.x.data(), WEFT_F32, 2, xDims), out = WEFT_TENSOR_EMPTY;
  out.data = row.y.data();
  out.capacity = int64_t(row.y.size() * sizeof(float));
  weft_error_t error = WEFT_ERROR_INIT;
  double begin = now();
  for (int64_t i = 0; i < times; ++i) {
    if (interrupted())
      return Failure{ExitInterrupted, "interrupted", "", ""};
    if (weft_call_function(row.context.get(), 0, &in, 1, &out, 1, &error))
      return failureOf(error);
  }
  return (now() - begin) / double(times);
}

Result<Done> ProductBench::sample() {
  for (Row &row : all) {
    double peak = row.size.isRead() ? machine->bytesPerSecond(int64_t(row.weightBytes()))
                                    : machine->operationsPerSecond(row.unit);
    double best = INFINITY;
    for (int piece = 0; piece < MachinePeak::kPieces; ++piece) {
      Result<double> seconds = call(row, row.callsPerPiece);
      if (!seconds)
        return seconds.failure();
      best = std::min(best, *seconds);
    }
    row.peaks.push_back(peak);
    row.seconds.push_back(best);
  }
  return Done{};
}

} // namespace weft::cli
