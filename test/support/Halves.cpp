//===- Halves.cpp -------------------------------------------------------------------------------------===//

#include "test/support/Halves.h"

namespace weft::test {

std::string attention(const std::string &element, int64_t d, int64_t e, bool sideBySide) {
  auto tensor = [](const std::string &dims, const std::string &element) {
    return "!weft.tensor<[" + dims + "], " + element + ">";
  };
  auto heads = [&](const char *rows, int64_t columns) {
    std::string size = std::to_string(columns);
    return tensor(sideBySide ? std::string("b, ") + rows + ", 2, " + size
                             : std::string("b, 2, ") + rows + ", " + size,
                  element);
  };
  std::string h = sideBySide ? "b X h Y" : "b h X Y";
  auto named = [&](const char *row, const char *column) {
    std::string names = h;
    names[names.find('X')] = *row;
    names[names.find('Y')] = *column;
    return names;
  };
  std::string q = heads("s", d), k = heads("t", d), v = heads("t", e), y = heads("s", e),
              mask = tensor("b, 1, 1, t", element), scores = tensor("b, 2, s, t", element),
              sum = tensor("b, 2, s, t", "f32");
  std::string mixed = y.substr(0, y.rfind(' ')) + " f32>";
  return "func.func @main(%q: " + q + ", %k: " + k + ", %v: " + v + ", %mask: " + mask + ") -> " +
         y + " attributes {weft.symbols = #weft.symbols<b, s, t>} {\n  %0 = weft.contract \"" +
         named("s", "d") + ", " + named("t", "d") + " -> b h s t\" %q, %k accumulate f32 : (" + q +
         ", " + k + ") -> " + sum + "\n  %1 = weft.convert %0 to " + element + " : (" + sum +
         ") -> " + scores + "\n  %c = weft.fill 0.25 : " + element + " -> " + tensor("", element) +
         "\n  %2 = weft.mul %1, %c : (" + scores + ", " + tensor("", element) + ") -> " + scores +
         "\n  %3 = weft.add %2, %mask : (" + scores + ", " + mask + ") -> " + scores +
         "\n  %4 = weft.softmax %3 : (" + scores + ") -> " + scores +
         "\n  %5 = weft.contract \"b h s t, " + named("t", "e") + " -> " + named("s", "e") +
         "\" %4, %v accumulate f32 : (" + scores + ", " + v + ") -> " + mixed +
         "\n  %6 = weft.convert %5 to " + element + " : (" + mixed + ") -> " + y +
         "\n  return %6 : " + y + "\n}\n";
}

} // namespace weft::test
