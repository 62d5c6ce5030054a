//===- Message.h - What 'weft tune' and a remote say to each other ----------------------------===//
//
//   Channel channel(in, out);
//   if (Result<Done> done = channel.send({"features", {"dotprod"}, ""}, 30); !done) return …
//   Result<Message> answer = channel.receive(30);     // seconds of silence
//
// A message is a line "WORD BYTES ARGUMENT…" and so many bytes behind it; docs/tuning-remote.md
// says which there are.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_MESSAGE_H
#define WEFT_TOOLS_WEFT_TRIALS_MESSAGE_H

#include "tools/weft/cli/Result.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::cli {

/// The first line of a remote; what it writes before is passed over.
constexpr std::string_view kTrialsGreeting = "weft-trials ";
constexpr int kTrialsVersion = 1;

constexpr size_t kMostLine = 1 << 16, kMostPayload = 1 << 30;
constexpr size_t kMostTrialSeconds = 1000000;

struct Message {
  std::string word;
  std::vector<std::string> arguments; ///< printable, without spaces
  std::string payload;
};

/// What a line says of a message. Nothing when it is none, or when too much would follow.
struct MessageHead {
  std::string word;
  std::vector<std::string> arguments;
  size_t bytes;
};
std::optional<MessageHead> parseHead(std::string_view line);

/// A text of anybody's as one that is shown in a line: printable ASCII, of bounded length.
std::string asLine(std::string_view text);

/// A whole number of digits only, at most `most`.
std::optional<size_t> parseCount(std::string_view text, size_t most);

/// Two descriptors, which somebody else closes. Everything ends early when this process is
/// interrupted.
class Channel {
public:
  Channel(int in, int out) : in(in), out(out) {}

  /// `silence`: seconds that the other side may take no byte for, or give none; less than 0: any
  /// time.
  Result<Done> send(const Message &message, double silence);
  Result<Message> receive(double silence);
  /// Without its end.
  Result<std::string> receiveLine(double silence);
  Result<Done> sendLine(const std::string &line, double silence) {
    return sendBytes(line + "\n", silence);
  }
  /// Whether a failure of `receive` was that the other side said nothing more, between two
  /// messages.
  bool hasEnded() const { return ended && pending.empty(); }
  /// Whether a failure was that the other side is not there any more.
  bool isLost() const { return ended; }

private:
  Result<Done> sendBytes(std::string_view bytes, double silence);
  Result<Done> receiveMore(double silence);

  int in, out;
  std::string pending; ///< that was read, but not asked for
  bool ended = false;
};

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_TRIALS_MESSAGE_H
