//===- ArtifactInput.h - What the bytes of an input of artifact_fuzz mean -----------------------===//
#ifndef WEFT_TEST_FUZZ_ARTIFACTINPUT_H
#define WEFT_TEST_FUZZ_ARTIFACTINPUT_H

#include <cstddef>

namespace weft::fuzz {

/// The first byte of an input says what follows.
enum ArtifactInput : unsigned char {
  WholeFile,
  Descriptor, ///< the number of variants, then a descriptor, which is put into a good file and hashed
  HashedEdits, ///< edits of a good file, which is hashed again, so that what lies behind the hash is reached
  Edits ///< edits of a good file
};

/// An edit: position (3 bytes), width in bytes (1), value (8).
constexpr size_t kEditBytes = 12;

} // namespace weft::fuzz

#endif // WEFT_TEST_FUZZ_ARTIFACTINPUT_H
