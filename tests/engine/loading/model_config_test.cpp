// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/json/json_document.h"
#include "engine/loading/model_config.h"

#include <QTest>

#include <cmath>
#include <numbers>

using namespace engine;

namespace {

/// A small llama configuration with `extra` members put in front (duplicates are an error, so
/// what is to be replaced is named in `without`).
std::string configText(const std::string& extra, const std::string& without = "") {
    const std::vector<std::pair<std::string, std::string>> fields = {
        {"model_type", "\"llama\""},
        {"hidden_size", "64"},
        {"intermediate_size", "96"},
        {"num_hidden_layers", "4"},
        {"num_attention_heads", "4"},
        {"num_key_value_heads", "2"},
        {"vocab_size", "100"},
        {"max_position_embeddings", "256"},
        {"rms_norm_eps", "1e-5"}};
    std::string text = "{" + extra;
    for (const auto& [key, value] : fields) {
        if (without.find(key) == std::string::npos)
            text += fmt::format("{}\"{}\":{}", text.size() == 1 ? "" : ",", key, value);
    }
    return text + "}";
}

Result<ModelConfig> read(const std::string& text) {
    auto document = JsonDocument::parse(text, "config.json");
    if (!document)
        return document.error();
    return readModelConfig(document.value().root());
}

ModelConfig valueOf(const std::string& text) {
    auto config = read(text);
    if (!config)
        qFatal("%s", config.error().message.c_str());
    return std::move(config).value();
}

} // namespace

class ModelConfigTest : public QObject {
    Q_OBJECT

private slots:
    void defaultsAreThoseOfTheFamilies();
    void badConfigsAreRefused_data();
    void badConfigsAreRefused();
    void unknownArchitecturesAreRefusedByName();
    void eosIdsAreOneOrMany();
    void idsBeyondTheVocabularyAreLeftOutAndTold();
    void maskTokensAreTakenOrTold();
    void bothNamesOfTheScalingKindWork();
    void mistralWindowsLayersAsSaid();
    void llamaRefusesAWindowThatWouldAct();
    void whatHasNoEffectIsNoted();
    void unsaidNumbersAreThoseOfTheFamilies();
    void qwen2WindowsOnlyWhereAsked();
    void theUsualContextKeepsToShortFactors();
    void linearScalingDividesEveryFrequency();
    void llama3ScalingHasThreeZones();
    void frequencyFactorsDivide();
    void validateNamesTheField();
};

void ModelConfigTest::defaultsAreThoseOfTheFamilies() {
    const ModelConfig plain = valueOf(configText("", "num_key_value_heads"));
    QCOMPARE(plain.kvHeadCount, 4);
    QCOMPARE(plain.headDim, 16);
    QCOMPARE(plain.ropeTheta, 10000.0);
    QVERIFY(plain.ropeScaling.kind == RopeScalingKind::None);
    QVERIFY(!plain.tiedHead && !plain.qkvBias && !plain.outputBias && !plain.mlpBias);
    QCOMPARE(plain.bosId, kNoToken);
    QVERIFY(plain.eosIds.empty() && plain.storedType.empty() && plain.notes.empty());
    QCOMPARE(plain.layerWindows, std::vector<int>({0, 0, 0, 0}));
    const ModelConfig byClass = valueOf(
        configText(R"("architectures":["Qwen2ForCausalLM"],"head_dim":null)", "model_type"));
    QCOMPARE(byClass.architecture, std::string("qwen2"));
    QVERIFY(byClass.qkvBias && !byClass.outputBias);
    // Llama's key says it for all four projections; mistral has no such key.
    QVERIFY(valueOf(configText(R"("attention_bias":true)")).outputBias);
    const auto biased =
        read(configText(R"("model_type":"mistral","attention_bias":true)", "model_type"));
    QVERIFY(!biased);
    QVERIFY(biased.error().message.find("attention_bias") != std::string::npos);
}

