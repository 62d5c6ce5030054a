//===- SampleFiles.h - Small valid files that use every feature -------------------------------===//
//
// Shared by the tests, which cut and bend them, and by the fuzzers, which start from them.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_COMPILER_READERS_SAMPLEFILES_H
#define WEFT_TEST_COMPILER_READERS_SAMPLEFILES_H

#include "test/compiler/readers/WireWriter.h"

namespace weft {

/// TypeProto of a tensor; dimensions: a number, a name, or "" for unknown.
inline WireWriter tensorType(int elementType, const std::vector<std::string> &dims) {
  WireWriter shape;
  for (const std::string &dim : dims) {
    bool isNumber = !dim.empty() && (std::isdigit(dim[0]) || dim[0] == '-');
    shape.message(1, dim.empty() ? WireWriter()
                     : isNumber  ? WireWriter().integer(1, std::stoll(dim))
                                 : WireWriter().text(2, dim));
  }
  return WireWriter().message(1, WireWriter().integer(1, elementType).message(2, shape));
}

inline WireWriter valueInfo(const std::string &name, const WireWriter &type) {
  return WireWriter().text(1, name).message(2, type);
}

/// One attribute of every kind.
inline void addEveryAttribute(WireWriter &node) {
  WireWriter tensor = rawTensor("t", 1, {2}, std::string(8, '\1'));
  WireWriter indices = WireWriter().packed(1, {1}).integer(2, 7).packed(7, {3});
  WireWriter values =
      WireWriter().packed(1, {1}).integer(2, 1).text(8, "sv").packedFixed<float>(4, {1});
  WireWriter sparse = WireWriter().message(1, values).message(2, indices).packed(3, {5});
  WireWriter inner = WireWriter().text(2, "body").message(1, simpleNode("Neg", {"a"}, {"b"}, "in"));
  WireWriter sequence = WireWriter().message(4, WireWriter().message(1, tensorType(7, {"k"})));
  WireWriter map =
      WireWriter().message(5, WireWriter().integer(1, 8).message(2, tensorType(1, {})));
  node.message(5, attributeOf("f", 1).number(2, 0.5f))
      .message(5, attributeOf("i", 2).integer(3, -3))
      .message(5, attributeOf("s", 3).text(4, "text"))
      .message(5, attributeOf("t", 4).message(5, tensor))
      .message(5, attributeOf("g", 5).message(6, inner))
      .message(5, attributeOf("fs", 6).number(7, 1.5f).packedFixed<float>(7, {2.5f, 3.5f}))
      .message(5, attributeOf("is", 7).integer(8, 1).packed(8, {-2, 1LL << 40}))
      .message(5, attributeOf("ss", 8).text(9, "a").text(9, ""))
      .message(5, attributeOf("ts", 9).message(10, tensor).message(10, tensor))
      .message(5, attributeOf("gs", 10).message(11, inner))
      .message(5, attributeOf("sp", 11).message(22, sparse))
      .message(5, attributeOf("sps", 12).message(23, sparse))
      .message(5, attributeOf("tp", 13).message(14, sequence))
      .message(5, attributeOf("tps", 14).message(15, map))
      .message(5, WireWriter().text(1, "r").text(21, "alpha").integer(20, 1));
}

inline WireWriter sampleFunction() {
  return WireWriter()
      .text(1, "Twice")
      .text(4, "x")
      .text(5, "y")
      .text(6, "alpha")
      .message(7, simpleNode("Add", {"x", "x"}, {"y"}, "add"))
      .message(9, opsetOf("ai.onnx", 17))
      .text(10, "my")
      .message(11, attributeOf("beta", 1).number(2, 2.0f))
      .message(12, valueInfo("y", tensorType(1, {"n"})))
      .text(13, "v2");
}

inline WireWriter sampleGraph() {
  WireWriter custom = simpleNode("Twice", {"x", "", "w"}, {"y"}, "/layer/Twice");
  custom.text(7, "my").text(8, "v2").text(6, "documentation");
  addEveryAttribute(custom);
  WireWriter typed =
      WireWriter().packed(1, {2, 2}).integer(2, 7).packed(7, {1, -2, 300}).integer(7, 4);
  WireWriter strings =
      WireWriter().packed(1, {2}).integer(2, 8).text(6, "ab").text(6, "").text(8, "s");
  WireWriter int4 = WireWriter().packed(1, {3}).integer(2, 22).packed(5, {0x21, 0x0f}).text(8, "q");
  WireWriter outside = WireWriter().packed(1, {4}).integer(2, 1).text(8, "e").integer(14, 1);
  outside.message(13, WireWriter().text(1, "location").text(2, "weights.bin"))
      .message(13, WireWriter().text(1, "offset").text(2, "8"))
      .message(13, WireWriter().text(1, "length").text(2, "16"));
  return WireWriter()
      .message(1, custom)
      .message(1, simpleNode("Relu", {"y"}, {"z"}, ""))
      .text(2, "main")
      .message(5, rawTensor("w", 1, {2, 1}, std::string(8, '\2')))
      .message(5, typed.text(8, "shape"))
      .message(5, strings)
      .message(5, int4)
      .message(5, outside)
      .message(11, valueInfo("x", tensorType(1, {"batch", "3", "", "-1"})))
      .message(12, valueInfo("z", tensorType(1, {})))
      .message(13, valueInfo("y", WireWriter()));
}

inline std::string sampleModel() {
  return modelOf(sampleGraph())
      .message(8, opsetOf("my", 1))
      .message(14, WireWriter().text(1, "author").text(2, "us"))
      .message(25, sampleFunction())
      .bytes;
}

/// A safetensors file from its header and data.
inline std::string safetensorsFile(const std::string &header, const std::string &data) {
  return WireWriter::fixed<uint64_t>(header.size()) + header + data;
}

inline std::string sampleSafetensors() {
  return safetensorsFile(
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[2,2],"data_offsets":[4,20]},)"
      R"("a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]},)"
      R"("none":{"dtype":"I64","shape":[0,7],"data_offsets":[4,4]},)"
      R"("one":{"dtype":"U8","shape":[],"data_offsets":[20,21]}}   )",
      "aaaabbbbbbbbbbbbbbbb1");
}

} // namespace weft

#endif // WEFT_TEST_COMPILER_READERS_SAMPLEFILES_H
