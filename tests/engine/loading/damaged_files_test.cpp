// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/gguf/gguf_file.h"
#include "engine/loading/model_files.h"
#include "engine/model/plain/plain_backend.h"
#include "tests/engine/loading/tiny_models.h"
#include "tests/support/few_cases.h"
#include "tests/support/patience.h"
#include "tests/support/programs/allocation_counter.h"
#include "tests/support/programs/damaged_bytes.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <algorithm>

using namespace engine;
using namespace test_support;

namespace {

constexpr std::size_t kLargestFile = 4096;
constexpr int kFlips = 2000;
constexpr int kCutsInSample = 3; // one of so many
constexpr int kFlipsInSample = 500;
constexpr std::uint64_t kSeed = 20250611;
constexpr std::size_t kMaxExtraBytes = std::size_t(64) << 20U;

/// Opens a model and reads all that is in it; the first error, if there is one.
Result<void> loadAll(const std::filesystem::path& path) {
    ENGINE_TRY(const ModelFiles files, ModelFiles::open(path));
    ENGINE_TRY_DO(files.config());
    ENGINE_TRY_DO(files.chatTemplate());
    ENGINE_TRY(const auto weights, files.weights());
    for (const TensorInfo& tensor : weights->tensors()) {
        ENGINE_TRY_DO(readTensor(*weights, tensor.name, tensor.shape));
        std::vector<std::byte> raw(tensor.byteSize);
        ENGINE_TRY_DO(weights->readRawRows(tensor, 0, tensor.rows(), raw));
    }
    return {};
}

/// The same, and what computes with it.
Result<void> loadModel(const std::filesystem::path& path) {
    ENGINE_TRY_DO(loadAll(path));
    ENGINE_TRY(const ModelFiles files, ModelFiles::open(path));
    ENGINE_TRY(const ModelConfig config, files.config());
    ENGINE_TRY(const auto weights, files.weights());
    ENGINE_TRY(const auto transformer, makePlainTransformer(config, *weights, {}));
    return {};
}

using Numbers = std::vector<std::pair<const char*, std::uint32_t>>;
using Shapes = std::vector<std::pair<const char*, std::vector<std::uint64_t>>>;

/// One layer of an architecture: `shapes` are those of its tensors, the contiguous size first.
TinyGguf oneLayer(const std::string& architecture, const Numbers& numbers, const Shapes& shapes) {
    TinyGguf file;
    file.addString("general.architecture", architecture);
    for (const auto& [key, value] : {std::pair("block_count", 1U),
                                     std::pair("embedding_length", 4U),
                                     std::pair("feed_forward_length", 3U),
                                     std::pair("attention.head_count", 2U),
                                     std::pair("attention.head_count_kv", 1U),
                                     std::pair("context_length", 16U)})
        file.addU32(architecture + "." + key, value);
    for (const auto& [key, value] : numbers)
        file.addU32(architecture + "." + key, value);
    file.addF32(architecture + ".attention.layer_norm_rms_epsilon", 1e-5F);
    file.addFloats("token_embd.weight", {4, 5});
    file.addFloats("output_norm.weight", {4});
    for (const auto& [name, shape] : shapes)
        file.addFloats(name, shape);
    return file;
}

Shapes joined(Shapes shapes, const Shapes& more) {
    shapes.insert(shapes.end(), more.begin(), more.end());
    return shapes;
}

const Shapes kAttention = {{"blk.0.attn_q.weight", {4, 4}},
                           {"blk.0.attn_k.weight", {4, 2}},
                           {"blk.0.attn_v.weight", {4, 2}},
                           {"blk.0.attn_output.weight", {4, 4}}};
const Shapes kNorms = {{"blk.0.attn_norm.weight", {4}}, {"blk.0.ffn_norm.weight", {4}}};
const Shapes kMlp = {{"blk.0.ffn_gate.weight", {4, 3}},
                     {"blk.0.ffn_up.weight", {4, 3}},
                     {"blk.0.ffn_down.weight", {3, 4}}};
const Numbers kExperts = {{"expert_count", 2}, {"expert_used_count", 1}};

} // namespace

