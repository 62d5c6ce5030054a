// The example programs as a user meets them: output, refusals and exit codes.
#include <catch2/catch.hpp>

#include <algorithm>

#include "test/examples/StandIn.h"

using namespace weft_examples_test;
using Catch::Contains;
using Catch::Equals;
using Catch::StartsWith;

static const char *const vocabulary =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\nred\ngreen\napple\ncar\nsea\nis\nfast\nold\n";

namespace {
/// A folder with a model, a vocabulary and the command that uses them.
struct Bench {
  Folder folder;
  std::string vocab = folder.write("vocab.txt", vocabulary);
  std::string command;

  explicit Bench(const weft_test::function &model = longModel()) {
    command = WEFT_SENTENCE_SEARCH " " + folder.write("model.weft", sealed(model)) + " " + vocab;
  }
  Ran search(const std::string &options, const std::string &input = "") const {
    return folder.run(command + " " + options, input);
  }
  std::string sentences(const std::string &text) const {
    return "--file " + folder.write("sentences.txt", text) + " ";
  }
};
} // namespace

TEST_CASE("sentences are ranked by their cosine") {
  Bench bench;
  // Every text also has [CLS] and [SEP], so the query's vector is (1, 1, 1, 1) of length 2. The longest
  // sentence has 'is' three times: length 4, product 4. Padding must not count.
  Ran ran = bench.search(
      bench.sentences("sea is old\nred car\n\nred apple\ngreen apple is red is old is fast\r\n") +
      "--query 'Red apple'");
  CHECK(ran.exitCode == 0);
  CHECK(ran.out == "\nRed apple\n"
                   "   1.000  red apple\n"
                   "   0.750  red car\n"
                   "   0.500  green apple is red is old is fast\n");
  CHECK_THAT(ran.err, Contains("open   ") && Contains("embed  4 sentences, 23 tokens in ") &&
                          Contains("tokens/s"));
}

TEST_CASE("--top bounds what is printed, ties keep their order, and queries come in turn") {
  Bench bench;
  Ran ran = bench.search(bench.sentences("sea\ncar\nred\n") + "--top=2 --query apple --query red");
  CHECK(ran.exitCode == 0);
  CHECK(ran.out == "\napple\n   0.667  sea\n   0.667  car\n\nred\n   1.000  red\n   0.667  sea\n");
  CHECK(bench.search(bench.sentences("sea\n") + "--top 50 --query sea").out ==
        "\nsea\n   1.000  sea\n");
}

TEST_CASE("many sentences in several batches keep their places") {
  Bench bench;
  std::string text, fast = "fast";
  for (int i = 0; i < 50; ++i)
    text += i == 37 ? "green sea\n" : (fast += " fast") + "\n";
  Ran ran = bench.search(bench.sentences(text) + "--top 1 --query 'green sea'");
  CHECK(ran.out == "\ngreen sea\n   1.000  green sea\n");
}

TEST_CASE("without options there are sentences and queries to look at") {
  Bench bench;
  Ran ran = bench.search("");
  CHECK(ran.exitCode == 0);
  CHECK_THAT(ran.out, Contains("How do I bake bread?"));
  CHECK(std::count(ran.out.begin(), ran.out.end(), '\n') == 3 * (2 + 3));
  CHECK_THAT(ran.err, Contains("embed  22 sentences, "));
}

TEST_CASE("--interactive reads queries line by line") {
  Bench bench;
  Ran ran = bench.search(bench.sentences("sea\ncar\n") + "--interactive --top 1", "car\n\n  \nsea");
  CHECK(ran.exitCode == 0);
  CHECK(ran.out == "\ncar\n   1.000  car\n\nsea\n   1.000  sea\n");
}

TEST_CASE("sentences are cut to what the model accepts") {
  Bench bench(shortModel());
  // [CLS] red red [SEP]: what follows the second word is not seen.
  Ran ran = bench.search(bench.sentences("red red sea sea sea\n") + "--query 'red red car'");
  CHECK(ran.out == "\nred red car\n   1.000  red red sea sea sea\n");
  Ran shorter = bench.search(bench.sentences("red sea\n") + "--max-tokens 3 --query 'red car'");
  CHECK(shorter.out == "\nred car\n   1.000  red sea\n");
}

TEST_CASE("a model may also take token_type_ids") {
  weft_test::function model = longModel();
  model.inputs.push_back({"token_type_ids", WEFT_I64, model.inputs[0].dims});
  Bench bench(model);
  CHECK(bench.search(bench.sentences("sea\n") + "--query sea").out == "\nsea\n   1.000  sea\n");
}

TEST_CASE("models of another kind are refused by name") {
  auto refusal = [](void (*change)(weft_test::function &)) {
    weft_test::function model = longModel();
    change(model);
    Bench bench(model);
    Ran ran = bench.search("");
    CHECK(ran.exitCode == 1);
    CHECK(ran.out.empty());
    CHECK_THAT(ran.err, StartsWith("error: "));
    return ran.err;
  };
  using weft_test::function;
  CHECK_THAT(refusal([](function &f) { f.outputs[0].name = "logits"; }),
             Contains("model.weft: the model has no output 'sentence_embedding'\n  hint: "));
  CHECK_THAT(
      refusal([](function &f) { f.outputs[0].element = WEFT_F16; }),
      Contains("output 'sentence_embedding' is f16 of rank 2, but f32 of rank 2 is needed\n"));
  CHECK_THAT(refusal([](function &f) { f.inputs[0].element = WEFT_I32; }),
             Contains("input 'input_ids' is i32 of rank 2, but i64 of rank 2 is needed\n"));
  CHECK_THAT(refusal([](function &f) { f.inputs[1].name = "pixels"; }),
             Contains("the model has an input 'pixels', which is not known here\n"));
  CHECK_THAT(refusal([](function &f) { f.inputs[1].name = "token_type_ids"; }),
             Contains("the model has no input 'attention_mask'\n"));
}