void ModelConfigTest::badConfigsAreRefused_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("problem");
    const auto row = [](const char* name, const std::string& text, const char* problem) {
        QTest::newRow(name) << QString::fromStdString(text) << QString(problem);
    };
    row("notAnObject", "[]", "no JSON object");
    row("noModelType", configText("", "model_type"), "\"model_type\" is missing");
    row("missingKey", configText("", "hidden_size"), "the key \"hidden_size\" is missing");
    row("wrongType",
        configText(R"("hidden_size":"64")", "hidden_size"),
        "\"hidden_size\" is no whole");
    row("realSize",
        configText(R"("hidden_size":64.0)", "hidden_size"),
        "\"hidden_size\" is no whole");
    row("negativeSize",
        configText(R"("vocab_size":-1)", "vocab_size"),
        "\"vocab_size\" is no whole");
    row("zeroHeads", configText(R"("num_attention_heads":0)", "num_attention_heads"), "from 1");
    row("issue25821LayersBeyondCap",
        configText(R"("num_hidden_layers":1025)", "num_hidden_layers"),
        "from 1 to 1024");
    row("vocabularyBeyondCap", configText(R"("vocab_size":5000000)", "vocab_size"), "4194304");
    row("sizeBeyondInt", configText(R"("hidden_size":4294967360)", "hidden_size"), "hidden_size");
    row("unevenHeads", configText(R"("num_key_value_heads":3)", "num_key_value_heads"), "evenly");
    row("oddHeadDim", configText(R"("head_dim":15)"), "is odd");
    row("moreHeadsThanHidden",
        configText(R"("num_attention_heads":128)", "num_attention_heads"),
        "head dimension");
    row("epsilonNull", configText(R"("rms_norm_eps":null)", "rms_norm_eps"), "rms_norm_eps");
    row("thetaNull", configText(R"("rope_theta":null)"), "rope_theta");
    row("seesTheFuture", configText(R"("is_causal":false)"), "is_causal");
    row("layersDiffer", configText(R"("per_layer_config":{"0":{}})"), "per_layer_config");
    row("chunks", configText(R"("attention_chunk_size":8)"), "attention_chunk_size");
    row("rotationByKindOfLayer",
        configText(R"("rope_parameters":{"full_attention":{"rope_type":"default"}})"),
        "by kind of layer");
    row("scalingIsText", configText(R"("rope_scaling":"linear")"), "no object");
    row("epsilonZero", configText(R"("rms_norm_eps":0)", "rms_norm_eps"), "rms_norm_eps");
    row("thetaNegative", configText(R"("rope_theta":-1)"), "rope_theta");
    row("eosIsText", configText(R"("eos_token_id":"</s>")"), "eos_token_id");
    row("eosListHoldsText", configText(R"("eos_token_id":[1,"x"])"), "eos_token_id");
    row("activation", configText(R"("hidden_act":"gelu")"), "activation \"gelu\"");
    row("yarn",
        configText(R"("rope_scaling":{"type":"yarn","factor":4})"),
        "rope scaling \"yarn\"");
    row("dynamic",
        configText(R"("rope_parameters":{"rope_type":"dynamic"})"),
        "rope scaling \"dynamic\"");
    row("longrope",
        configText(R"("rope_scaling":{"rope_type":"longrope"})"),
        "rope scaling \"longrope\"");
    row("scalingIsAList", configText(R"("rope_scaling":[])"), "no object");
    row("factorMissing",
        configText(R"("rope_scaling":{"type":"linear"})"),
        "\"factor\" is missing");
    row("llama3Incomplete",
        configText(R"("rope_scaling":{"rope_type":"llama3","factor":8})"),
        "low_freq_factor");
    row("llama3BandReversed",
        configText(R"("rope_scaling":{"rope_type":"llama3","factor":8,"low_freq_factor":4,)"
                   R"("high_freq_factor":4,"original_max_position_embeddings":64})"),
        "high_freq_factor");
    row("partialRotation",
        configText(R"("rope_parameters":{"partial_rotary_factor":0.5})"),
        "partial_rotary");
    row("quantised",
        configText(R"("quantization_config":{"quant_method":"gptq"})"),
        "quantization_config");
    row("flagIsANumber", configText(R"("tie_word_embeddings":1)"), "neither true nor false");
    row("windowIsText",
        configText(R"("model_type":"mistral","sliding_window":"x")", "model_type"),
        "sliding_window");
    row("layerTypesTooShort",
        configText(
            R"("model_type":"qwen2","use_sliding_window":true,"sliding_window":8,"layer_types":[])",
            "model_type"),
        "layer_types");
}

