//===- Descriptor.cpp - From the planned program to weft_module_v1 ---------------------------------------------===//

#include "compiler/artifact/Descriptor.h"
#include "compiler/artifact/Blob.h"
#include "targets/common/KernelTarget.h"
#include "weft/device.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace weft {

uint16_t elementCode(Type element) {
  if (element.isF64())
    return WEFT_F64;
  if (element.isF32())
    return WEFT_F32;
  if (element.isF16())
    return WEFT_F16;
  if (element.isBF16())
    return WEFT_BF16;
  if (element.isFloat8E4M3FN())
    return WEFT_F8E4M3;
  if (element.isFloat8E5M2())
    return WEFT_F8E5M2;
  if (element.isFloat8E4M3FNUZ())
    return WEFT_F8E4M3FNUZ;
  if (element.isFloat8E5M2FNUZ())
    return WEFT_F8E5M2FNUZ;
  if (isa<Float8E8M0FNUType>(element))
    return WEFT_F8E8M0;
  if (isa<Float4E2M1FNType>(element))
    return WEFT_F4E2M1;
  bool u = element.isUnsignedInteger();
  switch (element.getIntOrFloatBitWidth()) {
  case 1:
    return WEFT_BOOL;
  case 2:
    return u ? WEFT_U2 : WEFT_I2;
  case 4:
    return u ? WEFT_U4 : WEFT_I4;
  case 8:
    return u ? WEFT_U8 : WEFT_I8;
  case 16:
    return u ? WEFT_U16 : WEFT_I16;
  case 32:
    return u ? WEFT_U32 : WEFT_I32;
  default:
    return u ? WEFT_U64 : WEFT_I64;
  }
}

