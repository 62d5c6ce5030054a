//===- Report.cpp -----------------------------------------------------------------------------===//

#include "tools/weft/quantize/Report.h"
#include "tools/weft/cli/Values.h"
#include "tools/weft/quantize/SearchName.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace weft::cli {

std::string printed(const char *format, double value) {
  char text[48];
  snprintf(text, sizeof text, format, value);
  return text;
}

std::string accuracyLine(const Accuracy &accuracy) {
  return "cosine " + printed("%.5f", accuracy.cosine) + ", worst " +
         printed("%.4f", accuracy.worstCosine) + "  sqnr " + printed("%.1f dB", accuracy.sqnr) +
         (std::isnan(accuracy.kl) ? ""
                                  : "  top1 " + printed("%.1f %%", 100 * accuracy.top1) + "  kl " +
                                        printed("%.2g", accuracy.kl)) +
         (std::isnan(accuracy.score) ? "" : "  score " + printed("%.6g", accuracy.score));
}

std::string formText(const std::string &form, int64_t mostWeight) {
  return form +
         (mostWeight < QuantizedChoice().mostWeight ? "<=" + std::to_string(mostWeight) : "");
}

std::string otherChoices(const QuantizedLayer &layer) {
  std::string text;
  for (const QuantizedChoice &choice : layer.choices)
    if (choice.form != layer.form || choice.mostWeight != layer.mostWeight)
      text += (text.empty() ? "" : "; ") + formText(choice.form, choice.mostWeight) + " " +
              printed("%.1e", choice.loss) + ", " + (choice.seconds < 0 ? "-" : "") +
              printSeconds(std::fabs(choice.seconds));
  return text.empty() ? "-" : text;
}

bool isAnyRounded(const Quantization &found) {
  return std::any_of(found.layers.begin(), found.layers.end(),
                     [](const QuantizedLayer &layer) { return !layer.rounded.empty(); });
}

namespace {

constexpr double kWidth = 640, kHeight = 360, kMargin = 60;

constexpr const char *kStyle =
    "body{font:15px/1.5 sans-serif;max-width:70em;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse}td,th{padding:.15em .7em;text-align:right;border-bottom:1px "
    "solid #ddd}td:first-child,th:first-child{text-align:left}"
    ".f32{color:#a33}.bar{background:#4a7db5;height:.8em;display:inline-block}"
    "svg{border:1px solid #ddd}svg text{font-size:12px;fill:#222}";

std::string escaped(const std::string &text) {
  std::string out;
  for (char c : text)
    out += c == '<'   ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '&' ? "&amp;"
           : c == '"' ? "&quot;"
                      : std::string(1, c);
  return out;
}

/// Losses from right to left by their logarithm, times from below.
class Plot {
public:
  explicit Plot(const Quantization &found) {
    for (const auto *points : {&found.front, &found.tried, &found.peers})
      for (const QuantizedPoint &point : *points) {
        slowest = std::max(slowest, point.latency);
        if (double loss = 1 - point.cosine; loss > 0) {
          least = std::min(least, loss);
          most = std::max(most, loss);
        }
      }
    least = std::min(least, most / 10);
  }

  std::string text(const Quantization &found) const {
    std::string svg = "<svg width=\"" + number(kWidth) + "\" height=\"" + number(kHeight) + "\">";
    svg += label(kWidth / 2, kHeight - 8, "1 - cosine, mean of the worst output") +
           label(4, 16, "time, as a part of f32's");
    for (double loss = std::pow(10, std::ceil(std::log10(least))); loss <= most * 1.0001;
         loss *= 10)
      svg += label(x(loss) - 12, kHeight - kMargin + 18, printed("%.0e", loss));
    for (double time = 0; time <= slowest * 1.0001; time += slowest > 0.6 ? 0.2 : 0.1)
      svg += label(16, y(time) + 4, printed("%.1f", time));
    for (const QuantizedPoint &point : found.front)
      svg += dot(point, "#9bbbd9", "sums of losses and prices");
    for (const QuantizedPoint &point : found.tried)
      svg += dot(point, "#4a7db5", "measured whole");
    for (const QuantizedPoint &point : found.peers)
      svg += dot(point, "#c0504d", point.name) +
             label(x(1 - point.cosine) + 7, y(point.latency) + 4, point.name);
    QuantizedPoint chosen{"", found.latency, found.measured.cosine, true};
    return svg + dot(chosen, "#1a9641", "the artifact") +
           label(x(1 - chosen.cosine) + 7, y(chosen.latency) - 6, "chosen") + "</svg>";
  }

private:
  static std::string number(double value) { return printed("%.1f", value); }
  double x(double loss) const {
    double part =
        (std::log(std::max(loss, least)) - std::log(least)) / (std::log(most) - std::log(least));
    return kMargin + part * (kWidth - 2 * kMargin);
  }
  double y(double time) const {
    return kHeight - kMargin - time / slowest * (kHeight - 2 * kMargin);
  }
  static std::string label(double atX, double atY, const std::string &text) {
    return "<text x=\"" + number(atX) + "\" y=\"" + number(atY) + "\">" + escaped(text) + "</text>";
  }
  std::string dot(const QuantizedPoint &point, const char *colour, const std::string &what) const {
    return "<circle cx=\"" + number(x(1 - point.cosine)) + "\" cy=\"" + number(y(point.latency)) +
           "\" r=\"5\" fill=\"" + colour + "\"><title>" + escaped(what) + ": " +
           printed("%.2fx", point.latency) + ", 1 - cosine " + printed("%.2g", 1 - point.cosine) +
           "</title></circle>";
  }

