//===- PlanBuffers.cpp ------------------------------------------------------------------------===//

#include "compiler/eval/PlanBuffers.h"
#include "compiler/model/EntryPlan.h"
#include "dialects/weft/Aliases.h"
#include "dialects/weft/reference/Constant.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kLineBytes = 64; ///< memory begins at lines of the caches
constexpr int64_t kMostBytes =
    4'000'000'000'000'000'000; ///< nearly 2^62, as compiled programs allow: two can be added

llvm::Error fail(const Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
}

std::string bytesText(int64_t begin, int64_t end) {
  return (end - begin == 1 ? "byte " + Twine(begin)
                           : "bytes " + Twine(begin) + " to " + Twine(end - 1))
      .str();
}

} // namespace

std::string placeOf(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return " at '" + name.getName().str() + "'";
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return " at " + file.getFilename().str() + ":" + std::to_string(file.getLine());
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location each : fused.getLocations())
      if (std::string place = placeOf(each); !place.empty())
        return place;
  return "";
}

std::string nameOf(plan::LaunchOp launch) {
  std::string name = "kernel @" + launch.getKernel().str();
  ArrayAttr nodes = launch.getNodes();
  return name + (nodes.empty() ? placeOf(launch.getLoc())
                               : " at '" + cast<StringAttr>(nodes[0]).str() + "'");
}

//===-- The function's own memory -------------------------------------------------------------===//

std::shared_ptr<Extent> PlanBuffers::newExtent(std::string name) {
  auto extent = std::make_shared<Extent>();
  extent->name = std::move(name);
  extent->owner = ++owners;
  return extent;
}

llvm::Error PlanBuffers::begin(ArrayRef<std::shared_ptr<RefTensor>> given) {
  for (auto [i, input] : llvm::enumerate(given))
    if (llvm::Error error = beginInput(i, *input))
      return error;
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (llvm::Error error = beginOutput(i))
      return error;
  DimsAttr peaks;
  for (auto arena : function.getBody().front().getOps<plan::ArenaOp>())
    peaks = arena.getPeaks();
  return open(Value(), peaks, function.getLoc());
}

/// What callers do not see of a buffer with room nobody wrote.
llvm::Error PlanBuffers::beginInput(unsigned i, const RefTensor &seen) {
  llvm::Expected<DimValues> dims =
      dimsOf(cast<SymTensorType>(function.getArgumentTypes()[i]), symbols.known());
  if (!dims)
    return dims.takeError();
  RefTensor whole(seen.element, *dims);
  ElementRuns runs = runsOfBox(*dims, DimValues(dims->size(), 0), seen.dims);
  scatterRuns(seen, runs, whole);
  auto &extent = inputs.emplace_back(newExtent("input '" + inputName(function, i) + "'"));
  extent->memory = std::make_shared<ByteMemory>();
  extent->bytes = elementBytes(whole.element, whole.size());
  extent->isInput = extent->isWritten = true;
  extent->isInPlace = bool(function.getArgAttr(i, kViewAttr));
  extent->memory->write(0, std::make_shared<RefTensor>(std::move(whole)), runs, {extent->owner});
  return llvm::Error::success();
}

/// Where nothing limits its size, an output has no memory until somebody asks for it.
llvm::Error PlanBuffers::beginOutput(unsigned i) {
  auto &extent = outputs.emplace_back(newExtent("output '" + outputName(function, i) + "'"));
  SymTensorType type = callersOutput(function, i);
  SmallVector<SymExpr> most;
  for (SymExpr dim : type.getDims())
    if (SymExpr bound = symbolsOf(function).getUpperBound(dim))
      most.push_back(bound);
  if (most.size() < size_t(type.getRank()))
    return llvm::Error::success();
  auto largest = SymTensorType::get(most, type.getElementType());
  if (llvm::Error error = refuseSize(largest, symbols.known()))
    return error;
  llvm::Expected<DimValues> dims = dimsOf(largest, symbols.known());
  if (!dims)
    return dims.takeError();
  extent->memory = std::make_shared<ByteMemory>();
  extent->bytes = elementBytes(type.getElementType(), countOf(*dims));
  return llvm::Error::success();
}