/// Every cut and 2,000 bit flips of one small valid file a format, in a sample every third cut and
/// 500 flips: a clear error or a valid load, within two seconds and the size of the file and 64 MB.
class DamagedFilesTest : public QObject {
    Q_OBJECT

private slots:
    void safetensorsSurvives();
    void shardSurvives();
    void shardIndexSurvives();
    void ggufSurvives();
    void configSurvives();
    void generationConfigSurvives();
    void filesOfFamiliesSurvive_data();
    void filesOfFamiliesSurvive();
    void configsOfFamiliesSurvive_data();
    void configsOfFamiliesSurvive();

private:
    using Loader = Result<void>(const std::filesystem::path&);

    /// Damages `name` in the folder, loads `model`, and puts the file right again.
    void damage(const TemporaryFolder& folder,
                const std::string& name,
                const std::string& bytes,
                const std::filesystem::path& model,
                Loader& load = loadAll);
};

void DamagedFilesTest::damage(const TemporaryFolder& folder,
                              const std::string& name,
                              const std::string& bytes,
                              const std::filesystem::path& model,
                              Loader& load) {
    QVERIFY2(bytes.size() <= kLargestFile, qPrintable(QString::number(bytes.size())));
    folder.write(name, bytes);
    const auto whole = load(model);
    QVERIFY2(whole, whole ? "" : whole.error().message.c_str());
    int refused = 0;
    const auto visit = [&](const std::string& damaged, std::size_t where) {
        folder.write(name, damaged);
        const support::ProcessorClock clock;
        const PeakAllocation peak;
        const auto loaded = load(model);
        const std::string place = fmt::format("{} at {}", name, where);
        QVERIFY2(peak.bytes() <= damaged.size() + kMaxExtraBytes, place.c_str());
        QVERIFY2(clock.ms() < support::kEndsSoonMs, place.c_str());
        if (loaded)
            return;
        ++refused;
        QVERIFY2(!loaded.error().message.empty() && !loaded.error().hint.empty(), place.c_str());
        // The message must name the file, the tensor or the key that is wrong.
        QVERIFY2(loaded.error().message.size() > 20, loaded.error().message.c_str());
    };
    const int step = support::takesAllCases() ? 1 : support::takesFewCases() ? 7 : kCutsInSample;
    int cuts = 0;
    for (std::size_t length = 0; length < bytes.size(); length += static_cast<std::size_t>(step)) {
        ++cuts;
        visit(bytes.substr(0, length), length);
    }
    QVERIFY2(refused >= cuts - (100 + step - 1) / step, "cuts go unnoticed");
    forEachFlip(bytes,
                support::takesAllCases()   ? kFlips
                : support::takesFewCases() ? kFlipsInSample / 2
                                           : kFlipsInSample,
                kSeed,
                visit);
    folder.write(name, bytes);
    QVERIFY(load(model));
}

void DamagedFilesTest::safetensorsSurvives() {
    const TemporaryFolder folder;
    folder.write("config.json", tinyConfigJson());
    damage(folder, "model.safetensors", tinySafetensors().toBytes(), folder.path());
}

void DamagedFilesTest::shardSurvives() {
    const TemporaryFolder folder;
    folder.write("config.json", tinyConfigJson());
    folder.write("model.safetensors.index.json",
                 R"({"weight_map":{"model.norm.weight":"model-1.safetensors",)"
                 R"("half":"model-1.safetensors"}})");
    TinySafetensors shard;
    shard.addFloats("model.norm.weight", {4});
    shard.add("half", "F16", {2, 3}, std::string(12, '\x30'));
    damage(folder, "model-1.safetensors", shard.toBytes(), folder.path());
}

void DamagedFilesTest::shardIndexSurvives() {
    const TemporaryFolder folder;
    folder.write("config.json", tinyConfigJson());
    TinySafetensors first;
    first.addFloats("model.norm.weight", {4});
    folder.write("model-1.safetensors", first.toBytes());
    TinySafetensors second;
    second.addFloats("lm_head.weight", {4, 4});
    folder.write("model-2.safetensors", second.toBytes());
    damage(folder,
           "model.safetensors.index.json",
           R"({"metadata":{"total_size":80},"weight_map":{"lm_head.weight":"model-2.safetensors",)"
           R"("model.norm.weight":"model-1.safetensors"}})",
           folder.path());
}

