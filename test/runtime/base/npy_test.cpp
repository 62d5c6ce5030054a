#include <catch2/catch.hpp>

#include <cstring>
#include <random>
#include <string>

#include "weft/npy.h"

static const weft_element_t all_elements[] = {WEFT_BOOL, WEFT_I8,  WEFT_U8,  WEFT_I16,
                                              WEFT_U16,  WEFT_I32, WEFT_U32, WEFT_I64,
                                              WEFT_U64,  WEFT_F16, WEFT_F32, WEFT_F64};

/// A file of version `version` with this dictionary and `data` bytes.
static std::string file(const std::string &dictionary, size_t data, int version = 1) {
  std::string out = "\x93NUMPY";
  out += char(version);
  out += char(0);
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    out += char(dictionary.size() >> (8 * i));
  return out + dictionary + std::string(data, 'd');
}

/// The message, or "" when the file is good.
static std::string parse(const std::string &text, weft_npy_t *npy) {
  weft_error_t err = WEFT_ERROR_INIT;
  // An exact copy on the heap lets sanitizers see every read that is too far.
  std::unique_ptr<char[]> copy(new char[text.size() + 1]);
  std::memcpy(copy.get(), text.data(), text.size());
  weft_status_t status = weft_npy_parse(copy.get(), text.size(), npy, &err);
  REQUIRE((status == WEFT_OK || status == WEFT_INVALID));
  if (!status)
    REQUIRE(npy->data_offset + npy->data_bytes <= text.size());
  return err.message;
}

TEST_CASE("what is written can be read") {
  std::mt19937 random(1);
  for (weft_element_t element : all_elements)
    for (uint32_t rank = 0; rank <= WEFT_MAX_RANK; ++rank) {
      int64_t dim[WEFT_MAX_RANK], count = 1;
      for (uint32_t d = 0; d < rank; ++d)
        count *= dim[d] = random() % 4;
      char header[WEFT_NPY_HEADER_MAX];
      size_t size = weft_npy_header(header, sizeof header, element, rank, dim);
      REQUIRE(size > 0);
      REQUIRE(size % 64 == 0);
      std::string text(header, size);
      REQUIRE(text.back() == '\n');
      text += std::string(size_t(count) * weft_element_bits(element) / 8, 'x');
      weft_npy_t npy;
      REQUIRE(parse(text, &npy) == "");
      REQUIRE(npy.element == element);
      REQUIRE(npy.rank == rank);
      REQUIRE(std::equal(dim, dim + rank, npy.dim));
      REQUIRE(npy.data_offset == size);
      REQUIRE(npy.data_offset + npy.data_bytes == text.size());
    }
}

TEST_CASE("files of NumPy are read, in all versions") {
  weft_npy_t npy;
  std::string text =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }                    \n";
  for (int version : {1, 2, 3}) {
    REQUIRE(parse(file(text, 24, version), &npy) == "");
    REQUIRE(npy.element == WEFT_F32);
    REQUIRE(npy.rank == 2);
    REQUIRE(npy.dim[1] == 3);
    REQUIRE(npy.data_bytes == 24);
  }
  REQUIRE(parse(file("{\"shape\":(),\"descr\":\"|b1\",\"fortran_order\":False}", 1), &npy) == "");
  REQUIRE(npy.rank == 0);
  REQUIRE(npy.element == WEFT_BOOL);
  REQUIRE(parse(file("{'descr':'<i8','fortran_order':False,'shape':(0,7)}", 0), &npy) == "");
  REQUIRE(npy.data_bytes == 0);
}

TEST_CASE("data in Fortran order is read by those who ask for it, and turned") {
  std::string text = file("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3, 2), }", 24);
  weft_npy_t npy;
  weft_error_t err = WEFT_ERROR_INIT;
  REQUIRE(weft_npy_parse_any(text.data(), text.size(), &npy, &err) == WEFT_OK);
  REQUIRE(npy.is_fortran == 1);
  REQUIRE(npy.data_bytes == 24);
  int16_t stored[12], turned[12];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 2; ++k)
        stored[i + 2 * j + 6 * k] = int16_t(100 * i + 10 * j + k);
  memcpy(&text[npy.data_offset], stored, sizeof stored);
  weft_npy_copy(&npy, text.data(), turned);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 2; ++k)
        REQUIRE(turned[6 * i + 2 * j + k] == 100 * i + 10 * j + k);
  for (const char *shape : {"()", "(12,)", "(0, 7)"}) {
    text =
        file("{'descr': '<i2', 'fortran_order': True, 'shape': " + std::string(shape) + ", }", 24);
    REQUIRE(weft_npy_parse_any(text.data(), text.size(), &npy, &err) == WEFT_OK);
    memcpy(&text[npy.data_offset], stored, sizeof stored);
    weft_npy_copy(&npy, text.data(), turned);
    REQUIRE(memcmp(turned, stored, npy.data_bytes) == 0);
  }
  text = file("{'descr': '<i2', 'fortran_order': False, 'shape': (3, 2), }", 24);
  REQUIRE(weft_npy_parse_any(text.data(), text.size(), &npy, &err) == WEFT_OK);
  REQUIRE(npy.is_fortran == 0);
}