namespace {

class DescriptorBuilder {
public:
  Descriptor build(ArrayRef<Variant> variants, ArrayRef<StoredWeight> stored, StringRef name) {
    Descriptor result;
    SmallVector<uint32_t> roots;
    result.hasDeviceCode =
        llvm::any_of(variants, [](const Variant &each) { return !each.deviceCode.empty(); });
    for (size_t i = 0; i < variants.size(); ++i)
      roots.push_back(blob.reserve<weft_module_v1>(result.variantBytes()));
    weft_module_v1 module = {};
    module.name = blob.text(name);
    module.producer = blob.text(kProducer);
    module.weights = weights(stored);
    this->stored = stored;
    hasRanks = llvm::any_of(variants, [](const Variant &each) { return each.program.mesh; });
    for (auto [root, variant] : llvm::zip(roots, variants)) {
      setMesh(variant.program);
      module.target = blob.text(variant.target.kernels->name().str());
      module.host_table_size = variant.target.kernels->isForDevice()
                                   ? deviceTableSize(variant.program)
                                   : hostTableSize(variant.program);
      std::vector<weft_function_v1> functions;
      for (const PlannedFunction &planned : variant.program.functions)
        functions.push_back(function(variant.program, planned));
      bool grows = llvm::any_of(functions, [](auto &row) { return row.in_place.count > 0; });
      result.grows |= grows;
      bool checks = llvm::any_of(functions, [](auto &row) { return row.positions.count > 0; });
      module.functions = blob.list(functions, hasRanks ? sizeof(weft_function_v1)
                                              : checks ? offsetof(weft_function_v1, mesh)
                                              : grows  ? offsetof(weft_function_v1, positions)
                                                       : offsetof(weft_function_v1, in_place));
      module.kernels = kernels(variant);
      module.cpu_features = blob.texts(variant.features());
      if (result.hasDeviceCode)
        addDeviceCode(module, variant);
      blob.fill(root, module, result.variantBytes());
      std::vector<uint32_t> &rows = result.functions.emplace_back();
      for (size_t i = 0; i < functions.size(); ++i)
        rows.push_back(module.functions.offset + i * module.functions.step);
    }
    result.bytes = blob.data();
    return result;
  }

private:
  weft_function_v1 function(const Program &program, const PlannedFunction &planned) {
    plan::FuncOp op = planned.function;
    symbols.clear();
    for (const EntrySymbol &symbol : planned.entry.symbols)
      symbols.push_back(symbol.name);
    llvm::append_range(symbols, planned.entry.boundSymbols);
    llvm::append_range(symbols, planned.entry.rankSymbols);
    weft_function_v1 row = {};
    row.name = blob.text(op.getName());
    std::vector<weft_argument_v1> inputs, outputs;
    for (unsigned i = 0; i < op.getNumArguments(); ++i)
      inputs.push_back(argument(inputName(op, i), callersInput(op, i)));
    for (unsigned i = 0; i < op.getNumResults(); ++i)
      outputs.push_back(argument(outputName(op, i), callersOutput(op, i),
                                 isLate(planned.outputDims[i]) ? WEFT_ARGUMENT_LATE : 0));
    std::vector<weft_in_place_v1> pairs;
    for (const InPlacePair &pair : planned.entry.inPlace) {
      inputs[pair.input].flags |= WEFT_ARGUMENT_IN_PLACE;
      outputs[pair.output].flags |= WEFT_ARGUMENT_IN_PLACE;
      uint32_t symbol = llvm::find(symbols, pair.room) - symbols.begin();
      pairs.push_back({pair.input, pair.output, pair.dim, symbol});
    }
    row.inputs = blob.list(inputs);
    row.outputs = blob.list(outputs);
    row.symbols = symbolRows(planned);
    row.facts = blob.texts(planned.entry.facts);
    row.checks = checks(planned);
    row.arena = blob.formula(planned.arena, symbols);
    row.scratch_per_worker = blob.formula(planned.scratch, symbols);
    row.flops = blob.formula({planned.flops}, symbols);
    row.bytes_moved = blob.formula({planned.bytesMoved}, symbols);
    row.late_blocks = lateBlocks(planned);
    row.regions = regions(program, planned);
    if (!pairs.empty())
      row.in_place = blob.list(pairs);
    if (!planned.positions.empty())
      row.positions = positions(planned);
    if (hasRanks)
      row.weights_read = blob.formula({bytesRead(op)}, symbols);
    if (MeshAttr own = meshOf(op)) {
      row.mesh = mesh;
      row.groups = groups;
      row.rank_symbols = placeSymbols(own);
      row.exchanges = exchanges(planned);
      row.traffic = traffic(planned);
    }
    return row;
  }

  /// A rank's share of so many bytes that are stored.
  static SymExpr bytesOfPart(plan::WeightOp op, int64_t bytes) {
    SymExpr share = SymExpr::constant(op.getContext(), bytes);
    if (!op.getSize())
      return share;
    auto own = cast<SymTensorType>(op.getTensor());
    SmallVector<int64_t> dims = *op.wholeType().getConstantDims();
    for (auto [i, dim, size] : llvm::enumerate(dims, *op.getSize()))
      share = own.getConstantDims() ? SymExpr::floordiv(share, dim / size)
                                    : SymExpr::floordiv(share * own.getDim(i), dim);
    return share;
  }

  /// Of weights, by one rank.
  SymExpr bytesRead(plan::FuncOp function) const {
    // By what is stored; null is the whole.
    llvm::MapVector<unsigned, llvm::MapVector<Attribute, SymExpr>> parts;
    function.walk([&](plan::WeightOp op) {
      if (op->use_empty())
        return;
      unsigned row = rowOf(op, stored);
      parts[row][op.getPartAttr()] = bytesOfPart(op, int64_t(stored[row].bytes));
    });
    SymExpr bytes = SymExpr::constant(function.getContext(), 0);
    for (const auto &[row, sizes] : parts)
      for (const auto &[part, size] : sizes)
        if (!part || !sizes.contains(Attribute()))
          bytes = bytes + size;
    return bytes;
  }

