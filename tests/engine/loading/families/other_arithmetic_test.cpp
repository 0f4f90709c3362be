// SPDX-License-Identifier: Apache-2.0
// Fields by which some family computes otherwise: refused by name, unless they change nothing.
#include "engine/loading/model_files.h"
#include "tests/engine/loading/tiny_models.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <cmath>
#include <functional>
#include <utility>

using namespace engine;
using namespace test_support;

namespace {

/// A tiny config.json of a family whose heads have 4 dimensions, with more members.
Result<ModelConfig> readConfig(std::string_view family, std::string_view members) {
    const auto document = JsonDocument::parse(
        fmt::format(R"({{"model_type":"{}",{},"hidden_size":8,"intermediate_size":6,)"
                    R"("num_hidden_layers":2,"num_attention_heads":2,"num_key_value_heads":1,)"
                    R"("head_dim":4,"vocab_size":5,"max_position_embeddings":64}})",
                    family,
                    members),
        "config.json");
    ENGINE_CHECK(document.hasValue(), "{}", document.error().message);
    return readModelConfig(document.value().root());
}

ModelConfig valueOf(std::string_view family, std::string_view members) {
    auto config = readConfig(family, members);
    ENGINE_CHECK(config.hasValue(), "{}", config.error().message);
    return std::move(config).value();
}

/// What the tiny GGUF llama says about its configuration with something more in it.
Result<ModelConfig> readGguf(const std::function<void(TinyGguf&)>& change) {
    TinyGguf file = tinyGgufMetadata();
    change(file);
    file.addFloats("token_embd.weight", {4, 5});
    const TemporaryFolder folder;
    ENGINE_TRY(const ModelFiles files, ModelFiles::open(folder.write("m.gguf", file.toBytes())));
    return files.config();
}

/// The same of another architecture.
Result<ModelConfig> readGgufOf(const std::string& architecture,
                               int layers,
                               const std::function<void(TinyGguf&)>& change) {
    TinyGguf file;
    file.addString("general.architecture", architecture);
    for (const auto& [key, value] : {std::pair("block_count", layers),
                                     std::pair("embedding_length", 8),
                                     std::pair("feed_forward_length", 6),
                                     std::pair("context_length", 64)})
        file.addU32(architecture + "." + key, static_cast<std::uint32_t>(value));
    file.addF32(architecture + ".attention.layer_norm_rms_epsilon", 1e-5F);
    file.addFloats("token_embd.weight", {8, 5});
    change(file);
    const TemporaryFolder folder;
    ENGINE_TRY(const ModelFiles files, ModelFiles::open(folder.write("m.gguf", file.toBytes())));
    return files.config();
}

} // namespace

class OtherArithmeticTest : public QObject {
    Q_OBJECT

private slots:
    void fieldsThatActAreRefused_data();
    void fieldsThatActAreRefused();
    void fieldsThatChangeNothingPass_data();
    void fieldsThatChangeNothingPass();
    void fieldsThatTheFamilyDoesAnywayPass();
    void theNumberOfExpertsHasTwoNames();
    void longContextsAreThoseOfTransformers();
    void windowsFollowThePatternWhereTheFamilyReadsIt();
    void metadataThatActsIsRefused_data();
    void metadataThatActsIsRefused();
    void metadataThatChangesNothingPasses_data();
    void metadataThatChangesNothingPasses();
    void aListOfEqualSizesIsASizeAndOthersAreRefused();
    void windowsFollowTheListOfTheFile();
    void windowsThatAGgufLeavesOutAreNone();
    void rotaryBasesMayBeNamedByHowFarLayersSee();
    void aWindowThatTheFamilyLacksIsRefused();
    void aCapOfScoresIsGemma2sAlone();
    void longContextsWithoutTheirFactorsAreRefused();
    void rotationOfNothingIsRefused();
    void aNormThatTheFamilyHasNotIsRefused();
};

void OtherArithmeticTest::fieldsThatActAreRefused_data() {
    QTest::addColumn<QString>("member");
    for (const char* member : {R"("logit_scale":0.0625)",
                               R"("logits_scaling":8)",
                               R"("embedding_multiplier":12.0)",
                               R"("residual_multiplier":0.22)",
                               R"("attention_multiplier":0.015625)",
                               R"("final_logit_softcapping":30.0)",
                               R"("attn_logit_softcapping":50.0)",
                               R"("query_pre_attn_scalar":256)",
                               R"("clip_qkv":8)",
                               R"("num_local_experts":8)",
                               R"("num_experts":64)",
                               R"("n_shared_experts":1)",
                               R"("scale_emb":12)",
                               R"("qkv_bias":true)",
                               R"("lm_head_bias":true)",
                               R"("use_qk_norm":true)",
                               R"("qk_layernorm":true)",
                               R"("rope_interleaved":true)",
                               R"("alibi":true)",
                               R"("quantization":{"bits":4})"})
        QTest::addRow("%s", member) << QString(member);
}

