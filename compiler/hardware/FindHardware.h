//===- FindHardware.h - Descriptions by their names -------------------------------------------===//
//
//   Result<HardwareData> usable = usableOn(*hardware, target);     // what its processors have
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_HARDWARE_FINDHARDWARE_H
#define WEFT_COMPILER_HARDWARE_FINDHARDWARE_H

#include "compiler/hardware/HardwareData.h"
#include "weft/hardware.hpp"

namespace weft {

/// The description without the ways that need what the processors of a target lack; all of it where
/// the target is empty.
Result<HardwareData> usableOn(const HardwareData &hardware, const std::string &target);

} // namespace weft

#endif // WEFT_COMPILER_HARDWARE_FINDHARDWARE_H
