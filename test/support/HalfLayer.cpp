#include "test/support/HalfLayer.h"
#include "test/support/Constant.h"
#include "test/support/Halves.h"
#include <catch2/catch.hpp>

namespace weft::test {
namespace {

/// [m, h, w, channels], or [m, w, channels] when there is one axis; `results`: of windows over it.
std::string tensor(const std::vector<Axis> &axes, int64_t channels, const std::string &element,
                   bool results) {
  std::string dims = "[m";
  for (size_t d = 0; d < axes.size(); ++d) {
    const Axis &a = axes[d];
    std::string size = d + 1 == axes.size() ? "w" : "h";
    int64_t less = a.low + a.high - a.dilation * (a.kernel - 1) - 1;
    dims += ", " + (results ? "floordiv(" + size + " + " + std::to_string(less) + ", " +
                                  std::to_string(a.stride) + ") + 1"
                            : size);
  }
  return "!weft.tensor<" + dims + ", " + std::to_string(channels) + "], " + element + ">";
}

std::string windows(const std::vector<Axis> &axes) {
  return " strides " + list(axes, &Axis::stride) + " dilations " + list(axes, &Axis::dilation) +
         " low " + list(axes, &Axis::low) + " high " + list(axes, &Axis::high);
}

std::string main(const std::string &x, const std::string &y, size_t axes, const std::string &body) {
  return "func.func @main(%x: " + x + ") -> " + y + " attributes {weft.symbols = #weft.symbols<m" +
         (axes == 2 ? ", h" : "") + ", w>} {\n" + body + "}\n";
}

} // namespace

std::string textOf(const HalfLayer &l) {
  Constant filter{l.element, {l.filters, l.channels}}, bias{l.element, {l.filters}};
  for (const Axis &axis : l.axes)
    filter.dims.push_back(axis.kernel);
  std::string number = std::to_string(l.filters), one = l.axes.size() == 2 ? "1, 1, 1, " : "1, 1, ",
              x = tensor(l.axes, l.groups * l.channels, l.element, false),
              sum = tensor(l.axes, l.filters, "f32", true),
              y = tensor(l.axes, l.filters, l.element, true),
              wide = "!weft.tensor<[" + number + "], f32>",
              shaped = "!weft.tensor<[" + one + number + "], f32>",
              image = l.isComputed ? "%n" : "%x";
  std::string body = "  %f = " + filter.text(1) + "\n  %b = " + bias.text(2) + "\n";
  if (l.isComputed)
    body += "  %n = weft.neg %x : (" + x + ") -> " + x + "\n";
  body += "  %0 = weft.conv " + image + ", %f" + windows(l.axes) + " groups " +
          std::to_string(l.groups) + " accumulate f32 {channels_last} : (" + x + ", " +
          filter.type() + ") -> " + sum + "\n  %1 = weft.convert %b to f32 : (" + bias.type() +
          ") -> " + wide + "\n  %2 = weft.reshape %1 to [" + one + number + "] : (" + wide +
          ") -> " + shaped + "\n  %3 = weft.add %0, %2 : (" + sum + ", " + shaped + ") -> " + sum +
          "\n  %4 = weft.convert %3 to " + l.element + " : (" + sum + ") -> " + y +
          "\n  %5 = weft.activation relu %4 : (" + y + ") -> " + y + "\n  return %5 : " + y + "\n";
  return main(x, y, l.axes.size(), body);
}

void agrees(const std::string &text, const std::string &element, std::initializer_list<Sizes> all,
            const std::string &schedule, const std::vector<std::string> &targets) {
  for (const std::string &target : targets) {
    if (!isSupported(target))
      continue;
    Program program(text, exactly(target));
    INFO(target << " " << text.substr(0, text.find('\n')));
    INFO(program.error());
    REQUIRE(program.error().empty());
    CHECK(uses(program, schedule));
    for (const Sizes &each : all) {
      INFO("m=" << each.at("m") << " w=" << each.at("w"));
      double difference = program.difference(each);
      INFO(program.error());
      CHECK(difference <= place(element));
    }
  }
}

} // namespace weft::test