  /// All functions of a variant that are for several ranks refer to one mesh.
  void setMesh(const Program &program) {
    mesh = groups = {};
    if (!program.mesh)
      return;
    std::vector<weft_axis_v1> axes;
    for (auto [axis, size] : llvm::zip_equal(program.mesh.getAxes(), program.mesh.getSizes()))
      axes.push_back({blob.text(axis.getValue()), uint32_t(size)});
    mesh = blob.list(axes);
    std::vector<weft_axes_v1> rows;
    for (MeshAttr group : program.groups) {
      std::vector<uint32_t> along;
      for (StringAttr axis : group.getAxes())
        along.push_back(llvm::find(program.mesh.getAxes(), axis) - program.mesh.getAxes().begin());
      rows.push_back({blob.list(along)});
    }
    groups = blob.list(rows);
  }

  weft_list_t placeSymbols(MeshAttr own) {
    std::vector<uint32_t> rows;
    for (StringAttr symbol : rankSymbols(own)) {
      auto *found = llvm::find(symbols, symbol);
      rows.push_back(found == symbols.end() ? UINT32_MAX : found - symbols.begin());
    }
    return blob.list(rows);
  }

  weft_list_t exchanges(const PlannedFunction &planned) {
    std::vector<weft_exchange_v1> rows;
    for (const PlannedExchange &exchange : planned.exchanges) {
      plan::ExchangeOp op = exchange.op;
      weft_exchange_v1 &row = rows.emplace_back(); // zeros, also between fields
      row.node = blob.text(op.getNode());
      row.kind = exchange.kind;
      row.element = elementCode(exchange.element);
      row.combiner = exchange.combiner;
      row.is_reversed = exchange.form.isReversed;
      row.peer = exchange.form.peer;
      row.group = exchange.group;
      if (auto overlap = dyn_cast<plan::OverlapOp>(op->getParentOp()))
        row.most_pieces =
            uint16_t(std::min<int64_t>(overlap.getMostPieces().value_or(0), WEFT_MOST_PIECES));
    }
    return blob.list(rows);
  }

  weft_list_t traffic(const PlannedFunction &planned) {
    std::vector<weft_traffic_v1> rows;
    for (const PlannedTraffic &each : planned.traffic)
      rows.push_back({blob.text(each.axes), blob.formula({each.bytes}, symbols),
                      blob.formula({each.messages}, symbols)});
    return blob.list(rows);
  }

  weft_list_t symbolRows(const PlannedFunction &planned) {
    std::vector<weft_symbol_v1> rows;
    auto add = [&](StringAttr name, int64_t min, int64_t max) -> weft_symbol_v1 & {
      weft_symbol_v1 &row = rows.emplace_back(); // zeros, also between fields
      row.name = blob.text(name.getValue());
      row.min = min;
      row.max = max;
      row.multiple = 1;
      row.bound_by_input = row.bound_by_dim = UINT32_MAX;
      return row;
    };
    for (const EntrySymbol &symbol : planned.entry.symbols) {
      weft_symbol_v1 &row = add(symbol.name, symbol.min, symbol.max);
      row.multiple = symbol.multiple;
      if (!symbol.isRoom) {
        row.bound_by_input = symbol.input;
        row.bound_by_dim = symbol.dim;
      }
    }
    plan::FuncOp op = planned.function;
    SymbolsAttr declared = symbolsOf(op);
    SymFacts facts = declared.asFacts();
    for (StringAttr name : planned.entry.boundSymbols) {
      SymExpr limit = declared.getUpperBound(SymExpr::symbol(name));
      int64_t most = limit ? facts.bounds(limit).high.value_or(kMaxSymbolValue) : kMaxSymbolValue;
      add(name, 0, std::clamp<int64_t>(most, 0, kMaxSymbolValue));
    }
    if (MeshAttr own = meshOf(op))
      for (auto [name, size] : llvm::zip_equal(rankSymbols(own), own.getSizes()))
        if (llvm::is_contained(planned.entry.rankSymbols, name))
          add(name, 0, size - 1);
    return blob.list(rows);
  }

  static bool isLate(ArrayRef<SymExpr> dims) { return llvm::is_contained(dims, SymExpr()); }

