//===- PlanDialect.td - What the host does: memory, launches, and what decides between them --------===//
#ifndef WEFT_PLAN_DIALECT_TD
#define WEFT_PLAN_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::weft::plan";
  let summary = "The program behind kernels: memory classes, launches, and what the host reads, decides and asks for";
  let description = [{
    A `plan.func` has the signature and the contract of the function it was made from, and a body without tensors: operations speak of
    buffers. Code of the host, the artifact's descriptor, explanations and limits are made from it.
  }];
  let dependentDialects = ["::weft::WeftDialect", "::weft::SymDialect"];
  let useDefaultTypePrinterParser = 1;
}

def Plan_Space : I32EnumAttr<"Space", "where memory lies", [I32EnumAttrCase<"Host", 0, "host">, I32EnumAttrCase<"Device", 1, "device">]> {
  let cppNamespace = "::weft::plan";
}

class Plan_Type<string name, string mnemonicText> : TypeDef<Plan_Dialect, name> {
  let mnemonic = mnemonicText;
}

def Plan_BufferType : Plan_Type<"Buffer", "buffer"> {
  let summary = "an address; its value is known where the operation stands that gives it";
}
def Plan_BlockType : Plan_Type<"Block", "block"> {
  let summary = "memory that is asked for at once, in which classes are placed";
}
// The same, with the type implied where they are operands and results.
def Plan_Buffer : DialectType<Plan_Dialect, CPred<"::llvm::isa<::weft::plan::BufferType>($_self)">, "buffer", "::weft::plan::BufferType">,
                  BuildableType<"$_builder.getType<::weft::plan::BufferType>()">;
def Plan_Block : DialectType<Plan_Dialect, CPred<"::llvm::isa<::weft::plan::BlockType>($_self)">, "block", "::weft::plan::BlockType">,
                 BuildableType<"$_builder.getType<::weft::plan::BlockType>()">;

#endif
