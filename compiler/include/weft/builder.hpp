//===- builder.hpp - Programs written in C++ --------------------------------------------------===//
//
//   weft::Builder b("scores");
//   weft::Value x = b.input("x", weft::Element::F32, {"batch", "seq", 64});
//   b.fact("seq <= 512");
//   b.output("y", b.softmax(b.mul(x, b.scalar(weft::Element::F32, 0.125))));
//   weft::Result<weft::Module> module = b.finish();
//
// Dimensions are numbers or expressions over symbols ("4*s + 1"); a symbol is declared by the first
// input that has it. Result types follow from the operands. A call that is wrong returns a failed
// value and is remembered; calls on failed values do nothing, and finish() reports everything that
// went wrong. A builder is used by one thread at a time.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_BUILDER_HPP
#define WEFT_BUILDER_HPP

#include "weft/compiler.hpp"
#include <type_traits>

namespace weft {

class MappedFile;

/// The type of a tensor's elements. U2..U64 are unsigned.
enum class Element {
  F64,
  F32,
  F16,
  BF16,
  F8E4M3,
  F8E5M2,
  F8E4M3FNUZ,
  F8E5M2FNUZ,
  F8E8M0,
  F4E2M1,
  Bool,
  I2,
  I4,
  I8,
  I16,
  I32,
  I64,
  U2,
  U4,
  U8,
  U16,
  U32,
  U64
};

/// One dimension, or another size: a number or the text of an expression.
class Dim {
public:
  /// A number.
  template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
  Dim(T size) : expression(std::to_string(size)) {}
  /// An expression over symbols: "4*s + 1".
  Dim(const char *expression) : expression(expression) {}
  Dim(std::string expression) : expression(std::move(expression)) {}
  /// As it was given; the builder reads it.
  const std::string &text() const { return expression; }

private:
  std::string expression;
};
/// Sizes, the outermost first.
using Dims = std::vector<Dim>;

/// One number of any element type: real or integer, as it was given.
class Number {
public:
  /// Any number of C++.
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  Number(T value) : integral(std::is_integral_v<T>), realValue(static_cast<double>(value)) {
    if constexpr (std::is_integral_v<T>) {
      integerValue = static_cast<int64_t>(value);
      large = std::is_unsigned_v<T> && integerValue < 0;
    }
  }
  /// Whether it was given as an integer.
  bool isInteger() const { return integral; }
  /// The integer; 0 for a real number.
  int64_t integer() const { return integerValue; }
  /// True for an integer of 2^63 or more; then integer() is it minus 2^64.
  bool isLarge() const { return large; }
  /// The number as a double, rounded when it is a large integer.
  double real() const { return realValue; }

private:
  bool integral, large = false;
  int64_t integerValue = 0;
  double realValue;
};

/// A tensor of the program under construction: an input, or the result of an operation.
class Value {
public:
  Value() = default;
  /// False for an empty value and for the result of a call that failed.
  explicit operator bool() const { return owner != 0 && index != kFailed; }

private:
  friend class Builder;
  static constexpr uint32_t kFailed = ~uint32_t(0);
  uint32_t index = kFailed, owner = 0;
};

/// Bytes that weights refer to. They are mapped, not read, until something needs them.
class WeightFile {
public:
  /// Maps a file. `name` is what the program's text calls it; the path when empty.
  static Result<WeightFile> open(const std::string &path, const std::string &name = "");
  /// Bytes in memory, which the caller keeps as long as the module lives.
  static WeightFile memory(const std::string &name, const void *data, size_t size);
  /// For importers, which have mapped the file themselves.
  WeightFile(std::shared_ptr<MappedFile> file, std::string name);

private:
  friend class Builder;
  std::shared_ptr<MappedFile> file;
  std::string name;
};

/// Functions of one element that models name; formulas stand in docs/reference.
enum class Activation {
  Relu,
  Sigmoid,
  Gelu,
  GeluTanh,
  Silu,
  LeakyRelu,
  Elu,
  HardSigmoid,
  HardSwish,
  Softplus
};
/// What `compare` asks of two elements.
enum class Relation { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };
/// How `reduce` combines elements; And and Or are of booleans.
enum class Reduction { Sum, Prod, Max, Min, And, Or };

/// Builds one module with the public function `main`. Dimension numbers (axes) count from the end
/// when they are negative.
class Builder {
public:
  /// Begins a module of this name.
  explicit Builder(const std::string &name);
  Builder(Builder &&) noexcept;
  ~Builder();

