//===- Formats.h - What mutators know of the formats that Weft reads ----------------------------===//
#ifndef WEFT_TEST_FUZZ_FORMATS_H
#define WEFT_TEST_FUZZ_FORMATS_H

#include "test/fuzz/Field.h"

namespace weft::fuzz {

/// Words and brackets of a text; entries of lists stay whole. With `lines`, lines do, too.
class TokenFormat : public Format {
public:
  explicit TokenFormat(bool lines) : lines(lines) {}
  std::optional<Field> split(std::string_view bytes) const override;
  Written join(const Field &root) const override;

private:
  bool lines;
};

const Format &irFormat();
const Format &jsonFormat();
const Format &safetensorsFormat();
const Format &npyFormat();
const Format &npzFormat();
const Format &onnxFormat();
/// What artifact_fuzz.cpp takes.
const Format &artifactFormat();

/// What join() of most formats needs: everything of a field in order, with lengths left as they are.
void writeFlat(const Field &field, std::string &out);

/// Little endian.
std::string fixedBytes(uint64_t value, size_t bytes);
uint64_t fixedNumber(std::string_view bytes);

} // namespace weft::fuzz

#endif // WEFT_TEST_FUZZ_FORMATS_H
