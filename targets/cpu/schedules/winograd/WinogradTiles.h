//===- WinogradTiles.h - How a 3x3 convolution with channels last is cut for Winograd's method ----------------===//
//
// Tiles of m x m results are computed with n * n = (m + 2)^2 products per channel instead of 9 m^2. Tiles count over all images, row by
// row; a block of them lies in scratch, behind zeros for pixels outside the image:
//
//   elements  [n * n][tile][channel]      B^T d B
//   products  [n * n][tile][filter]       of the panels of filters that are multiplied at once
//
//   if (auto s = WinogradTiles::match(spec, machine, WinogradTiles::Floats)) … s->m …
//
// Elements of floats are f32, those of bytes are numbers of 16 bits.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_WINOGRAD_WINOGRADTILES_H
#define WEFT_TARGETS_CPU_SCHEDULES_WINOGRAD_WINOGRADTILES_H

#include "targets/common/match/ConvolutionShape.h"
#include "targets/cpu/Schedule.h"

namespace weft {

struct WinogradTiles : ConvolutionShape {
  enum Kind { Floats, Bytes } kind;
  int64_t m, n;         ///< results and elements of a tile's side
  int64_t tiles;        ///< of a block, at most
  int64_t columns;      ///< filters of a panel
  int64_t panels;       ///< of filters
  int64_t panelsAtOnce; ///< whose products are in scratch
  int64_t pitch;        ///< elements of a tile, in whole vectors
  int64_t width;        ///< products of a tile

  static Match<WinogradTiles> match(mlir::func::FuncOp spec, const VectorMachine &machine,
                                    Kind kind);

  int64_t elementBytes() const { return kind == Bytes ? 2 : 4; }
  /// Elements of a vector.
  int64_t lanes(const VectorMachine &machine) const { return machine.lanes() * 4 / elementBytes(); }
  unsigned input() const { return llvm::cast<mlir::BlockArgument>(op.getInput()).getArgNumber(); }
  SymExpr tileRows() const { return SymExpr::ceildiv(window[0].out, m); }
  SymExpr tileColumns() const { return SymExpr::ceildiv(window[1].out, m); }
  SymExpr allTiles() const { return batch * tileRows() * tileColumns(); }
  SymExpr blocks() const;
  /// Parts of the filters: few blocks are cut further, at the price of transforming what they read once per worker.
  SymExpr parts() const;
  /// Tiles of a block of so many KiB.
  int64_t tilesOf(int64_t blockKiB, const VectorMachine &machine) const;
  /// The choice of a block's size.
  void offerBlocks(std::vector<Choice> &list, const VectorMachine &machine) const;

  WeightLayout layout() const; ///< of the filters
  int64_t panelBytes() const;  ///< of one of the n * n products

  // Where things lie in scratch, in bytes.
  SymExpr elementStride() const { return tilesOfBlock() * (pitch * elementBytes()) + kLineBytes; }
  SymExpr productStride() const { return tilesOfBlock() * (width * 4) + kLineBytes; }
  int64_t elementsAt() const { return pitch * elementBytes(); }
  SymExpr productsAt() const { return elementStride() * (n * n) + elementsAt(); }
  SymExpr scratchBytes() const { return productsAt() + productStride() * (n * n); }

private:
  /// Small blocks have room for all tiles always: then the distances are constants.
  SymExpr tilesOfBlock() const {
    SymExpr most = SymExpr::constant(op.getContext(), tiles);
    return kind == Bytes ? most : SymExpr::min(most, allTiles());
  }
  /// That multiply elements, for one that multiplies as many elements of the operand.
  int64_t instructions(const VectorMachine &machine) const;
  bool isWorthIt(const VectorMachine &machine) const;
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_WINOGRAD_WINOGRADTILES_H
