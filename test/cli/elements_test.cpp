// Element types: conversion, rounding, packing, and the tensors made from a command line.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>

#include "tools/weft/cli/Compare.h"
#include "tools/weft/cli/Elements.h"
#include "tools/weft/cli/Generate.h"
#include "tools/weft/cli/HostTensor.h"
#include "tools/weft/cli/Inputs.h"

using namespace weft::cli;

static const uint32_t kSigned[] = {WEFT_F16,        WEFT_BF16,       WEFT_F8E4M3, WEFT_F8E5M2,
                                   WEFT_F8E4M3FNUZ, WEFT_F8E5M2FNUZ, WEFT_F4E2M1};

TEST_CASE("every small float survives decoding and encoding") {
  std::vector<uint32_t> all(std::begin(kSigned), std::end(kSigned));
  all.push_back(WEFT_F8E8M0);
  for (uint32_t element : all)
    for (uint32_t bits = 0; bits < 1u << weft_element_bits(element); ++bits) {
      double value = decodeFloat(element, bits);
      if (!std::isnan(value))
        REQUIRE(encodeFloat(element, value) == bits);
      else
        REQUIRE(std::isnan(decodeFloat(element, encodeFloat(element, value))));
    }
}

TEST_CASE("encoding rounds to the nearest, ties to even") {
  for (uint32_t element : kSigned)
    for (uint32_t bits = 0; bits + 1 < 1u << (weft_element_bits(element) - 1); ++bits) {
      double low = decodeFloat(element, bits), high = decodeFloat(element, bits + 1);
      if (!std::isfinite(high))
        continue;
      double middle = (low + high) / 2;
      REQUIRE(encodeFloat(element, middle) == bits + (bits & 1));
      REQUIRE(encodeFloat(element, std::nextafter(middle, low)) == bits);
      REQUIRE(encodeFloat(element, std::nextafter(middle, high)) == bits + 1);
    }
}

TEST_CASE("the named values of the standards") {
  CHECK(decodeFloat(WEFT_F16, 0x3C00) == 1);
  CHECK(decodeFloat(WEFT_F16, 0x7BFF) == 65504);
  CHECK(encodeFloat(WEFT_F16, 65520) == 0x7C00); // halfway to 65536: infinity
  CHECK(encodeFloat(WEFT_F16, 65519) == 0x7BFF);
  CHECK(decodeFloat(WEFT_BF16, 0xC040) == -3);
  CHECK(decodeFloat(WEFT_F8E4M3, 0x7E) == 448);
  CHECK(std::isnan(decodeFloat(WEFT_F8E4M3, 0x7F)));
  CHECK(encodeFloat(WEFT_F8E4M3, 1000) == 0x7F);
  CHECK(decodeFloat(WEFT_F8E5M2, 0x7B) == 57344);
  CHECK(decodeFloat(WEFT_F8E5M2, 0x7C) == HUGE_VAL);
  CHECK(encodeFloat(WEFT_BF16, -0.0) == 0x8000);
  CHECK(decodeFloat(WEFT_F8E4M3FNUZ, 0x7F) == 240);
  CHECK(decodeFloat(WEFT_F8E5M2FNUZ, 0x7F) == 57344);
  for (uint32_t element : {WEFT_F8E4M3FNUZ, WEFT_F8E5M2FNUZ}) {
    CHECK(std::isnan(decodeFloat(element, 0x80)));
    CHECK(encodeFloat(element, -0.0) == 0);
    CHECK(encodeFloat(element, -1e-9) == 0);
    CHECK(encodeFloat(element, -1e9) == 0x80);
    CHECK(encodeFloat(element, HUGE_VAL) == 0x80);
  }
}

TEST_CASE("floats of 4 bits saturate and have no nan") {
  const double values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (uint32_t bits = 0; bits < 8; ++bits) {
    CHECK(decodeFloat(WEFT_F4E2M1, bits) == values[bits]);
    CHECK(decodeFloat(WEFT_F4E2M1, bits | 8) == -values[bits]);
  }
  CHECK(encodeFloat(WEFT_F4E2M1, 5) == 6); // to even
  CHECK(encodeFloat(WEFT_F4E2M1, 1e9) == 7);
  CHECK(encodeFloat(WEFT_F4E2M1, -HUGE_VAL) == 15);
  CHECK(encodeFloat(WEFT_F4E2M1, NAN) == 0);
}

