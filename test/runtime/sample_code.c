/* The code of a small artifact, as a compiler would emit it: bind, run and kernels, no libc, no
 * relocations. artifact_builder.cpp finds the functions by name and writes their descriptor into
 * weft_descriptor. */
#include "weft/artifact.h"

#define KEEP __attribute__((visibility("default"), used))

KEEP __attribute__((section(".rodata.weft"), aligned(64)))
const uint8_t weft_descriptor[32768] = {1};

__attribute__((section(".note.weft"), aligned(8), used)) static const struct {
  uint32_t name_size, content_size, type;
  char name[8];
  uint8_t content[sizeof(weft_file_v1)];
} note = {5, sizeof(weft_file_v1), WEFT_NOTE_TYPE, "WEFT", {0}};

/* main(x f32[b, s], mask f32[b, s]) -> y f32[b, s], total f32[b]
 *   y = x * mask + w, total = sum of a row of y; w f32[512] is the weight. 1 <= s <= 512, 0 <= b <=
 *   100000. The arena holds x * mask; each worker's scratch holds one row. */
KEEP int32_t main_bind(const weft_tensor_t *in, int64_t *values) {
  int64_t b = in[0].dim[0], s = in[0].dim[1];
  if (b > 100000)
    return 1;
  if (s < 1)
    return 2;
  if (s > 512)
    return 3;
  if (in[1].dim[0] != b)
    return 4;
  if (in[1].dim[1] != s)
    return 5;
  values[0] = b;
  values[1] = s;
  values[2] = b * s * 4;
  values[3] = b;
  values[4] = s;
  values[5] = b;
  return 0;
}

/* words: x, mask, product, s */
static void multiply(const uint64_t *words, int64_t begin, int64_t end, weft_worker_t *worker) {
  const float *x = (const float *)words[0], *mask = (const float *)words[1];
  float *product = (float *)words[2];
  int64_t s = (int64_t)words[3];
  for (int64_t i = begin * s; i < end * s; ++i)
    product[i] = x[i] * mask[i];
}

/* words: product, w, y, total, s */
static void add_and_sum(const uint64_t *words, int64_t begin, int64_t end, weft_worker_t *worker) {
  const float *product = (const float *)words[0], *w = (const float *)words[1];
  float *y = (float *)words[2], *total = (float *)words[3], *row = (float *)worker->scratch;
  int64_t s = (int64_t)words[4];
  for (int64_t i = begin; i < end; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < s; ++j)
      row[j] = product[i * s + j] + w[j];
    for (int64_t j = 0; j < s; ++j) {
      y[i * s + j] = row[j];
      sum += row[j];
    }
    total[i] = sum;
  }
}

KEEP int32_t main_run(weft_frame_v1 *frame) {
  int64_t b = frame->values[0], s = frame->values[1];
  uint64_t first[4] = {(uint64_t)frame->in[0].data, (uint64_t)frame->in[1].data,
                       (uint64_t)frame->arena, (uint64_t)s};
  frame->host->parallel(frame, multiply, first, b, 3, 0);
  uint64_t second[5] = {(uint64_t)frame->arena, (uint64_t)frame->weights,
                        (uint64_t)frame->out[0].data, (uint64_t)frame->out[1].data, (uint64_t)s};
  frame->host->parallel(frame, add_and_sum, second, b, 3, 1);
  return 0;
}

/* halve(x i32[2*n], z i32[n + m], c i32[4]) -> y i32[n]: sums of neighbours. n is a multiple of 2,
 * n + m <= 100. */
KEEP int32_t halve_bind(const weft_tensor_t *in, int64_t *values) {
  int64_t size = in[0].dim[0], n = size / 2, m = in[1].dim[0] - n;
  if (size != 2 * n)
    return 1;
  if (n % 2 != 0)
    return 2;
  if (n > 1000)
    return 3;
  if (m < 0)
    return 4;
  if (in[2].dim[0] != 4)
    return 5;
  if (n + m > 100)
    return 6;
  if (m == 77)
    return 7;
  if (in[3].dim[0] != n + 2 * m)
    return 8;
  values[0] = n;
  values[1] = m;
  values[2] = 0;
  values[3] = n;
  return 0;
}