void OtherArithmeticTest::fieldsThatActAreRefused() {
    QFETCH(QString, member);
    const auto config = readConfig("llama", member.toStdString());
    QVERIFY2(!config, "it was read");
    QVERIFY(config.error().code == ErrorCode::Unsupported);
    const QString message = QString::fromStdString(config.error().message);
    QVERIFY2(message.contains(member.section('"', 1, 1)), qPrintable(message));
    QVERIFY(!config.error().hint.empty());
}

void OtherArithmeticTest::fieldsThatChangeNothingPass_data() {
    QTest::addColumn<QString>("member");
    for (const char* member : {R"("logit_scale":1.0)",
                               R"("logits_scaling":1)",
                               R"("embedding_multiplier":1)",
                               R"("attention_multiplier":0.5)",
                               R"("final_logit_softcapping":null)",
                               R"("attn_logit_softcapping":0)",
                               R"("query_pre_attn_scalar":4)",
                               R"("clip_qkv":null)",
                               R"("num_local_experts":1)",
                               R"("num_experts":0)",
                               R"("qkv_bias":false)",
                               R"("use_qk_norm":false)",
                               R"("rope_interleaved":false)"})
        QTest::addRow("%s", member) << QString(member);
}

void OtherArithmeticTest::fieldsThatChangeNothingPass() {
    QFETCH(QString, member);
    const auto config = readConfig("llama", member.toStdString());
    QVERIFY2(config.hasValue(), config ? "" : config.error().message.c_str());
}

/// What transformers 5.23 makes of these fields, by its _compute_longrope_parameters and
/// Phi3Config: attention is sharpened by sqrt(1 + ln(stretch) / ln(original)). The stretch is
/// "factor" before 64 / original, and an original that is unsaid beside the rotary parameters is
/// 4096, whatever they say.
void OtherArithmeticTest::longContextsAreThoseOfTransformers() {
    const auto scaling = [](std::string_view outer, std::string_view inner) {
        return valueOf("phi3",
                       fmt::format(R"({}"rope_scaling":{{"type":"longrope","short_factor":[1,2],)"
                                   R"("long_factor":[3,4]{}}})",
                                   outer,
                                   inner))
            .ropeScaling;
    };
    const std::string_view outer = R"("original_max_position_embeddings":16,)";
    QCOMPARE(scaling(outer, "").originalContextLength, 16.0);
    QCOMPARE(scaling(outer, "").attentionFactor, std::sqrt(1.5)); // 64 / 16, 16 is 4 squared
    QCOMPARE(scaling(outer, R"(,"factor":16)").attentionFactor, std::sqrt(2.0));
    QCOMPARE(scaling(outer, R"(,"factor":16,"attention_factor":1.25)").attentionFactor, 1.25);
    for (const char* inner : {"", R"(,"original_max_position_embeddings":16)"}) {
        QCOMPARE(scaling("", inner).originalContextLength, 4096.0);
        QCOMPARE(scaling("", inner).attentionFactor, 1.0); // 64 / 4096 stretches nothing
    }
}

/// Qwen3-Coder's config.json says "use_qk_norm": true, and its network is that of Qwen3-MoE, whose
/// queries and keys are normed without being asked.
void OtherArithmeticTest::fieldsThatTheFamilyDoesAnywayPass() {
    const std::string asked = R"("use_qk_norm":true)";
    QVERIFY(valueOf("qwen3_moe",
                    asked + R"(,"num_experts":2,"num_experts_per_tok":1,"qkv_bias":false,)"
                            R"("moe_intermediate_size":6,"shared_expert_intermediate_size":0)")
                .headNorm == HeadNorm::EachHead);
    QVERIFY(valueOf("olmo2", asked).headNorm == HeadNorm::FullWidth);
    QVERIFY(!readConfig("smollm3", asked));
}

