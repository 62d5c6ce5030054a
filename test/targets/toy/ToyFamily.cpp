//===- ToyFamily.cpp - Kernels of one lane, printed as C ------------------------------------------------===//

#include "test/targets/toy/ToyFamily.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "targets/cpu/Codegen.h"
#include "targets/cpu/CpuTarget.h"
#include "targets/cpu/schedules/Schedules.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace mlir;

namespace weft::test {
namespace {

/// By MLIR's names.
constexpr StringRef kTypes = R"(#include <stdint.h>
typedef uint8_t i1; typedef uint8_t i4; typedef uint8_t i8; typedef uint16_t i16;
typedef uint32_t i32; typedef uint64_t i64; typedef float f32; typedef double f64;
#define inf __builtin_inf()
#define AS(from, to, x) ((union { from a; to b; }){x}).b
#define nan __builtin_nan("")
)";
/// $0 is the first operand, S0 the same as a signed number, T0 its type; R is the type of the result.
constexpr StringRef kExpressions = R"(add $0 + $1; sub $0 - $1; mul (uint64_t)$0 * $1;
udiv $0 / $1; urem $0 % $1; sdiv S0 / S1; srem S0 % S1; and $0 & $1; or $0 | $1; xor $0 ^ $1;
shl (uint64_t)$0 << $1; lshr $0 >> $1; ashr S0 >> $1; fadd $0 + $1; fsub $0 - $1; fmul $0 * $1;
fdiv $0 / $1; fneg -$0; select $0 ? $1 : $2; trunc $0; zext $0; sext S0; sitofp S0; uitofp $0;
fpext $0; fptrunc $0; fptosi (int64_t)$0; fptoui $0; load *(R *)$0;
bitcast AS(T0, R, $0); intr.fabs $0 < 0 ? -$0 : $0 + 0;
intr.smax S0 > S1 ? $0 : $1; intr.smin S0 < S1 ? $0 : $1; intr.umax $0 > $1 ? $0 : $1;
intr.umin $0 < $1 ? $0 : $1; intr.maximum $0 != $0 || $0 > $1 ? $0 : $1;
intr.minimum $0 != $0 || $0 < $1 ? $0 : $1; intr.sqrt __builtin_sqrt($0);
icmp.eq $0 == $1; icmp.ne $0 != $1; icmp.slt S0 < S1; icmp.sle S0 <= S1; icmp.sgt S0 > S1;
icmp.sge S0 >= S1; icmp.ult $0 < $1; icmp.ule $0 <= $1; icmp.ugt $0 > $1; icmp.uge $0 >= $1;
fcmp.oeq $0 == $1; fcmp.ogt $0 > $1; fcmp.oge $0 >= $1; fcmp.olt $0 < $1; fcmp.ole $0 <= $1;
fcmp.one $0 < $1 || $0 > $1; fcmp.ord $0 == $0 && $1 == $1; fcmp.ueq !($0 < $1 || $0 > $1);
fcmp.ugt !($0 <= $1); fcmp.uge !($0 < $1); fcmp.ult !($0 >= $1); fcmp.ule !($0 > $1);
fcmp.une $0 != $1; fcmp.uno $0 != $0 || $1 != $1)";

/// A function of the LLVM dialect on scalars as C: one variable per value, one label per block. Integers are unsigned; operations that
/// see a sign extend it for themselves.
class Function {
public:
  explicit Function(LLVM::LLVMFuncOp function) : function(function) {}

  std::string print() {
    std::string head, body;
    for (BlockArgument argument : function.getArguments())
      head += (head.empty() ? "" : ", ") + typeOf(argument.getType()) + " " + nameOf(argument);
    declarations.clear();
    for (Block &block : function) {
      body += label(&block) + ":;\n";
      for (Operation &op : block)
        body += statement(op);
    }
    return "__attribute__((visibility(\"hidden\"))) void " + function.getName().str() + "(" + head +
           ") {\n" + declarations + body + "}\n";
  }
  std::string unknown; ///< what there is no C for

private:
  static unsigned bitsOf(Value value) { return value.getType().getIntOrFloatBitWidth(); }