TEST_CASE("powers of two have neither sign nor zero") {
  CHECK(decodeFloat(WEFT_F8E8M0, 0) == std::ldexp(1, -127));
  CHECK(decodeFloat(WEFT_F8E8M0, 254) == std::ldexp(1, 127));
  CHECK(std::isnan(decodeFloat(WEFT_F8E8M0, 255)));
  CHECK(encodeFloat(WEFT_F8E8M0, 1.49) == 127);
  for (uint32_t bits = 0; bits < 253; ++bits) { // ties go up
    double middle = 1.5 * decodeFloat(WEFT_F8E8M0, bits);
    REQUIRE(encodeFloat(WEFT_F8E8M0, middle) == bits + 1);
    REQUIRE(encodeFloat(WEFT_F8E8M0, std::nextafter(middle, 0)) == bits);
  }
  for (double none :
       {0.0, -1.0, std::ldexp(0.99, -127), std::ldexp(1.5, 127), HUGE_VAL, double(NAN)})
    CHECK(encodeFloat(WEFT_F8E8M0, none) == 255);
}

TEST_CASE("tensors keep what fits and saturate integers") {
  for (uint32_t element : {WEFT_BOOL, WEFT_I4, WEFT_U4, WEFT_I8, WEFT_U8, WEFT_I16, WEFT_U16,
                           WEFT_I32, WEFT_U32, WEFT_I64, WEFT_U64, WEFT_F16, WEFT_BF16, WEFT_F32,
                           WEFT_F64, WEFT_I2, WEFT_U2, WEFT_F4E2M1}) {
    HostTensor tensor = *HostTensor::allocate(element, {3, 3});
    for (int64_t i = 0; i < 9; ++i)
      tensor.set(i, i % 2);
    for (int64_t i = 0; i < 9; ++i)
      REQUIRE(tensor.get(i) == i % 2);
  }
  HostTensor small = *HostTensor::allocate(WEFT_I8, {1});
  small.set(0, 1000);
  CHECK(small.get(0) == 127);
  small.set(0, NAN);
  CHECK(small.get(0) == 0);
  HostTensor large = *HostTensor::allocate(WEFT_I64, {2});
  large.set(0, 1e30);
  large.set(1, -1e30);
  int64_t values[2];
  memcpy(values, large.data(), sizeof values);
  CHECK(values[0] == INT64_MAX);
  CHECK(values[1] == INT64_MIN);
}

TEST_CASE("four-bit values are packed low half first and refused when they do not fit") {
  HostTensor values = *HostTensor::allocate(WEFT_I8, {5});
  for (int64_t i = 0; i < 5; ++i)
    values.set(i, i - 3);
  HostTensor packed = *packParts(values, WEFT_I4);
  CHECK(packed.bytes() == 3);
  CHECK(packed.data()[0] == 0xED); // -3 below, -2 above
  HostTensor again = *unpackParts(packed);
  for (int64_t i = 0; i < 5; ++i)
    CHECK(again.get(i) == i - 3);
  values.set(4, 8);
  Result<HostTensor> refused = packParts(values, WEFT_I4);
  REQUIRE_FALSE(refused);
  CHECK(refused.failure().message == "element 4 is 8, but i4 holds -8 to 7");
}

TEST_CASE("values of two bits are four to a byte, floats of four bits travel as bits") {
  HostTensor values = *HostTensor::allocate(WEFT_I8, {5});
  for (int64_t i = 0; i < 5; ++i)
    values.set(i, i % 4 - 2);
  HostTensor packed = *packParts(values, WEFT_I2);
  CHECK(packed.bytes() == 2);
  CHECK(packed.data()[0] == 0x4E); // -2, -1, 0, 1 from the lowest bits up
  CHECK(packed.data()[1] == 2);
  HostTensor again = *unpackParts(packed);
  for (int64_t i = 0; i < 5; ++i)
    CHECK(again.get(i) == i % 4 - 2);
  values.set(4, 2);
  CHECK(packParts(values, WEFT_I2).failure().message == "element 4 is 2, but i2 holds -2 to 1");

  HostTensor bits = *HostTensor::allocate(WEFT_U8, {3});
  for (int64_t i = 0; i < 3; ++i)
    bits.set(i, 13 + i);
  HostTensor floats = *packParts(bits, WEFT_F4E2M1);
  CHECK(floats.get(0) == -3);
  CHECK(unpackParts(floats)->get(2) == 15);
}

TEST_CASE("bit patterns become the type that is needed, other types are refused") {
  HostTensor bits = *HostTensor::allocate(WEFT_U16, {1});
  bits.set(0, 0x3F80);
  Result<HostTensor> converted = asElement(bits, WEFT_BF16, "input 'x'");
  REQUIRE(converted);
  CHECK(converted->get(0) == 1);
  Result<HostTensor> refused = asElement(bits, WEFT_F32, "input 'x'");
  REQUIRE_FALSE(refused);
  CHECK(refused.failure().message == "input 'x': element type is u16, but f32 is needed");
  CHECK(asElement(bits, WEFT_F8E4M3, "x").failure().hint == "f8e4m3 travels in .npy files as u8");
}

