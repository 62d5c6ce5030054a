//===- VectorMachine.h - What code generation asks about a processor's vectors ------------------------===//
//
//   if (machine.addsByteProducts()) …
//   sum = machine.addByteProducts(b, sum, activations, weights);
//
// A processor's folder describes each of its levels by one machine. Schedules and mathematical functions ask for what they need, never for
// a processor, its intrinsics, or a number of lanes that stands for one of them: two processors with vectors of one size have other
// instructions.
//
// Loads and stores with a mask and gathers are emitted for every machine. Without an instruction for it, a vector is moved whole where all
// lanes are inside, and in pieces else (WholeVectors.h): who knows of whole vectors beforehand and would not ask, asks `masks`.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_MACHINE_VECTORMACHINE_H
#define WEFT_TARGETS_CPU_MACHINE_VECTORMACHINE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace weft {

class TileUnit;

/// Of the factors of products of bytes.
struct ByteSigns {
  bool isLeftSigned, isRightSigned;
  /// Unsigned by signed.
  bool isMixed() const { return !isLeftSigned && isRightSigned; }
};

/// Rows of a tile that stays in registers while products are summed, and what may be picked instead, the most first. Follows from the
/// number of registers, and from whether an element is spread to all lanes by the instruction that multiplies or takes a register.
struct TileRows {
  int64_t most = 1;
  std::vector<int64_t> candidates = {1};
  int64_t byThree = 0; ///< by three vectors, where that takes fewer loads for a product
};

class VectorMachine {
public:
  /// What is a number or a yes.
  struct Traits {
    unsigned lanes = 1;     ///< of f32 in a vector
    unsigned registers = 1; ///< for vectors
    bool hasFma = false;    ///< fused multiply-add
    bool hasHalves = false; ///< conversions between f16 and f32
    TileRows productRows;   ///< by two vectors of a packed operand
    TileRows filterRows;    ///< filters, by two vectors of pixels that may lie anywhere
    /// Elements of 32 bits that one load brings, of which multiply-adds take one in place of a factor. 0: they take whole vectors only.
    unsigned laneRun = 0;
    bool keepsNan =
        false; ///< the larger of two floats is one instruction, which gives nan when one of them is
    /// Zero in a register takes no unit that multiplies. Where it does, sums that are written out begin with their first product.
    bool clearsForNothing = true;
    /// Any elements of 16 bits of a vector are brought together by one instruction.
    bool permutesHalves = false;
    /// Floats of 16 bits become f32 in other units than those that multiply, and so beside products.
    bool convertsBeside = false;
    /// Additions and multiplications of f32 of a nanosecond by the slowest usual processors that have it. 0: as two whole vectors of a cycle give, at 3.5 GHz.
    double operationsOfNanosecond = 0;
    /// Instructions are taken in order, and a load beside each that multiplies: loads belong between products, long before they are needed.
    bool loadsBetween = false;
    /// What a turn of a loop over products of floats sums of each row, a multiple of laneRun: as many as registers and the offsets of loads allow.
    int64_t turnDepth = 4;
    /// Two vectors side by side are stored by one instruction, which takes less of the units that multiply than two do.
    bool storesPairs = false;
    /// Instructions that add two products of 16 bits to each i32 of a vector.
    int64_t pairInstructions = 1;
  };
  /// Where what is fetched ahead shall wait.
  enum class Cache { First, Second };

  explicit VectorMachine(Traits traits) : traits(std::move(traits)) {}
  virtual ~VectorMachine() = default;

  unsigned lanes() const { return traits.lanes; }
  unsigned vectorBits() const { return traits.lanes * 32; }
  unsigned registers() const { return traits.registers; }
  /// Whether so many vectors are in registers at once.
  bool holds(int64_t vectors) const { return vectors <= int64_t(traits.registers); }
  bool hasFma() const { return traits.hasFma; }
  /// Whether the larger or smaller of two floats is an instruction that gives nan when one of them is.
  bool keepsNanInExtremes() const { return traits.keepsNan; }
  bool hasHalves() const { return traits.hasHalves; }
  /// Of f32, by one core: for prices, which no clock has seen.
  double operationsOfNanosecond() const;
  bool clearsForNothing() const { return traits.clearsForNothing; }
  bool loadsBetween() const { return traits.loadsBetween; }
  int64_t turnDepth() const { return traits.turnDepth; }
  bool convertsBeside() const { return traits.convertsBeside; }
  bool storesPairs() const { return traits.storesPairs; }
  /// Vectors of f32; where storesPairs().
  virtual void storePair(mlir::ImplicitLocOpBuilder &b, mlir::Value first, mlir::Value second,
                         mlir::Value pointer) const;
  const TileRows &productRows() const { return traits.productRows; }
  const TileRows &filterRows() const { return traits.filterRows; }

  /// Of what all lanes are multiplied by, so many elements are brought by one load, and taken from a register one by one; 0 where each is
  /// loaded by itself.
  unsigned laneRun() const { return traits.laneRun; }
  /// x * y + sum. `x` may be one of laneRun() elements in all lanes.
  virtual mlir::Value multiplyAdd(mlir::ImplicitLocOpBuilder &b, mlir::Value x, mlir::Value y,
                                  mlir::Value sum) const;

