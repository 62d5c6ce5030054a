//===- Manifest.h - The cases that export_cases.py wrote ----------------------------------------===//
//
//   std::vector<Case> cases;
//   std::string why = readManifest("FOLDER/manifest.txt", cases);        // empty when it was read
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_ONNX_SUITE_MANIFEST_H
#define WEFT_TEST_ONNX_SUITE_MANIFEST_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weft::suite {

/// An input or output, with ONNX's name of its element type.
struct Edge {
  std::string name, element;
};

struct Case {
  std::string name, folder;
  std::vector<std::string> operators;
  double relative = 0, absolute = 0; ///< tolerances
  std::vector<Edge> inputs, outputs;
  unsigned sets = 0;
  std::string edge; ///< what its data are when they are not tensors of numbers
};

/// Appends the cases of one manifest. Gives what is wrong, or nothing.
std::string readManifest(const std::string &path, std::vector<Case> &cases);

/// Names of cases that may be refused, with the reason: lines "# reason" above lines of names.
std::string readNotYet(const std::string &path, std::map<std::string, std::string> &reasons);

} // namespace weft::suite

#endif // WEFT_TEST_ONNX_SUITE_MANIFEST_H
