//===- KernelBench.h - Products of f32 matrices, compiled, checked and timed -------------------===//
//
//   Result<ProductBench> bench = ProductBench::create({{128, 768, 3072}}, "host", folder);
//   for (round …) bench->sample();
//   for (const ProductBench::Row &row : bench->rows()) show(row);
//
// Each size is the program a model would have: x [m, k] times a constant weight [k, n]. Sizes with equal weights share an artifact.
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
  double weightBytes() const { return 4.0 * double(k) * double(n); }
  /// Few rows are limited by reading the weight, many by multiplying.
  bool isRead() const { return m < 8; }
};

class ProductBench {
public:
  struct Row {
    ProductSize size;
    std::vector<double> seconds, peaks; ///< by round; peaks in operations or bytes per second
    double error = 0; ///< of the worst element that was checked, over the sum of its terms' sizes
    Context context;
    std::vector<float> x, y;
    int64_t callsPerPiece = 1;
    double median() const;
    double peak() const;
    double work() const { return size.isRead() ? size.weightBytes() : size.flops(); }
    double share() const { return work() / median() / peak(); }
  };

  /// Compiles every weight and checks a call of every size.
  static Result<ProductBench> create(const std::vector<ProductSize> &sizes,
                                     const std::string &target, const TemporaryFolder &folder);
  /// One round: every size and, right before it, what the machine can do.
  Result<Done> sample();
  const std::vector<Row> &rows() const { return all; }
  const std::string &target() const { return usedTarget; }

private:
  Result<Done> compile(const ProductSize &size, const TemporaryFolder &folder);
  Result<Done> addRow(const ProductSize &size);
  Result<double> call(Row &row, int64_t times);

  std::vector<Row> all;
  std::vector<float> weight; ///< of the latest artifact
  Artifact artifact;
  std::string usedTarget;
  std::optional<MachinePeak> machine;
};

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_COMPILE_VERBS_KERNELBENCH_H
