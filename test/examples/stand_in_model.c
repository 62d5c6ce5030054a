/* The code of two small models that stand in for a compiled sentence embedding model: bind and run,
 * as a compiler would emit them. Their embedding counts, for each id below 64, how often it stands
 * where the mask is 1. */
#include "weft/artifact.h"

#define KEEP __attribute__((visibility("default"), used))

KEEP __attribute__((section(".rodata.weft"), aligned(64)))
const uint8_t weft_descriptor[32768] = {1};

__attribute__((section(".note.weft"), aligned(8), used)) static const struct {
  uint32_t name_size, content_size, type;
  char name[8];
  uint8_t content[sizeof(weft_file_v1)];
} note = {5, sizeof(weft_file_v1), WEFT_NOTE_TYPE, "WEFT", {0}};

static int32_t bind(const weft_tensor_t *in, int64_t *values, int64_t max_seq) {
  int64_t batch = in[0].dim[0], seq = in[0].dim[1];
  if (seq > max_seq)
    return 1;
  if (in[1].dim[0] != batch)
    return 2;
  if (in[1].dim[1] != seq)
    return 3;
  values[0] = batch;
  values[1] = seq;
  values[2] = 0;
  values[3] = batch;
  values[4] = 64;
  return 0;
}

static void count(const int64_t *ids, const int64_t *mask, int64_t batch, int64_t seq, float *out) {
  for (int64_t row = 0; row < batch; ++row) {
    for (int64_t i = 0; i < 64; ++i)
      out[row * 64 + i] = 0;
    for (int64_t i = 0; i < seq; ++i)
      out[row * 64 + (ids[row * seq + i] & 63)] += (float)mask[row * seq + i];
  }
}

/* long(input_ids, attention_mask: i64[batch, seq], …) -> sentence_embedding f32[batch, 64]
 * seq <= 512 */
KEEP int32_t long_bind(const weft_tensor_t *in, int64_t *values) { return bind(in, values, 512); }

KEEP int32_t long_run(weft_frame_v1 *frame) {
  count((const int64_t *)frame->in[0].data, (const int64_t *)frame->in[1].data, frame->values[0],
        frame->values[1], (float *)frame->out[0].data);
  return 0;
}

/* short: the same, but seq <= 4 and the mask comes first */
KEEP int32_t short_bind(const weft_tensor_t *in, int64_t *values) { return bind(in, values, 4); }

KEEP int32_t short_run(weft_frame_v1 *frame) {
  count((const int64_t *)frame->in[1].data, (const int64_t *)frame->in[0].data, frame->values[0],
        frame->values[1], (float *)frame->out[0].data);
  return 0;
}
