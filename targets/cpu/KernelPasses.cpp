//===- KernelPasses.cpp -------------------------------------------------------------------------===//
//
// O2 is made for whatever people write. Kernels come as vectors in loops without memory of their own, so much of it finds nothing: it was
// left out pass by pass, as long as the code of kernels stayed what it was (sizes, the counts of test/emulated, the table of instructions).
// What looks idle and is not: without jump-threading one kernel was 1.4 times as long, without dead arguments most were 3 to 4 % longer, and
// functions are made simple before one is inlined, or it seems too long: one of Winograd's method executed 16 % more.
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/KernelPasses.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Support/Error.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"

namespace weft {
namespace {

/// Marks long loops as unrolled where the loop passes have simplified them, before the first one that would unroll. LLVM unrolls no loop of
/// this length, but finds that out by pricing all of its instructions, several times: a tenth of the time of a compilation.
struct KeepLongLoops : llvm::PassInfoMixin<KeepLongLoops> {
  static constexpr size_t kMostUnrolled = 200; ///< instructions

  llvm::PreservedAnalyses run(llvm::Loop &loop, llvm::LoopAnalysisManager &,
                              llvm::LoopStandardAnalysisResults &, llvm::LPMUpdater &) {
    size_t count = 0;
    for (const llvm::BasicBlock *block : loop.blocks())
      count += block->size();
    if (count > kMostUnrolled)
      loop.setLoopAlreadyUnrolled();
    return llvm::PreservedAnalyses::all();
  }
};

constexpr char kKeepLongLoops[] = "keep-long-loops";

std::string function(const std::string &passes) { return "function<eager-inv>(" + passes + ")"; }

std::string passNames(bool onlyShortLoops) {
  const std::string combine = "instcombine<max-iterations=1;no-use-loop-info;no-verify-fixpoint>",
                    blocks = "simplifycfg<bonus-inst-threshold=1;switch-range-to-icmp;keep-loops;"
                             "speculate-blocks",
                    shared = ";hoist-common-insts;sink-common-insts",
                    rotate = "loop-rotate<header-duplication;no-prepare-for-lto>",
                    hoist = "loop-mssa(licm<allowspeculation>)";
  const std::string simple =
      function(blocks + ">,early-cse<>") + ",ipsccp," + function(combine + "," + blocks + ">");
  const std::string loops =
      "sroa<modify-cfg>,early-cse<memssa>,jump-threading,correlated-propagation," + blocks +
      ">,reassociate,loop-mssa(loop-instsimplify,loop-simplifycfg,licm<no-allowspeculation>," +
      rotate + ",licm<allowspeculation>,simple-loop-unswitch<no-nontrivial;trivial>)," + blocks +
      ">," + combine + ",loop(loop-idiom,indvars,loop-deletion" +
      (onlyShortLoops ? std::string(",") + kKeepLongLoops : "") +
      ",loop-unroll-full),vector-combine,early-cse<memssa>,bdce,jump-threading,"
      "correlated-propagation,adce,dse," +
      hoist + "," + blocks + shared + ">";
  const std::string late =
      "loop(" + rotate + ",loop-deletion)," +
      "simplifycfg<bonus-inst-threshold=1;forward-switch-cond;switch-range-to-icmp;"
      "switch-to-lookup;no-keep-loops;speculate-blocks" +
      shared + ">,vector-combine,loop-unroll<O2>," + combine + "," + hoist +
      ",loop-sink,instsimplify,div-rem-pairs," + blocks + ";speculate-unpredictables>";
  return simple + ",cgscc(devirt<4>(inline,function<eager-inv;no-rerun>(" + loops +
         "))),deadargelim,globaldce," + function(late) + ",globaldce,constmerge";
}

} // namespace

llvm::ModulePassManager kernelPasses(llvm::PassBuilder &builder, bool onlyShortLoops) {
  builder.registerPipelineParsingCallback([](llvm::StringRef name, llvm::LoopPassManager &passes,
                                             llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
    if (name == kKeepLongLoops)
      passes.addPass(KeepLongLoops());
    return name == kKeepLongLoops;
  });
  llvm::ModulePassManager passes;
  llvm::cantFail(builder.parsePassPipeline(passes, passNames(onlyShortLoops)));
  return passes;
}

} // namespace weft