/// As the attribute maps of transformers 5.23 have it: older and newer files name it differently.
void OtherArithmeticTest::theNumberOfExpertsHasTwoNames() {
    for (const char* family : {"mixtral", "olmoe", "qwen3_moe"})
        for (const char* name : {"num_experts", "num_local_experts"}) {
            const ModelConfig config = valueOf(
                family,
                fmt::format(R"("{}":3,"num_experts_per_tok":2,"moe_intermediate_size":6)", name));
            QCOMPARE(config.experts.count, 3);
            QCOMPARE(config.experts.used, 2);
        }
}

/// Gemma 2 has a window in every second layer, and Gemma 3 in all but every so many-th, by
/// `sliding_window_pattern`: Gemma2Config and Gemma3TextConfig of transformers 5.23.
void OtherArithmeticTest::windowsFollowThePatternWhereTheFamilyReadsIt() {
    const std::string window = R"("sliding_window":16,)";
    const std::vector<int> second = {16, 0};
    QCOMPARE(valueOf("gemma2", window + R"("sliding_window_pattern":1)").layerWindows, second);
    QCOMPARE(valueOf("gemma3_text", window + R"("sliding_window_pattern":2)").layerWindows, second);
    QCOMPARE(valueOf("gemma3_text", window + R"("_sliding_window_pattern":2)").layerWindows,
             std::vector<int>({16, 16}));
    // Phi-3 gives its window to all layers, whatever layer_types lists; what differs is refused.
    const std::string all = R"("layer_types":["sliding_attention","sliding_attention"])";
    QCOMPARE(valueOf("phi3", window + all).layerWindows, std::vector<int>({16, 16}));
    const std::string full = R"("layer_types":["full_attention","full_attention"])";
    QCOMPARE(valueOf("phi3", full).layerWindows, std::vector<int>({0, 0}));
    QCOMPARE(valueOf("mistral", window + full).layerWindows, std::vector<int>({0, 0}));
}

void OtherArithmeticTest::metadataThatActsIsRefused_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<float>("value");
    for (const auto& [key, value] : {std::pair("logit_scale", 0.0625F),
                                     std::pair("embedding_scale", 12.0F),
                                     std::pair("residual_scale", 0.22F),
                                     std::pair("attention.scale", 0.1F),
                                     std::pair("attention.clamp_kqv", 8.0F),
                                     std::pair("attn_logit_softcapping", 50.0F),
                                     std::pair("final_logit_softcapping", 30.0F),
                                     std::pair("attention.max_alibi_bias", 8.0F),
                                     std::pair("attention.temperature_scale", 0.1F),
                                     std::pair("expert_weights_scale", 2.5F),
                                     std::pair("expert_gating_func", 2.0F),
                                     std::pair("expert_shared_count", 1.0F),
                                     std::pair("rope.scaling.attn_factor", 1.2F)})
        QTest::addRow("%s", key) << QString(key) << value;
}

void OtherArithmeticTest::metadataThatActsIsRefused() {
    QFETCH(QString, key);
    QFETCH(float, value);
    const auto config =
        readGguf([&](TinyGguf& file) { file.addF32("llama." + key.toStdString(), value); });
    QVERIFY2(!config, "it was read");
    QVERIFY(config.error().code == ErrorCode::Unsupported);
    const QString message = QString::fromStdString(config.error().message);
    QVERIFY2(message.contains(key), qPrintable(message));
}

void OtherArithmeticTest::metadataThatChangesNothingPasses_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<float>("value");
    for (const auto& [key, value] : {std::pair("logit_scale", 1.0F),
                                     std::pair("logit_scale", 0.0F),
                                     std::pair("attention.clamp_kqv", 0.0F),
                                     std::pair("expert_gating_func", 1.0F),
                                     std::pair("expert_weights_scale", 1.0F)})
        QTest::addRow("%s %g", key, static_cast<double>(value)) << QString(key) << value;
}

void OtherArithmeticTest::metadataThatChangesNothingPasses() {
    QFETCH(QString, key);
    QFETCH(float, value);
    const auto config =
        readGguf([&](TinyGguf& file) { file.addF32("llama." + key.toStdString(), value); });
    QVERIFY2(config.hasValue(), config ? "" : config.error().message.c_str());
}

void OtherArithmeticTest::aListOfEqualSizesIsASizeAndOthersAreRefused() {
    const auto read = [](const std::vector<std::int32_t>& kvHeads) {
        return readGgufOf("qwen3", 2, [&](TinyGguf& file) {
            file.addU32("qwen3.attention.head_count", 2);
            file.addArray<std::int32_t>("qwen3.attention.head_count_kv", GgufType::I32, kvHeads);
        });
    };
    const auto equal = read({1, 1});
    QVERIFY2(equal.hasValue(), equal ? "" : equal.error().message.c_str());
    QCOMPARE(equal.value().kvHeadCount, 1);
    for (const auto& sizes : {std::vector<std::int32_t>{1, 2}, std::vector<std::int32_t>{-1, -1}}) {
        const auto other = read(sizes);
        QVERIFY(!other);
        QVERIFY2(other.error().message.find("layers of different sizes "
                                            "(qwen3.attention.head_count_kv)") != std::string::npos,
                 other.error().message.c_str());
    }
}

