// SPDX-License-Identifier: Apache-2.0
// Files of families that the network's description covers, and what is refused of them.
#include "engine/loading/model_files.h"
#include "engine/loading/network/network_tensors.h"
#include "engine/loading/weight_source.h"
#include "engine/model/cpu/cpu_backend.h"
#include "engine/model/plain/plain_backend.h"
#include "tests/support/models/tiny_gguf.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <array>
#include <optional>

using namespace engine;
using namespace test_support;

namespace {

/// A tiny config.json of a family; `extra` members stand in front.
std::string configText(std::string_view family, std::string_view extra) {
    return fmt::format(R"({{"model_type":"{}",{}{}"hidden_size":8,"intermediate_size":6,)"
                       R"("num_hidden_layers":2,"num_attention_heads":2,"num_key_value_heads":1,)"
                       R"("head_dim":4,"vocab_size":5,"max_position_embeddings":64}})",
                       family,
                       extra,
                       extra.empty() ? "" : ",");
}

Result<ModelConfig> read(std::string_view family, std::string_view extra) {
    const auto document = JsonDocument::parse(configText(family, extra), "config.json");
    ENGINE_CHECK(document.hasValue(), "{}", document.error().message);
    return readModelConfig(document.value().root());
}

ModelConfig valueOf(std::string_view family, std::string_view extra = "") {
    auto config = read(family, extra);
    ENGINE_CHECK(config.hasValue(), "{}", config.error().message);
    return std::move(config).value();
}

constexpr std::string_view kExperts = R"("num_local_experts":3,"num_experts_per_tok":2)";

/// A Mixtral of three experts whose files hold `stored` of them and a router of `routed`.
std::string mixtralWeights(int stored, std::uint64_t routed) {
    TinySafetensors file;
    file.addFloats("model.embed_tokens.weight", {5, 8});
    for (const char* layer : {"model.layers.0.", "model.layers.1."}) {
        const std::string prefix = layer;
        file.addFloats(prefix + "input_layernorm.weight", {8});
        file.addFloats(prefix + "self_attn.q_proj.weight", {8, 8});
        file.addFloats(prefix + "self_attn.k_proj.weight", {4, 8});
        file.addFloats(prefix + "self_attn.v_proj.weight", {4, 8});
        file.addFloats(prefix + "self_attn.o_proj.weight", {8, 8});
        file.addFloats(prefix + "post_attention_layernorm.weight", {8});
        file.addFloats(prefix + "block_sparse_moe.gate.weight", {routed, 8});
        for (int expert = 0; expert < stored; ++expert) {
            const std::string name = fmt::format("{}block_sparse_moe.experts.{}.", prefix, expert);
            file.addFloats(name + "w1.weight", {6, 8});
            file.addFloats(name + "w2.weight", {8, 6});
            file.addFloats(name + "w3.weight", {6, 8});
        }
    }
    file.addFloats("model.norm.weight", {8});
    file.addFloats("lm_head.weight", {5, 8});
    return file.toBytes();
}

/// A Mixtral of one layer, without its experts.
TinyGguf mixtralGguf(std::uint32_t counted, std::uint64_t routed) {
    TinyGguf file;
    file.addString("general.architecture", "llama");
    for (const auto& [key, value] : {std::pair("block_count", 1U),
                                     std::pair("embedding_length", 4U),
                                     std::pair("feed_forward_length", 6U),
                                     std::pair("attention.head_count", 2U),
                                     std::pair("context_length", 16U),
                                     std::pair("expert_used_count", 2U),
                                     std::pair("expert_count", counted)})
        file.addU32(std::string("llama.") + key, value);
    file.addF32("llama.attention.layer_norm_rms_epsilon", 1e-5F);
    file.addFloats("token_embd.weight", {4, 5});
    file.addFloats("output_norm.weight", {4});
    for (const char* norm : {"attn_norm", "ffn_norm"})
        file.addFloats(fmt::format("blk.0.{}.weight", norm), {4});
    for (const char* linear : {"attn_q", "attn_k", "attn_v", "attn_output"})
        file.addFloats(fmt::format("blk.0.{}.weight", linear), {4, 4});
    file.addFloats("blk.0.ffn_gate_inp.weight", {4, routed});
    return file;
}

/// A Gemma 3 as Ollama's converter writes it: with parts for images, and with neither an epsilon
/// nor anything rotary.
TinyGguf ollamasGemma(std::uint32_t layers) {
    TinyGguf file;
    file.addString("general.architecture", "gemma3");
    for (const auto& [key, value] : {std::pair("block_count", layers),
                                     std::pair("embedding_length", 8U),
                                     std::pair("feed_forward_length", 6U),
                                     std::pair("attention.head_count", 2U),
                                     std::pair("attention.head_count_kv", 1U),
                                     std::pair("attention.key_length", 4U),
                                     std::pair("attention.value_length", 4U),
                                     std::pair("attention.sliding_window", 16U),
                                     std::pair("context_length", 64U),
                                     std::pair("mm.tokens_per_image", 256U),
                                     std::pair("vision.block_count", 1U)})
        file.addU32(std::string("gemma3.") + key, value);
    file.addFloats("token_embd.weight", {8, 5});
    file.addFloats("v.blk.0.attn_q.weight", {4, 4});
    file.addFloats("mm.mm_input_projection.weight", {4, 8});
    return file;
}

ModelConfig configOf(const TinyGguf& file) {
    const TemporaryFolder folder;
    const auto files = ModelFiles::open(folder.write("m.gguf", file.toBytes()));
    ENGINE_CHECK(files.hasValue(), "{}", files.error().message);
    auto config = files.value().config();
    ENGINE_CHECK(config.hasValue(), "{}", config.error().message);
    return std::move(config).value();
}

/// What loading the folder's model says, by each backend of the engine itself.
QStringList loadingProblems(const std::filesystem::path& path) {
    QStringList problems;
    for (const bool isPlain : {true, false}) {
        const auto loaded = [&]() -> Result<std::unique_ptr<Transformer>> {
            ENGINE_TRY(const ModelFiles files, ModelFiles::open(path));
            ENGINE_TRY(const ModelConfig config, files.config());
            ENGINE_TRY(const auto weights, files.weights());
            return isPlain ? makePlainTransformer(config, *weights, {})
                           : makeCpuTransformer(config, *weights, {});
        }();
        problems << (loaded ? "" : QString::fromStdString(loaded.error().message));
    }
    return problems;
}

QStringList loadMixtral(int stored, std::uint64_t routed) {
    const TemporaryFolder folder;
    folder.write("config.json", configText("mixtral", kExperts));
    folder.write("model.safetensors", mixtralWeights(stored, routed));
    return loadingProblems(folder.path());
}

} // namespace