TEST_CASE("what is not supported is refused in words") {
  weft_npy_t npy;
  auto dictionary = [&](const std::string &descr, const std::string &order,
                        const std::string &shape) {
    return parse(
        file("{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }",
             64),
        &npy);
  };
  REQUIRE(dictionary("'>f4'", "False", "(2,)") ==
          "npy: element '>f4' is big-endian, but only little-endian is supported");
  REQUIRE(dictionary("'<c8'", "False", "(2,)") == "npy: element '<c8' is not supported");
  REQUIRE(dictionary("'<U4'", "False", "(2,)") == "npy: element '<U4' is not supported");
  REQUIRE(dictionary("'|O'", "False", "(2,)") == "npy: element '|O' is not supported");
  REQUIRE(dictionary("[('a', '<f4')]", "False", "(2,)") ==
          "npy: structured elements are not supported");
  REQUIRE(dictionary("'<f4'", "True", "(2, 2)") ==
          "npy: the data is in Fortran order, but row-major order is needed");
  REQUIRE(dictionary("'<f4'", "False", "(1,1,1,1,1,1,1,1,1)") == "npy: more than 8 dimensions");
  REQUIRE(dictionary("'<f4'", "False", "(100,)") ==
          "npy: the file is truncated: its shape needs 400 bytes, but 64 are there");
  REQUIRE(dictionary("'<f4'", "False", "(4611686018427387904, 4)") ==
          "npy: the size of the tensor overflows");
}

TEST_CASE("damaged headers are refused") {
  weft_npy_t npy;
  std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  REQUIRE(parse("", &npy) == "npy: this is not a .npy file");
  REQUIRE(parse("PK\x03\x04............", &npy) == "npy: this is not a .npy file");
  REQUIRE(parse(file(good, 8, 4), &npy) == "npy: version 4.0 is not supported");
  for (const char *text :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4' 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x",
        "{'descr': '<f4', 'fortran_order': Falsy, 'shape': (2,)}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}",
        "{'a very long key indeed': 1}", "{'descr': '<f4"}) {
    INFO(text);
    REQUIRE(parse(file(text, 8), &npy) != "");
  }
  std::string whole = file(good, 8);
  for (size_t size = 0; size < whole.size(); ++size)
    REQUIRE(parse(whole.substr(0, size), &npy) != "");
  REQUIRE(parse(whole, &npy) == "");
}

TEST_CASE("flipped bytes never make the parser read outside the file") {
  std::mt19937 random(1);
  std::string good = file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24);
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = good;
    for (unsigned flips = 1 + random() % 3; flips; --flips)
      text[random() % text.size()] = char(random());
    weft_npy_t npy;
    refused += parse(text, &npy) != "";
  }
  REQUIRE(refused > 10000);
}

TEST_CASE("headers that cannot be written are 0 bytes") {
  char header[WEFT_NPY_HEADER_MAX];
  int64_t dim[WEFT_MAX_RANK + 1] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, negative[1] = {-1};
  REQUIRE(weft_npy_header(header, sizeof header, WEFT_BF16, 0, nullptr) == 0);
  REQUIRE(weft_npy_header(header, sizeof header, WEFT_I4, 0, nullptr) == 0);
  REQUIRE(weft_npy_header(header, sizeof header, WEFT_F32, 9, dim) == 0);
  REQUIRE(weft_npy_header(header, sizeof header, WEFT_F32, 1, negative) == 0);
  REQUIRE(weft_npy_header(header, 100, WEFT_F32, 1, dim) == 0);
  REQUIRE(weft_npy_header(nullptr, 0, WEFT_F32, 1, dim) == 0);
  int64_t large[WEFT_MAX_RANK];
  for (int64_t &d : large)
    d = INT64_MAX;
  REQUIRE(weft_npy_header(header, sizeof header, WEFT_F64, 8, large) > 0);
}
