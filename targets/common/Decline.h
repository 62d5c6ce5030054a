//===- Decline.h - Why a schedule leaves a kernel to the next ---------------------------------------===//
//
//   Decline why = schedule.decline(spec, machine);
//   if (!why) …                                     // it takes the kernel
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_COMMON_DECLINE_H
#define WEFT_TARGETS_COMMON_DECLINE_H

namespace weft {

/// What is so about the kernel, in words of a model: "the weight is no constant".
struct Decline {
  const char *reason = nullptr; ///< null: it does not decline
  bool isOtherKind = false;     ///< the kernel has nothing that the schedule is for

  static Decline otherKind(const char *reason) { return {reason, true}; }
  explicit operator bool() const { return reason; }
};

} // namespace weft

#endif // WEFT_TARGETS_COMMON_DECLINE_H
