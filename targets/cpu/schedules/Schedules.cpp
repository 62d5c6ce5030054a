//===- Schedules.cpp ----------------------------------------------------------------------------===//

#include "targets/cpu/schedules/Schedules.h"

namespace weft {

llvm::ArrayRef<const Schedule *> cpuSchedules() {
  static const Schedule *all[] = {blockDotsSchedule(),
                                  tileContractionSchedule(),
                                  contractionSchedule(),
                                  integerTileContractionSchedule(),
                                  integerContractionSchedule(),
                                  depthwiseSchedule(),
                                  depthwiseLastSchedule(),
                                  winogradSchedule(),
                                  winogradLastSchedule(),
                                  winogradBytesSchedule(),
                                  convolutionSchedule(),
                                  windowConvolutionSchedule(),
                                  poolSchedule(),
                                  productSchedule(),
                                  tileAttentionSchedule(),
                                  attentionSchedule(),
                                  serialSchedule(),
                                  rowSchedule(),
                                  columnsSchedule(),
                                  loopSchedule()};
  return all;
}

} // namespace weft