  //===-- The signature -----------------------------------------------------------------------===//

  /// Adds an input. Its symbols are declared unless an earlier input has them.
  Value input(const std::string &name, Element element, const Dims &dims);
  /// What callers promise: "seq <= 512", "mod(seq, 8) == 0", "a == b or a == 1".
  void fact(const std::string &predicate);
  /// Adds an output.
  void output(const std::string &name, Value value);
  /// The module, or everything that went wrong. The builder is empty afterwards.
  Result<Module> finish();

  //===-- Names and messages ------------------------------------------------------------------===//

  /// Names the operations built while it lives. Scopes nest: "encoder" and "layer.3" give
  /// "encoder.layer.3".
  class Scope {
  public:
    Scope(Scope &&other) noexcept : builder(other.builder), length(other.length) {
      other.builder = nullptr;
    }
    Scope &operator=(Scope &&) = delete;
    ~Scope();

  private:
    friend class Builder;
    Scope(void *builder, size_t length) : builder(builder), length(length) {}
    void *builder;
    size_t length;
  };
  /// Enters a scope until the result is destroyed.
  [[nodiscard]] Scope scope(const std::string &name);
  /// The joined names of the scopes.
  const std::string &scopeName() const;
  /// Adds a finding of the caller; an error makes finish() fail.
  void report(Diagnostic diagnostic);
  /// Whether an error was found so far.
  bool failed() const;
  /// What a caller that has reported an error returns in place of a value.
  Value failedValue();

  //===-- Types of values ---------------------------------------------------------------------===//

  /// The type of its elements; any for a value that failed.
  Element element(Value value) const;
  /// Its dimensions; none for a value that failed.
  Dims dims(Value value) const;

  //===-- Values from nothing -----------------------------------------------------------------===//

  /// A named weight whose elements lie in `file` from byte `offset` on, row-major, little endian.
  Value weight(const std::string &name, Element element, const std::vector<int64_t> &dims,
               const WeightFile &file, uint64_t offset);
  /// Few elements given here, row-major; use weight() for many.
  Value constant(Element element, const std::vector<int64_t> &dims,
                 const std::vector<Number> &values);
  /// One number without dimensions; elementwise operations broadcast it.
  Value scalar(Element element, Number value);
  /// One number in every place.
  Value fill(Element element, const Dims &dims, Number value);
  /// The index along `axis`.
  Value iota(Element element, const Dims &dims, int64_t axis);
  /// Expressions as i64 data of dimensions [n].
  Value dimsValue(const Dims &values);
  /// One expression as i64 data without dimensions.
  Value dimValue(const Dim &value);

  //===-- Elementwise; operands may have 1 for a dimension, or lack leading ones --------------===//

  /// -x.
  Value neg(Value x);
  /// |x|.
  Value abs(Value x);
  /// -1, 0 or 1; of a nan, nan.
  Value sign(Value x);
  /// e to the x.
  Value exp(Value x);
  /// The natural logarithm.
  Value log(Value x);
  /// The square root.
  Value sqrt(Value x);
  /// 1 / sqrt(x).
  Value rsqrt(Value x);
  /// Of radians.
  Value sin(Value x);
  /// Of radians.
  Value cos(Value x);
  /// The hyperbolic tangent.
  Value tanh(Value x);
  /// The error function.
  Value erf(Value x);
  /// The largest integer that is not above x.
  Value floor(Value x);
  /// The smallest integer that is not below x.
  Value ceil(Value x);
  /// To the nearest integer, ties to even.
  Value round(Value x);
  /// Of booleans the negation, of integers the complement.
  Value bitNot(Value x);