TEST_CASE("sizes that overflow are refused") {
  int64_t large = int64_t(1) << 40;
  CHECK_FALSE(tensorSize(WEFT_F32, {large, large}));
  CHECK_FALSE(tensorSize(WEFT_F32, {-1}));
  CHECK(tensorSize(WEFT_F32, {large, large, 0})->bytes == 0);
  CHECK(tensorSize(WEFT_I4, {3, 5})->bytes == 8);
  CHECK_FALSE(HostTensor::allocate(WEFT_F32, {large, large}));
}

TEST_CASE("generated tensors depend on the seed and stay in their range") {
  HostTensor a = *HostTensor::allocate(WEFT_F32, {1000}),
             b = *HostTensor::allocate(WEFT_F32, {1000});
  CHECK(fillTensor(a, "rand", 5) == "uniform in -1..1");
  fillTensor(b, "rand", 5);
  CHECK(memcmp(a.data(), b.data(), a.bytes()) == 0);
  fillTensor(b, "rand", 6);
  CHECK(memcmp(a.data(), b.data(), a.bytes()) != 0);
  Summary s = summarize(a);
  CHECK(s.min >= -1);
  CHECK(s.max < 1);
  CHECK(std::fabs(s.mean) < 0.1);
  for (uint32_t element : {WEFT_I4, WEFT_U4, WEFT_I8, WEFT_U8, WEFT_I64}) {
    HostTensor t = *HostTensor::allocate(element, {1000});
    fillTensor(t, "rand", 1);
    CHECK(summarize(t).min >= 0);
    CHECK(summarize(t).max < 100);
    fillTensor(t, "range", 1);
    CHECK(t.get(7) == 7);
  }
}

TEST_CASE("tensors as people write them") {
  Result<HostTensor> t = parseTensor("[[1, -2.5], [3e1, inf]]", WEFT_F32);
  REQUIRE(t);
  CHECK(t->dims() == std::vector<int64_t>{2, 2});
  CHECK(t->get(2) == 30);
  CHECK(parseTensor("7", WEFT_I64)->dims().empty());
  CHECK(parseTensor("[]", WEFT_F32)->dims() == std::vector<int64_t>{0});
  CHECK(parseTensor("[[],[]]", WEFT_F32)->dims() == std::vector<int64_t>{2, 0});
  CHECK(parseTensor("[true, false]", WEFT_BOOL)->get(0) == 1);
  for (const char *bad : {"", "[", "]", "[1", "[1]]", "[1,]", "[1,[2]]", "[[1],2]", "[[1],[]]",
                          "1 2", "[1;2]", "0x", "[[[[[[[[[1]]]]]]]]]"})
    CHECK_FALSE(parseTensor(bad, WEFT_F32));
  CHECK_FALSE(parseTensor("[300]", WEFT_U8));
  CHECK_FALSE(parseTensor("9007199254740993", WEFT_I64)); // no double
}

TEST_CASE("comparison finds the worst element") {
  HostTensor got = *HostTensor::allocate(WEFT_F32, {2, 3});
  HostTensor expected = *HostTensor::allocate(WEFT_F32, {2, 3});
  CHECK(compareTensors(got, expected, -1).good);
  got.set(1, 0.01);
  got.set(5, 100.5);
  expected.set(5, 100);
  Comparison c = compareTensors(got, expected, 1e-3);
  CHECK_FALSE(c.good);
  CHECK(c.wrong == 2);
  CHECK(c.worst == Approx(0.01)); // relative to 100, the other is smaller
  CHECK(c.index == std::vector<int64_t>{0, 1});
  got.set(0, NAN);
  expected.set(0, NAN);
  CHECK(compareTensors(got, expected, 0.02).good);
  expected.set(0, 1);
  CHECK(std::isinf(compareTensors(got, expected, 0.02).worst));
}

TEST_CASE("integers are compared exactly, even beyond 2^53") {
  HostTensor a = *HostTensor::allocate(WEFT_I64, {1}), b = *HostTensor::allocate(WEFT_I64, {1});
  int64_t value = (int64_t(1) << 60) + 1, other = value - 1;
  memcpy(a.data(), &value, sizeof value);
  memcpy(b.data(), &other, sizeof other);
  CHECK(a.get(0) == b.get(0));
  CHECK_FALSE(compareTensors(a, b, -1).good);
}
