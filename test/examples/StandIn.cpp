#include "test/examples/StandIn.h"

#include <stdlib.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

using namespace weft_test;

namespace weft_examples_test {

static function model(const std::string &code, int64_t maxTokens, uint32_t mask) {
  formula batch = symbol(0, "batch"), seq = symbol(1, "seq");
  function f;
  f.name = "main";
  f.code = code;
  f.inputs = {{"input_ids", WEFT_I64, {batch, seq}}, {"input_ids", WEFT_I64, {batch, seq}}};
  f.inputs[mask].name = "attention_mask";
  f.outputs = {{"sentence_embedding", WEFT_F32, {batch, constant(64)}}};
  f.symbols = {{"batch", 0, 100000, 1, 0, 0}, {"seq", 0, maxTokens, 1, 0, 1}};
  f.checks = {{WEFT_CHECK_MAX, 0, 0, 1, {}, "", ""},
              {WEFT_CHECK_DIM, 1, 0, 0, batch, "", ""},
              {WEFT_CHECK_DIM, 1, 1, 1, seq, "", ""}};
  return f;
}

function longModel() { return model("long", 512, 1); }

function shortModel() {
  // 'seq' is determined by the mask's dimension, as the mask comes first.
  return model("short", 4, 0);
}

std::string sealed(const function &f) {
  sample s;
  s.code = load_sample_image();
  s.description = {"stand-in", "weft test", "x86:v1", {f}, {}, {}, {}, sizeof(weft_host_v1)};
  s.manifest = "{}";
  bytes file = s.seal();
  return std::string(file.begin(), file.end());
}

Folder::Folder() {
  path = (std::filesystem::temp_directory_path() / "weft-examples-XXXXXX").string();
  if (!mkdtemp(path.data()))
    throw std::runtime_error("cannot make a temporary folder");
}

Folder::~Folder() { std::filesystem::remove_all(path); }

std::string Folder::write(const std::string &name, const std::string &content) const {
  std::ofstream(path + "/" + name, std::ios::binary) << content;
  return path + "/" + name;
}

static std::string contentOf(const std::string &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

Ran Folder::run(const std::string &command, const std::string &input) const {
  const std::string in = write("stdin", input), out = path + "/stdout", err = path + "/stderr";
  const int status = std::system((command + " <" + in + " >" + out + " 2>" + err).c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contentOf(out), contentOf(err)};
}

} // namespace weft_examples_test