Address PlanBuffers::result(unsigned i) {
  auto aliases = function.getResultAttrOfType<AliasesAttr>(i, kAliasesAttr);
  return {aliases ? inputs[aliases.getArgument()] : outputs[i]};
}

//===-- Blocks and what lies in them ----------------------------------------------------------===//

llvm::Expected<int64_t> PlanBuffers::bytesOf(SymExpr bytes, Location location) const {
  FailureOr<int64_t> value = bytes.evaluate(symbols.known());
  if (failed(value) || *value < 0 || *value > kMostBytes)
    return fail("'" + bytes.str() + "'" + placeOf(location) + " is no number of bytes here");
  return *value;
}

/// The memory of a block that has places, by these.
llvm::Expected<std::map<int64_t, plan::MemoryOp>> PlanBuffers::placesIn(Value block) {
  std::map<int64_t, plan::MemoryOp> places;
  std::optional<int64_t> taken;
  function.walk([&](plan::MemoryOp memory) {
    if (memory.getInside() == block && memory.getPlace() &&
        !places.emplace(*memory.getPlace(), memory).second)
      taken = *memory.getPlace();
  });
  if (taken)
    return fail("place " + Twine(*taken) + " of a block is taken twice");
  return places;
}

/// Without peaks memory takes what it takes.
llvm::Error PlanBuffers::open(Value block, DimsAttr peaks, Location location) {
  int64_t size = peaks ? 0 : kMostBytes;
  for (SymExpr peak : peaks ? peaks.getDims() : SmallVector<SymExpr>()) {
    llvm::Expected<int64_t> bytes = bytesOf(peak, location);
    if (!bytes)
      return bytes.takeError();
    size = std::max(size, *bytes);
  }
  auto places = placesIn(block);
  if (!places)
    return places.takeError();
  Block fresh;
  fresh.memory = std::make_shared<ByteMemory>();
  std::map<int64_t, int64_t> tops;
  for (auto &[number, memory] : *places) {
    llvm::Expected<int64_t> begin = place(memory, tops);
    if (!begin)
      return begin.takeError();
    if (tops[number] > size)
      return fail("the memory of place " + Twine(number) + placeOf(memory.getLoc()) +
                  " ends at byte " + Twine(tops[number]) + " of a block of " + Twine(size));
    fresh.begins[memory] = *begin;
  }
  blocks[block] = std::move(fresh);
  return llvm::Error::success();
}

/// Where it begins; adds where it ends.
llvm::Expected<int64_t> PlanBuffers::place(plan::MemoryOp memory,
                                           std::map<int64_t, int64_t> &tops) {
  int64_t begin = 0;
  for (int64_t below : memory.getAbove().value_or(ArrayRef<int64_t>())) {
    auto top = tops.find(below);
    if (top == tops.end())
      return fail("memory" + placeOf(memory.getLoc()) + " lies above place " + Twine(below) +
                  ", which no memory of its block has");
    begin = std::max(begin, top->second);
  }
  llvm::Expected<int64_t> bytes = bytesOf(memory.getBytes()[0], memory.getLoc());
  if (!bytes)
    return bytes.takeError();
  int64_t end = begin + int64_t(llvm::alignTo(uint64_t(*bytes), kLineBytes));
  tops[*memory.getPlace()] = end;
  return begin;
}

