//===- RankParts.cpp --------------------------------------------------------------------------===//
#include "tools/weft/cli/RankParts.h"

#include <algorithm>
#include <cstring>

namespace weft::cli {

namespace {

/// "a, b(c, d)" between brackets: a comma in parentheses separates nothing.
std::vector<std::string> listed(std::string_view text) {
  std::vector<std::string> items;
  std::string item;
  int depth = 0;
  for (char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      items.push_back(std::move(item));
      item.clear();
    } else if (c != ' ' || !item.empty()) {
      item += c;
    }
  }
  if (!item.empty())
    items.push_back(std::move(item));
  return items;
}

std::vector<std::string> axesOf(const std::string &dim) {
  std::vector<std::string> axes;
  for (size_t at = 0; dim != "_" && at <= dim.size();) {
    size_t end = std::min(dim.find('+', at), dim.size());
    axes.push_back(dim.substr(at, end - at));
    at = end + 1;
  }
  return axes;
}

/// "[tp, _] of [n, 12]"
std::optional<PartSpec> readPart(std::string_view text, size_t index) {
  constexpr std::string_view between = "] of [";
  size_t middle = text.find(between);
  if (text.empty() || text.front() != '[' || text.back() != ']' || middle == text.npos)
    return std::nullopt;
  PartSpec spec{
      index,
      {},
      listed(text.substr(middle + between.size(), text.size() - middle - between.size() - 1))};
  for (const std::string &dim : listed(text.substr(1, middle - 1)))
    spec.axes.push_back(axesOf(dim));
  return spec.axes.size() == spec.whole.size() ? std::optional(spec) : std::nullopt;
}

/// Where a rank stands along each axis of the mesh, of which the last goes on first.
std::vector<int64_t> placesOf(const FunctionView &function, int64_t rank) {
  std::vector<int64_t> places(function.mesh.size());
  for (size_t a = places.size(); a-- > 0; rank /= function.mesh[a].size)
    places[a] = rank % function.mesh[a].size;
  return places;
}

SymbolValues symbolsOf(const FunctionView &function, SymbolValues symbols,
                       const std::vector<int64_t> &places) {
  for (size_t a = 0; a < places.size(); ++a)
    symbols["rank_" + function.mesh[a].name] = places[a];
  return symbols;
}

/// Whether another rank's part of the dimension is in front of this one's, beside it along all axes that do not split it; the first axis is outermost.
bool isInFront(const FunctionView &function, const std::vector<std::string> &axes,
               const std::vector<int64_t> &other, const std::vector<int64_t> &own) {
  auto splits = [&](size_t a) {
    return std::find(axes.begin(), axes.end(), function.mesh[a].name) != axes.end();
  };
  for (size_t a = 0; a < own.size(); ++a)
    if (other[a] != own[a] && !splits(a))
      return false;
  for (const std::string &axis : axes)
    for (size_t a = 0; a < own.size(); ++a)
      if (function.mesh[a].name == axis && other[a] != own[a])
        return other[a] < own[a];
  return false;
}

using Sizes = std::vector<int64_t>;

struct Box {
  Sizes begins, sizes, whole;
};

std::optional<Sizes> evaluated(const std::vector<std::string> &dims, const SymbolValues &symbols) {
  Sizes sizes;
  for (const std::string &dim : dims) {
    std::optional<int64_t> size = evaluateFormula(dim, symbols);
    if (!size || *size < 0)
      return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

/// `sizes`: of the parts of all ranks. Nothing where they do not lie in the whole.
std::optional<Box> boxOf(const FunctionView &function, const PartSpec &spec,
                         const std::vector<Sizes> &sizes, Sizes whole, size_t rank) {
  Box box{Sizes(whole.size()), sizes[rank], std::move(whole)};
  for (size_t other = 0; other < sizes.size(); ++other)
    for (size_t d = 0; d < spec.axes.size(); ++d)
      if (isInFront(function, spec.axes[d], placesOf(function, int64_t(other)),
                    placesOf(function, int64_t(rank))))
        if (__builtin_add_overflow(box.begins[d], sizes[other][d], &box.begins[d]))
          return std::nullopt;
  for (size_t d = 0; d < box.whole.size(); ++d) // a file may say anything
    if (box.begins[d] < 0 || box.begins[d] > box.whole[d] - box.sizes[d])
      return std::nullopt;
  return box;
}

/// Copies the box's lines between the whole and the part.
void copyBox(const Box &box, uint8_t *whole, uint8_t *part, size_t elementBytes, bool toPart) {
  size_t rank = box.sizes.size(), line = elementBytes * (rank ? size_t(box.sizes.back()) : 1);
  int64_t lines = 1;
  for (size_t d = 0; d + 1 < rank; ++d)
    lines *= box.sizes[d];
  for (int64_t i = 0; line && i < lines; ++i) {
    int64_t rest = i, at = rank ? box.begins.back() : 0, stride = rank ? box.whole.back() : 1;
    for (size_t d = rank ? rank - 1 : 0; d-- > 0; stride *= box.whole[d]) {
      at += (box.begins[d] + rest % box.sizes[d]) * stride;
      rest /= box.sizes[d];
    }
    uint8_t *there = whole + size_t(at) * elementBytes, *here = part + size_t(i) * line;
    toPart ? memcpy(here, there, line) : memcpy(there, here, line);
  }
}

} // namespace

void readParts(const std::vector<std::string> &texts, FunctionView &function) {
  std::string own = function.signature.function + "<" + printMesh(function) + "> ";
  for (const std::string &text : texts)
    for (bool isInput : {true, false}) {
      std::string start = own + (isInput ? "input " : "output ");
      if (text.compare(0, start.size(), start) != 0)
        continue;
      size_t colon = text.find(": ", start.size());
      std::optional<int64_t> index =
          evaluateFormula(text.substr(start.size(), colon - start.size()), {});
      const std::vector<InputSpec> &arguments =
          isInput ? function.signature.inputs : function.outputs;
      if (colon == text.npos || !index || *index < 0 || size_t(*index) >= arguments.size())
        continue;
      std::optional<PartSpec> spec =
          readPart(std::string_view(text).substr(colon + 2), size_t(*index));
      if (spec && spec->whole.size() == arguments[size_t(*index)].dims.size())
        (isInput ? function.inputParts : function.outputParts).push_back(std::move(*spec));
    }
}

std::string printPart(const PartSpec &spec, bool unicode) {
  std::string placement, whole;
  for (size_t d = 0; d < spec.axes.size(); ++d) {
    placement += d ? ", " : "";
    for (size_t a = 0; a < spec.axes[d].size(); ++a)
      placement += (a ? "+" : "") + spec.axes[d][a];
    placement += spec.axes[d].empty() ? "_" : "";
    whole += (d ? ", " : "") + beautifyFormula(spec.whole[d], unicode);
  }
  return "[" + placement + "] of [" + whole + "]";
}

const PartSpec *partOfOutput(const FunctionView &function, size_t output) {
  for (const PartSpec &spec : function.outputParts)
    if (spec.index == output)
      return &spec;
  return nullptr;
}

Signature wholeSignature(const FunctionView &function) {
  Signature signature = function.signature;
  for (const PartSpec &spec : function.inputParts)
    signature.inputs[spec.index].dims = spec.whole;
  return signature;
}

static std::optional<std::vector<Sizes>>
sizesOfParts(const FunctionView &function, const InputSpec &argument, const SymbolValues &symbols) {
  std::vector<Sizes> all;
  for (int64_t rank = 0; rank < ranksOf(function); ++rank) {
    std::optional<Sizes> sizes =
        evaluated(argument.dims, symbolsOf(function, symbols, placesOf(function, rank)));
    if (!sizes)
      return std::nullopt;
    all.push_back(std::move(*sizes));
  }
  return all;
}

/// The same tensors where there are no parts.
static Result<Inputs> partsOfRank(const FunctionView &function, const Inputs &whole, int64_t rank) {
  Inputs own = whole;
  for (const PartSpec &spec : function.inputParts) {
    const InputSpec &argument = function.signature.inputs[spec.index];
    const HostTensor &all = whole.tensors[spec.index].tensor;
    auto sizes = sizesOfParts(function, argument, whole.symbols);
    std::optional<Sizes> dims = evaluated(spec.whole, whole.symbols);
    std::optional<Box> box;
    if (sizes && dims && all.dims() == *dims)
      box = boxOf(function, spec, *sizes, *dims, size_t(rank));
    if (!box)
      return Failure{ExitInputRefused,
                     "input '" + argument.name + "' is " + printDims(all.dims()) +
                         ", which ranks cannot share" +
                         (dims && all.dims() != *dims ? ": it must be " + printDims(*dims) : ""),
                     {},
                     "W0411"};
    Result<HostTensor> part = HostTensor::allocate(argument.element, box->sizes);
    if (!part)
      return part.failure();
    copyBox(*box, all.data(), part->data(), weft_element_bits(argument.element) / 8, true);
    own.tensors[spec.index].tensor = std::move(*part);
  }
  return own;
}

Result<CallInputs> callInputsOfRank(const FunctionView &function, const Inputs &whole,
                                    int64_t rank) {
  Result<Inputs> own = partsOfRank(function, whole, rank);
  if (!own)
    return own.failure();
  Result<CallInputs> call = giveRoom(function, *own);
  if (call)
    for (const PartSpec &spec : function.inputParts)
      call->buffers.push_back(own->tensors[spec.index].tensor); // nobody else keeps it
  return call;
}

Result<HostTensor> joinParts(const FunctionView &function, size_t output,
                             const std::vector<HostTensor> &parts) {
  const PartSpec &spec = *partOfOutput(function, output);
  std::vector<Sizes> sizes;
  for (const HostTensor &part : parts)
    sizes.push_back(part.dims());
  Failure impossible{ExitInputRefused,
                     "the parts of output '" + function.outputs[output].name + "' are no whole",
                     {},
                     "W0410"};
  Sizes whole(spec.axes.size());
  std::vector<Box> boxes;
  for (size_t rank = 0; rank < parts.size(); ++rank) {
    auto box = boxOf(function, spec, sizes, Sizes(whole.size(), INT64_MAX), rank);
    if (!box)
      return impossible;
    for (size_t d = 0; d < whole.size(); ++d) // as long as all of them reach
      whole[d] = std::max(whole[d], box->begins[d] + box->sizes[d]);
    boxes.push_back(std::move(*box));
  }
  Result<HostTensor> made = HostTensor::allocate(function.outputs[output].element, whole);
  for (size_t rank = 0; made && rank < parts.size(); ++rank) {
    size_t first = 0; // that has this part: ranks beside each other along other axes have the same
    while (boxes[first].begins != boxes[rank].begins || boxes[first].sizes != boxes[rank].sizes)
      ++first;
    if (memcmp(parts[first].data(), parts[rank].data(), parts[rank].bytes()) != 0)
      return Failure{ExitInputRefused,
                     "output '" + function.outputs[output].name + "' differs between ranks " +
                         std::to_string(first) + " and " + std::to_string(rank),
                     {},
                     "W0410"};
    boxes[rank].whole = whole;
    if (first == rank)
      copyBox(boxes[rank], made->data(), parts[rank].data(), weft_element_bits(made->element()) / 8,
              false);
  }
  return made;
}

} // namespace weft::cli
