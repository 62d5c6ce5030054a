//===- Fused.cpp - What ONNX Runtime's optimiser makes of several nodes: com.microsoft -------------===//
//
// Written apart again: kernels are formed later, and take in what follows a product by themselves.
//===------------------------------------------------------------------------------------------===//

#include "compiler/import/onnx/operators/Contractions.h"
#include "compiler/import/onnx/operators/NamedActivation.h"
#include "compiler/import/onnx/operators/Operators.h"

using namespace mlir;

namespace weft::onnx {
namespace {

constexpr StringRef kDomain = "com.microsoft";

void convertFusedMatMul(NodeImport &n) {
  Value a = n.input(0), b = n.input(1);
  double alpha = n.floatAttribute("alpha", 1);
  bool transA = n.intAttribute("transA", 0) != 0, transB = n.intAttribute("transB", 0) != 0;
  if (n.intAttribute("transBatchA", 0) != 0 || n.intAttribute("transBatchB", 0) != 0)
    return (void)n.refuse("transposing the batch (transBatchA, transBatchB) is not supported");
  if (!a || !b)
    return;
  auto turned = [&](Value x, bool turns) {
    unsigned rank = rankOf(x);
    return turns && rank > 1 ? n.moveDim(x, rank - 1, rank - 2) : x;
  };
  Value product =
      buildMatMul(n, turned(a, transA), turned(b, transB), accumulateType(n, elementOf(a)));
  if (alpha != 1)
    product = n.mul(product, n.numberLike(product, alpha));
  n.result(n.convert(product, elementOf(a)));
}

/// Attribute `activation` of `y`; its constants stand in `alphas` and `betas`.
Value activated(NodeImport &n, Value y, ArrayRef<double> alphas, ArrayRef<double> betas) {
  std::string name = n.textAttribute("activation", "");
  return name.empty() || !y ? y : NamedActivation::take(name, alphas, betas).apply(n, y);
}

/// conv(x, filter) + bias + sum
void convertFusedConv(NodeImport &n) {
  auto constants = n.floatsAttribute("activation_params").value_or(SmallVector<double>());
  auto all = ArrayRef(constants);
  Value y = buildConv(n);
  if (y && n.hasInput(3))
    y = n.add(y, n.input(3));
  n.result(activated(n, y, all.take_front(1), all.drop_front(all.empty() ? 0 : 1)));
}

void convertFusedGemm(NodeImport &n) {
  SmallVector<double, 1> alphas, betas;
  if (auto alpha = n.floatAttribute("activation_alpha"))
    alphas.push_back(*alpha);
  if (auto beta = n.floatAttribute("activation_beta"))
    betas.push_back(*beta);
  n.result(activated(n, buildGemm(n), alphas, betas));
}

//===-- Activations ---------------------------------------------------------------------------===//

Value withBias(NodeImport &n) { return n.hasInput(1) ? n.add(n.input(0), n.input(1)) : n.input(0); }

void convertGelu(NodeImport &n) { n.result(n.activation(ActivationKind::Gelu, withBias(n))); }
void convertFastGelu(NodeImport &n) {
  n.result(n.activation(ActivationKind::GeluTanh, withBias(n)));
}

void convertQuickGelu(NodeImport &n) {
  Value x = n.input(0);
  double alpha = n.floatAttribute("alpha", 1.702f);
  Value gate = n.mul(x, n.numberLike(x, alpha));
  n.result(n.mul(x, n.activation(ActivationKind::Sigmoid, gate)));
}

//===-- Normalisation behind a sum --------------------------------------------------------------===//

/// A scale or shift along the last dimension of `x`; `otherwise` without one.
Value alongLines(NodeImport &n, Value parameter, Value x, double otherwise) {
  SymExpr length = typeOf(x).getDim(rankOf(x) - 1);
  if (!parameter)
    return n.fill(length, elementOf(x), otherwise);
  if (rankOf(parameter) != 1)
    return n.wrong("a scale or bias must be a list");
  if (!n.requireEqual(typeOf(parameter).getDim(0), length, "the length of a scale or bias"))
    return {};
  return n.convert(n.refine(parameter, 0, length), elementOf(x));
}

/// Output 0 is normalised, output 3 the sum itself; mean and deviation are for training.
void normalizeSum(NodeImport &n, bool center, Value shift, Value bias) {
  double epsilon = n.floatAttribute("epsilon", 1e-12f);
  Value x = n.add(n.input(0), n.input(1));
  if (bias)
    x = n.add(x, bias);
  if (!x || rankOf(x) == 0 || n.refused())
    return;
  Value y =
      n.normalize(x, alongLines(n, n.input(2), x, 1), alongLines(n, shift, x, 0), epsilon, center);
  n.results = {y, Value(), Value(), x};
}

void convertSkipLayerNormalization(NodeImport &n) {
  normalizeSum(n, /*center=*/true, n.optionalInput(3), n.optionalInput(4));
}

void convertSkipSimplifiedLayerNormalization(NodeImport &n) {
  normalizeSum(n, /*center=*/false, {}, n.optionalInput(3));
}

//===-- EmbedLayerNormalization -----------------------------------------------------------------===//

/// The lines of `table` that `ids` name.
Value embedded(NodeImport &n, Value table, Value ids, StringRef name) {
  if (!table || !ids)
    return {};
  if (rankOf(table) != 2 || rankOf(ids) != 2)
    return n.wrong("'" + name + "' and its indices must have rank 2");
  return n.gather(table, ids, 0);
}

/// Words, positions and, where there are any, segments.
Value sumOfEmbeddings(NodeImport &n, Value ids) {
  Value words = embedded(n, n.input(2), ids, "word_embedding"), table = n.input(3);
  if (!words || !table || rankOf(table) != 2)
    return n.wrong("'position_embedding' must have rank 2");
  SymExpr length = typeOf(ids).getDim(1);
  Value positions;
  if (Value given = n.optionalInput(8))
    positions = embedded(n, table, given, "position_embedding");
  else if (n.requireAtMost(length, typeOf(table).getDim(0), "the length of 'input_ids'"))
    positions = n.sliceDim(table, 0, n.constant(0), length);
  Value sum = n.add(words, positions);
  if (n.hasInput(1) != n.hasInput(4))
    return n.wrong("'segment_ids' and 'segment_embedding' go together");
  return n.hasInput(1) ? n.add(sum, embedded(n, n.input(4), n.input(1), "segment_embedding")) : sum;
}

/// Output 0 is normalised, output 1 how many tokens of each batch the mask keeps, output 2 the sum.
void convertEmbedLayerNormalization(NodeImport &n) {
  Value ids = n.input(0), mask = n.optionalInput(7);
  double epsilon = n.floatAttribute("epsilon", 1e-12f);
  n.ignoreAttributes({"mask_index_type"});
  if (!ids || n.refused())
    return;
  if (rankOf(ids) != 2 || (mask && rankOf(mask) != 2))
    return (void)n.wrong("'input_ids' and 'mask' must have rank 2");
  Value sum = sumOfEmbeddings(n, ids);
  if (!sum)
    return;
  Value y = n.normalize(sum, alongLines(n, n.input(5), sum, 1), alongLines(n, n.input(6), sum, 0),
                        epsilon, /*center=*/true);
  Value kept = n.fill(typeOf(ids).getDim(0), n.i32(), 0);
  if (mask)
    kept = n.reduce(CombinerKind::Sum,
                    n.convert(n.compare(CompareKind::Equal, mask, n.numberLike(mask, 1)), n.i32()),
                    {1}, false);
  n.results = {y, kept, sum};
}

} // namespace

void addFused(OperatorTable &table) {
  auto add = [&](StringRef name, Converter convert, unsigned least, unsigned most,
                 unsigned outputs = 1) {
    table.add({name, 1, kNewestMicrosoftOpset, convert, least, most, outputs, kDomain});
  };
  add("FusedMatMul", convertFusedMatMul, 2, 2);
  add("FusedConv", convertFusedConv, 2, 4);
  add("FusedGemm", convertFusedGemm, 2, 3);
  add("Gelu", convertGelu, 1, 1);
  add("BiasGelu", convertGelu, 2, 2);
  add("FastGelu", convertFastGelu, 1, 2);
  add("QuickGelu", convertQuickGelu, 1, 1);
  add("SkipLayerNormalization", convertSkipLayerNormalization, 3, 5, 4);
  add("EmbedLayerNormalization", convertEmbedLayerNormalization, 7, 9, 3);
  add("SkipSimplifiedLayerNormalization", convertSkipSimplifiedLayerNormalization, 3, 4, 4);
}

} // namespace weft::onnx
