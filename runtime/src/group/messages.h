// A collective as messages between pairs of ranks, for transports that send: what lies where before, and what becomes of it.
//
//   int32_t count = weft_plan_stages(collective, rank, world, stages);
//   of each stage: weft_lay_out(…, NULL, letters) says how much room it takes; weft_lay_out(…, buffer, letters), weft_pack;
//   send every letter's `out` to its rank, receive its `in`, and when all are there weft_unpack
#pragma once

#include "runtime/src/group/layout.h"

/// What this rank sends to another, and gets from it: without gaps, in the caller's memory where it lies so, else in the buffer.
struct weft_letter_t {
  uint8_t *out, *in;
  int64_t out_bytes, in_bytes;
  /// Whether there are such messages. One whose size the other end does not know may be empty.
  bool is_sent, is_received;
};

/// One rank's part of a stage.
struct weft_mail_t {
  const weft_collective_t &stage;
  int32_t rank, world;
  weft_letter_t *letters; ///< by rank; its own one is not sent
};

/// A collective that was checked is one stage, or two: a large all_reduce is a reduce_scatter into the rank's own part of the result, and an all_gather from there.
int32_t weft_plan_stages(const weft_collective_t &collective, int32_t rank, int32_t world,
                         weft_collective_t (&stages)[2]);
/// Fills the letters; returns the bytes of the buffer that they need. `buffer` NULL: only that.
int64_t weft_lay_out(const weft_mail_t &mail, uint8_t *buffer);
/// Puts into the buffer what is sent from there.
void weft_pack(const weft_mail_t &mail);
/// Copies what has come, or combines it in the order of ranks.
void weft_unpack(const weft_mail_t &mail);
