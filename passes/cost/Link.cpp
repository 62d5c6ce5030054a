//===- Link.cpp -------------------------------------------------------------------------------------------===//

#include "passes/cost/Link.h"

using namespace mlir;

namespace weft {

Link Links::of(MeshAttr group) const {
  Link slowest;
  bool isFirst = true;
  for (StringAttr axis : group.getAxes()) {
    auto own = axes.find(axis.str());
    const Link &link = own == axes.end() ? others : own->second;
    slowest = isFirst ? link
                      : Link{std::max(slowest.latency, link.latency),
                             std::min(slowest.bytesPerNanosecond, link.bytesPerNanosecond),
                             slowest.isMemory && link.isMemory};
    isFirst = false;
  }
  return slowest;
}

/// A number with one of the units, in the last unit's terms; nothing when it is none.
static std::optional<double> readUnit(StringRef text,
                                      ArrayRef<std::pair<StringLiteral, double>> units) {
  for (const auto &[unit, factor] : units) {
    StringRef number = text;
    double value = 0;
    if (number.consume_back(unit) && !number.empty() && llvm::isDigit(number[0]) &&
        !number.getAsDouble(value) && value > 0 && value < 1e15)
      return value * factor;
  }
  return std::nullopt;
}

llvm::Error readLink(StringRef text, Links &links) {
  auto [bandwidth, latency] = text.split(',');
  StringRef axis;
  if (bandwidth.contains('='))
    std::tie(axis, bandwidth) = bandwidth.split('=');
  std::optional<double> bytes =
      readUnit(bandwidth.trim(), {{"GB/s", 1}, {"MB/s", 1e-3}, {"KB/s", 1e-6}});
  std::optional<double> time =
      readUnit(latency.trim(), {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}});
  if (!bytes || !time || (axis.empty() && text.contains('=')))
    return llvm::createStringError("link '" + text +
                                   "' is no bandwidth with a latency, such as 2GB/s,20us or "
                                   "dp=2GB/s,20us");
  (axis.empty() ? links.others : links.axes[axis.str()]) = {*time, *bytes, false};
  return llvm::Error::success();
}

} // namespace weft
