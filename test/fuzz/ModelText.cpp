//===- ModelText.cpp ----------------------------------------------------------------------------===//
#include "test/fuzz/ModelText.h"
#include "test/compiler/readers/SampleFiles.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <sstream>

namespace weft::fuzz {
namespace {

/// Numbers of TensorProto.DataType, and bytes of an element.
struct Element {
  const char *name;
  int number;
  unsigned bytes;
  char kind; ///< 'f' float, 'i' integer
};
const Element kElements[] = {
    {"float", 1, 4, 'f'},    {"uint8", 2, 1, 'i'},   {"int8", 3, 1, 'i'},    {"uint16", 4, 2, 'i'},
    {"int16", 5, 2, 'i'},    {"int32", 6, 4, 'i'},   {"int64", 7, 8, 'i'},   {"bool", 9, 1, 'i'},
    {"float16", 10, 2, 'i'}, {"double", 11, 8, 'f'}, {"uint32", 12, 4, 'i'}, {"uint64", 13, 8, 'i'},
    {"bfloat16", 16, 2, 'i'}};

class ModelParser {
public:
  explicit ModelParser(const std::string &line) : text(line) {}

  std::string run() {
    int64_t opset = 22;
    if (text.compare(0, 6, "opset ") == 0) {
      at = 6;
      opset = std::stoll(word());
      expect(';');
    }
    WireWriter graph = statements();
    if (at != text.size())
      fail("the end");
    WireWriter model;
    model.integer(1, 10).message(7, graph).message(8, opsetOf("", opset));
    for (const std::string &domain : domains)
      model.message(8, opsetOf(domain, 1));
    return model.bytes;
  }

private:
  [[noreturn]] void fail(const std::string &expected) {
    std::fprintf(stderr, "%s\n%*s^ expected %s\n", text.c_str(), int(at), "", expected.c_str());
    std::exit(2);
  }
  void space() {
    while (at < text.size() && text[at] == ' ')
      ++at;
  }
  bool take(const std::string &what) {
    space();
    if (text.compare(at, what.size(), what) != 0)
      return false;
    at += what.size();
    return true;
  }
  void expect(char c) {
    if (!take(std::string(1, c)))
      fail(std::string("'") + c + "'");
  }
  /// Letters, digits, '_', and what numbers have.
  std::string word() {
    space();
    size_t begin = at;
    while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) ||
                                std::string("_.-+?").find(text[at]) != std::string::npos))
      ++at;
    if (at == begin)
      fail("a word");
    return text.substr(begin, at - begin);
  }
  std::vector<std::string> words(char end) {
    std::vector<std::string> list;
    while (!take(std::string(1, end))) {
      if (!list.empty())
        expect(',');
      list.push_back(word());
    }
    return list;
  }

  //===-- Graphs --------------------------------------------------------------------------------===//

  WireWriter statements() {
    WireWriter graph;
    std::vector<std::string> outputs;
    do {
      space();
      if (at == text.size() || text[at] == '}')
        break;
      statement(graph, outputs);
    } while (take(";"));
    graph.text(2, "g");
    for (const std::string &output : outputs)
      graph.message(12, WireWriter().text(1, output));
    return graph;
  }

  void statement(WireWriter &graph, std::vector<std::string> &outputs) {
    if (take("->")) {
      outputs = {word()};
      while (take(","))
        outputs.push_back(word());
      return;
    }
    std::vector<std::string> names = {word()};
    if (take(":")) {
      const Element &element = elementType();
      graph.message(11, valueInfo(names[0], tensorType(element.number, dims())));
      return;
    }
    while (take(","))
      names.push_back(word());
    expect('=');
    std::string op = word();
    if (take("[")) {
      --at;
      graph.message(5, tensor(names[0], op));
      return;
    }
    graph.message(1, node(op, names));
    outputs = names;
  }

  WireWriter node(std::string op, const std::vector<std::string> &outputs) {
    std::string domain;
    if (take(":")) {
      domain = op;
      domains.insert(domain);
      op = word();
    }
    expect('(');
    std::vector<std::string> inputs = words(')');
    std::replace(inputs.begin(), inputs.end(), std::string("_"), std::string());
    WireWriter node = simpleNode(op, inputs, outputs, op + "_" + outputs[0]);
    if (!domain.empty())
      node.text(7, domain);
    for (space(); at < text.size() && std::isalpha(static_cast<unsigned char>(text[at])); space()) {
      std::string name = word();
      expect('=');
      node.message(5, attribute(name));
    }
    return node;
  }

  //===-- Values --------------------------------------------------------------------------------===//

  WireWriter attribute(const std::string &name) {
    if (take("{")) {
      WireWriter graph = statements();
      expect('}');
      return attributeOf(name, 5).message(6, graph);
    }
    if (take("(")) {
      WireWriter value = tensor("", word());
      expect(')');
      return attributeOf(name, 4).message(5, value);
    }
    if (take("\""))
      return attributeOf(name, 3).text(4, quoted());
    if (take("["))
      return list(name);
    std::string number = word();
    if (isReal(number))
      return attributeOf(name, 1).number(2, std::stof(number));
    return attributeOf(name, 2).integer(3, std::stoll(number));
  }

  WireWriter list(const std::string &name) {
    if (take("\"")) {
      WireWriter strings = attributeOf(name, 8);
      do
        strings.text(9, quoted());
      while (take(",") && take("\""));
      expect(']');
      return strings;
    }
    std::vector<std::string> numbers = words(']');
    if (!numbers.empty() && isReal(numbers[0])) {
      WireWriter reals = attributeOf(name, 6);
      for (const std::string &number : numbers)
        reals.number(7, std::stof(number));
      return reals;
    }
    WireWriter integers = attributeOf(name, 7);
    for (const std::string &number : numbers)
      integers.integer(8, std::stoll(number));
    return integers;
  }

  std::string quoted() {
    size_t end = text.find('"', at);
    if (end == std::string::npos)
      fail("'\"'");
    std::string content = text.substr(at, end - at);
    at = end + 1;
    return content;
  }

  static bool isReal(const std::string &number) { return number.find('.') != std::string::npos; }

  const Element &elementNamed(const std::string &name) {
    for (const Element &element : kElements)
      if (name == element.name)
        return element;
    fail("an element type, not '" + name + "'");
  }
  const Element &elementType() { return elementNamed(word()); }

  std::vector<std::string> dims() {
    expect('[');
    std::vector<std::string> list = words(']');
    std::replace(list.begin(), list.end(), std::string("?"), std::string());
    return list;
  }

  /// Its element is read.
  WireWriter tensor(const std::string &name, const std::string &elementName) {
    const Element &element = elementNamed(elementName);
    std::vector<int64_t> sizes;
    size_t count = 1;
    for (const std::string &dim : dims()) {
      sizes.push_back(std::stoll(dim));
      count *= size_t(sizes.back());
    }
    std::vector<std::string> numbers;
    for (space(); at < text.size() &&
                  (std::isdigit(static_cast<unsigned char>(text[at])) || text[at] == '-');
         space())
      numbers.push_back(word());
    if (count && numbers.empty())
      fail("a number");
    std::string data;
    for (size_t i = 0; i < count; ++i) {
      const std::string &number = numbers[i % numbers.size()];
      if (element.kind == 'i')
        data += WireWriter::fixed(std::stoll(number)).substr(0, element.bytes);
      else
        data += element.bytes == 4 ? WireWriter::fixed(std::stof(number))
                                   : WireWriter::fixed(std::stod(number));
    }
    return rawTensor(name, element.number, sizes, data);
  }

  const std::string text;
  size_t at = 0;
  std::set<std::string> domains;
};

} // namespace

std::vector<std::string> modelsOf(const std::vector<std::string> &texts) {
  std::vector<std::string> models;
  for (const std::string &content : texts) {
    std::istringstream lines(content);
    for (std::string line; std::getline(lines, line);)
      if (!line.empty() && line[0] != '#')
        models.push_back(ModelParser(line).run());
  }
  return models;
}

} // namespace weft::fuzz
