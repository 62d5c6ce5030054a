// Contents given for inputs of an ONNX model: element types, as weft prints and as .npy stores them, shapes and refusals.
#include "compiler/import/onnx/graph/InputConstants.h"
#include <catch2/catch.hpp>
#include <cstring>

using namespace weft;
using namespace weft::onnx;

static OnnxModel modelWith(OnnxElementType element, std::vector<int64_t> dims) {
  OnnxModel model;
  OnnxValueInfo input;
  input.name = "x";
  input.type.kind = OnnxType::Kind::Tensor;
  input.type.elementType = element;
  input.type.hasShape = true;
  for (int64_t dim : dims)
    input.type.dims.push_back({OnnxDim::Kind::Value, dim, {}});
  model.graph.inputs.push_back(input);
  return model;
}

template <typename T> static std::vector<char> bytesOf(std::vector<T> values) {
  std::vector<char> bytes(values.size() * sizeof(T));
  memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// The bytes that the constant has in the program, or the refusal after "refused: ".
static std::string read(const OnnxModel &model, std::vector<InputConstant> constants) {
  mlir::MLIRContext context;
  llvm::Expected<GivenConstants> given = readInputConstants(&context, model, constants);
  if (!given)
    return "refused: " + llvm::toString(given.takeError());
  const GivenConstant *constant = given->find("x");
  return constant ? std::string(constant->bytes.bytes.begin(), constant->bytes.bytes.end())
                  : "none";
}

static std::string text(const std::vector<char> &bytes) { return {bytes.begin(), bytes.end()}; }

TEST_CASE("numbers become the input's element type") {
  InputConstant numbers{"x", "", {2}, bytesOf<int64_t>({3, -1})};
  CHECK(read(modelWith(OnnxElementType::Int64, {2}), {numbers}) == text(bytesOf<int64_t>({3, -1})));
  CHECK(read(modelWith(OnnxElementType::Int32, {2}), {numbers}) == text(bytesOf<int32_t>({3, -1})));
  CHECK(read(modelWith(OnnxElementType::Float, {2}), {numbers}) == text(bytesOf<float>({3, -1})));
  CHECK(read(modelWith(OnnxElementType::Int4, {2}), {numbers}) == "\xf3");
  CHECK(read(modelWith(OnnxElementType::UInt8, {2}), {numbers}) ==
        "refused: input 'x' has elements of type u8, which has no value -1");
  CHECK(read(modelWith(OnnxElementType::Bool, {2}), {numbers}) ==
        "refused: input 'x' has elements of type bool, which has no value 3");
}

TEST_CASE("a single number fits rank 0 and rank 1") {
  InputConstant number{"x", "", {1}, bytesOf<int64_t>({7})};
  CHECK(read(modelWith(OnnxElementType::Int64, {}), {number}) == text(bytesOf<int64_t>({7})));
  CHECK(read(modelWith(OnnxElementType::Int64, {1}), {number}) == text(bytesOf<int64_t>({7})));
  CHECK(read(modelWith(OnnxElementType::Int64, {2}), {number}) ==
        "refused: input 'x' has another shape than [1], which is the constant's");
  CHECK(read(modelWith(OnnxElementType::Int64, {1, 1}), {number}) ==
        "refused: input 'x' has another shape than [1], which is the constant's");
}

TEST_CASE("tensors come in the input's type, or as .npy stores it") {
  CHECK(read(modelWith(OnnxElementType::Float, {1}), {{"x", "f32", {1}, bytesOf<float>({0.5})}}) ==
        text(bytesOf<float>({0.5})));
  for (const char *element : {"bf16", "u16"})
    CHECK(read(modelWith(OnnxElementType::BFloat16, {1}),
               {{"x", element, {1}, bytesOf<uint16_t>({0x3f80})}}) ==
          text(bytesOf<uint16_t>({0x3f80})));
  CHECK(read(modelWith(OnnxElementType::UInt4, {3}),
             {{"x", "u8", {3}, bytesOf<uint8_t>({1, 15, 2})}}) == "\xf1\x02");
  CHECK(read(modelWith(OnnxElementType::Int4, {3}),
             {{"x", "i8", {3}, bytesOf<int8_t>({1, -8, 2})}}) == "\x81\x02");
  CHECK(read(modelWith(OnnxElementType::Int4, {1}), {{"x", "i8", {1}, bytesOf<int8_t>({8})}}) ==
        "refused: input 'x' has elements of type i4, which has no value 8");
  CHECK(read(modelWith(OnnxElementType::Int64, {1}), {{"x", "f32", {1}, bytesOf<float>({1})}}) ==
        "refused: input 'x' has elements of type i64, but the constant for it has elements of type "
        "f32");
  CHECK(read(modelWith(OnnxElementType::Int64, {2}), {{"x", "i64", {2}, bytesOf<int64_t>({1})}}) ==
        "refused: input 'x' is given a constant of 8 bytes, which does not fit its shape [2]");
}

TEST_CASE("names are inputs of the model, each once") {
  OnnxModel model = modelWith(OnnxElementType::Int64, {1});
  InputConstant number{"x", "", {1}, bytesOf<int64_t>({7})}, other = number;
  other.name = "y";
  CHECK(read(model, {}) == "none");
  CHECK(read(model, {other}) ==
        "refused: the model has no input 'y', for which a constant is given");
  CHECK(read(model, {number, number}) == "refused: input 'x' is given two constants");
  model.graph.initializers.emplace_back().name = "x";
  CHECK(read(model, {number}) == "refused: input 'x' is a constant of the model already");
  OnnxModel text = modelWith(OnnxElementType::String, {1});
  CHECK(read(text, {number}) ==
        "refused: input 'x' has elements of type string, which is not supported");
}