void ModelConfigTest::badConfigsAreRefused() {
    QFETCH(QString, text);
    QFETCH(QString, problem);
    const auto config = read(text.toStdString());
    QVERIFY(!config);
    const QString message = QString::fromStdString(config.error().message);
    QVERIFY2(message.contains(problem), qPrintable(message));
    QVERIFY(!config.error().hint.empty());
}

void ModelConfigTest::unknownArchitecturesAreRefusedByName() {
    const auto config = read(configText(R"("model_type":"cohere")", "model_type"));
    QCOMPARE(config.error().code, ErrorCode::Unsupported);
    QCOMPARE(config.error().message,
             std::string("architecture cohere is not supported; supported: llama, mistral, qwen2, "
                         "qwen3, qwen3_moe, mixtral, olmoe, olmo2, gemma2, gemma3_text, phi3, "
                         "smollm3, seed_oss, granite"));
}

void ModelConfigTest::eosIdsAreOneOrMany() {
    QCOMPARE(valueOf(configText(R"("eos_token_id":2)")).eosIds, std::vector<TokenId>({2}));
    QCOMPARE(valueOf(configText(R"("eos_token_id":[7,2,7])")).eosIds, std::vector<TokenId>({7, 2}));
    QVERIFY(valueOf(configText(R"("eos_token_id":null)")).eosIds.empty());
    QVERIFY(valueOf(configText(R"("eos_token_id":-1,"bos_token_id":-1)")).eosIds.empty());
}

/// A small model that was made from its family's class keeps the ids of the large ones unless its
/// maker names others: 50279 ends the text of an OLMo 2. transformers 5.23 loads it and computes.
void ModelConfigTest::idsBeyondTheVocabularyAreLeftOutAndTold() {
    const ModelConfig config =
        valueOf(configText(R"("bos_token_id":128000,"eos_token_id":[50279,99,100])"));
    QCOMPARE(config.bosId, kNoToken);
    QCOMPARE(config.eosIds, std::vector<TokenId>({99}));
    QCOMPARE(config.notes,
             std::vector<std::string>(
                 {"The begin token 128000 is outside the vocabulary of 100 and is not used.",
                  "The end token 50279 is outside the vocabulary of 100 and is not used.",
                  "The end token 100 is outside the vocabulary of 100 and is not used."}));
    ModelConfig changed = config;
    changed.eosIds = {100}; // nothing else may make such a description
    QVERIFY(!changed.validate());
    ModelConfig twice = config;
    twice.eosIds.push_back(100); // a second file names it too
    leaveOutUnknownIds(twice);
    QCOMPARE(twice.eosIds, config.eosIds);
    QCOMPARE(twice.notes, config.notes);
}

void ModelConfigTest::maskTokensAreTakenOrTold() {
    QCOMPARE(valueOf(configText("")).maskTokenId, kNoToken);
    QCOMPARE(valueOf(configText(R"("mask_token_id":99)")).maskTokenId, TokenId(99));
    for (const char* none : {R"("mask_token_id":null)", R"("mask_token_id":-1)"}) {
        const ModelConfig config = valueOf(configText(none));
        QVERIFY(config.maskTokenId == kNoToken && config.notes.empty());
    }
    const ModelConfig beyond = valueOf(configText(R"("mask_token_id":100)"));
    QCOMPARE(beyond.maskTokenId, kNoToken);
    QCOMPARE(beyond.notes,
             std::vector<std::string>(
                 {"the mask token 100 is outside the vocabulary of 100 and is not used"}));
    QVERIFY(!read(configText(R"("mask_token_id":"<mask>")")).hasValue());
}

void ModelConfigTest::bothNamesOfTheScalingKindWork() {
    for (const char* scaling :
         {R"("rope_theta":1e5,"rope_scaling":{"type":"linear","factor":4.0})",
          R"("rope_theta":1e5,"rope_scaling":{"rope_type":"linear","factor":4})",
          R"("rope_parameters":{"rope_type":"linear","factor":4,"rope_theta":1e5})"}) {
        const ModelConfig config = valueOf(configText(scaling));
        QVERIFY(config.ropeScaling.kind == RopeScalingKind::Linear);
        QCOMPARE(config.ropeScaling.factor, 4.0);
        QCOMPARE(config.ropeTheta, 1e5);
    }
    QVERIFY(valueOf(configText(R"("rope_scaling":{"type":"default"})")).ropeScaling.kind ==
            RopeScalingKind::None);
    QVERIFY(valueOf(configText(R"("rope_scaling":null)")).ropeScaling.kind ==
            RopeScalingKind::None);
}