llvm::Error PlanBuffers::name(Operation &op) {
  return llvm::TypeSwitch<Operation *, llvm::Error>(&op)
      .Case([&](plan::MemoryOp memory) { return nameMemory(memory); })
      .Case([&](plan::PartOp part) { return namePart(part); })
      .Case([&](plan::ProvideOp each) { return provide(each); })
      .Case([&](plan::ReserveOp each) {
        return open(each, each.getPeaks().value_or(DimsAttr()), each.getLoc());
      })
      .Case([&](plan::InputOp input) {
        set(input, {inputs[input.getIndex()]});
        return llvm::Error::success();
      })
      .Case([&](plan::OutputOp output) {
        set(output, {outputs[output.getIndex()]});
        return llvm::Error::success();
      })
      .Case([&](plan::WeightOp weight) {
        Address address{newExtent("a weight")};
        address.extent->weight = weight;
        set(weight, std::move(address));
        return llvm::Error::success();
      })
      .Case([](plan::ArenaOp) { return llvm::Error::success(); })
      .Default([](Operation *other) {
        return fail("'" + other->getName().getStringRef() + "'" + placeOf(other->getLoc()) +
                    " is no operation of a plan");
      });
}

/// Memory without a place lies by itself.
llvm::Error PlanBuffers::nameMemory(plan::MemoryOp memory) {
  llvm::Expected<int64_t> bytes = bytesOf(memory.getBytes()[0], memory.getLoc());
  if (!bytes)
    return bytes.takeError();
  Address address{newExtent("its memory")};
  address.extent->bytes = *bytes;
  if (memory.getPlace()) {
    const Block &block = blocks[memory.getInside()];
    address.extent->memory = block.memory;
    address.extent->begin = block.begins.lookup(memory);
  } else {
    address.extent->memory = std::make_shared<ByteMemory>();
  }
  set(memory, std::move(address));
  return llvm::Error::success();
}

llvm::Error PlanBuffers::namePart(plan::PartOp part) {
  Address address = at(part.getWhole());
  if (std::optional<DimsAttr> offset = part.getOffset()) {
    llvm::Expected<int64_t> bytes = bytesOf((*offset)[0], part.getLoc());
    if (!bytes)
      return bytes.takeError();
    address.offset += *bytes;
    if (address.offset > kMostBytes)
      return fail("a part" + placeOf(part.getLoc()) +
                  " lies more than 2^62 bytes behind its whole");
  }
  set(part, std::move(address));
  return llvm::Error::success();
}

llvm::Error PlanBuffers::provide(plan::ProvideOp provide) {
  llvm::Expected<int64_t> bytes = bytesOf(provide.getBytes()[0], provide.getLoc());
  if (!bytes)
    return bytes.takeError();
  Extent &extent = *at(provide.getOutput()).extent;
  extent.memory = std::make_shared<ByteMemory>();
  extent.bytes = *bytes;
  return llvm::Error::success();
}

//===-- Reading and writing -------------------------------------------------------------------===//

/// The elements of a weight that this rank has.
llvm::Expected<PlanBuffers::Part> PlanBuffers::partOf(plan::WeightOp op) const {
  DimValues dims = *op.wholeType().getConstantDims(), starts, sizes(*op.getSize());
  auto own = cast<SymTensorType>(op.getTensor());
  for (auto [i, at] : llvm::enumerate(op.getPart()->getDims())) {
    FailureOr<int64_t> place = at.evaluate(symbols.known()), size = sizes[i];
    if (!own.getConstantDims())
      size = own.getDim(i).evaluate(symbols.known());
    bool isThere = succeeded(place) && succeeded(size) && *place >= 0 && *size >= 0 &&
                   *size <= sizes[i] && *place <= dims[i] / sizes[i] &&
                   *place * sizes[i] + *size <= dims[i];
    if (!isThere)
      return fail("the weight" + placeOf(op.getLoc()) + " has no part '" + at.str() + "' here");
    starts.push_back(*place * sizes[i]);
    sizes[i] = *size;
  }
  return Part{runsOfBox(dims, starts, sizes), sizes};
}