  double least = 1, most = 1e-5, slowest = 0.1;
};

std::string rowOf(const QuantizedLayer &layer, double longest, bool hasRounded) {
  std::string bar = "<span class=\"bar\" style=\"width:" +
                    printed("%.1f", longest > 0 ? 8 * std::max(layer.seconds, 0.0) / longest : 0) +
                    "em\"></span>";
  std::string range =
      layer.least == 0 && layer.most == 0
          ? "-"
          : printed("%.3g", layer.least) + " … " + printed("%.3g", layer.most) +
                (layer.range < 1
                     ? ", cut at " + printed("%.0f %%", 100 * layer.range) + " by " + layer.rangeBy
                     : "");
  return "<tr" + std::string(layer.form == "f32" ? " class=\"f32\"" : "") + "><td>" +
         escaped(layer.name) + "</td><td>" + escaped(formText(layer.form, layer.mostWeight)) +
         "</td><td>" +
         (hasRounded ? (layer.rounded.empty() ? "-" : layer.rounded) + "</td><td>" : "") +
         (layer.strength < 0 ? "-" : printed("%.1f", layer.strength)) + "</td><td>" + range +
         "</td><td>" + printed("%.1e", layer.loss) + "</td><td>" +
         (layer.seconds > 0 ? printSeconds(layer.seconds) + " " + bar : "-") + "</td><td>" +
         escaped(otherChoices(layer)) + "</td><td>" + escaped(layer.reason) + "</td></tr>\n";
}

} // namespace

std::string htmlReport(const std::string &model, const std::string &circumstances,
                       const Quantization &found) {
  bool hasRounded = isAnyRounded(found);
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + escaped(model) +
      " in integers</title><style>" + kStyle + "</style></head>\n<body><h1>" + escaped(model) +
      " in integers</h1>\n<p>" + printed("%.2f", found.latency) + " of the time in f32 (" +
      (found.clock == Quantization::Declared ? "by declared rates), "
       : found.clock == Quantization::Predicted
           ? "predicted for another machine), "
           : printed("%.2f", found.predictedLatency) + " by prices), ") +
      printBytes(double(found.bytes)) + " of " + printBytes(double(found.plainBytes)) + "; " +
      std::to_string(found.calibrated) + " calls calibrated, " + std::to_string(found.evaluated) +
      " measured; the search was " + printSearch(found.search) + ".</p>\n<p>" +
      escaped(circumstances) + ".</p>\n<ul>";
  for (const auto &[name, accuracy] : found.outputs)
    page += "<li>" + escaped(name) + ": " + escaped(accuracyLine(accuracy)) + "</li>\n";
  if (found.caches)
    page += "<li>rounded caches alone: " + escaped(accuracyLine(*found.caches)) + "</li>\n";
  page +=
      "</ul>\n<h2>Time against loss</h2>\n" + Plot(found).text(found) +
      "\n<p>Light: what other budgets would lead to, as losses and prices add up. Dark: strategies "
      "that were measured whole, their time by "
      "prices. Red: files of "
      "others.</p>\n<h2>Layers</h2>\n<table><tr><th>layer</th><th>becomes</th>" +
      std::string(hasRounded ? "<th>rounded</th>" : "") +
      "<th>equalised</th><th>reads</th><th>loss</th><th>saves</th><th>otherwise: loss, "
      "saves</th><th>why</th></tr>\n";
  double longest = 0;
  for (const QuantizedLayer &layer : found.layers)
    longest = std::max(longest, layer.seconds);
  for (const QuantizedLayer &layer : found.layers)
    page += rowOf(layer, longest, hasRounded);
  return page + "</table></body></html>\n";
}

} // namespace weft::cli