  /// lhs + rhs; integers wrap.
  Value add(Value lhs, Value rhs);
  /// lhs - rhs; integers wrap.
  Value sub(Value lhs, Value rhs);
  /// lhs * rhs; integers wrap.
  Value mul(Value lhs, Value rhs);
  /// lhs / rhs; integers are truncated, and 0 for division by 0.
  Value div(Value lhs, Value rhs);
  /// lhs to the rhs.
  Value pow(Value lhs, Value rhs);
  /// The smaller one; nan when one of them is.
  Value minimum(Value lhs, Value rhs);
  /// The larger one; nan when one of them is.
  Value maximum(Value lhs, Value rhs);
  /// Bit by bit; of booleans, both.
  Value bitAnd(Value lhs, Value rhs);
  /// Bit by bit; of booleans, one or both.
  Value bitOr(Value lhs, Value rhs);
  /// Bit by bit; of booleans, one but not both.
  Value bitXor(Value lhs, Value rhs);
  /// The sign follows the dividend, or with `floor` the divisor.
  Value rem(Value lhs, Value rhs, bool floor = false);
  /// Booleans.
  Value compare(Relation relation, Value lhs, Value rhs);
  /// `yes` where the condition is true, else `no`.
  Value select(Value condition, Value yes, Value no);
  /// As another type. A float is rounded to nearest, or truncated and saturated to an integer (nan gives 0);
  /// an integer wraps; booleans say whether x is not 0.
  Value convert(Value x, Element to);
  /// `alpha` and `beta` are the parameters of those that have some.
  Value activation(Activation kind, Value x, double alpha = 0, double beta = 0);

  //===-- Elements at other places ------------------------------------------------------------===//

  /// The same elements in row-major order under other dimensions.
  Value reshape(Value x, const Dims &dims);
  /// Result dimension i is operand dimension order[i].
  Value transpose(Value x, const std::vector<int64_t> &order);
  /// Repeats dimensions that are 1 or that lack.
  Value expand(Value x, const Dims &dims);
  /// Elements start + step*i along every dimension, `sizes` of them; steps are 1 when not given.
  Value slice(Value x, const Dims &starts, const Dims &sizes,
              const std::vector<int64_t> &steps = {});
  /// A border of `value` (without dimensions); negative amounts crop.
  Value pad(Value x, Value value, const Dims &low, const Dims &high);
  /// One behind the other along `axis`.
  Value concat(const std::vector<Value> &inputs, int64_t axis);
  /// The dimensions of `indices` replace `axis` of the table.
  Value gather(Value table, Value indices, int64_t axis = 0);

  //===-- Sums and lines ----------------------------------------------------------------------===//

  /// A sum of products as in an einsum: "b i k, k j -> b i j". Accumulates in the operands' type,
  /// but narrow floats in f32 and bytes in i32.
  Value contract(const std::string &rule, Value lhs, Value rhs);
  Value contract(const std::string &rule, Value lhs, Value rhs, Element accumulate);
  /// x times the transposed weight [out, in], as torch.nn.Linear stores it, plus the bias if given.
  Value linear(Value x, Value weight, Value bias = {});
  /// Combines along `axes`, which the result lacks, or has as 1 with `keepDims`.
  Value reduce(Reduction kind, Value x, std::vector<int64_t> axes, bool keepDims = false);
  /// Along the last dimension.
  Value softmax(Value x, bool logarithm = false);
  /// Lines of the last dimension to unit variance, times `scale` plus `shift`: layer
  /// normalisation, or RMS normalisation without `center`.
  Value normalize(Value x, Value scale, Value shift, double epsilon, bool center = true);

  //===-- Any operator of the dialect ---------------------------------------------------------===//

  /// `name` without "weft."; attributes as in the program's text: "{axis = 1 : i64}". `results` are
  /// the types of the results, such as "!weft.tensor<[s], f32>".
  std::vector<Value> operation(const std::string &name, const std::vector<Value> &operands,
                               const std::string &attributes = "",
                               const std::vector<std::string> &results = {});

  /// The builder's own part.
  struct Impl;

private:
  std::unique_ptr<Impl> impl;
};

} // namespace weft

#endif // WEFT_BUILDER_HPP