void OtherArithmeticTest::windowsFollowTheListOfTheFile() {
    const auto read = [](const std::function<void(TinyGguf&)>& change) {
        return readGgufOf("gemma3", 3, [&](TinyGguf& file) {
            file.addU32("gemma3.attention.head_count", 2);
            file.addU32("gemma3.attention.sliding_window", 16);
            change(file);
        });
    };
    constexpr const char* kPattern = "gemma3.attention.sliding_window_pattern";
    const auto unsaid = read([](TinyGguf&) {});
    QVERIFY2(unsaid.hasValue(), unsaid ? "" : unsaid.error().message.c_str());
    QCOMPARE(unsaid.value().layerWindows, std::vector<int>({16, 16, 16}));
    const auto counted = read([](TinyGguf& file) { file.addU32(kPattern, 2); });
    QVERIFY2(counted.hasValue(), counted ? "" : counted.error().message.c_str());
    QCOMPARE(counted.value().layerWindows, std::vector<int>({16, 0, 16}));
    const auto listed = read([](TinyGguf& file) {
        file.addArray<std::uint8_t>(kPattern, GgufType::Bool, {0, 1, 1});
    });
    QVERIFY2(listed.hasValue(), listed ? "" : listed.error().message.c_str());
    QCOMPARE(listed.value().layerWindows, std::vector<int>({0, 16, 16}));
    QVERIFY(listed.value().ropeOf(0) == LayerRope::Model);
    const auto damaged = read([](TinyGguf& file) {
        file.addArray<std::uint8_t>(kPattern, GgufType::Bool, {1, 0});
    });
    QVERIFY(!damaged);
    QVERIFY(damaged.error().message.find("lists 2 layers, not 3") != std::string::npos);
}

/// Converters leave the key out for a Gemma 3 of which no layer has a window.
void OtherArithmeticTest::windowsThatAGgufLeavesOutAreNone() {
    const auto config = readGgufOf(
        "gemma3", 6, [](TinyGguf& file) { file.addU32("gemma3.attention.head_count", 2); });
    QVERIFY2(config.hasValue(), config ? "" : config.error().message.c_str());
    QCOMPARE(config.value().layerWindows, std::vector<int>(6, 0));
    QVERIFY(config.value().ropeOf(0) == LayerRope::Model);
}

void OtherArithmeticTest::rotaryBasesMayBeNamedByHowFarLayersSee() {
    const auto read = [](const std::function<void(TinyGguf&)>& change) {
        return readGgufOf("gemma3", 6, [&](TinyGguf& file) {
            file.addU32("gemma3.attention.head_count", 2);
            file.addU32("gemma3.attention.sliding_window", 16);
            file.addF32("gemma3.rope.global.freq_base", 1e6F);
            file.addF32("gemma3.rope.local.freq_base", 2e4F);
            change(file);
        });
    };
    const auto named = read([](TinyGguf&) {});
    QVERIFY2(named.hasValue(), named ? "" : named.error().message.c_str());
    QCOMPARE(named.value().ropeTheta, 1e6);
    QCOMPARE(named.value().windowRopeTheta, 2e4);
    QVERIFY(named.value().notes.empty());
    const auto both = read([](TinyGguf& file) {
        file.addF32("gemma3.rope.freq_base", 5e5F);
        file.addF32("gemma3.rope.freq_base_swa", 3e4F);
    });
    QVERIFY2(both.hasValue(), both ? "" : both.error().message.c_str());
    QCOMPARE(both.value().ropeTheta, 5e5);
    QCOMPARE(both.value().windowRopeTheta, 3e4);
}

void OtherArithmeticTest::aWindowThatTheFamilyLacksIsRefused() {
    const auto read = [](std::uint32_t window) {
        return readGgufOf("olmo2", 4, [&](TinyGguf& file) {
            file.addU32("olmo2.attention.head_count", 2);
            file.addU32("olmo2.attention.sliding_window", window);
        });
    };
    const auto acts = read(16); // OLMo 3, whose files have the same architecture
    QVERIFY(!acts);
    QVERIFY2(acts.error().message.find("attention.sliding_window of 16") != std::string::npos,
             acts.error().message.c_str());
    QVERIFY(read(64).hasValue());
    QVERIFY(read(0).hasValue());
}