void ModelConfigTest::mistralWindowsLayersAsSaid() {
    const auto windows = [](const std::string& extra) {
        return valueOf(configText(R"("model_type":"mistral")" + extra, "model_type")).layerWindows;
    };
    QCOMPARE(windows(R"(,"sliding_window":16)"), std::vector<int>({16, 16, 16, 16}));
    QCOMPARE(windows(R"(,"sliding_window":null)"), std::vector<int>({0, 0, 0, 0}));
    QCOMPARE(windows(""), std::vector<int>({4096, 4096, 4096, 4096}));
    const std::string types = R"(,"layer_types":["full_attention","sliding_attention",)"
                              R"("full_attention","sliding_attention"])";
    QCOMPARE(windows(R"(,"sliding_window":16)" + types), std::vector<int>({0, 16, 0, 16}));
    QCOMPARE(windows(types), std::vector<int>({0, 4096, 0, 4096}));
}

void ModelConfigTest::llamaRefusesAWindowThatWouldAct() {
    const std::vector<int> none = {0, 0, 0, 0};
    QCOMPARE(valueOf(configText(R"("sliding_window":256)")).layerWindows, none);
    QCOMPARE(valueOf(configText(R"("sliding_window":null)")).layerWindows, none);
    const auto refused = read(configText(R"("sliding_window":255)"));
    QCOMPARE(refused.error().code, ErrorCode::Unsupported);
    QCOMPARE(refused.error().message,
             std::string("a sliding window (\"sliding_window\") is not supported for architecture "
                         "llama"));
}

void ModelConfigTest::whatHasNoEffectIsNoted() {
    const auto noteOf = [](const std::string& text) {
        const auto notes = valueOf(text).notes;
        return notes.size() == 1 ? notes[0] : fmt::format("{} notes", notes.size());
    };
    const std::string begin = "config.json holds fields that have no effect on architecture ";
    QCOMPARE(noteOf(configText(R"("logit_scale":1,"use_cache":false,"mup":null)")),
             begin + "llama: logit_scale.");
    QCOMPARE(noteOf(configText(R"("model_type":"qwen2","attention_bias":true,"mlp_bias":false)",
                               "model_type")),
             begin + "qwen2: attention_bias and mlp_bias.");
    QCOMPARE(noteOf(configText(R"("rope_scaling":{"type":"linear","factor":2,"beta_fast":32})")),
             std::string("rope_scaling in config.json holds fields that have no effect: "
                         "beta_fast."));
    std::string many;
    for (const char* name : {"a\\u0007", "b", "c", "d", "e", "f", "g", "h"})
        many += fmt::format("{}\"{}\":1", many.empty() ? "" : ",", name);
    QCOMPARE(noteOf(configText(many)), begin + "llama: a?, b, c, d, e, f and 2 more.");
}

void ModelConfigTest::qwen2WindowsOnlyWhereAsked() {
    const auto windows = [](const std::string& extra) {
        return valueOf(
                   configText(R"("model_type":"qwen2","sliding_window":8,)" + extra, "model_type"))
            .layerWindows;
    };
    QCOMPARE(windows(R"("max_window_layers":0)"), std::vector<int>({0, 0, 0, 0}));
    QCOMPARE(windows(R"("use_sliding_window":false,"max_window_layers":0)"),
             std::vector<int>({0, 0, 0, 0}));
    QCOMPARE(windows(R"("use_sliding_window":true,"max_window_layers":3)"),
             std::vector<int>({0, 0, 0, 8}));
    QCOMPARE(windows(R"("use_sliding_window":true)"), std::vector<int>({0, 0, 0, 0}));
    QCOMPARE(valueOf(configText(R"("model_type":"qwen2","use_sliding_window":true,)"
                                R"("max_window_layers":3)",
                                "model_type"))
                 .layerWindows,
             std::vector<int>({0, 0, 0, 4096}));
    QCOMPARE(windows(R"("use_sliding_window":true,"max_window_layers":0,"layer_types":)"
                     R"(["full_attention","sliding_attention","full_attention","full_attention"])"),
             std::vector<int>({0, 8, 0, 0}));
}