class FamilyFilesTest : public QObject {
    Q_OBJECT

private slots:
    void unsaidNumbersAreThoseOfTheFamilies();
    void layersWithoutRotationAreListedOrCounted();
    void otherArithmeticIsRefusedByName_data();
    void otherArithmeticIsRefusedByName();
    void expertsThatDisagreeWithTheTensorsAreRefused();
    void ggufExpertsThatDisagreeWithTheTensorsAreRefused();
    void gatesAndUpsOfExpertsMayBeOneTensor();
    void moreExpertsThanAnyModelHasAreRefused();
    void windowsThatMustBeSwitchedOnAreOffInGguf();
    void numbersThatOllamaLeavesOutAreThoseOfThePublishedModels();
    void aCapThatOllamaMadeUpIsNotThatOfThePublishedModel_data();
    void aCapThatOllamaMadeUpIsNotThatOfThePublishedModel();
    void aGemmaOfOllamaComputesWithoutItsPartsForImages();
    void everyTensorOfTheDescriptionIsComputedWith();
};

void FamilyFilesTest::unsaidNumbersAreThoseOfTheFamilies() {
    QVERIFY(valueOf("gemma2").tiedHead && valueOf("smollm3").tiedHead &&
            !valueOf("qwen3").tiedHead);
    QCOMPARE(valueOf("gemma2").attentionSoftCap, 50.0);
    QCOMPARE(valueOf("gemma2").logitSoftCap, 30.0);
    QCOMPARE(valueOf("gemma2", R"("final_logit_softcapping":null)").logitSoftCap, 0.0);
    QCOMPARE(valueOf("gemma2").attentionScale, 1.0 / 16.0);
    QCOMPARE(valueOf("gemma2").layerWindows, std::vector<int>({4096, 0}));
    QCOMPARE(valueOf("gemma3_text").layerWindows, std::vector<int>({4096, 4096}));
    QCOMPARE(valueOf("gemma3_text").windowRopeTheta, 10000.0);
    QCOMPARE(valueOf("gemma3_text").ropeTheta, 1e6);
    QCOMPARE(valueOf("phi3").layerWindows, std::vector<int>({0, 0}));
    QCOMPARE(valueOf("granite").attentionScale, 1.0);
    QCOMPARE(valueOf("granite", R"("logits_scaling":4)").logitScale, 0.25);
    QVERIFY(valueOf("mixtral", kExperts).experts.renormalises);
    QCOMPARE(valueOf("mixtral", kExperts).experts.size, 6);
}

