//===- FileStore.h - Files that one side sends and the other keeps ----------------------------===//
//
//   Result<Pieces> pieces = piecesOf("model.weft");     // here
//   Result<std::string> lacks = store.begin(*pieces);   // there: '1' for a piece that it lacks
//   store.put(3, bytes); …; store.end();                // checked against its hash
//
// Candidates of one model have the same weights: what another file of the store has is not sent
// again.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_FILESTORE_H
#define WEFT_TOOLS_WEFT_TRIALS_FILESTORE_H

#include "tools/weft/cli/TemporaryFolder.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace weft::cli {

constexpr size_t kPieceBytes = 1 << 16, kDigestBytes = 32;
constexpr uint64_t kMostFileBytes = uint64_t(1) << 34; ///< so that their digests fit a message

struct Pieces {
  std::string hash; ///< of the whole, SHA-256 in hexadecimal digits
  uint64_t bytes = 0;
  std::string digests; ///< one behind the other

  size_t count() const { return size_t((bytes + kPieceBytes - 1) / kPieceBytes); }
  size_t sizeOf(size_t piece) const;
};

Result<Pieces> piecesOf(const std::string &path);
Result<std::string> readPiece(const std::string &path, const Pieces &pieces, size_t piece);

class FileStore {
public:
  explicit FileStore(TemporaryFolder folder) : folder(std::move(folder)) {}
  FileStore(const FileStore &) = delete;
  FileStore &operator=(const FileStore &) = delete;
  ~FileStore();

  /// A new file, of which pieces that other ones have are filled in.
  Result<std::string> begin(const Pieces &pieces);
  /// What is wrong with a piece is said by end().
  void put(size_t piece, std::string_view bytes);
  Result<Done> end();
  /// Whether begin() was called and end() not yet.
  bool isOpen() const { return file >= 0; }

  std::optional<std::string> pathOf(const std::string &hash) const;
  void drop(const std::string &hash);

private:
  struct Kept {
    std::string path;
    std::unordered_map<std::string, size_t> places; ///< of pieces, by digest
  };
  bool fill(size_t piece, const std::string &digest);
  void close();

  TemporaryFolder folder;
  std::map<std::string, Kept> files; ///< by hash
  Pieces coming;                     ///< what is written to `file`
  int file = -1;
  std::string complaint;
  unsigned made = 0;
};

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_TRIALS_FILESTORE_H