void ModelConfigTest::unsaidNumbersAreThoseOfTheFamilies() {
    const auto unsaid = [](const std::string& family) {
        return valueOf(configText(
            fmt::format(R"("model_type":"{}","num_attention_heads":64,"head_dim":16)", family),
            "model_type num_attention_heads num_key_value_heads rms_norm_eps"));
    };
    QCOMPARE(unsaid("llama").kvHeadCount, 64);
    QCOMPARE(unsaid("mistral").kvHeadCount, 8);
    QCOMPARE(unsaid("qwen2").kvHeadCount, 32);
    QCOMPARE(unsaid("llama").normEpsilon, 1e-6);
    QCOMPARE(valueOf(configText(R"("model_type":"mistral","num_key_value_heads":null)",
                                "model_type num_key_value_heads"))
                 .kvHeadCount,
             4);
}

void ModelConfigTest::theUsualContextKeepsToShortFactors() {
    ModelConfig config;
    config.contextLength = 131072;
    QCOMPARE(config.usualContext(), 8192);
    config.ropeScaling.originalContextLength = 4096.0;
    config.ropeScaling.kind = RopeScalingKind::Llama3;
    QCOMPARE(config.usualContext(), 8192);
    config.ropeScaling.kind = RopeScalingKind::LongRope;
    QCOMPARE(config.usualContext(), 4096);
    config.ropeScaling.originalContextLength = 1e30;
    QCOMPARE(config.usualContext(), 8192);
    config.contextLength = 2048;
    QCOMPARE(config.usualContext(), 2048);
}

void ModelConfigTest::linearScalingDividesEveryFrequency() {
    ModelConfig config = valueOf(configText(""));
    const std::vector<double> plain = rotaryFrequencies(config);
    QCOMPARE(plain.size(), std::size_t(8));
    QCOMPARE(plain[0], 1.0);
    QCOMPARE(plain[4], 0.01);
    config.ropeScaling = {.kind = RopeScalingKind::Linear, .factor = 4};
    for (std::size_t i = 0; i < plain.size(); ++i)
        QCOMPARE(rotaryFrequencies(config)[i], plain[i] / 4);
}

void ModelConfigTest::llama3ScalingHasThreeZones() {
    ModelConfig config = valueOf(configText(""));
    config.headDim = 64;
    config.ropeScaling = {.kind = RopeScalingKind::Llama3,
                          .factor = 8,
                          .lowFrequencyFactor = 1,
                          .highFrequencyFactor = 4,
                          .originalContextLength = 64};
    const std::vector<double> scaled = rotaryFrequencies(config);
    config.ropeScaling = {};
    const std::vector<double> plain = rotaryFrequencies(config);
    int kept = 0;
    int blended = 0;
    int stretched = 0;
    for (std::size_t i = 0; i < plain.size(); ++i) {
        // Rope type "llama3": short waves are kept, long ones stretched, those between blended.
        const double wavelength = 2 * std::numbers::pi / plain[i];
        const double s = (64 / wavelength - 1) / (4 - 1);
        double wanted = (1 - s) * plain[i] / 8 + s * plain[i];
        int* zone = &blended;
        if (wavelength < 64.0 / 4) {
            wanted = plain[i];
            zone = &kept;
        } else if (wavelength > 64.0 / 1) {
            wanted = plain[i] / 8;
            zone = &stretched;
        }
        ++*zone;
        QVERIFY(std::abs(scaled[i] - wanted) <= 1e-15 * plain[i] * 10);
    }
    QVERIFY(kept > 0 && blended > 0 && stretched > 0);
}

void ModelConfigTest::frequencyFactorsDivide() {
    ModelConfig config = valueOf(configText(""));
    const std::vector<double> plain = rotaryFrequencies(config);
    config.ropeFrequencyFactors.assign(8, 2.0F);
    QVERIFY(config.validate());
    QCOMPARE(rotaryFrequencies(config)[3], plain[3] / 2);
    config.ropeFrequencyFactors.pop_back();
    QVERIFY(!config.validate());
}

void ModelConfigTest::validateNamesTheField() {
    ModelConfig config = valueOf(configText(""));
    config.contextLength = 0;
    QVERIFY(config.validate().error().message.find("context length") != std::string::npos);
    config = valueOf(configText(""));
    config.layerWindows.clear();
    QVERIFY(config.validate().error().message.find("windows") != std::string::npos);
}

QTEST_APPLESS_MAIN(ModelConfigTest)
#include "model_config_test.moc"