void OtherArithmeticTest::aCapOfScoresIsGemma2sAlone() {
    const auto read = [](const std::string& architecture) {
        return readGgufOf(architecture, 2, [&](TinyGguf& file) {
            file.addU32(architecture + ".attention.head_count", 2);
            file.addF32(architecture + ".attn_logit_softcapping", 40.0F);
            file.addF32(architecture + ".final_logit_softcapping", 20.0F);
        });
    };
    const auto older = read("gemma2");
    QVERIFY2(older.hasValue(), older ? "" : older.error().message.c_str());
    QCOMPARE(older.value().attentionSoftCap, 40.0);
    QCOMPARE(older.value().logitSoftCap, 20.0);
    const auto newer = read("gemma3");
    QVERIFY(!newer);
    QVERIFY2(newer.error().message.find("attn_logit_softcapping of 40") != std::string::npos,
             newer.error().message.c_str());
}

void OtherArithmeticTest::longContextsWithoutTheirFactorsAreRefused() {
    const auto read = [](const std::vector<const char*>& factors) {
        return readGgufOf("phi3", 1, [&](TinyGguf& file) {
            file.addU32("phi3.attention.head_count", 2);
            file.addString("phi3.rope.scaling.type", "longrope");
            for (const char* name : factors)
                file.addFloats(name, {2});
        });
    };
    const auto whole = read({"rope_factors_long.weight", "rope_factors_short.weight"});
    QVERIFY2(whole.hasValue(), whole ? "" : whole.error().message.c_str());
    QVERIFY(whole.value().ropeScaling.kind == RopeScalingKind::LongRope);
    for (const char* missing : {"rope_factors_long.weight", "rope_factors_short.weight"}) {
        const bool isLong = std::string_view(missing) == "rope_factors_long.weight";
        const auto part = read({isLong ? "rope_factors_short.weight" : "rope_factors_long.weight"});
        QVERIFY(!part);
        QVERIFY2(part.error().message.find(missing) != std::string::npos,
                 part.error().message.c_str());
    }
    QVERIFY(!read({}));
}

void OtherArithmeticTest::rotationOfNothingIsRefused() {
    const auto config =
        readGguf([](TinyGguf& file) { file.addU32("llama.rope.dimension_count", 0); });
    QVERIFY(!config);
    QVERIFY2(config.error().message.find("2 value and 0 rotated dimensions") != std::string::npos,
             config.error().message.c_str());
    const auto partial = readGgufOf("phi3", 1, [](TinyGguf& file) {
        file.addU32("phi3.attention.head_count", 2);
        file.addU32("phi3.rope.dimension_count", 0);
    });
    QVERIFY(!partial);
    QVERIFY2(partial.error().message.find("0 rotated dimensions") != std::string::npos,
             partial.error().message.c_str());
}

/// In a layer that is computed; by its name in a folder and in a GGUF file.
void OtherArithmeticTest::aNormThatTheFamilyHasNotIsRefused() {
    const TemporaryFolder folder;
    folder.write("config.json", tinyConfigJson());
    TinySafetensors file = tinySafetensors();
    file.addFloats("model.layers.0.post_feedforward_layernorm.weight", {4});
    folder.write("model.safetensors", file.toBytes());
    const auto files = ModelFiles::open(folder.path());
    QVERIFY(files.hasValue());
    const auto config = files.value().config();
    QVERIFY(!config);
    QCOMPARE(config.error().code, ErrorCode::Unsupported);
    QVERIFY2(QString::fromStdString(config.error().message)
                 .contains("model.layers.0.post_feedforward_layernorm.weight, a norm"),
             config.error().message.c_str());
    TinyGguf gguf = tinyGgufMetadata();
    addTinyTensors(gguf);
    gguf.addFloats("blk.0.post_ffw_norm.weight", {4});
    const auto opened = ModelFiles::open(folder.write("m.gguf", gguf.toBytes()));
    QVERIFY(opened.hasValue());
    const auto other = opened.value().config();
    QVERIFY(!other);
    QVERIFY2(QString::fromStdString(other.error().message)
                 .contains("blk.0.post_ffw_norm.weight, a norm"),
             other.error().message.c_str());
}

QTEST_APPLESS_MAIN(OtherArithmeticTest)
#include "other_arithmetic_test.moc"