TEST_CASE("files that cannot be used are refused in one line, with exit code 1") {
  Bench bench;
  auto refusal = [&](const std::string &command) {
    Ran ran = bench.folder.run(command);
    CHECK(ran.exitCode == 1);
    CHECK(ran.out.empty());
    CHECK_THAT(ran.err, StartsWith("error: "));
    return ran.err.substr(0, ran.err.find('\n'));
  };
  const std::string program = WEFT_SENTENCE_SEARCH " ",
                    text = bench.folder.write("text", std::string(9000, 'x'));
  CHECK_THAT(refusal(program + "none.weft " + bench.vocab),
             Equals("error: none.weft: cannot be opened: No such file or directory"));
  CHECK_THAT(refusal(program + text + " " + bench.vocab),
             Equals("error: " + text + ": is not a Weft artifact"));
  CHECK_THAT(refusal(program + "m none.txt"),
             Contains("none.txt: cannot read the vocabulary: No such file"));
  CHECK_THAT(refusal(program + "m " + text), Contains("text: the vocabulary has no token '[PAD]'"));
  CHECK_THAT(refusal(bench.command + " --file none.txt"),
             Contains("none.txt: cannot read the sentences: No such"));
  CHECK_THAT(refusal(bench.command + " --file ."),
             Contains(".: cannot read the sentences: Is a directory"));
  CHECK_THAT(refusal(bench.command + " " + bench.sentences("\n \n")),
             Contains("the file has no sentences"));
}

TEST_CASE("an artifact for another processor has exit code 4") {
  weft_test::sample s;
  s.code = weft_test::load_sample_image();
  s.description = {"stand-in",          "weft test",         "x86:v9", {longModel()}, {}, {},
                   {"no_such_feature"}, sizeof(weft_host_v1)};
  s.manifest = "{}";
  weft_test::bytes file = s.seal();
  Bench bench;
  bench.folder.write("model.weft", std::string(file.begin(), file.end()));
  Ran ran = bench.search("");
  CHECK(ran.exitCode == 4);
  CHECK_THAT(ran.err, Contains("no_such_feature"));
}

TEST_CASE("wrong usage is said with exit code 2") {
  Bench bench;
  auto refusal = [&](const std::string &arguments) {
    Ran ran = bench.folder.run(WEFT_SENTENCE_SEARCH " " + arguments);
    CHECK(ran.exitCode == 2);
    CHECK(ran.out.empty());
    return ran.err;
  };
  const std::string hint = "\n  hint: sentence_search --help lists what is accepted\n";
  CHECK(refusal("") == "error: MODEL.weft and VOCAB.txt are missing" + hint);
  CHECK(refusal("m") == "error: VOCAB.txt is missing" + hint);
  CHECK(refusal("m v x") == "error: unexpected argument 'x'" + hint);
  CHECK(refusal("m v --tpo 3") == "error: unknown option '--tpo'" + hint);
  CHECK(refusal("m v --query") == "error: --query needs a value" + hint);
  CHECK(refusal("m v --interactive=1") == "error: --interactive takes no value" + hint);
  for (const char *value : {"0", "-1", "3x", "''", "99999999999999999999"})
    CHECK_THAT(refusal(std::string("m v --top ") + value), StartsWith("error: --top is '"));
  CHECK(refusal("m v --max-tokens 513") ==
        "error: --max-tokens is '513', but a number from 2 to 512 is needed" + hint);
}

TEST_CASE("--help fits one screen") {
  Bench bench;
  Ran ran = bench.folder.run(WEFT_SENTENCE_SEARCH " --help");
  CHECK(ran.exitCode == 0);
  CHECK_THAT(ran.out, Contains("Usage: sentence_search MODEL.weft VOCAB.txt [options]"));
  CHECK(std::count(ran.out.begin(), ran.out.end(), '\n') <= 24);
}

TEST_CASE("c_call makes inputs from names of symbols") {
  Folder folder;
  const std::string program = WEFT_C_CALL " ",
                    model = folder.write("model.weft", sealed(longModel()));
  // All ids and all of the mask are 1: the model counts 'seq' ones.
  Ran ran = folder.run(program + model + " main batch=3 seq=7");
  CHECK(ran.exitCode == 0);
  CHECK(ran.out == "sentence_embedding: f32[3, 64] 0 7 0 0 ...\n");
  CHECK(folder.run(program + model).out == "sentence_embedding: f32[4, 64] 0 4 0 0 ...\n");
  CHECK(folder.run(program + model + " batch=0").out == "sentence_embedding: f32[0, 64]\n");
}

TEST_CASE("c_call refuses with the documented exit codes") {
  Folder folder;
  const std::string program = WEFT_C_CALL " ",
                    model = folder.write("model.weft", sealed(longModel()));
  Ran tooLong = folder.run(program + model + " seq=513");
  CHECK(tooLong.exitCode == 1);
  CHECK_THAT(tooLong.err, StartsWith("error: ") && Contains("'seq' is at most 512"));
  Ran noFunction = folder.run(program + model + " decode");
  CHECK(noFunction.exitCode == 1);
  CHECK(noFunction.err == "error: the artifact has no function 'decode'\n");
  CHECK(folder.run(program + "none.weft").exitCode == 1);
  CHECK(folder.run(program + model + " sqe=3").exitCode == 2);
  CHECK(folder.run(program + model + " seq=three").exitCode == 2);
  CHECK(folder.run(program).exitCode == 2);
}