void FamilyFilesTest::layersWithoutRotationAreListedOrCounted() {
    const ModelConfig listed = valueOf("smollm3", R"("no_rope_layers":[0,1])");
    QVERIFY(listed.ropeOf(0) == LayerRope::None && listed.ropeOf(1) == LayerRope::Model);
    const ModelConfig counted = valueOf("smollm3", R"("no_rope_layer_interval":2)");
    QVERIFY(counted.ropeOf(0) == LayerRope::Model && counted.ropeOf(1) == LayerRope::None);
    // Of a list for more layers than a small model has, the first ones count.
    const ModelConfig longer = valueOf("smollm3", R"("no_rope_layers":[1,0,0,1,1])");
    QVERIFY(longer.ropeOf(0) == LayerRope::Model && longer.ropeOf(1) == LayerRope::None);
    QCOMPARE(longer.layerRopes.size(), std::size_t(2));
}

void FamilyFilesTest::otherArithmeticIsRefusedByName_data() {
    QTest::addColumn<QString>("family");
    QTest::addColumn<QString>("extra");
    QTest::addColumn<QString>("problem");
    const auto row = [](const char* family, std::string_view extra, const char* problem) {
        QTest::addRow("%s: %s", family, problem)
            << QString(family)
            << QString::fromUtf8(extra.data(), static_cast<qsizetype>(extra.size()))
            << QString(problem);
    };
    row("gemma2", R"("hidden_activation":"silu")", "activation \"silu\"");
    row("qwen3", R"("hidden_act":"gelu_pytorch_tanh")", "activation \"gelu_pytorch_tanh\"");
    row("gemma3_text", R"("use_bidirectional_attention":true)", "use_bidirectional_attention");
    // transformers and llama.cpp read it for Gemma 2 alone.
    row("gemma3_text", R"("attn_logit_softcapping":50.0)", "attn_logit_softcapping");
    row("phi3",
        R"("sliding_window":16,"layer_types":["sliding_attention","full_attention"])",
        "layer_types");
    row("gemma3_text",
        R"("rope_parameters":{"rope_type":"linear","factor":8})",
        "do not tell apart the kinds of layers");
    row("gemma3_text",
        R"("rope_scaling":{"rope_type":"linear","factor":8},)"
        R"("rope_parameters":{"full_attention":{"rope_theta":5e5}})",
        "\"rope_scaling\" beside \"rope_parameters\"");
    row("gemma3_text",
        R"("rope_parameters":{"full_attention":{"rope_type":"yarn","factor":4}})",
        "rope scaling \"yarn\"");
    row("gemma3_text",
        R"("rope_parameters":{"full_attention":{},"sliding_attention":{"rope_type":"linear"}})",
        "of layers with a window");
    row("qwen3", R"("rope_scaling":{"rope_type":"longrope"})", "rope scaling \"longrope\"");
    row("phi3",
        R"("rope_scaling":{"type":"longrope","short_factor":[1],"long_factor":[1,2]})",
        "1 longrope factors for 2");
    row("phi3", R"("rope_scaling":{"type":"linear","factor":2})", "rope scaling \"linear\"");
    row("phi3", R"("partial_rotary_factor":2)", "partial_rotary_factor");
    row("phi3", R"("partial_rotary_factor":0.1)", "\"partial_rotary_factor\" is too small");
    row("smollm3", R"("no_rope_layers":[1])", "no_rope_layers");
    row("smollm3", R"("no_rope_layers":[false,true])", "neither 0 nor 1");
    row("qwen3_moe",
        R"("num_experts":2,"num_experts_per_tok":1,"moe_intermediate_size":6,"mlp_only_layers":1)",
        "\"mlp_only_layers\" is no list");
    row("olmoe", R"("clip_qkv":8.0,"num_experts":3,"num_experts_per_tok":2)", "clip_qkv");
    row("mixtral", R"("num_experts_per_tok":2)", "num_local_experts");
    row("mixtral", R"("num_local_experts":2,"num_experts_per_tok":3)", "experts of a token");
    row("olmo2", R"("sliding_window":8)", "sliding window");
    row("qwen3", R"("sandwich_norm":true)", "sandwich_norm");
    row("olmo2", R"("use_post_norm":true)", "use_post_norm");
}