  weft_list_t lateBlocks(const PlannedFunction &planned) {
    std::vector<weft_late_block_v1> rows;
    for (plan::ReserveOp block : planned.late)
      rows.push_back({blob.formula(block.getPeaks()->getDims(), symbols), 0});
    if (!planned.lateScratch.empty())
      rows.push_back({blob.formula(planned.lateScratch, symbols), WEFT_LATE_PER_WORKER});
    return blob.list(rows);
  }

  weft_list_t positions(const PlannedFunction &planned) {
    std::vector<weft_positions_v1> rows;
    for (plan::CheckPositionsOp check : planned.positions) {
      weft_positions_v1 &row = rows.emplace_back(); // zeros, also between fields
      row.node = blob.text(check.getNode().str());
      row.of = blob.text(check.getOf().str());
      row.rank = check.getDims().size();
      row.sizes = check.getSizes().size();
      row.bits = check.getBits();
      auto input = check.getPositions().getDefiningOp<plan::InputOp>();
      row.input = input ? input.getIndex() : UINT32_MAX;
      if (row.sizes == 1)
        row.below = blob.formula({check.getSizes()[0]}, symbols);
    }
    return blob.list(rows);
  }

  /// Of several kernels.
  weft_list_t regions(const Program &program, const PlannedFunction &planned) {
    std::vector<weft_region_v1> rows;
    for (plan::TogetherOp region : planned.regions) {
      std::vector<uint32_t> kernels;
      for (auto launch : region.getBody().getOps<plan::LaunchOp>())
        kernels.push_back(program.kernelRows.lookup(launch.getKernel()));
      rows.push_back({blob.list(kernels)});
    }
    return blob.list(rows);
  }

  static uint64_t deviceTableSize(const Program &program) {
    static_assert(kBlockCounters == WEFT_COUNTERS);
    bool counts =
        llvm::any_of(program.kernels, [](const PlannedKernel &kernel) { return kernel.isCounted; });
    return counts ? sizeof(weft_host_v1) : offsetof(weft_host_v1, overlap_rows);
  }

  /// No more of the table than the functions call, so that older runtimes open what they can run.
  static uint64_t hostTableSize(const Program &program) {
    if (program.mesh) // also without collectives: it takes a runtime that knows where a rank stands
      return llvm::any_of(program.functions,
                          [](const PlannedFunction &planned) { return planned.hasBeside(); })
                 ? offsetof(weft_host_v1, launch_counted)
             : llvm::any_of(
                   program.functions,
                   [](const PlannedFunction &planned) { return !planned.overlaps.empty(); })
                 ? offsetof(weft_host_v1, exchange_begin)
                 : offsetof(weft_host_v1, overlap);
    bool checks = llvm::any_of(program.functions, [](const PlannedFunction &planned) {
      return !planned.positions.empty();
    });
    if (checks)
      return offsetof(weft_host_v1, exchange);
    bool joins = llvm::any_of(
        program.functions, [](const PlannedFunction &planned) { return !planned.regions.empty(); });
    if (joins)
      return offsetof(weft_host_v1, check_positions);
    bool asks = llvm::any_of(program.functions, [](const PlannedFunction &planned) {
      return !planned.late.empty() || !planned.lateScratch.empty() ||
             llvm::any_of(planned.outputDims, isLate);
    });
    return asks ? offsetof(weft_host_v1, together) : offsetof(weft_host_v1, reserve);
  }

  weft_argument_v1 argument(StringRef name, SymTensorType type, uint32_t flags = 0) {
    std::vector<weft_formula_v1> dims;
    for (SymExpr dim : type.getDims())
      dims.push_back(blob.formula({dim}, symbols));
    weft_argument_v1 row = {};
    row.name = blob.text(name);
    row.element = elementCode(type.getElementType());
    row.rank = type.getRank();
    row.flags = flags;
    row.dims = blob.list(dims);
    return row;
  }