void DamagedFilesTest::ggufSurvives() {
    TinyGguf file = tinyGgufMetadata();
    addTinyTokenizer(file);
    addTinyTensors(file);
    const TemporaryFolder folder;
    damage(folder, "m.gguf", file.toBytes(), folder.path() / "m.gguf");
}

void DamagedFilesTest::configSurvives() {
    const TemporaryFolder folder;
    folder.write("model.safetensors", tinySafetensors().toBytes());
    damage(folder, "config.json", tinyConfigJson(), folder.path());
}

void DamagedFilesTest::generationConfigSurvives() {
    const TemporaryFolder folder;
    folder.write("config.json", tinyConfigJson());
    folder.write("model.safetensors", tinySafetensors().toBytes());
    folder.write("tokenizer_config.json", R"({"chat_template":"x"})");
    damage(folder, "generation_config.json", R"({"eos_token_id":[2,4],"x":null})", folder.path());
}

void DamagedFilesTest::filesOfFamiliesSurvive_data() {
    QTest::addColumn<QByteArray>("bytes");
    const auto row = [](const char* name, const TinyGguf& file) {
        QTest::newRow(name) << QByteArray::fromStdString(file.toBytes());
    };
    row("OLMoE",
        oneLayer("olmoe",
                 kExperts,
                 joined(joined(kAttention, kNorms),
                        {{"blk.0.attn_q_norm.weight", {4}},
                         {"blk.0.attn_k_norm.weight", {2}},
                         {"blk.0.ffn_gate_inp.weight", {4, 2}},
                         {"blk.0.ffn_gate_exps.weight", {4, 3, 2}},
                         {"blk.0.ffn_up_exps.weight", {4, 3, 2}},
                         {"blk.0.ffn_down_exps.weight", {3, 4, 2}}})));
    row("Mixtral, a tensor for each expert",
        oneLayer("llama",
                 kExperts,
                 joined(joined(kAttention, kNorms),
                        {{"blk.0.ffn_gate_inp.weight", {4, 2}},
                         {"blk.0.ffn_gate.0.weight", {4, 3}},
                         {"blk.0.ffn_gate.1.weight", {4, 3}},
                         {"blk.0.ffn_up.0.weight", {4, 3}},
                         {"blk.0.ffn_up.1.weight", {4, 3}},
                         {"blk.0.ffn_down.0.weight", {3, 4}},
                         {"blk.0.ffn_down.1.weight", {3, 4}}})));
    row("Phi-3",
        oneLayer("phi3",
                 {{"attention.sliding_window", 8}, {"rope.dimension_count", 2}},
                 joined(kNorms,
                        {{"blk.0.attn_qkv.weight", {4, 8}},
                         {"blk.0.attn_output.weight", {4, 4}},
                         {"blk.0.ffn_up.weight", {4, 6}},
                         {"blk.0.ffn_down.weight", {3, 4}},
                         {"rope_factors_long.weight", {1}},
                         {"rope_factors_short.weight", {1}}})));
    TinyGguf gemma = oneLayer("gemma3",
                              {{"attention.sliding_window", 8}},
                              joined(joined(joined(kAttention, kNorms), kMlp),
                                     {{"blk.0.attn_q_norm.weight", {2}},
                                      {"blk.0.attn_k_norm.weight", {2}},
                                      {"blk.0.post_attention_norm.weight", {4}},
                                      {"blk.0.post_ffw_norm.weight", {4}}}));
    gemma.addArray<std::uint8_t>("gemma3.attention.sliding_window_pattern", GgufType::Bool, {1});
    row("Gemma 3", gemma);
}

void DamagedFilesTest::filesOfFamiliesSurvive() {
    QFETCH(QByteArray, bytes);
    const TemporaryFolder folder;
    damage(folder, "m.gguf", bytes.toStdString(), folder.path() / "m.gguf", loadModel);
}