  /// Of i32, one or a vector of them, the upper 16 bits.
  mlir::Value upperHalves(mlir::ImplicitLocOpBuilder &b, mlir::Value words) const;

  /// Whether loads and stores of elements of so many bits take a mask.
  virtual bool masks(unsigned bits) const { return false; }
  bool masksWords() const { return masks(32); }

  int64_t pairInstructions() const { return traits.pairInstructions; }
  /// To each i32 of `sum` two products of signed numbers of 16 bits.
  virtual mlir::Value addPairProducts(mlir::ImplicitLocOpBuilder &b, mlir::Value sum, mlir::Value x,
                                      mlir::Value y) const;
  /// Whether there is an instruction for two products of bf16, at the rate of one of f32.
  virtual bool addsHalfProducts() const { return false; }
  /// To each f32 of `sum` two products of bf16, whose pairs are given as i32.
  virtual mlir::Value addHalfProducts(mlir::ImplicitLocOpBuilder &b, mlir::Value sum, mlir::Value x,
                                      mlir::Value y) const;
  /// The bits of the bf16 nearest to each f32; signed zeros, as addHalfProducts reads them anyway,
  /// may stand for those below the normal ones.
  virtual mlir::Value roundForHalfProducts(mlir::ImplicitLocOpBuilder &b, mlir::Value reals) const;
  /// What multiplies small matrices (TileUnit.h); null where nothing does.
  virtual const TileUnit *tiles() const { return nullptr; }
  /// Whether there is an instruction for four products of bytes with these signs.
  virtual bool addsByteProducts(ByteSigns) const { return false; }
  /// To each i32 of `sum` four products of bytes, which are given as i32, too.
  virtual mlir::Value addByteProducts(mlir::ImplicitLocOpBuilder &b, mlir::Value sum,
                                      mlir::Value left, mlir::Value right, ByteSigns signs) const;

  /// Whether there is an instruction for two products of unsigned by signed bytes, whose sum saturates in 16 bits.
  virtual bool multipliesBytePairs() const { return false; }
  /// The sums of both pairs of every four products of bytes, which are given as i32: numbers of 16 bits.
  virtual mlir::Value multiplyBytePairs(mlir::ImplicitLocOpBuilder &b, mlir::Value unsignedBytes,
                                        mlir::Value signedBytes) const;
  /// To each i32 of `sum` two such numbers.
  mlir::Value addShorts(mlir::ImplicitLocOpBuilder &b, mlir::Value sum, mlir::Value shorts) const;

  static constexpr int64_t kMatrixDepth = 8;
  /// Whether there is an instruction for products of two rows of kMatrixDepth bytes by as many columns of them as fit into a vector.
  virtual bool multipliesByteMatrices(ByteSigns) const { return false; }
  /// To each four i32 of `sum`, which are two columns of a row and then of the next, the products of both rows by two of `columns`. Bytes are
  /// given as i32, too: `rows` are four, of a row and then of the next.
  virtual mlir::Value addByteMatrices(mlir::ImplicitLocOpBuilder &b, mlir::Value sum,
                                      mlir::Value rows, mlir::Value columns, ByteSigns signs) const;

  /// Whether the lanes of a vector of this type are looked up among 16 constants by one instruction.
  virtual bool looksUp(mlir::Type) const { return false; }
  /// table[index mod 16] in every lane of f32; indices are i32.
  virtual mlir::Value lookUp(mlir::ImplicitLocOpBuilder &b, llvm::ArrayRef<float> table,
                             mlir::Value index) const;

  /// Whether bytes are looked up among 256 in memory by instructions for vectors.
  virtual bool looksUpBytes() const { return false; }
  /// Of the 256 from `table` on those at the bits of `bytes`, which are as many as lanes.
  virtual mlir::Value lookUpBytes(mlir::ImplicitLocOpBuilder &b, mlir::Value table,
                                  mlir::Value bytes) const;

  /// Whether the four below are instructions for values of this type, a float or a vector.
  virtual bool splitsFloats(mlir::Type) const { return false; }
  /// p * 2^n, rounded once, for whole n.
  virtual mlir::Value scaleByPower(mlir::ImplicitLocOpBuilder &b, mlir::Value p,
                                   mlir::Value n) const;
  /// Of x = m * 2^e with 1 <= |m| < 2: e; -infinity for 0, infinity for infinities.
  virtual mlir::Value exponentOf(mlir::ImplicitLocOpBuilder &b, mlir::Value x) const;
  /// m or m / 2, whichever is in [3/4, 3/2); NaN where x is negative.
  virtual mlir::Value mantissaNearOne(mlir::ImplicitLocOpBuilder &b, mlir::Value x) const;
  /// 1 / x for f32, right in 14 bits.
  virtual mlir::Value estimateReciprocal(mlir::ImplicitLocOpBuilder &b, mlir::Value x) const;

  /// Fetches the line that the pointer points into.
  virtual void prefetch(mlir::ImplicitLocOpBuilder &b, mlir::Value pointer, Cache cache,
                        bool isWritten = false) const;

private:
  const Traits traits;
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_MACHINE_VECTORMACHINE_H