void FamilyFilesTest::otherArithmeticIsRefusedByName() {
    QFETCH(QString, family);
    QFETCH(QString, extra);
    QFETCH(QString, problem);
    const auto config = read(family.toStdString(), extra.toStdString());
    QVERIFY(!config);
    const QString message = QString::fromStdString(config.error().message);
    QVERIFY2(message.contains(problem), qPrintable(message));
    QVERIFY(!config.error().hint.empty());
}

void FamilyFilesTest::expertsThatDisagreeWithTheTensorsAreRefused() {
    QCOMPARE(loadMixtral(3, 3), QStringList({"", ""}));
    for (const QString& problem : loadMixtral(2, 3))
        QVERIFY2(problem.contains("no tensor model.layers.0.mlp.experts.2.gate_proj.weight"),
                 qPrintable(problem));
    for (const QString& problem : loadMixtral(4, 3))
        QVERIFY2(problem.contains("the configuration says that there are 3 experts"),
                 qPrintable(problem));
    for (const QString& problem : loadMixtral(3, 4))
        QVERIFY2(problem.contains("mlp.gate.weight has shape [4, 8]"), qPrintable(problem));
}

void FamilyFilesTest::ggufExpertsThatDisagreeWithTheTensorsAreRefused() {
    const auto problem = [](std::uint32_t counted, std::uint64_t routed, std::uint64_t size = 6) {
        TinyGguf file = mixtralGguf(counted, routed);
        file.addFloats("blk.0.ffn_gate_exps.weight", {4, size, 3});
        file.addFloats("blk.0.ffn_up_exps.weight", {4, 6, 3});
        file.addFloats("blk.0.ffn_down_exps.weight", {6, 4, 3});
        const TemporaryFolder folder;
        return loadingProblems(folder.write("m.gguf", file.toBytes()));
    };
    QCOMPARE(problem(3, 3), QStringList({"", ""}));
    for (const QString& told : problem(4, 3))
        QVERIFY2(told.contains("ffn_gate_exps.weight holds other than 4 experts"),
                 qPrintable(told));
    for (const QString& told : problem(3, 3, 0))
        QVERIFY2(told.contains("has shape [0, 4]"), qPrintable(told));
    for (const QString& told : problem(3, 2))
        QVERIFY2(told.contains("mlp.gate.weight has shape [2, 4]"), qPrintable(told));
}

void FamilyFilesTest::gatesAndUpsOfExpertsMayBeOneTensor() {
    const TemporaryFolder folder;
    const auto write = [&](std::uint64_t rows) {
        TinyGguf file = mixtralGguf(3, 3);
        file.addFloats("blk.0.ffn_gate_up_exps.weight", {4, rows, 3});
        file.addFloats("blk.0.ffn_down_exps.weight", {6, 4, 3});
        return folder.write("m.gguf", file.toBytes());
    };
    const auto path = write(12);
    QCOMPARE(loadingProblems(path), QStringList({"", ""}));
    const auto files = ModelFiles::open(path);
    QVERIFY(files.hasValue());
    const auto weights = files.value().weights();
    QVERIFY2(weights.hasValue(), weights ? "" : weights.error().message.c_str());
    constexpr std::array<std::uint64_t, 2> kShape = {6, 4};
    for (const int expert : {0, 1, 2})
        for (const bool isUp : {false, true}) {
            const std::string name = fmt::format(
                "model.layers.0.mlp.experts.{}.{}_proj.weight", expert, isUp ? "up" : "gate");
            const auto values = readTensor(*weights.value(), name, kShape);
            QVERIFY2(values.hasValue(), values ? "" : values.error().message.c_str());
            const int firstRow = expert * 12 + (isUp ? 6 : 0);
            QCOMPARE(values.value().front(), 0.25F + 0.125F * static_cast<float>(firstRow * 4));
            QCOMPARE(values.value().back(), 0.25F + 0.125F * static_cast<float>(firstRow * 4 + 23));
        }
    for (const QString& told : loadingProblems(write(11)))
        QVERIFY2(told.contains("has 11 rows an expert, which do not divide into 2 matrices"),
                 qPrintable(told));
    for (const QString& told : loadingProblems(write(10)))
        QVERIFY2(told.contains("has shape [5, 4]"), qPrintable(told));
}

