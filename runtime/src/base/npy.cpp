#include "weft/npy.h"

#include <stdio.h>
#include <string.h>

#include "runtime/src/base/element.h"
#include "runtime/src/base/status.h"

namespace {
struct element_row {
  char kind, size;
  uint8_t element;
};

/// A cursor over the header's text, which is a Python dictionary.
struct reader {
  const char *at, *end;
};

/// What the dictionary says; the have_ flags find missing and repeated keys.
struct fields {
  bool have_descr, have_order, have_shape, is_fortran;
  uint16_t element, rank;
  int64_t dim[WEFT_MAX_RANK];
};
} // namespace

static const element_row elements[] = {{'b', 1, WEFT_BOOL}, {'i', 1, WEFT_I8},  {'i', 2, WEFT_I16},
                                       {'i', 4, WEFT_I32},  {'i', 8, WEFT_I64}, {'u', 1, WEFT_U8},
                                       {'u', 2, WEFT_U16},  {'u', 4, WEFT_U32}, {'u', 8, WEFT_U64},
                                       {'f', 2, WEFT_F16},  {'f', 4, WEFT_F32}, {'f', 8, WEFT_F64}};

static weft_status_t refuse(weft_error_t *err, const char *text) {
  return weft_fail(err, WEFT_INVALID, "W0441", "%s", text);
}

static void skip_space(reader *r) {
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r'))
    ++r->at;
}

/// Takes `c` when it is next.
static bool take(reader *r, char c) {
  skip_space(r);
  if (r->at == r->end || *r->at != c)
    return false;
  ++r->at;
  return true;
}

static bool take_word(reader *r, const char *word) {
  skip_space(r);
  size_t length = strlen(word);
  if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
    return false;
  r->at += length;
  return true;
}

/// A quoted text without escapes, at most 15 characters.
static bool take_string(reader *r, char out[16]) {
  skip_space(r);
  if (r->at == r->end || (*r->at != '\'' && *r->at != '"'))
    return false;
  char quote = *r->at++;
  size_t length = 0;
  for (; r->at < r->end && *r->at != quote; ++r->at) {
    if (length == 15 || *r->at == '\\' || (unsigned char)*r->at < 0x20)
      return false;
    out[length++] = *r->at;
  }
  out[length] = 0;
  return r->at < r->end && ++r->at;
}

static bool take_number(reader *r, int64_t *out) {
  skip_space(r);
  const char *start = r->at;
  *out = 0;
  for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; ++r->at)
    if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, *r->at - '0', out))
      return false;
  return r->at != start;
}

static weft_status_t read_descr(reader *r, fields *f, weft_error_t *err) {
  char text[16];
  skip_space(r);
  if (r->at < r->end && *r->at == '[')
    return refuse(err, "npy: structured elements are not supported");
  if (!take_string(r, text))
    return refuse(err, "npy: the header's 'descr' is damaged");
  if (text[0] == '>')
    return weft_fail(err, WEFT_INVALID, "W0441",
                     "npy: element '%s' is big-endian, but only little-endian is supported", text);
  bool is_small = text[0] == '|' && text[1] && text[2] == '1';
  if (strlen(text) == 3 && (text[0] == '<' || is_small))
    for (const element_row &row : elements)
      if (text[1] == row.kind && text[2] == row.size + '0') {
        f->element = row.element;
        f->have_descr = true;
        return WEFT_OK;
      }
  return weft_fail(err, WEFT_INVALID, "W0441", "npy: element '%s' is not supported", text);
}

static weft_status_t read_order(reader *r, fields *f, weft_error_t *err) {
  f->is_fortran = take_word(r, "True");
  if (!f->is_fortran && !take_word(r, "False"))
    return refuse(err, "npy: the header's 'fortran_order' is damaged");
  f->have_order = true;
  return WEFT_OK;
}

/// (), (3,), (3, 4), (3, 4,)
static weft_status_t read_shape(reader *r, fields *f, weft_error_t *err) {
  const char *damaged = "npy: the header's 'shape' is damaged";
  f->have_shape = true;
  if (!take(r, '('))
    return refuse(err, damaged);
  bool has_comma = true;
  while (!take(r, ')')) {
    int64_t size;
    if (!has_comma || !take_number(r, &size))
      return refuse(err, damaged);
    if (f->rank == WEFT_MAX_RANK)
      return weft_fail(err, WEFT_INVALID, "W0441", "npy: more than %d dimensions",
                       (int)WEFT_MAX_RANK);
    f->dim[f->rank++] = size;
    has_comma = take(r, ',');
  }
  return f->rank == 1 && !has_comma ? refuse(err, damaged) : WEFT_OK;
}

static weft_status_t read_dictionary(reader *r, fields *f, weft_error_t *err) {
  const char *damaged = "npy: the header is damaged";
  if (!take(r, '{'))
    return refuse(err, damaged);
  bool has_comma = true;
  while (!take(r, '}')) {
    char key[16];
    if (!has_comma || !take_string(r, key) || !take(r, ':'))
      return refuse(err, damaged);
    weft_status_t status;
    if (strcmp(key, "descr") == 0 && !f->have_descr)
      status = read_descr(r, f, err);
    else if (strcmp(key, "fortran_order") == 0 && !f->have_order)
      status = read_order(r, f, err);
    else if (strcmp(key, "shape") == 0 && !f->have_shape)
      status = read_shape(r, f, err);
    else
      return weft_fail(err, WEFT_INVALID, "W0441", "npy: unknown or repeated key '%s'", key);
    if (status)
      return status;
    has_comma = take(r, ',');
  }
  skip_space(r);
  if (r->at != r->end || !f->have_descr || !f->have_order || !f->have_shape)
    return refuse(err, damaged);
  return WEFT_OK;
}

