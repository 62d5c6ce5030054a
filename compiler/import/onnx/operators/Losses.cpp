//===- Losses.cpp - NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss ------------------------===//

#include "compiler/import/onnx/operators/Operators.h"

using namespace mlir;

namespace weft::onnx {
namespace {

/// Logarithms of probabilities of classes [n, c, ..], the true classes [n, ..], and how to sum up.
struct Loss {
  Value logs, labels, weights;
  std::optional<int64_t> ignored;
  std::string reduction;
};

std::optional<Loss> readLoss(NodeImport &n) {
  Loss loss{n.input(0), n.input(1), n.optionalInput(2), n.intAttribute("ignore_index"),
            n.textAttribute("reduction", "mean")};
  if (n.refused())
    return std::nullopt;
  if (loss.reduction != "mean" && loss.reduction != "sum" && loss.reduction != "none")
    return n.wrong("attribute 'reduction' is '" + loss.reduction + "'"), std::nullopt;
  unsigned rank = rankOf(loss.logs);
  if (rank < 2 || rankOf(loss.labels) != rank - 1)
    return n.wrong("scores must have rank 2 or more, and labels one less"), std::nullopt;
  for (unsigned d = 0; d + 1 < rank; ++d) {
    SymExpr want = n.dim(0, d == 0 ? 0 : d + 1);
    if (!n.requireEqual(typeOf(loss.labels).getDim(d), want,
                        "dimension " + Twine(d) + " of the labels"))
      return std::nullopt;
    loss.labels = n.refine(loss.labels, d, want);
  }
  return loss;
}

/// Minus the logarithm at each label times the weight of that class, summed up as asked for.
Value sumUp(NodeImport &n, const Loss &loss) {
  Value zero = n.numberLike(loss.logs, 0), labels = n.convert(loss.labels, n.i64());
  Value counts = loss.ignored ? n.compare(CompareKind::NotEqual, labels,
                                          n.number(n.i64(), double(*loss.ignored)))
                              : Value();
  if (counts)
    labels = n.select(counts, labels, n.number(n.i64(), 0.0));
  Value picked = n.emit<GatherElementsOp>({loss.logs, n.unsqueeze(labels, int64_t(1))},
                                          n.attribute("axis", n.attributes().getI64IntegerAttr(1)));
  if (!picked || n.refused())
    return {};
  Value losses = n.neg(n.reshape(picked, typeOf(labels).getDims()));
  Value weights = loss.weights ? n.gather(loss.weights, labels, 0) : Value();
  if (counts)
    weights = n.select(counts, weights ? weights : n.numberLike(loss.logs, 1), zero);
  if (weights)
    losses = n.select(n.compare(CompareKind::Equal, weights, zero), zero, n.mul(losses, weights));
  if (loss.reduction == "none" || !losses)
    return losses;
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(losses)));
  Value sum = n.reduce(CombinerKind::Sum, losses, all, false);
  if (loss.reduction == "sum")
    return sum;
  Value total = weights ? n.reduce(CombinerKind::Sum, weights, all, false)
                        : n.number(elementOf(losses), typeOf(losses).getElements());
  return n.div(sum, total);
}

void convertNegativeLogLikelihood(NodeImport &n) {
  if (auto loss = readLoss(n))
    n.result(sumUp(n, *loss));
}

void convertSoftmaxCrossEntropy(NodeImport &n) {
  auto loss = readLoss(n);
  if (!loss)
    return;
  unsigned last = rankOf(loss->logs) - 1;
  loss->logs = n.moveDim(n.softmax(n.moveDim(loss->logs, 1, last), /*logarithm=*/true), last, 1);
  n.results = {loss->logs ? sumUp(n, *loss) : Value(), loss->logs};
}

} // namespace

void addLosses(OperatorTable &table) {
  table.add({"NegativeLogLikelihoodLoss", 12, kNewestOpset, convertNegativeLogLikelihood, 2, 3});
  table.add({"SoftmaxCrossEntropyLoss", 12, kNewestOpset, convertSoftmaxCrossEntropy, 2, 3, 2});
}

} // namespace weft::onnx