  weft_list_t checks(const PlannedFunction &planned) {
    const EntryPlan &entry = planned.entry;
    std::vector<weft_check_v1> rows;
    for (const EntryStep &step : entry.steps) {
      if (step.kind != EntryStep::Check)
        continue;
      weft_check_v1 row = {};
      row.kind = step.check;
      row.input = step.input;
      row.dim = step.dim;
      row.symbol = step.symbol;
      if (step.expected)
        row.expected = blob.formula({step.expected}, symbols);
      if (step.fact)
        row.fact = blob.text(step.fact->str());
      rows.push_back(row);
    }
    for (unsigned i = 0; i < entry.boundSymbols.size(); ++i) {
      weft_check_v1 row = {};
      row.kind = WEFT_CHECK_DATA;
      row.symbol = entry.symbols.size() + i;
      plan::FuncOp(planned.function).walk([&](plan::BindOp bind) {
        if (bind.getSymbolAttr() == entry.boundSymbols[i] && !bind.getNode().empty())
          row.node = blob.text(bind.getNode());
      });
      rows.push_back(row);
    }
    for (const SymPred &fact : entry.boundFacts) {
      weft_check_v1 row = {};
      row.kind = WEFT_CHECK_FACT;
      row.fact = blob.text(fact.str());
      rows.push_back(row);
    }
    return blob.list(rows);
  }

  void addDeviceCode(weft_module_v1 &module, const Variant &variant) {
    module.device_code = {};
    module.device_code_kind = 0;
    if (variant.deviceCode.empty())
      return;
    module.device_code = blob.text(variant.deviceCode);
    module.device_code_kind = WEFT_CODE_PTX;
  }

  weft_list_t kernels(const Variant &variant) {
    std::vector<weft_kernel_v1> rows;
    for (const PlannedKernel &kernel : variant.program.kernels) {
      weft_kernel_v1 row = {};
      row.name = blob.text(kernel.symbol);
      row.nodes = blob.texts(kernel.nodes);
      memcpy(row.key, kernel.key, sizeof(row.key));
      row.calls = kernel.calls;
      row.pointers = kernel.pointers;
      row.symbols = kernel.symbols.size();
      row.flops = blob.formula({kernel.flops}, kernel.symbols);
      row.bytes_moved = blob.formula({kernel.bytesMoved}, kernel.symbols);
      row.block_threads = kernel.blockThreads;
      row.block_bytes = kernel.blockBytes;
      rows.push_back(row);
    }
    return blob.list(rows, variant.deviceCode.empty() ? offsetof(weft_kernel_v1, block_threads)
                                                      : sizeof(weft_kernel_v1));
  }

  /// "rows", "panels<32>", "panels<32> in parts of [384, 768]".
  static std::string layoutText(const StoredWeight &weight) {
    std::string text = weight.layout.empty() ? "rows" : weight.layout, sizes;
    for (int64_t size : weight.size)
      sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
    return sizes.empty() ? text : text + " in parts of [" + sizes + "]";
  }

  weft_list_t weights(ArrayRef<StoredWeight> stored) {
    std::vector<weft_weight_v1> rows;
    for (const StoredWeight &weight : stored) {
      weft_weight_v1 row = {};
      row.name = blob.text(weight.name);
      row.layout = blob.text(layoutText(weight));
      row.element = elementCode(weight.whole.getElementType());
      SymTensorType type = weight.size.empty() ? weight.type : weight.whole;
      row.rank = type.getRank();
      SmallVector<int64_t> dims = *type.getConstantDims();
      row.dims = blob.list(std::vector<int64_t>(dims.begin(), dims.end()));
      row.offset = weight.offset;
      row.bytes = weight.bytes;
      rows.push_back(row);
    }
    return blob.list(rows);
  }

  Blob blob;
  SmallVector<StringAttr> symbols;
  weft_list_t mesh = {}, groups = {}; ///< of the variant's functions that are for several ranks
  ArrayRef<StoredWeight> stored;
  bool hasRanks = false; ///< some variant is for several ranks
};

} // namespace

Descriptor buildDescriptor(ArrayRef<Variant> variants, ArrayRef<StoredWeight> weights,
                           StringRef name) {
  return DescriptorBuilder().build(variants, weights, name);
}

} // namespace weft