KEEP int32_t halve_run(weft_frame_v1 *frame) {
  const int32_t *x = (const int32_t *)frame->in[0].data;
  int32_t *y = (int32_t *)frame->out[0].data;
  for (int64_t i = 0; i < frame->values[0]; ++i)
    y[i] = x[2 * i] + x[2 * i + 1];
  return 0;
}

/* spin(steps i64[]) -> ran i64[]: a region of 64 slow units per step, in turn of one kernel and of two, so that it can be
 * cancelled. */
KEEP int32_t spin_bind(const weft_tensor_t *in, int64_t *values) {
  values[0] = 64;
  return 0;
}

static void burn(const uint64_t *words, int64_t begin, int64_t end, weft_worker_t *worker) {
  volatile int64_t *sink = (volatile int64_t *)words[0];
  for (int64_t i = begin; i < end; ++i)
    for (int k = 0; k < 1000; ++k)
      sink[worker->index % 8] += 1;
}

KEEP int32_t spin_run(weft_frame_v1 *frame) {
  int64_t steps = *(const int64_t *)frame->in[0].data;
  uint64_t words[1] = {(uint64_t)frame->arena};
  weft_part_v1 parts[2] = {{burn, words, 32, 1, 1e5, 2, 0}, {burn, words, 32, 1, 1e5, 2, 0}};
  for (int64_t i = 0; i < steps; ++i)
    if (i % 2)
      frame->host->together(frame, parts, 2);
    else
      frame->host->parallel(frame, burn, words, 64, 1, 2);
  *(int64_t *)frame->out[0].data = steps;
  return 0;
}

/* who(seed i64[n]) -> out i64[n]: seed * 1000000 + worker, and 1000 more for the first unit of a
 * piece. */
KEEP int32_t who_bind(const weft_tensor_t *in, int64_t *values) {
  values[0] = in[0].dim[0];
  values[1] = 0;
  values[2] = in[0].dim[0];
  return 0;
}

/* words: in, out */
static void note_worker(const uint64_t *words, int64_t begin, int64_t end, weft_worker_t *worker) {
  const int64_t *seed = (const int64_t *)words[0];
  int64_t *out = (int64_t *)words[1];
  for (int64_t i = begin; i < end; ++i)
    out[i] = seed[i] * 1000000 + (i == begin ? 1000 : 0) + worker->index;
}

KEEP int32_t who_run(weft_frame_v1 *frame) {
  uint64_t words[2] = {(uint64_t)frame->in[0].data, (uint64_t)frame->out[0].data};
  frame->host->parallel(frame, note_worker, words, frame->values[0], 4, 3);
  return 0;
}

/* unpaired(way i64) -> done i64: as no compiler writes it, ends an exchange that was not begun (0), or begins one that the function does not have (1) or
 * that goes on already (2). */
KEEP int32_t unpaired_bind(const weft_tensor_t *in, int64_t *values) {
  values[0] = 0;
  return 0;
}

KEEP int32_t unpaired_run(weft_frame_v1 *frame) {
  int64_t words[9] = {0};
  int64_t way = *(const int64_t *)frame->in[0].data;
  if (way == 0)
    frame->host->exchange_end(frame, 0, words);
  for (int64_t i = 0; i < way; ++i)
    frame->host->exchange_begin(frame, 0, words);
  *(int64_t *)frame->out[0].data = 1;
  return 0;
}

/* grow(past f32[b, p, 2], rows f32[b, s, 2]) -> present f32[b, p + s, 2] in place, twice f32[b]: the sum of a row of
 * rows, doubled. The room is the stride in front of p over 2. */
