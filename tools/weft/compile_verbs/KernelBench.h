//===- KernelBench.h - Products of matrices, compiled, checked and timed -----------------------===//
//
//   Result<ProductBench> bench = ProductBench::create({{128, 768, 3072}}, options, folder);
//   for (round …) bench->sample();
//   for (const ProductBench::Row &row : bench->rows()) show(row);
//
// The options are of compile: target, and what operands are rounded to. Each size is the program a model would have: x [m, k] times a constant weight [k, n]. Sizes with equal weights share an artifact.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_COMPILE_VERBS_KERNELBENCH_H
#define WEFT_TOOLS_WEFT_COMPILE_VERBS_KERNELBENCH_H

#include "tools/weft/cli/Artifact.h"
#include "tools/weft/compile_verbs/MachinePeak.h"
#include "tools/weft/model/CompiledModel.h"

namespace weft::cli {

struct ProductSize {
  int64_t m, k, n;
  double flops() const { return 2.0 * double(m) * double(k) * double(n); }
  double weights() const { return double(k) * double(n); }
  /// Few rows are limited by reading the weight, many by multiplying.
  bool isRead() const { return m < 8; }
};

class ProductBench {
public:
  struct Row {
    ProductSize size;
    std::string unit = "f32";           ///< that multiplies
    std::vector<double> seconds, peaks; ///< by round; peaks in operations or bytes per second
    double error = 0; ///< of the worst element that was checked, over the sum of its terms' sizes
    Context context;
    std::vector<float> x, y;
    int64_t callsPerPiece = 1, bytesOfWeight = 4;
    double median() const;
    double peak() const;
    double weightBytes() const { return size.weights() * bytesOfWeight; }
    double work() const { return size.isRead() ? weightBytes() : size.flops(); }
    double share() const { return work() / median() / peak(); }
  };

  /// Compiles every weight and checks a call of every size.
  static Result<ProductBench> create(const std::vector<ProductSize> &sizes,
                                     const CompileOptions &options, const TemporaryFolder &folder);
  /// One round: every size and, right before it, what the machine can do.
  Result<Done> sample();
  const std::vector<Row> &rows() const { return all; }
  const std::string &target() const { return options.target; }

private:
  Result<Done> compile(const ProductSize &size, const TemporaryFolder &folder);
  Result<Done> addRow(const ProductSize &size);
  std::string unitUsed() const;
  Result<double> call(Row &row, int64_t times);

  std::vector<Row> all;
  std::vector<float> weight; ///< of the latest artifact
  Artifact artifact;
  CompileOptions options;
  double tolerance = 0; ///< for the error of a row
  std::optional<MachinePeak> machine;
};

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_COMPILE_VERBS_KERNELBENCH_H
