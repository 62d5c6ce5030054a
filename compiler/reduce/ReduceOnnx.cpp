//===- ReduceOnnx.cpp - The edits of ONNX models ----------------------------------------------===//

#include "compiler/reduce/ReduceOnnx.h"
#include "compiler/import/onnx/file/WireOutput.h"
#include "compiler/import/onnx/graph/NodeImport.h"
#include "compiler/reduce/OnnxEdits.h"

#include <set>

using namespace llvm;

namespace weft {
namespace {

/// A part of a draft that edits are about: where it stands, and what within it.
struct Place {
  size_t index, inner = 0;
};

using Find = std::function<std::vector<Place>(const OnnxDraft &)>;
using Edit = std::function<bool(OnnxDraft &, const std::vector<Place> &)>;

Reduction<OnnxDraft> reduction(std::string what, Find find, Edit edit) {
  return {std::move(what), [find](const OnnxDraft &draft) { return find(draft).size(); },
          [find, edit](const OnnxDraft &draft, const Edits &edits) -> std::optional<OnnxDraft> {
            std::vector<Place> all = find(draft), chosen;
            for (size_t i = 0; i < all.size(); ++i)
              if (edits[i])
                chosen.push_back(all[i]);
            OnnxDraft copy = draft;
            if (!edit(copy, chosen))
              return std::nullopt;
            copy.prune();
            return copy;
          }};
}

/// The indices of the elements that `offers` accepts.
template <typename Range, typename F> std::vector<Place> placesWhere(const Range &range, F offers) {
  std::vector<Place> found;
  for (size_t i = 0; i < range.size(); ++i)
    if (offers(range[i]))
      found.push_back({i});
  return found;
}

std::vector<size_t> indicesOf(const std::vector<Place> &places) {
  std::vector<size_t> indices;
  for (const Place &place : places)
    indices.push_back(place.index);
  return indices;
}

template <typename T> void eraseAt(std::vector<T> &list, const std::vector<Place> &places) {
  for (const Place &place : llvm::reverse(places))
    list.erase(list.begin() + ptrdiff_t(place.index));
}

Reduction<OnnxDraft> outputs() {
  return reduction(
      "outputs",
      [](const OnnxDraft &draft) {
        return placesWhere(draft.outputs,
                           [&](const OnnxPart &) { return draft.outputs.size() > 1; });
      },
      [](OnnxDraft &draft, const std::vector<Place> &chosen) {
        eraseAt(draft.outputs, chosen);
        return !draft.outputs.empty();
      });
}

Reduction<OnnxDraft> nodes(std::shared_ptr<const OnnxTypes> types) {
  return reduction(
      "nodes",
      [](const OnnxDraft &draft) {
        return placesWhere(draft.nodes,
                           [](const OnnxDraftNode &node) { return !node.reads().empty(); });
      },
      [types](OnnxDraft &draft, const std::vector<Place> &chosen) {
        return removeNodes(draft, indicesOf(chosen), *types);
      });
}

/// Without what surrounds it, a node may be right: this one keeps values connected.
Reduction<OnnxDraft> forwarded(std::shared_ptr<const OnnxTypes> types) {
  return reduction(
      "nodes between",
      [types](const OnnxDraft &draft) {
        return placesWhere(draft.nodes, [&](const OnnxDraftNode &node) {
          return !forwardedInput(node, *types).empty();
        });
      },
      [types](OnnxDraft &draft, const std::vector<Place> &chosen) {
        return forwardNodes(draft, indicesOf(chosen), *types);
      });
}

Reduction<OnnxDraft> branches(std::string attribute) {
  return reduction(
      "conditions",
      [attribute](const OnnxDraft &draft) {
        return placesWhere(draft.nodes, [&](const OnnxDraftNode &node) {
          return !branchOf(node, attribute).empty();
        });
      },
      [attribute](OnnxDraft &draft, const std::vector<Place> &chosen) {
        return inlineBranches(draft, indicesOf(chosen), attribute);
      });
}

std::vector<Place> largeTensors(const OnnxDraft &draft) {
  return placesWhere(draft.initializers,
                     [&](const OnnxPart &part) { return largeTensor(draft, part); });
}

Reduction<OnnxDraft> tensorsToInputs() {
  return reduction("tensors", largeTensors, [](OnnxDraft &draft, const std::vector<Place> &chosen) {
    for (const Place &place : chosen) {
      const OnnxPart &part = draft.initializers[place.index];
      if (llvm::none_of(draft.inputs,
                        [&](const OnnxPart &input) { return input.name == part.name; }))
        draft.inputs.push_back(inputFor(*largeTensor(draft, part)));
    }
    eraseAt(draft.initializers, chosen);
    return true;
  });
}

Reduction<OnnxDraft> uniformTensors(int value) {
  return reduction("contents of tensors", largeTensors,
                   [value](OnnxDraft &draft, const std::vector<Place> &chosen) {
                     for (const Place &place : chosen) {
                       OnnxPart &part = draft.initializers[place.index];
                       std::optional<OnnxPart> uniform =
                           uniformTensor(part, *largeTensor(draft, part), value);
                       if (!uniform)
                         return false;
                       part = *uniform;
                     }
                     return true;
                   });
}

Reduction<OnnxDraft> attributes() {
  return reduction(
      "attributes",
      [](const OnnxDraft &draft) {
        std::vector<Place> found;
        for (size_t i = 0; i < draft.nodes.size(); ++i)
          for (size_t k = 0, n = countAttributes(draft.nodes[i]); k < n; ++k)
            found.push_back({i, k});
        return found;
      },
      [](OnnxDraft &draft, const std::vector<Place> &chosen) {
        std::map<size_t, std::vector<size_t>> byNode;
        for (const Place &place : chosen)
          byNode[place.index].push_back(place.inner);
        for (auto &[node, gone] : byNode)
          draft.nodes[node] = withoutAttributes(draft.nodes[node], gone);
        return true;
      });
}

Reduction<OnnxDraft> unreadInputs() {
  return reduction(
      "inputs",
      [](const OnnxDraft &draft) {
        std::set<std::string> read;
        for (const OnnxDraftNode &node : draft.nodes)
          for (const std::string &name : node.reads())
            read.insert(name);
        for (const OnnxPart &output : draft.outputs)
          read.insert(output.name);
        return placesWhere(draft.inputs,
                           [&](const OnnxPart &input) { return !read.count(input.name); });
      },
      [](OnnxDraft &draft, const std::vector<Place> &chosen) {
        eraseAt(draft.inputs, chosen);
        return true;
      });
}

/// Declared types, functions, descriptions and whatever else a file may hold.
std::vector<Reduction<OnnxDraft>> rest() {
  using Fields = std::vector<std::pair<unsigned, StringRef>>;
  auto dropFields = [](Fields OnnxDraft::*fields, std::vector<unsigned> needed) {
    return reduction(
        "descriptions",
        [=](const OnnxDraft &draft) {
          return placesWhere(draft.*fields, [&](const auto &field) {
            return !llvm::is_contained(needed, field.first);
          });
        },
        [=](OnnxDraft &draft, const std::vector<Place> &chosen) {
          eraseAt(draft.*fields, chosen);
          return true;
        });
  };
  return {reduction(
              "declared types",
              [](const OnnxDraft &draft) {
                return placesWhere(draft.valueInfos, [](const OnnxPart &) { return true; });
              },
              [](OnnxDraft &draft, const std::vector<Place> &chosen) {
                eraseAt(draft.valueInfos, chosen);
                return true;
              }),
          dropFields(&OnnxDraft::modelFields, {1, 8}), // IR version, operator sets
          dropFields(&OnnxDraft::graphFields, {2})};   // name: checkers demand one
}

} // namespace

std::optional<std::string> onnxType(SymTensorType type) {
  WireOutput shape, tensor, whole;
  for (SymExpr dim : type.getDims()) {
    WireOutput each;
    if (std::optional<int64_t> size = dim.asConstant())
      each.integer(1, *size);
    else
      each.text(2, dim.str());
    shape.text(1, each.bytes);
  }
  for (int number = 1; number <= int(OnnxElementType::Float6E3M2); ++number) {
    if (onnx::elementTypeOf(type.getContext(), OnnxElementType(number)) != type.getElementType())
      continue;
    tensor.integer(1, number);
    tensor.text(2, shape.bytes);
    whole.text(1, tensor.bytes);
    return whole.bytes;
  }
  return std::nullopt;
}

OnnxTypes declaredTypes(const OnnxDraft &draft) {
  OnnxTypes types;
  for (const std::vector<OnnxPart> *list : {&draft.valueInfos, &draft.outputs, &draft.inputs})
    for (const OnnxPart &part : *list) {
      StringRef content = part.content();
      WireCursor cursor(ArrayRef<char>(content.data(), content.size()));
      for (WireField field; cursor.next(field);)
        if (field.number == 2)
          types[part.name] = std::string(field.bytes.data(), field.bytes.size());
    }
  return types;
}

std::vector<Reduction<OnnxDraft>> onnxReductions(OnnxTypes all) {
  auto types = std::make_shared<const OnnxTypes>(std::move(all));
  std::vector<Reduction<OnnxDraft>> reductions = {outputs(),
                                                  tensorsToInputs(),
                                                  nodes(types),
                                                  outputs(),
                                                  forwarded(types),
                                                  branches("then_branch"),
                                                  branches("else_branch"),
                                                  uniformTensors(0),
                                                  uniformTensors(1),
                                                  attributes(),
                                                  unreadInputs()};
  llvm::append_range(reductions, rest());
  return reductions;
}

} // namespace weft
