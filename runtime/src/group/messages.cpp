#include "runtime/src/group/messages.h"

#include "runtime/src/cpu/threads.h"
#include "runtime/src/group/combine.h"

/// An all_reduce of more bytes from all others is combined in parts.
static const int64_t one_stage_bytes = 16 << 10;

static int64_t element_bytes(const weft_collective_t &c) {
  return weft_element_bits(c.element) / 8;
}

int32_t weft_plan_stages(const weft_collective_t &c, int32_t rank, int32_t world,
                         weft_collective_t (&stages)[2]) {
  int64_t count = c.outer * c.first * c.inner;
  stages[0] = c;
  if (c.kind != WEFT_ALL_REDUCE || world <= 2 ||
      count * element_bytes(c) * (world - 1) <= one_stage_bytes)
    return 1;
  weft_collective_t &scatter = stages[0], &gather = stages[1];
  scatter.outer = scatter.inner = 1;
  scatter.first = count;
  gather = scatter;
  scatter.kind = WEFT_REDUCE_SCATTER;
  gather.kind = WEFT_ALL_GATHER;
  int64_t begin, end;
  weft_part_of(count, world, rank, &begin, &end);
  scatter.receive = (uint8_t *)c.receive + begin * element_bytes(c);
  gather.send = scatter.receive;
  return 2;
}

static const weft_view_t nothing = {0, 1, 0, 0};

static weft_view_t sent_to(const weft_mail_t &mail, int32_t peer) {
  return weft_flows(mail.stage, mail.world, mail.rank, peer)
             ? weft_sent(mail.stage, mail.world, mail.rank, peer)
             : nothing;
}

static weft_view_t received_from(const weft_mail_t &mail, int32_t peer) {
  return weft_flows(mail.stage, mail.world, peer, mail.rank)
             ? weft_received(mail.stage, mail.world, peer, mail.rank)
             : nothing;
}

static bool lies_together(const weft_view_t &view) { return view.blocks == 1; }

/// Whether what goes to `peer` is sent from the buffer. What a rank copies to itself goes from send to receive, at the end.
static bool is_packed(const weft_mail_t &mail, int32_t peer, const weft_view_t &sent) {
  return !lies_together(sent) && (peer != mail.rank || weft_combines(mail.stage));
}

int64_t weft_lay_out(const weft_mail_t &mail, uint8_t *buffer) {
  const weft_collective_t &c = mail.stage;
  int64_t bytes = element_bytes(c), used = 0;
  auto take = [&](int64_t count) {
    uint8_t *at = buffer ? buffer + used : nullptr;
    used += (count + 63) / 64 * 64;
    return at;
  };
  for (int32_t peer = 0; peer < mail.world; ++peer) {
    weft_letter_t &letter = mail.letters[peer];
    weft_view_t sent = sent_to(mail, peer), received = received_from(mail, peer);
    bool is_other = peer != mail.rank, says_size = weft_has_own_sizes(c);
    letter.out_bytes = weft_view_size(sent) * bytes;
    letter.in_bytes = weft_view_size(received) * bytes;
    letter.is_sent =
        is_other && (letter.out_bytes || (says_size && weft_flows(c, mail.world, mail.rank, peer)));
    letter.is_received =
        is_other && (letter.in_bytes || (says_size && weft_flows(c, mail.world, peer, mail.rank)));
    letter.out =
        is_packed(mail, peer, sent) ? take(letter.out_bytes) : (uint8_t *)c.send + sent.at * bytes;
    bool is_in_place = lies_together(received) && !weft_combines(c);
    letter.in = is_in_place || !is_other ? (uint8_t *)c.receive + received.at * bytes
                                         : take(letter.in_bytes);
  }
  return used;
}

void weft_pack(const weft_mail_t &mail) {
  for (int32_t peer = 0; peer < mail.world; ++peer) {
    weft_view_t sent = sent_to(mail, peer);
    int64_t count = weft_view_size(sent);
    if (is_packed(mail, peer, sent))
      weft_copy_view(weft_view_whole(count), mail.letters[peer].out, sent, mail.stage.send,
                     {0, count}, element_bytes(mail.stage));
  }
}

static void combine(const weft_mail_t &mail) {
  const weft_collective_t &c = mail.stage;
  const void *sources[WEFT_MAX_WORLD];
  for (int32_t peer = 0; peer < mail.world; ++peer)
    sources[peer] = peer == mail.rank ? mail.letters[peer].out : mail.letters[peer].in;
  uint64_t mode = weft_float_mode_enter();
  weft_combine(c.element, c.combiner, sources, mail.world, weft_view_size(sent_to(mail, mail.rank)),
               c.receive);
  weft_float_mode_leave(mode);
}

void weft_unpack(const weft_mail_t &mail) {
  const weft_collective_t &c = mail.stage;
  if (weft_combines(c))
    return combine(mail);
  for (int32_t peer = 0; peer < mail.world; ++peer) {
    weft_view_t received = received_from(mail, peer);
    int64_t count = weft_view_size(received);
    if (peer == mail.rank && c.is_placed)
      continue;
    if (peer == mail.rank)
      weft_copy_view(received, c.receive, sent_to(mail, peer), c.send, {0, count},
                     element_bytes(c));
    else if (!lies_together(received))
      weft_copy_view(received, c.receive, weft_view_whole(count), mail.letters[peer].in, {0, count},
                     element_bytes(c));
  }
}