/// Where the elements of a weight lie: they are made for every reader anew, so that there must be
/// room for those of one kernel, not for all.
llvm::Expected<Address> PlanBuffers::withElements(const Address &weight) const {
  plan::WeightOp op = weight.extent->weight;
  SymTensorType type = op.wholeType();
  auto name = dyn_cast<FlatSymbolRefAttr>(op.getValue());
  if (name && !SymbolTable::lookupNearestSymbolFrom<WeightOp>(op, name))
    return fail("the weight" + placeOf(op.getLoc()) + " is not declared");
  ReferenceCall call;
  call.weight = options.weight;
  if (failed(evaluateConstant(op.getValue(), type, call)))
    return fail(call.error);
  auto values = std::make_shared<RefTensor>(std::move(call.outputs[0]));
  if (op.getPart()) {
    llvm::Expected<Part> part = partOf(op);
    if (!part)
      return part.takeError();
    *values = gatherRuns(*values, part->runs, part->sizes);
  }
  Address filled{std::make_shared<Extent>(*weight.extent), weight.offset};
  filled.extent->memory = std::make_shared<ByteMemory>();
  filled.extent->bytes = elementBytes(values->element, values->size());
  filled.extent->memory->write(0, values, runsOfAll(values->dims), {filled.extent->owner});
  return filled;
}

llvm::Error PlanBuffers::checkBounds(const PlanOperand &operand) {
  const auto &[extent, offset] = operand.address;
  if (operand.runs.empty())
    return llvm::Error::success();
  if (!extent->memory)
    return fail(operand.name + " lies in " + extent->name + ", whose memory nobody asked for yet");
  int64_t begin = elementBytes(operand.element, operand.runs.front().begin),
          end = elementBytes(operand.element, operand.runs.back().end());
  if (end <= extent->bytes - offset)
    return llvm::Error::success();
  return fail(operand.name + " takes " + bytesText(begin + offset, end + offset) + " of " +
              extent->name + ", which has " + Twine(extent->bytes));
}

llvm::Expected<RefTensor> PlanBuffers::read(PlanOperand operand) const {
  if (operand.address.extent->weight) {
    llvm::Expected<Address> filled = withElements(operand.address);
    if (!filled)
      return filled.takeError();
    operand.address = std::move(*filled);
  }
  if (llvm::Error error = checkBounds(operand))
    return std::move(error);
  RefTensor values(operand.element, operand.dims);
  if (operand.runs.empty())
    return values;
  const Extent &extent = *operand.address.extent;
  int64_t address = extent.begin + operand.address.offset;
  std::optional<ByteGap> gap =
      extent.memory->gapIn(address, operand.element, operand.runs, extent.owner);
  if (!gap) {
    extent.memory->read(address, operand.runs, values);
    return values;
  }
  auto writer = gap->other && extent.isWritten ? dyn_cast_or_null<plan::LaunchOp>(gap->other->by)
                                               : plan::LaunchOp();
  return fail(operand.name + " is read, but " +
              (writer ? nameOf(writer) + " wrote over " : "nothing wrote ") + "its " +
              bytesText(gap->begin, gap->end));
}

llvm::Error PlanBuffers::write(const PlanOperand &operand, RefTensor values, Operation *by) {
  Extent &extent = *operand.address.extent;
  if (extent.weight || (extent.isInput && !extent.isInPlace))
    return fail(operand.name + " lies in " + extent.name + ", which nobody writes");
  if (llvm::Error error = checkBounds(operand))
    return error;
  extent.isWritten = true;
  if (!operand.runs.empty())
    extent.memory->write(extent.begin + operand.address.offset,
                         std::make_shared<RefTensor>(std::move(values)), operand.runs,
                         {extent.owner, by});
  return llvm::Error::success();
}

bool PlanBuffers::overlap(const PlanOperand &a, const PlanOperand &b) {
  if (!a.address.extent->memory || a.address.extent->memory != b.address.extent->memory)
    return false;
  auto begin = [](const PlanOperand &operand, int64_t element) {
    return operand.address.extent->begin + operand.address.offset +
           elementBytes(operand.element, element);
  };
  auto left = a.runs.begin(), right = b.runs.begin();
  while (left != a.runs.end() && right != b.runs.end()) {
    if (begin(a, left->end()) <= begin(b, right->begin))
      ++left;
    else if (begin(b, right->end()) <= begin(a, left->begin))
      ++right;
    else
      return true;
  }
  return false;
}

} // namespace weft
