//===- Message.cpp ----------------------------------------------------------------------------===//

#include "tools/weft/trials/Message.h"
#include "tools/weft/cli/Interrupt.h"
#include "tools/weft/cli/Options.h"
#include "tools/weft/cli/Values.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <poll.h>
#include <unistd.h>

namespace weft::cli {
namespace {

constexpr int kTickMs = 100;
constexpr size_t kMostShown = 200;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool isPrintable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
}

Failure broken(const std::string &what) { return {ExitMachineLacks, what, "", ""}; }

/// Until the descriptor is ready.
Result<Done> await(int descriptor, short events, double silence) {
  double begin = now();
  while (true) {
    pollfd file{descriptor, events, 0};
    int ready = poll(&file, 1, kTickMs);
    if (interrupted())
      return Failure{ExitInterrupted, "interrupted", "", ""};
    if (ready > 0)
      return Done{};
    if (ready < 0 && errno != EINTR)
      return broken(strerror(errno));
    if (silence >= 0 && now() - begin > silence)
      return broken("silent for " + printSeconds(silence));
  }
}

} // namespace

std::optional<size_t> parseCount(std::string_view text, size_t most) {
  size_t value = 0;
  for (char digit : text) {
    if (digit < '0' || digit > '9' || value > (most - size_t(digit - '0')) / 10)
      return std::nullopt;
    value = value * 10 + size_t(digit - '0');
  }
  return text.empty() ? std::nullopt : std::optional<size_t>(value);
}

std::optional<MessageHead> parseHead(std::string_view line) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin <= line.size();) {
    size_t end = std::min(line.find(' ', begin), line.size());
    words.emplace_back(line.substr(begin, end - begin));
    if (words.back().empty() || !isPrintable(words.back()))
      return std::nullopt;
    begin = end + 1;
  }
  if (words.size() < 2)
    return std::nullopt;
  std::optional<size_t> bytes = parseCount(words[1], kMostPayload);
  if (!bytes)
    return std::nullopt;
  return MessageHead{words[0], {words.begin() + 2, words.end()}, *bytes};
}

std::string asLine(std::string_view text) {
  std::string line;
  for (char c : text.substr(0, text.find_last_not_of(" \r\n") + 1))
    line += c >= ' ' && c < 127 ? c : '?';
  return line.size() > kMostShown ? line.substr(0, kMostShown) + "..." : line;
}

Result<Done> Channel::sendBytes(std::string_view bytes, double silence) {
  while (!bytes.empty()) {
    if (Result<Done> ready = await(out, POLLOUT, silence); !ready)
      return ready;
    ssize_t done = write(out, bytes.data(), bytes.size());
    if (done < 0 && errno != EINTR && errno != EAGAIN) {
      ended = true;
      return broken(errno == EPIPE ? "ended" : strerror(errno));
    }
    bytes.remove_prefix(done < 0 ? 0 : static_cast<size_t>(done));
  }
  return Done{};
}

Result<Done> Channel::send(const Message &message, double silence) {
  std::string line = message.word + " " + std::to_string(message.payload.size());
  for (const std::string &argument : message.arguments)
    line += " " + argument;
  if (Result<Done> done = sendLine(line, silence); !done)
    return done;
  return sendBytes(message.payload, silence);
}

Result<Done> Channel::receiveMore(double silence) {
  if (ended)
    return broken("ended");
  if (Result<Done> ready = await(in, POLLIN, silence); !ready)
    return ready;
  char buffer[1 << 16];
  ssize_t length = read(in, buffer, sizeof buffer);
  if (length < 0 && (errno == EINTR || errno == EAGAIN))
    return Done{};
  ended = length <= 0;
  if (ended)
    return broken("ended");
  pending.append(buffer, static_cast<size_t>(length));
  return Done{};
}

Result<std::string> Channel::receiveLine(double silence) {
  size_t end;
  while ((end = pending.find('\n')) == std::string::npos) {
    if (pending.size() > kMostLine)
      return broken("a line of more than " + std::to_string(kMostLine) + " bytes");
    if (Result<Done> more = receiveMore(silence); !more)
      return more.failure();
  }
  std::string line = pending.substr(0, end);
  pending.erase(0, end + 1);
  return line;
}

Result<Message> Channel::receive(double silence) {
  Result<std::string> line = receiveLine(silence);
  if (!line)
    return line.failure();
  std::optional<MessageHead> head = parseHead(*line);
  if (!head)
    return broken("'" + asLine(*line) + "' is no message");
  while (pending.size() < head->bytes)
    if (Result<Done> more = receiveMore(silence); !more)
      return more.failure();
  Message message{head->word, head->arguments, pending.substr(0, head->bytes)};
  pending.erase(0, head->bytes);
  return message;
}

} // namespace weft::cli
