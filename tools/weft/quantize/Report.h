//===- Report.h - What weft quantize found, as one page ---------------------------------------===//
//
//   std::string page = htmlReport("minilm", "x86:v4 on …", found);   // --report FILE.html
//
// The page needs nothing beside it: no script, no other file, no network.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_QUANTIZE_REPORT_H
#define WEFT_TOOLS_WEFT_QUANTIZE_REPORT_H

#include "weft/quantize.hpp"

namespace weft::cli {

/// `circumstances`: what was searched for, where and with what.
std::string htmlReport(const std::string &model, const std::string &circumstances,
                       const Quantization &found);

/// "static", or "static<=64" with weights of at most that.
std::string formText(const std::string &form, int64_t mostWeight);
/// What a layer could have become instead: "rows 4.5e-05, 887 us".
std::string otherChoices(const QuantizedLayer &layer);

/// Whether a layer became blocks, which are rounded in one way or another.
bool isAnyRounded(const Quantization &found);

/// "%.2f" and the like.
std::string printed(const char *format, double value);

/// "cosine 0.99854, worst 0.9880  sqnr 25.5 dB  top1 93.9 %  kl 0.00019"
std::string accuracyLine(const Accuracy &accuracy);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_QUANTIZE_REPORT_H