void FamilyFilesTest::moreExpertsThanAnyModelHasAreRefused() {
    ModelConfig config = valueOf("mixtral", kExperts);
    config.experts.count = 4096;
    QVERIFY(config.validate().hasValue());
    config.layerCount = 1024;
    config.layerWindows.assign(1024, 0);
    const auto checked = config.validate();
    QVERIFY(!checked);
    QCOMPARE(checked.error().message,
             std::string("1024 layers of 4096 experts exceed 65536 in all"));
}

void FamilyFilesTest::windowsThatMustBeSwitchedOnAreOffInGguf() {
    const auto windows = [](const std::string& architecture, std::optional<std::uint32_t> said) {
        TinyGguf file;
        file.addString("general.architecture", architecture);
        for (const auto& [key, value] : {std::pair("block_count", 2U),
                                         std::pair("embedding_length", 8U),
                                         std::pair("feed_forward_length", 6U),
                                         std::pair("attention.head_count", 2U),
                                         std::pair("context_length", 32768U)})
            file.addU32(architecture + "." + key, value);
        if (architecture == "qwen3moe")
            for (const char* key : {"expert_count", "expert_used_count"})
                file.addU32(architecture + "." + key, 2);
        if (said)
            file.addU32(architecture + ".attention.sliding_window", *said);
        file.addF32(architecture + ".attention.layer_norm_rms_epsilon", 1e-5F);
        file.addFloats("token_embd.weight", {8, 5});
        const TemporaryFolder folder;
        const auto files = ModelFiles::open(folder.write("m.gguf", file.toBytes()));
        ENGINE_CHECK(files.hasValue(), "{}", files.error().message);
        const auto config = files.value().config();
        ENGINE_CHECK(config.hasValue(), "{}", config.error().message);
        return config.value().layerWindows;
    };
    for (const char* architecture : {"qwen2", "qwen3", "qwen3moe"}) {
        QCOMPARE(windows(architecture, std::nullopt), std::vector<int>({0, 0}));
        QCOMPARE(windows(architecture, 16U), std::vector<int>({0, 0}));
    }
    QCOMPARE(windows("gemma2", std::nullopt), std::vector<int>({4096, 0}));
    QCOMPARE(windows("gemma2", 16U), std::vector<int>({16, 0}));
    QCOMPARE(windows("phi3", 16U), std::vector<int>({16, 16}));
}

void FamilyFilesTest::numbersThatOllamaLeavesOutAreThoseOfThePublishedModels() {
    const ModelConfig large = configOf(ollamasGemma(34));
    QCOMPARE(large.normEpsilon, 1e-6);
    QCOMPARE(large.ropeTheta, 1e6);
    QCOMPARE(large.windowRopeTheta, 10000.0);
    QVERIFY(large.ropeScaling.kind == RopeScalingKind::Linear);
    QCOMPARE(large.ropeScaling.factor, 8.0);
    QVERIFY(large.layerWindows[4] == 16 && large.layerWindows[5] == 0);
    QVERIFY(configOf(ollamasGemma(18)).ropeScaling.kind == RopeScalingKind::None);
    TinyGguf said = ollamasGemma(34);
    said.addF32("gemma3.rope.scaling.factor", 2.0F);
    QCOMPARE(configOf(said).ropeScaling.factor, 2.0);
    TinyGguf damaged = ollamasGemma(34);
    damaged.addString("gemma3.attention.layer_norm_rms_epsilon", "1e-6");
    const TemporaryFolder folder;
    const auto files = ModelFiles::open(folder.write("m.gguf", damaged.toBytes()));
    QVERIFY(files.hasValue() && !files.value().config());
    TinyGguf whole = ollamasGemma(34); // as other converters write it
    whole.addF32("gemma3.attention.layer_norm_rms_epsilon", 0.5F);
    QCOMPARE(configOf(whole).normEpsilon, 0.5);
    QVERIFY(configOf(whole).ropeScaling.kind == RopeScalingKind::None);
}

