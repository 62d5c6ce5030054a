//===- Together.td - Cuts that need what other ranks have ----------------------------------------===//
#ifndef WEFT_RANKS_TOGETHER_TD
#define WEFT_RANKS_TOGETHER_TD

include "mlir/IR/OpBase.td"

def Weft_TogetherInterface : OpInterface<"TogetherOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    Cuts beside those of SplitOpInterface: ranks compute from their parts and from what they ask others for. A family's are in
    `dialects/weft/ranks/<Family>.cpp`; operators know nothing of them.
  }];
  let methods = [
    InterfaceMethod<"All such cuts", "::llvm::SmallVector<::weft::Cut, 4>", "cutsTogether">,
    InterfaceMethod<"What a rank has of each result when it is cut so: its part along the dimension that the cut says, what combines with that of others, or the whole. Nothing when the cut is none of these, or does not fit these sizes",
      "::llvm::SmallVector<::mlir::Value>", "computeTogether",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "const ::weft::Cut &":$cut, "::weft::Share &":$share)>
  ];
}

#endif