weft_status_t weft_npy_parse_any(const void *bytes, size_t size, weft_npy_t *out_npy,
                                 weft_error_t *err) {
  static const char magic[] = "\x93NUMPY";
  const uint8_t *at = (const uint8_t *)bytes;
  if (!bytes || !out_npy)
    return weft_fail(err, WEFT_INVALID, "W0401", "bytes or out_npy is NULL");
  if (size < 10 || memcmp(at, magic, 6) != 0)
    return refuse(err, "npy: this is not a .npy file");
  if (at[6] < 1 || at[6] > 3 || at[7] != 0)
    return weft_fail(err, WEFT_INVALID, "W0441", "npy: version %u.%u is not supported", at[6],
                     at[7]);
  size_t begin = at[6] == 1 ? 10 : 12, length = at[8] | (size_t)at[9] << 8;
  if (begin > size)
    return refuse(err, "npy: the file ends within its header");
  if (at[6] != 1)
    length |= (size_t)at[10] << 16 | (size_t)at[11] << 24;
  if (length > size - begin)
    return refuse(err, "npy: the file ends within its header");
  reader r = {(const char *)at + begin, (const char *)at + begin + length};
  fields f = {};
  if (weft_status_t status = read_dictionary(&r, &f, err))
    return status;
  int64_t needed;
  if (!weft_tensor_bytes(f.element, f.rank, f.dim, &needed))
    return refuse(err, "npy: the size of the tensor overflows");
  size_t data = begin + length;
  if ((uint64_t)needed > size - data)
    return weft_fail(err, WEFT_INVALID, "W0441",
                     "npy: the file is truncated: its shape needs %lld bytes, but %zu are there",
                     (long long)needed, size - data);
  *out_npy = {f.element, f.rank, f.is_fortran, {}, data, (uint64_t)needed};
  memcpy(out_npy->dim, f.dim, sizeof f.dim);
  return weft_succeed(err);
}

weft_status_t weft_npy_parse(const void *bytes, size_t size, weft_npy_t *out_npy,
                             weft_error_t *err) {
  weft_npy_t npy;
  if (!out_npy)
    return weft_fail(err, WEFT_INVALID, "W0401", "bytes or out_npy is NULL");
  if (weft_status_t status = weft_npy_parse_any(bytes, size, &npy, err))
    return status;
  if (npy.is_fortran) {
    refuse(err, "npy: the data is in Fortran order, but row-major order is needed");
    weft_set_hint(err, "store it with numpy.ascontiguousarray");
    return WEFT_INVALID;
  }
  *out_npy = npy;
  return WEFT_OK;
}

void weft_npy_copy(const weft_npy_t *npy, const void *bytes, void *to) {
  const uint8_t *from = (const uint8_t *)bytes + npy->data_offset;
  if (!npy->is_fortran) {
    memcpy(to, from, npy->data_bytes);
    return;
  }
  uint64_t size = weft_element_bits(npy->element) / 8, step[WEFT_MAX_RANK], next = size;
  for (uint32_t d = 0; d < npy->rank; ++d) {
    step[d] = next; // in bytes of the file: the first dimension is the innermost
    next *= (uint64_t)npy->dim[d];
  }
  int64_t index[WEFT_MAX_RANK] = {};
  for (uint64_t at = 0, source = 0; at < npy->data_bytes; at += size) {
    memcpy((uint8_t *)to + at, from + source, size);
    for (uint32_t d = npy->rank; d-- > 0;) {
      source += step[d];
      if (++index[d] < npy->dim[d])
        break;
      source -= step[d] * (uint64_t)npy->dim[d];
      index[d] = 0;
    }
  }
}

size_t weft_npy_header(void *buffer, size_t size, uint32_t element, uint32_t rank,
                       const int64_t *dim) {
  const element_row *row = nullptr;
  for (const element_row &candidate : elements)
    if (candidate.element == element)
      row = &candidate;
  if (!buffer || !row || rank > WEFT_MAX_RANK)
    return 0;
  char header[WEFT_NPY_HEADER_MAX];
  weft_text_t text = weft_text_in(header, sizeof header);
  weft_text_add(&text, "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (",
                row->size == 1 ? '|' : '<', row->kind, row->size);
  for (uint32_t d = 0; d < rank; ++d) {
    if (dim[d] < 0)
      return 0;
    weft_text_add(&text, "%s%lld", d ? ", " : "", (long long)dim[d]);
  }
  weft_text_add(&text, "%s), }", rank == 1 ? "," : "");
  // Magic, version 1.0, length, text, spaces up to a multiple of 64, newline.
  size_t total = (10 + text.used + 1 + 63) & ~(size_t)63;
  if (total > size)
    return 0;
  uint8_t *out = (uint8_t *)buffer;
  memcpy(out, "\x93NUMPY\x01\x00", 8);
  out[8] = (uint8_t)(total - 10);
  out[9] = (uint8_t)((total - 10) >> 8);
  memset(out + 10, ' ', total - 10);
  memcpy(out + 10, header, text.used);
  out[total - 1] = '\n';
  return total;
}