KEEP int32_t grow_bind(const weft_tensor_t *in, int64_t *values) {
  int64_t b = in[0].dim[0], p = in[0].dim[1], s = in[1].dim[1];
  int64_t room = in[0].stride[0] ? in[0].stride[0] / 2 : p;
  if (in[1].dim[0] != b)
    return 1;
  if (room < p + s)
    return 2;
  int64_t all[] = {b, p, s, room, 0, b, p + s, 2, b};
  for (int i = 0; i < 9; ++i)
    values[i] = all[i];
  return 0;
}

/* words: buffer, rows, twice, p, s, room */
static void append(const uint64_t *words, int64_t begin, int64_t end, weft_worker_t *worker) {
  float *buffer = (float *)words[0], *twice = (float *)words[2];
  const float *rows = (const float *)words[1];
  int64_t p = (int64_t)words[3], s = (int64_t)words[4], room = (int64_t)words[5];
  for (int64_t i = begin; i < end; ++i) {
    twice[i] = 0;
    for (int64_t j = 0; j < 2 * s; ++j) {
      buffer[(i * room + p) * 2 + j] = rows[i * s * 2 + j];
      twice[i] += 2 * rows[i * s * 2 + j];
    }
  }
}

KEEP int32_t grow_run(weft_frame_v1 *frame) {
  uint64_t words[6] = {(uint64_t)frame->in[0].data,  (uint64_t)frame->in[1].data,
                       (uint64_t)frame->out[1].data, (uint64_t)frame->values[1],
                       (uint64_t)frame->values[2],   (uint64_t)frame->values[3]};
  frame->host->parallel(frame, append, words, frame->values[0], 1, 0);
  return 0;
}

/* For tests of devices: out[i] = a[i] + b[i]. words: out, a, b; int64_t. */
KEEP void add_numbers(const uint64_t *words, int64_t begin, int64_t end, weft_worker_t *worker) {
  int64_t *out = (int64_t *)words[0];
  const int64_t *a = (const int64_t *)words[1], *b = (const int64_t *)words[2];
  for (int64_t i = begin; i < end; ++i)
    out[i] = a[i] + b[i];
}

/* beside(units i64[k], grain i64[k], work i64[k]) -> worker i64[k, 64]: k kernels together. A unit gets 1 + the worker, and 1000 more
 * when it is the first of a piece; what is computed twice is seen. k <= 8, units <= 64. */
KEEP int32_t beside_bind(const weft_tensor_t *in, int64_t *values) {
  values[0] = in[0].dim[0];
  values[1] = 0;
  values[2] = in[0].dim[0];
  values[3] = 64;
  return 0;
}

/* words: out */
static void note_part(const uint64_t *words, int64_t begin, int64_t end, weft_worker_t *worker) {
  int64_t *out = (int64_t *)words[0];
  for (int64_t i = begin; i < end; ++i)
    out[i] += (i == begin ? 1000 : 0) + 1 + worker->index;
}

KEEP int32_t beside_run(weft_frame_v1 *frame) {
  const int64_t *units = (const int64_t *)frame->in[0].data,
                *grain = (const int64_t *)frame->in[1].data,
                *work = (const int64_t *)frame->in[2].data;
  int64_t k = frame->values[0], *out = (int64_t *)frame->out[0].data;
  weft_part_v1 parts[WEFT_MAX_PARTS];
  uint64_t words[WEFT_MAX_PARTS];
  for (int64_t i = 0; i < 64 * k; ++i)
    out[i] = 0;
  for (int64_t i = 0; i < k; ++i) {
    words[i] = (uint64_t)(out + 64 * i);
    parts[i].kernel = note_part;
    parts[i].words = words + i;
    parts[i].units = units[i];
    parts[i].grain = grain[i];
    parts[i].work = (double)work[i];
    parts[i].kernel_id = 4;
    parts[i].reserved = 0;
  }
  frame->host->together(frame, parts, k);
  return 0;
}