  std::string typeOf(Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    if (!kTypes.contains(" " + text + ";") && !isa<LLVM::LLVMPointerType>(type))
      unknown = text;
    return isa<LLVM::LLVMPointerType>(type) ? "char *" : text;
  }
  /// Declared when it is named first.
  std::string nameOf(Value value) {
    auto [place, isNew] = numbers.try_emplace(value, numbers.size());
    std::string name = "v" + llvm::utostr(place->second);
    declarations += isNew ? typeOf(value.getType()) + " " + name + ";\n" : "";
    return name;
  }
  std::string label(Block *block) {
    return "b" + llvm::utostr(std::distance(function.begin(), block->getIterator()));
  }
  std::string asSigned(Value value) {
    std::string above = llvm::utostr(64 - bitsOf(value));
    return "((int64_t)((uint64_t)" + nameOf(value) + " << " + above + ") >> " + above + ")";
  }

  std::string fill(StringRef pattern, Operation &op) {
    std::string text;
    for (size_t i = 0; i < pattern.size(); ++i) {
      bool isOperand = i + 1 < pattern.size() && StringRef("$ST").contains(pattern[i]) &&
                       llvm::isDigit(pattern[i + 1]);
      Value operand = isOperand ? op.getOperand(pattern[i + 1] - '0') : Value();
      if (!isOperand)
        text += pattern[i] == 'R' ? typeOf(op.getResult(0).getType()) : std::string(1, pattern[i]);
      else
        text += pattern[i++] == '$'     ? nameOf(operand)
                : pattern[i - 1] == 'S' ? asSigned(operand)
                                        : typeOf(operand.getType());
    }
    return text;
  }

  std::string jump(Block *to, OperandRange values) {
    std::string keep = "{ ", assign;
    for (auto [value, argument] : llvm::zip_equal(values, to->getArguments())) {
      keep += typeOf(value.getType()) + " next" + nameOf(argument) + " = " + nameOf(value) + "; ";
      assign += nameOf(argument) + " = next" + nameOf(argument) + "; ";
    }
    return keep + assign + "goto " + label(to) + "; }\n";
  }

  std::string constant(Attribute value) {
    std::string text;
    if (auto real = dyn_cast<FloatAttr>(value))
      llvm::raw_string_ostream(text) << llvm::format("%a", real.getValueAsDouble());
    return text.empty() ? llvm::utostr(cast<IntegerAttr>(value).getValue().getZExtValue()) + "ul"
                        : text;
  }

  std::string expression(Operation &op) {
    if (auto number = dyn_cast<LLVM::ConstantOp>(op))
      return constant(number.getValue());
    if (auto at = dyn_cast<LLVM::GEPOp>(op))
      return fill(at.getDynamicIndices().empty()
                      ? "$0 + " + std::to_string(at.getRawConstantIndices()[0])
                      : "$0 + S1",
                  op) +
             " * (int64_t)sizeof(" + typeOf(at.getElemType()) + ")";
    std::string wanted = op.getName().stripDialect().str();
    if (auto test = dyn_cast<LLVM::ICmpOp>(op))
      wanted += "." + stringifyICmpPredicate(test.getPredicate()).str();
    if (auto test = dyn_cast<LLVM::FCmpOp>(op))
      wanted += "." + stringifyFCmpPredicate(test.getPredicate()).str();
    static const SmallVector<StringRef> entries = llvm::to_vector(llvm::split(kExpressions, ';'));
    for (StringRef entry : entries)
      if (auto [name, pattern] = entry.trim().split(' '); name == wanted)
        return fill(pattern, op);
    unknown = wanted;
    return "";
  }

