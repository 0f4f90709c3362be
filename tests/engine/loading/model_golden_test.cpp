// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/json/json_document.h"
#include "engine/loading/model_files.h"
#include "tests/support/value_of.h"

#include <QTest>

#include <fmt/ranges.h>

#include <cmath>

using namespace engine;
using support::valueOf;

namespace {

const std::string kFolder = SWIFT_STUDIO_SHARED_DIR "/golden/models/";
const std::string kFamilies = SWIFT_STUDIO_SHARED_DIR "/golden/families/";

ModelConfig configFrom(const std::string& path) {
    const JsonDocument document = valueOf(readJsonFile(path));
    return valueOf(readModelConfig(document.root()));
}

std::string ropesOf(const ModelConfig& config) {
    std::string text;
    for (int layer = 0; layer < config.layerCount; ++layer)
        text += fmt::format("{}", static_cast<int>(config.ropeOf(layer)));
    return text;
}

/// All fields as text, so that a difference shows itself.
QString describe(const ModelConfig& c) {
    return QString::fromStdString(fmt::format(
        "{} layers {} hidden {} mlp {} heads {}/{} of {} vocab {} context {} eps {} theta {} "
        "scaling "
        "{} {} {} {} {} factors {} windows {} biases {}{}{} tied {} bos {} eos {} type {} notes {} "
        "rotated {} longrope {} {} {} window theta {} ropes {} scores {} {} scales {} {} {} {} "
        "experts {} {} {} {} dense {}",
        c.architecture,
        c.layerCount,
        c.hiddenSize,
        c.mlpSize,
        c.headCount,
        c.kvHeadCount,
        c.headDim,
        c.vocabSize,
        c.contextLength,
        c.normEpsilon,
        c.ropeTheta,
        static_cast<int>(c.ropeScaling.kind),
        c.ropeScaling.factor,
        c.ropeScaling.lowFrequencyFactor,
        c.ropeScaling.highFrequencyFactor,
        c.ropeScaling.originalContextLength,
        c.ropeFrequencyFactors.size(),
        fmt::join(c.layerWindows, ","),
        c.qkvBias,
        c.outputBias,
        c.mlpBias,
        c.tiedHead,
        c.bosId,
        fmt::join(c.eosIds, ","),
        c.storedType,
        fmt::join(c.notes, " "),
        c.rotatedDim,
        fmt::join(c.ropeScaling.shortFactors, ","),
        fmt::join(c.ropeScaling.longFactors, ","),
        c.ropeScaling.attentionFactor,
        c.windowRopeTheta,
        ropesOf(c),
        c.attentionScale,
        c.attentionSoftCap,
        c.embeddingScale,
        c.residualScale,
        c.logitScale,
        c.logitSoftCap,
        c.experts.count,
        c.experts.used,
        c.experts.size,
        c.experts.renormalises,
        fmt::join(c.denseLayers, ",")));
}

} // namespace

/// The checkpoints of the golden data: both key styles, single and sharded files.
class ModelGoldenTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();

    void bothKeyStylesGiveEqualConfigs_data();

    void bothKeyStylesGiveEqualConfigs();

    void tensorsHaveTheShapesOfTheConfig_data() { nameVariants(); }

    void tensorsHaveTheShapesOfTheConfig();

    void endIdsAreTheGoldenOnes_data() { nameVariants(); }

    void endIdsAreTheGoldenOnes();
    void variantsDifferWhereTheyShould();

private:
    static void nameVariants();
};

void ModelGoldenTest::initTestCase() {
    if (!readJsonFile(kFolder + "llama_mha/config.json"))
        QSKIP("the golden data is not there");
}

void ModelGoldenTest::nameVariants() {
    QTest::addColumn<QString>("variant");
    for (const char* name : {"llama_mha",
                             "llama_gqa_tied",
                             "llama3_rope",
                             "llama_linear_rope",
                             "llama_head_dim",
                             "llama_bias",
                             "mistral",
                             "mistral_window",
                             "qwen2",
                             "qwen2_tied",
                             "llama_sharded",
                             "llama_f16"})
        QTest::newRow(name) << QString(name);
}

void ModelGoldenTest::bothKeyStylesGiveEqualConfigs_data() {
    nameVariants();
    for (const char* name : {"qwen3",
                             "qwen3_tied",
                             "qwen3_window",
                             "qwen3_moe",
                             "qwen3_moe_mixed",
                             "gemma3",
                             "gemma3_scaled",
                             "gemma2",
                             "phi3",
                             "phi3_longrope",
                             "phi3_window",
                             "olmo2",
                             "smollm3",
                             "granite",
                             "mixtral",
                             "olmoe"})
        QTest::newRow(name) << QString(name);
}

