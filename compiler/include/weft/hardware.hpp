//===- hardware.hpp - What hardware computes in integers, and whether a program keeps to it ---------===//
//
//   weft::Result<weft::Hardware> hardware = weft::findHardware("accelerator");     // or a file: "./npu.json"
//   weft::Result<weft::HardwareCheck> check = weft::checkHardware(module, *hardware);
//   for (const weft::HardwareFinding &each : check->findings) show(each.where, each.operation, each.reason);
//
// docs/hardware.md has the fields of such files.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_HARDWARE_HPP
#define WEFT_HARDWARE_HPP

#include "weft/compiler.hpp"

namespace weft {

/// What a description says; the compiler's own.
struct HardwareData;
/// One that was read.
using Hardware = std::shared_ptr<const HardwareData>;

/// A description that comes with Weft, by its name, or a file: a path has a dot or a slash. Refuses with code W0330 what is none.
Result<Hardware> findHardware(const std::string &nameOrFile);
/// As the description calls itself.
std::string nameOf(const Hardware &hardware);

/// An operation that the hardware does not compute so.
struct HardwareFinding {
  std::string where;     ///< node, or file and line of a text
  std::string operation; ///< as Weft's programs have it: "contract"
  std::string reason;    ///< one line
};

/// What was looked at, and what was found.
struct HardwareCheck {
  std::vector<HardwareFinding> findings; ///< in program order
  size_t integers = 0, floats = 0;       ///< numbers of operations that compute so
  size_t narrowSums = 0; ///< of products in fewer than 32 bits that no input makes overflow
};

/// Looks at a program as it is written, whoever wrote it. Parts of the description that need what the processors of `target` lack do not count; empty: all do.
/// Refuses with code W0308 a target that there is not.
Result<HardwareCheck> checkHardware(const Module &module, const Hardware &hardware,
                                    const std::string &target = "");

} // namespace weft

#endif // WEFT_HARDWARE_HPP
