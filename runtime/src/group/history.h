// What a rank did last: a ring of its collectives, of its group and of all groups that were made from it, and how far each group is.
//
//   uint64_t note = weft_history_begin(history, group, sequence, collective);
//   weft_history_end(history, group, note);
//
// Memory is taken once. Nothing waits: who reads while a note is written over passes it by. One thread writes for a group at a time; several
// groups may be written, and all be read, at once.
#pragma once

#include "weft/group.h"

struct weft_history_t;

/// A history for the ranks of a group that is opened; NULL without memory. The caller holds it.
weft_history_t *weft_history_new(const weft_env_t *env, const weft_group_options_t *options);
void weft_history_hold(weft_history_t *history);
/// The last one frees it.
void weft_history_drop(weft_history_t *history);

/// Adds a group, which is called the same on all its ranks, and gives its number. Of many, the oldest are forgotten.
uint32_t weft_history_join(weft_history_t *history, const char *name, int32_t rank, int32_t world);
/// weft_group_set_name.
void weft_history_set_title(weft_history_t *history, uint32_t group, const char *title);

/// What a rank gave a collective of its own time.
struct weft_attention_t {
  uint64_t waits_from_ns; ///< since when it did nothing but go on with it, until the end; 0: never
  uint64_t spent_ns;      ///< in which it computed nothing: waited, copied, added
};

/// Notes collective `sequence` of the group, counted from 1, and gives the note's number.
uint64_t weft_history_begin(weft_history_t *history, uint32_t group, uint64_t sequence,
                            const weft_collective_t &collective);
/// The same one, which the note need not have any more.
void weft_history_end(weft_history_t *history, uint32_t group, uint64_t note, uint64_t sequence,
                      const weft_attention_t &attention);

/// weft_group_dump.
weft_status_t weft_history_dump(const weft_history_t *history, int file, const char *reason,
                                weft_error_t *err);