void ModelGoldenTest::bothKeyStylesGiveEqualConfigs() {
    QFETCH(QString, variant);
    const bool isFamily = !readJsonFile(kFolder + variant.toStdString() + "/config.json");
    const std::string folder = (isFamily ? kFamilies : kFolder) + variant.toStdString();
    QCOMPARE(configFrom(folder + "/config.json").notes, std::vector<std::string>());
    QCOMPARE(describe(configFrom(folder + "/config.json")),
             describe(configFrom(folder + "/config.v4.json")));
}

void ModelGoldenTest::tensorsHaveTheShapesOfTheConfig() {
    QFETCH(QString, variant);
    const auto files = valueOf(ModelFiles::open(kFolder + variant.toStdString()));
    const ModelConfig config = valueOf(files.config());
    const auto weights = valueOf(files.weights());
    const auto hidden = static_cast<std::uint64_t>(config.hiddenSize);
    const auto vocab = static_cast<std::uint64_t>(config.vocabSize);
    const auto mlp = static_cast<std::uint64_t>(config.mlpSize);
    const auto queries = static_cast<std::uint64_t>(config.headCount * config.headDim);
    const auto keys = static_cast<std::uint64_t>(config.kvHeadCount * config.headDim);
    std::vector<std::pair<std::string, std::vector<std::uint64_t>>> wanted = {
        {"model.embed_tokens.weight", {vocab, hidden}}, {"model.norm.weight", {hidden}}};
    if (!config.tiedHead)
        wanted.push_back({"lm_head.weight", {vocab, hidden}});
    for (int layer = 0; layer < config.layerCount; ++layer) {
        const std::string prefix = fmt::format("model.layers.{}.", layer);
        wanted.push_back({prefix + "self_attn.q_proj.weight", {queries, hidden}});
        wanted.push_back({prefix + "self_attn.k_proj.weight", {keys, hidden}});
        wanted.push_back({prefix + "self_attn.o_proj.weight", {hidden, queries}});
        wanted.push_back({prefix + "mlp.down_proj.weight", {hidden, mlp}});
        if (config.qkvBias)
            wanted.push_back({prefix + "self_attn.v_proj.bias", {keys}});
        if (config.outputBias)
            wanted.push_back({prefix + "self_attn.o_proj.bias", {hidden}});
        if (config.mlpBias)
            wanted.push_back({prefix + "mlp.up_proj.bias", {mlp}});
    }
    for (const auto& [name, shape] : wanted)
        QVERIFY2(!valueOf(readTensor(*weights, name, shape)).empty(), name.c_str());
    QCOMPARE(weights->find("model.layers.0.self_attn.q_proj.bias") != nullptr, config.qkvBias);
    QCOMPARE(weights->find("model.layers.0.self_attn.o_proj.bias") != nullptr, config.outputBias);
    QCOMPARE(weights->find("model.layers.0.mlp.up_proj.bias") != nullptr, config.mlpBias);
}

void ModelGoldenTest::endIdsAreTheGoldenOnes() {
    QFETCH(QString, variant);
    const std::string folder = kFolder + variant.toStdString();
    const JsonDocument golden = valueOf(readJsonFile(folder + "/golden.json"));
    std::vector<TokenId> wanted;
    for (const JsonValue& id : golden.root()["end_ids"].items())
        wanted.push_back(static_cast<TokenId>(*id.asInteger()));
    QCOMPARE(valueOf(valueOf(ModelFiles::open(folder)).config()).eosIds, wanted);
}

void ModelGoldenTest::variantsDifferWhereTheyShould() {
    const auto config = [](const std::string& variant) {
        return configFrom(kFolder + variant + "/config.json");
    };
    QCOMPARE(config("llama_head_dim").headDim, 20);
    QCOMPARE(config("llama_linear_rope").ropeScaling.factor, 4.0);
    QVERIFY(config("llama3_rope").ropeScaling.kind == RopeScalingKind::Llama3);
    QVERIFY(config("llama_bias").qkvBias && config("llama_bias").outputBias);
    QVERIFY(config("qwen2").qkvBias && !config("qwen2").outputBias);
    QCOMPARE(config("mistral_window").layerWindows, std::vector<int>({16, 16, 16}));
    QCOMPARE(config("mistral").layerWindows, std::vector<int>({0, 0, 0}));
    QCOMPARE(config("qwen2_tied").layerWindows, std::vector<int>({0, 0, 0}));
    QVERIFY(config("llama_gqa_tied").tiedHead);
    QCOMPARE(config("llama_f16").storedType, "float16");
}

QTEST_APPLESS_MAIN(ModelGoldenTest)
#include "model_golden_test.moc"
