//===- ExchangeRanks.cpp ----------------------------------------------------------------------===//

#include "compiler/eval/ExchangeRanks.h"
#include "compiler/eval/CallSymbols.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace weft {

static llvm::Error fail(Operation *op, const Twine &what) {
  auto name = dyn_cast<NameLoc>(op->getLoc());
  std::string where =
      name ? name.getName().str() + ": " : ("'" + op->getName().getStringRef() + "' ").str();
  return llvm::createStringError(llvm::inconvertibleErrorCode(), where + what);
}

std::vector<Sent> &ExchangeRanks::trafficOf(MeshAttr group) {
  std::vector<Traffic> &all = options.traffic ? *options.traffic : uncounted;
  std::string axes = llvm::join(
      llvm::map_range(group.getAxes(), [](StringAttr axis) { return axis.str(); }), ", ");
  auto row = llvm::find_if(all, [&](const Traffic &each) { return each.axes == axes; });
  if (row == all.end())
    row = all.insert(row, {axes, std::vector<Sent>(mesh.getRanks())});
  return row->ranks;
}

llvm::Error ExchangeRanks::run(CollectiveOpInterface op, ArrayRef<unsigned> ranks,
                               const RankAccess &access) {
  std::vector<Sent> &sent = trafficOf(op.getGroup());
  for (ArrayRef<int64_t> members : groupsOf(mesh, op.getGroup())) {
    auto isHere = [&](int64_t rank) { return llvm::is_contained(ranks, unsigned(rank)); };
    if (llvm::none_of(members, isHere))
      continue;
    if (!llvm::all_of(members, isHere)) // of a graph the verifier says it
      return fail(op, "is not reached by all ranks of its group");
    if (llvm::Error error = runIn(op, members, access, sent))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error ExchangeRanks::runIn(CollectiveOpInterface op, ArrayRef<int64_t> members,
                                 const RankAccess &access, std::vector<Sent> &sent) {
  std::vector<std::shared_ptr<RefTensor>> given;
  for (int64_t rank : members) {
    llvm::Expected<std::shared_ptr<RefTensor>> read = access.read(rank);
    if (!read)
      return read.takeError();
    given.push_back(std::move(*read));
  }
  SmallVector<const RefTensor *> inputs;
  for (const std::shared_ptr<RefTensor> &tensor : given)
    inputs.push_back(tensor.get());
  std::vector<ReferenceCall> calls(members.size());
  for (auto [place, rank] : llvm::enumerate(members)) {
    calls[place].inputs = ArrayRef(inputs).slice(place, 1);
    calls[place].symbols = &access.symbols(rank);
    if (llvm::Error error =
            refuseSize(cast<SymTensorType>(op->getResult(0).getType()), *calls[place].symbols))
      return error;
  }
  std::vector<Sent> counted(members.size());
  if (failed(op.exchange(calls, counted)))
    return fail(op, "cannot be evaluated: " + calls.front().error);
  for (auto [place, rank] : llvm::enumerate(members)) {
    if (options.observe && rank == 0)
      options.observe(op, calls[place].outputs);
    if (llvm::Error error = access.write(rank, std::move(calls[place].outputs[0])))
      return error;
    sent[rank].bytes += counted[place].bytes;
    sent[rank].messages += counted[place].messages;
  }
  return llvm::Error::success();
}

} // namespace weft