  std::string statement(Operation &op) {
    if (auto branch = dyn_cast<LLVM::BrOp>(op))
      return jump(branch.getDest(), branch.getDestOperands());
    if (auto branch = dyn_cast<LLVM::CondBrOp>(op))
      return "if (" + nameOf(branch.getCondition()) + ") " +
             jump(branch.getTrueDest(), branch.getTrueDestOperands()) + "else " +
             jump(branch.getFalseDest(), branch.getFalseDestOperands());
    if (isa<LLVM::ReturnOp, LLVM::StoreOp>(op))
      return fill(isa<LLVM::StoreOp>(op) ? "*(T0 *)$1 = $0;\n" : "return;\n", op);
    std::string value = expression(op);
    if (!unknown.empty())
      return "";
    if (op.getResult(0).getType().isInteger()) // zeros above the bits of a number
      value = "(" + value + ") & " + llvm::utostr(~uint64_t(0) >> (64 - bitsOf(op.getResult(0)))) +
              "ul";
    return nameOf(op.getResult(0)) + " = " + value + ";\n";
  }

  LLVM::LLVMFuncOp function;
  llvm::DenseMap<Value, size_t> numbers;
  std::string declarations;
};

llvm::Expected<std::string> textInC(ModuleOp module) {
  std::string text = kTypes.str();
  for (auto each : module.getOps<LLVM::LLVMFuncOp>()) {
    Function function(each);
    text += function.print();
    if (!function.unknown.empty())
      return llvm::createStringError("there is no C for " + function.unknown);
  }
  return text;
}

/// An ELF object of a text in C, whose functions call nothing.
llvm::Expected<std::string> compileC(llvm::StringRef text) {
  llvm::SmallString<64> source, object;
  std::error_code why = llvm::sys::fs::createTemporaryFile("weft-toy", "c", source);
  if (why || (why = llvm::sys::fs::createTemporaryFile("weft-toy", "o", object)))
    return llvm::errorCodeToError(why);
  llvm::FileRemover removesSource(source), removesObject(object);
  llvm::raw_fd_ostream(source, why) << text;
  llvm::SmallVector<llvm::StringRef> arguments{WEFT_C_COMPILER};
  llvm::StringRef("-c -O1 -w -fPIC -ffreestanding -fno-math-errno -fno-strict-aliasing -fwrapv "
                  "-ffp-contract=off -fno-stack-protector -fno-asynchronous-unwind-tables -o")
      .split(arguments, ' ');
  arguments.append({object, source});
  if (why || llvm::sys::ExecuteAndWait(WEFT_C_COMPILER, arguments) != 0)
    return llvm::createStringError("the C compiler refuses a kernel");
  auto buffer = llvm::MemoryBuffer::getFile(object);
  if (!buffer)
    return llvm::errorCodeToError(buffer.getError());
  return (*buffer)->getBuffer().str();
}

CpuLevel scalar() {
  static const VectorMachine machine{{}};
  static const Schedule *const schedules[] = {serialSchedule(), rowSchedule(), columnsSchedule(),
                                              loopSchedule()};
  return {"scalar", machine, {}, schedules, [](ModuleOp module) -> llvm::Expected<std::string> {
            if (llvm::Error error = lowerToLlvmDialect(module, machine))
              return std::move(error);
            llvm::Expected<std::string> text = textInC(module);
            return text ? compileC(*text) : text.takeError();
          }};
}

class ToyFamily : public CpuFamily {
public:
  ToyFamily() : CpuFamily({scalar()}) {}
  std::string name() const override { return "toy"; }
  std::string hostLevel() const override { return ""; }
  std::string hostProcessor() const override { return ""; }
  std::shared_ptr<HostTarget> hostTarget(llvm::StringRef) const override {
    return llvm::cantFail(findTargets(TargetName::kHost)).front().host;
  }
};

} // namespace

const TargetFamily &toyFamily() {
  static const ToyFamily family;
  return family;
}

} // namespace weft::test