void DamagedFilesTest::configsOfFamiliesSurvive_data() {
    QTest::addColumn<QByteArray>("config");
    QTest::addColumn<QByteArray>("weights");
    const auto sizes = [](const char* type, const char* more) {
        return fmt::format(R"({{"model_type":"{}",{},"hidden_size":4,"intermediate_size":6,)"
                           R"("num_hidden_layers":1,"num_attention_heads":2,"head_dim":2,)"
                           R"("num_key_value_heads":1,"vocab_size":5,)"
                           R"("max_position_embeddings":16}})",
                           type,
                           more);
    };
    const auto row = [](const char* name, const std::string& config, const TinySafetensors& file) {
        QTest::newRow(name) << QByteArray::fromStdString(config)
                            << QByteArray::fromStdString(file.toBytes());
    };
    const auto attention = [](TinySafetensors& file, const std::string& layer) {
        file.addFloats(layer + "self_attn.q_proj.weight", {4, 4});
        file.addFloats(layer + "self_attn.k_proj.weight", {2, 4});
        file.addFloats(layer + "self_attn.v_proj.weight", {2, 4});
        file.addFloats(layer + "self_attn.o_proj.weight", {4, 4});
        file.addFloats(layer + "self_attn.q_norm.weight", {2});
        file.addFloats(layer + "self_attn.k_norm.weight", {2});
    };
    TinySafetensors gemma;
    const std::string inner = "language_model.model.";
    attention(gemma, inner + "layers.0.");
    for (const char* norm : {"layers.0.input_layernorm",
                             "layers.0.post_attention_layernorm",
                             "layers.0.pre_feedforward_layernorm",
                             "layers.0.post_feedforward_layernorm",
                             "norm"})
        gemma.addFloats(fmt::format("{}{}.weight", inner, norm), {4});
    gemma.addFloats(inner + "embed_tokens.weight", {5, 4});
    gemma.addFloats(inner + "layers.0.mlp.gate_proj.weight", {6, 4});
    gemma.addFloats(inner + "layers.0.mlp.up_proj.weight", {6, 4});
    gemma.addFloats(inner + "layers.0.mlp.down_proj.weight", {4, 6});
    row("Gemma 3 among images",
        fmt::format(R"({{"model_type":"gemma3","eos_token_id":[1,2],"text_config":{}}})",
                    sizes("gemma3_text", R"("sliding_window":8,"layer_types":null)")),
        gemma);
    TinySafetensors qwen;
    attention(qwen, "model.layers.0.");
    for (const char* norm :
         {"layers.0.input_layernorm", "layers.0.post_attention_layernorm", "norm"})
        qwen.addFloats(fmt::format("model.{}.weight", norm), {4});
    qwen.addFloats("model.embed_tokens.weight", {5, 4});
    qwen.addFloats("lm_head.weight", {5, 4});
    qwen.addFloats("model.layers.0.mlp.gate.weight", {2, 4});
    for (const char* expert : {"0", "1"})
        for (const char* matrix : {"gate", "up"})
            qwen.addFloats(
                fmt::format("model.layers.0.mlp.experts.{}.{}_proj.weight", expert, matrix),
                {3, 4});
    for (const char* expert : {"0", "1"})
        qwen.addFloats(fmt::format("model.layers.0.mlp.experts.{}.down_proj.weight", expert),
                       {4, 3});
    row("Qwen3 with experts",
        sizes("qwen3_moe",
              R"("num_experts":2,"num_experts_per_tok":1,"moe_intermediate_size":3,)"
              R"("mlp_only_layers":[],"norm_topk_prob":true)"),
        qwen);
}

void DamagedFilesTest::configsOfFamiliesSurvive() {
    QFETCH(QByteArray, config);
    QFETCH(QByteArray, weights);
    const TemporaryFolder folder;
    folder.write("model.safetensors", weights.toStdString());
    damage(folder, "config.json", config.toStdString(), folder.path(), loadModel);
}

QTEST_APPLESS_MAIN(DamagedFilesTest)
#include "damaged_files_test.moc"
