// What tests of the example programs need: artifacts that stand in for a compiled model, and a way to
// run a program and see what it says.
//
//   Folder folder;
//   std::string model = folder.write("model.weft", sealed(longModel()));
//   Ran ran = folder.run(WEFT_SENTENCE_SEARCH " " + model + " …");
#pragma once

#include <string>

#include "test/runtime/artifact_builder.h"

namespace weft_examples_test {

/// input_ids, attention_mask [batch, seq <= 512] -> sentence_embedding [batch, 64].
weft_test::function longModel();
/// The same with the mask first and seq <= 4.
weft_test::function shortModel();
/// The bytes of an artifact with this function as 'main'.
std::string sealed(const weft_test::function &function);

struct Ran {
  int exitCode;
  std::string out, err;
};

/// A temporary folder.
class Folder {
public:
  Folder();
  ~Folder();
  Folder(const Folder &) = delete;

  /// Writes a file and returns its path.
  std::string write(const std::string &name, const std::string &content) const;
  /// Runs a shell command; its standard input is `input`.
  Ran run(const std::string &command, const std::string &input = "") const;

private:
  std::string path;
};

} // namespace weft_examples_test
