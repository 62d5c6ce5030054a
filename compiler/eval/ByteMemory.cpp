//===- ByteMemory.cpp -------------------------------------------------------------------------===//

#include "compiler/eval/ByteMemory.h"

using namespace mlir;

namespace weft {
namespace {

struct ByteRange {
  int64_t begin, end;
};

/// Runs of elements that share bytes begin and end with a byte: they are whole tensors.
ByteRange bytesOf(Type element, ElementRun run) {
  return {elementBytes(element, run.begin), elementBytes(element, run.end())};
}

} // namespace

ByteMemory::Pieces::const_iterator ByteMemory::firstBehind(int64_t begin) const {
  auto next = pieces.upper_bound(begin);
  return next != pieces.begin() && std::prev(next)->second.end > begin ? std::prev(next) : next;
}

void ByteMemory::cutAt(int64_t place) {
  auto next = pieces.lower_bound(place);
  if (next == pieces.begin() || std::prev(next)->second.end <= place)
    return;
  Piece &front = std::prev(next)->second;
  pieces.emplace_hint(next, place, front);
  front.end = place;
}

void ByteMemory::write(int64_t address, std::shared_ptr<const RefTensor> values,
                       const ElementRuns &runs, ByteWriter writer) {
  for (ElementRun run : runs) {
    auto [begin, end] = bytesOf(values->element, run);
    cutAt(address + begin);
    cutAt(address + end);
    pieces.erase(pieces.lower_bound(address + begin), pieces.lower_bound(address + end));
    pieces[address + begin] = {address + end, values, address, writer};
  }
}

std::optional<ByteGap> ByteMemory::gapIn(int64_t address, Type element, const ElementRuns &runs,
                                         unsigned owner) const {
  for (ElementRun run : runs) {
    auto [begin, end] = bytesOf(element, run);
    int64_t at = address + begin, last = address + end;
    for (auto piece = firstBehind(at); at < last; at = piece->second.end, ++piece) {
      if (piece == pieces.end() || piece->first > at)
        return ByteGap{at - address,
                       (piece == pieces.end() ? last : std::min(last, piece->first)) - address,
                       std::nullopt};
      if (piece->second.writer.owner != owner)
        return ByteGap{at - address, std::min(last, piece->second.end) - address,
                       piece->second.writer};
    }
  }
  return std::nullopt;
}

/// Whether all pieces there are elements of this type, where a reader at `address` expects them.
bool ByteMemory::holdsAs(Type element, int64_t address, int64_t begin, int64_t end) const {
  int64_t width = elementBytes(element, 1);
  for (auto piece = firstBehind(begin); piece != pieces.end() && piece->first < end; ++piece) {
    auto isBetween = [&](int64_t place) { return (place - address) % width == 0; };
    if (piece->second.values->element != element || !isBetween(piece->second.address) ||
        !isBetween(piece->first) || !isBetween(piece->second.end))
      return false;
  }
  return !isPacked(element);
}

std::vector<char> ByteMemory::bytesIn(int64_t begin, int64_t end) const {
  std::vector<char> bytes(end - begin), all;
  for (auto piece = firstBehind(begin); piece != pieces.end() && piece->first < end; ++piece) {
    const RefTensor &values = *piece->second.values;
    all.assign(elementBytes(values.element, values.size()), 0);
    toBytes(values, all.data());
    int64_t from = std::max(begin, piece->first), to = std::min(end, piece->second.end);
    std::copy_n(all.data() + (from - piece->second.address), to - from,
                bytes.data() + (from - begin));
  }
  return bytes;
}

void ByteMemory::read(int64_t address, const ElementRuns &runs, RefTensor &to) const {
  int64_t width = elementBytes(to.element, 1);
  for (ElementRun run : runs) {
    auto [begin, end] = bytesOf(to.element, run);
    begin += address;
    end += address;
    if (!holdsAs(to.element, address, begin, end)) {
      RefTensor part = fromBytes(to.element, {run.count}, bytesIn(begin, end).data());
      scatterRuns(part, {run}, to);
      continue;
    }
    for (auto piece = firstBehind(begin); piece != pieces.end() && piece->first < end; ++piece) {
      int64_t first = std::max(begin, piece->first), last = std::min(end, piece->second.end);
      for (int64_t at = first; at < last; at += width)
        to.set((at - address) / width,
               piece->second.values->at((at - piece->second.address) / width));
    }
  }
}

} // namespace weft
