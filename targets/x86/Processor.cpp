//===- Processor.cpp - What this machine's processor calls itself -----------------------------------===//
//
// A brand alone may be that of several (machines in a cloud say "Intel(R) Xeon(R) Processor"): family and model stand behind it.
//===------------------------------------------------------------------------------------------===//

#include "targets/x86/Processor.h"
#include "llvm/ADT/StringRef.h"
#include <cstring>
#include <tuple>
#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace weft {

#ifdef __x86_64__
static std::string brand() {
  unsigned words[12] = {}, most = __get_cpuid_max(0x80000000, nullptr);
  for (unsigned leaf = 0; leaf < 3 && most >= 0x80000004; ++leaf)
    __get_cpuid(0x80000002 + leaf, &words[4 * leaf], &words[4 * leaf + 1], &words[4 * leaf + 2],
                &words[4 * leaf + 3]);
  char text[sizeof words + 1] = {};
  memcpy(text, words, sizeof words);
  return text;
}

/// "25/17": what the manuals call display family and model.
static std::string familyAndModel() {
  unsigned eax = 0, ebx, ecx, edx;
  __get_cpuid(1, &eax, &ebx, &ecx, &edx);
  unsigned family = eax >> 8 & 15, model = eax >> 4 & 15;
  if (family == 6 || family == 15)
    model += (eax >> 16 & 15) << 4;
  if (family == 15)
    family += eax >> 20 & 255;
  return std::to_string(family) + "/" + std::to_string(model);
}

bool x86HasFastHalves() {
  unsigned most, vendor[3] = {};
  __get_cpuid(0, &most, &vendor[0], &vendor[2], &vendor[1]);
  return llvm::StringRef(reinterpret_cast<const char *>(vendor), sizeof vendor) == "AuthenticAMD";
}
#else
static std::string brand() { return ""; }
static std::string familyAndModel() { return "?"; }
bool x86HasFastHalves() { return false; }
#endif

/// The brand as words of printable characters, a space between two.
static std::string nameOf(llvm::StringRef brand, const std::string &familyAndModel) {
  std::string name;
  for (char c : brand)
    if (c > ' ' && c < 127 && c != '|')
      name += c;
    else if (c && !name.empty() && name.back() != ' ')
      name += ' ';
  return llvm::StringRef(name).rtrim().str() + (name.empty() ? "unknown (" : " (") +
         familyAndModel + ")";
}

std::string x86Processor() { return nameOf(brand(), familyAndModel()); }

/// Of the first processor's lines "model name\t: TEXT".
static llvm::StringRef fieldOf(llvm::StringRef text, llvm::StringRef name) {
  for (llvm::StringRef line; !text.empty();) {
    std::tie(line, text) = text.split('\n');
    auto [field, value] = line.split(':');
    if (field.trim() == name)
      return value.trim();
  }
  return "";
}

std::string x86ProcessorIn(llvm::StringRef text) {
  llvm::StringRef family = fieldOf(text, "cpu family"), model = fieldOf(text, "model");
  unsigned number;
  if (family.getAsInteger(10, number) || model.getAsInteger(10, number))
    return "";
  return nameOf(fieldOf(text, "model name"), (family + "/" + model).str());
}

} // namespace weft