void FamilyFilesTest::aCapThatOllamaMadeUpIsNotThatOfThePublishedModel_data() {
    QTest::addColumn<int>("layers");
    QTest::addColumn<bool>("isOllamas");
    QTest::addColumn<double>("cap");
    QTest::newRow("never in the model of 1B") << 26 << true << 0.0;
    QTest::newRow("in another model") << 18 << true << 30.0;
    QTest::newRow("of another converter") << 26 << false << 30.0;
}

void FamilyFilesTest::aCapThatOllamaMadeUpIsNotThatOfThePublishedModel() {
    QFETCH(int, layers);
    QFETCH(bool, isOllamas);
    QFETCH(double, cap);
    TinyGguf file = ollamasGemma(static_cast<std::uint32_t>(layers));
    file.addF32("gemma3.attention.layer_norm_rms_epsilon", 1e-6F);
    file.addF32("gemma3.final_logit_softcapping", 30.0F);
    if (isOllamas)
        file.addF32("gemma3.rope.local.freq_base", 1e4F);
    QCOMPARE(configOf(file).logitSoftCap, cap);
}

void FamilyFilesTest::aGemmaOfOllamaComputesWithoutItsPartsForImages() {
    TinyGguf file = ollamasGemma(1);
    file.addFloats("output_norm.weight", {8});
    for (const char* norm : {"attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"})
        file.addFloats(fmt::format("blk.0.{}.weight", norm), {8});
    for (const char* norm : {"attn_q_norm", "attn_k_norm"})
        file.addFloats(fmt::format("blk.0.{}.weight", norm), {4});
    for (const char* square : {"attn_q", "attn_output"})
        file.addFloats(fmt::format("blk.0.{}.weight", square), {8, 8});
    for (const char* narrow : {"attn_k", "attn_v"})
        file.addFloats(fmt::format("blk.0.{}.weight", narrow), {8, 4});
    for (const char* wide : {"ffn_gate", "ffn_up"})
        file.addFloats(fmt::format("blk.0.{}.weight", wide), {8, 6});
    file.addFloats("blk.0.ffn_down.weight", {6, 8});
    const TemporaryFolder folder;
    QCOMPARE(loadingProblems(folder.write("m.gguf", file.toBytes())), QStringList({"", ""}));
    const ModelConfig config = configOf(file);
    QStringList notes;
    for (const std::string& note : config.notes)
        notes << QString::fromStdString(note);
    for (const char* part : {"mm.mm_input_projection.weight",
                             "v.blk.0.attn_q.weight",
                             "gemma3.mm.tokens_per_image",
                             "gemma3.vision.block_count"})
        QVERIFY2(notes.join(' ').contains(part), qPrintable(notes.join(' ')));
}

void FamilyFilesTest::everyTensorOfTheDescriptionIsComputedWith() {
    for (const auto& [family, extra] :
         {std::pair("gemma3_text", std::string_view()),
          std::pair("olmo2", std::string_view(R"("attention_bias":true)")),
          std::pair("mixtral", kExperts)}) {
        const ModelConfig config = valueOf(family, extra);
        forEachTensor(config, [&](const TensorSpec& tensor) {
            QVERIFY2(computesWith(config, tensor.weightName()), tensor.name.c_str());
            QCOMPARE(computesWith(config, tensor.biasName()), tensor.hasBias);
        });
        QVERIFY(!computesWith(config, "model.layers.2.self_attn.q_proj.weight"));
        QVERIFY(!computesWith(config, "model.layers.0.mlp.experts.3.up_proj.weight"));
    }
}

QTEST_APPLESS_MAIN(FamilyFilesTest)
#include "family_files_test.moc"
