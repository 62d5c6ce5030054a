//===- ByteMemory.h - Memory that knows who wrote which bytes ---------------------------------===//
//
//   memory.write(64, values, runsOfAll(values->dims), {owner, launch});
//   if (auto gap = memory.gapIn(64, f32, runs, owner)) …               // bytes of another one
//   memory.read(64, runs, tensor);
//
// Bytes decide what overwrites what. Values keep the evaluator's precision as long as they are read
// as what they were written as; else they are rounded to bytes and taken for what the reader says.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_EVAL_BYTEMEMORY_H
#define WEFT_COMPILER_EVAL_BYTEMEMORY_H

#include "compiler/model/ElementRuns.h"
#include <map>

namespace weft {

/// Who wrote, and for which value.
struct ByteWriter {
  unsigned owner = 0;
  mlir::Operation *by = nullptr; ///< null: the caller
};

/// Bytes that do not hold what their reader wants.
struct ByteGap {
  int64_t begin, end;
  std::optional<ByteWriter> other; ///< of what they hold; none: nothing wrote them
};

class ByteMemory {
public:
  /// The elements `runs` of a tensor that lies at `address`, and no other bytes.
  void write(int64_t address, std::shared_ptr<const RefTensor> values, const ElementRuns &runs,
             ByteWriter writer);
  /// The first of the bytes of these elements that nobody wrote for `owner` at last.
  std::optional<ByteGap> gapIn(int64_t address, mlir::Type element, const ElementRuns &runs,
                               unsigned owner) const;
  /// Sets those elements of `to`. There is no gap in them.
  void read(int64_t address, const ElementRuns &runs, RefTensor &to) const;

private:
  /// Bytes of one tensor.
  struct Piece {
    int64_t end; ///< it begins at its key
    std::shared_ptr<const RefTensor> values;
    int64_t address; ///< where the tensor's first byte would lie
    ByteWriter writer;
  };
  using Pieces = std::map<int64_t, Piece>;

  /// The first piece that ends behind `begin`.
  Pieces::const_iterator firstBehind(int64_t begin) const;
  void cutAt(int64_t place);
  bool holdsAs(mlir::Type element, int64_t address, int64_t begin, int64_t end) const;
  std::vector<char> bytesIn(int64_t begin, int64_t end) const;

  Pieces pieces; ///< by their begin; they do not overlap
};

} // namespace weft

#endif // WEFT_COMPILER_EVAL_BYTEMEMORY_H
