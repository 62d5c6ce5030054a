//===- InspectJson.cpp - weft inspect of an artifact, for programs ------------------------------------===//

#include "tools/weft/cli/SignatureJson.h"
#include "tools/weft/cli/Values.h"
#include "tools/weft/verbs/InspectedArtifact.h"

namespace weft::cli {

namespace {

class InspectJson {
public:
  explicit InspectJson(const InspectedArtifact &artifact)
      : of(artifact), info(artifact.artifact().info()) {}

  std::string text() const {
    JsonWriter json("weft.inspect/1");
    json.field("kind", "artifact").field("file", of.path).field("name", info.name);
    json.field("producer", info.producer).field("target", info.target);
    json.field("sha256", of.hash()).field("file_bytes", info.file_size);
    json.field("image_bytes", info.image_size).field("weight_bytes", info.weight_bytes);
    json.field("weights", info.weights).array("variants");
    for (const VariantView &variant : of.artifact().variants())
      json.object()
          .field("target", variant.target)
          .field("ranks", variant.ranks)
          .field("used", variant.isChosen)
          .field("missing", variant.missing)
          .field("refused", variant.isRefused)
          .list("features", variant.features)
          .end();
    json.end();
    numericsJson(json);
    fusingJson(json);
    functionsJson(json, of.programs[0]);
    json.array("meshes");
    for (size_t p = 1; p < of.programs.size(); ++p) {
      json.object().field("ranks", of.programs[p].ranks());
      functionsJson(json, of.programs[p]);
      json.end();
    }
    json.end().array("kernels");
    for (const KernelView &kernel : of.artifact().kernels())
      json.object()
          .field("name", kernel.name)
          .field("calls", kernel.calls)
          .list("nodes", kernel.nodes)
          .end();
    return json.finish();
  }

private:
  static void ranksJson(JsonWriter &json, const FunctionView &f) {
    json.array("mesh");
    for (const AxisSpec &axis : f.mesh)
      json.object().field("axis", axis.name).field("size", axis.size).end();
    json.end();
    if (std::vector<std::string> texts = partTexts(f, false); !texts.empty())
      json.list("local", texts);
    json.array("sent");
    for (const TrafficSpec &each : f.traffic)
      json.object()
          .field("axes", each.axes)
          .field("bytes", each.bytes)
          .field("messages", each.messages)
          .end();
    json.end();
  }

  void functionJson(JsonWriter &json, const FunctionView &f,
                    const std::optional<weft_cost_t> &cost) const {
    json.object().field("name", f.signature.function);
    argumentsJson(json, "inputs", f.signature.inputs);
    argumentsJson(json, "outputs", f.outputs);
    symbolsJson(json, f.signature.symbols);
    json.array("bound_symbols");
    for (const SymbolSpec &s : f.bound)
      json.object().field("name", s.name).field("max", s.max).end();
    json.end().array("in_place");
    for (const InPlaceSpec &pair : f.inPlace)
      json.object()
          .field("input", f.signature.inputs[pair.input].name)
          .field("output", f.outputs[pair.output].name)
          .field("dim", static_cast<int64_t>(pair.dim))
          .field("room", f.outputs[pair.output].dims[pair.dim])
          .end();
    json.end().list("facts", f.facts).list("checks", f.checks);
    json.object("formulas").field("arena", f.arena).field("scratch_per_worker", f.scratch);
    json.field("flops", f.flops).field("bytes_moved", f.bytesMoved);
    json.list("late", f.late).list("late_scratch_per_worker", f.lateScratch).end();
    if (!f.weightsRead.empty())
      json.field("weights_read", f.weightsRead);
    if (!f.mesh.empty())
      ranksJson(json, f);
    json.array("together");
    for (const std::vector<uint32_t> &region : f.regions)
      json.object().list("kernels", region).end();
    json.end();
    if (cost) {
      json.object("at");
      for (const SymbolSpec &s : f.signature.symbols)
        json.field(s.name, of.at.at(s.name));
      json.end().object("cost").field("arena", cost->arena);
      json.field("scratch_per_worker", cost->scratch_per_worker).field("outputs", cost->outputs);
      json.field("flops", cost->flops).field("bytes_moved", cost->bytes_moved).end();
    }
    json.end();
  }

  void functionsJson(JsonWriter &json, const InspectedProgram &program) const {
    json.array("functions");
    for (size_t i = 0; i < program.functions.size(); ++i)
      functionJson(json, program.functions[i], program.costs[i]);
    json.end();
  }

  void numericsJson(JsonWriter &json) const {
    NumericsView n = of.artifact().numerics();
    json.object("numerics");
    for (const auto &[name, texts] : {std::pair{"accuracy", n.accuracy},
                                      {"activations", n.activations},
                                      {"weights", n.weights},
                                      {"compute", n.compute}})
      if (!texts.empty())
        json.field(name, texts[0]);
    if (!n.keepF32.empty())
      json.list("keep_f32", n.keepF32);
    json.end();
  }

  void fusingJson(JsonWriter &json) const {
    if (std::vector<std::string> how = of.artifact().listed("fuse_comm"); !how.empty())
      json.field("fuse_comm", how[0])
          .list("fused_exchanges", of.artifact().listed("fused_exchanges"));
  }

  const InspectedArtifact &of;
  const weft_module_info_t info;
};

} // namespace

std::string inspectionJson(const InspectedArtifact &artifact) {
  return InspectJson(artifact).text();
}

} // namespace weft::cli
