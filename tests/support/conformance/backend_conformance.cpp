// SPDX-License-Identifier: Apache-2.0
#include "tests/support/conformance/backend_conformance.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <random>

namespace support {

using namespace engine;

namespace {

/// Differs from function to function, and not from run to run.
std::size_t turnOfFunction() { return std::strlen(QTest::currentTestFunction()); }

} // namespace

BackendConformance::BackendConformance(std::string backend,
                                       const std::string& moduleFolder,
                                       const std::function<void(BackendRegistry&)>& add)
    : m_backend(std::move(backend))
    , m_registry(std::filesystem::absolute(moduleFolder)) {
    if (add)
        add(m_registry);
}

void BackendConformance::initTestCase() {
    const auto info = m_registry.info(m_backend);
    QVERIFY2(info.hasValue(), info ? "" : info.error().message.c_str());
    const auto add = [&](const std::string& name, const SettingValues& settings) {
        const auto options = m_registry.options(m_backend, settings);
        QVERIFY2(options.hasValue(), name.c_str());
        // Features that this computer lacks, such as instructions, cannot be tested on it.
        const auto weights = randomWeights(tinyConfig(), 1);
        const auto able = info.value().forecast(tinyConfig(), weights, options.value(), 8);
        if (able || able.error().code != ErrorCode::Unsupported)
            m_variants.push_back({name, settings, options.value().precision});
    };
    const SettingInfo* precision = info.value().find("precision");
    QVERIFY(precision != nullptr);
    for (const std::string& choice : precision->choices)
        add(choice, {{"precision", choice}});
    m_precisions = m_variants.size();
    for (const SettingInfo& setting : info.value().settings) {
        if (setting.name == "threads")
            for (const double threads : {1.0, 3.0})
                add("threads " + settingText(threads), {{"threads", threads}});
        else if (setting.name != "precision")
            for (const std::string& choice : setting.choices)
                if (SettingValue(choice) != setting.initial)
                    add(setting.name + " " + choice, {{setting.name, choice}});
    }
}

void BackendConformance::addVariants() const {
    constexpr std::size_t kFew = 4;
    const bool takesHalf = m_takesSample && m_variants.size() > kFew;
    QTest::addColumn<int>("variant");
    for (std::size_t i = takesHalf ? turnOfFunction() % 2 : 0; i < m_variants.size();
         i += takesHalf ? 2 : 1)
        QTest::newRow(m_variants[i].name.c_str()) << static_cast<int>(i);
}

void BackendConformance::addPrecisions() const {
    QTest::addColumn<int>("variant");
    for (std::size_t i = 0; i < m_precisions; ++i)
        QTest::newRow(m_variants[i].name.c_str()) << static_cast<int>(i);
}

void BackendConformance::addVariantsAndConfigs() const {
    QTest::addColumn<int>("variant");
    QTest::addColumn<int>("config");
    const auto configs = conformanceConfigs();
    const std::size_t step = m_takesSample ? std::min(m_variants.size(), configs.size()) : 1;
    for (std::size_t i = 0; i < m_variants.size(); ++i)
        for (std::size_t j = (i + turnOfFunction()) % step; j < configs.size(); j += step)
            QTest::addRow("%s, %s", m_variants[i].name.c_str(), configs[j].first)
                << static_cast<int>(i) << static_cast<int>(j);
}

const BackendVariant& BackendConformance::variant() const {
    const int index = *static_cast<int*>(QTest::qData("variant", qMetaTypeId<int>()));
    return m_variants[static_cast<std::size_t>(index)];
}

Result<std::unique_ptr<Transformer>> BackendConformance::load(const ModelConfig& config,
                                                              const WeightSource& weights,
                                                              const SettingValues& settings,
                                                              TransformerOptions options) {
    ENGINE_TRY(const TransformerOptions asked, m_registry.options(m_backend, settings));
    options.precision = asked.precision;
    options.threads = asked.threads;
    options.settings = asked.settings;
    ENGINE_TRY(const TransformerFactory factory, m_registry.find(m_backend));
    return factory(config, weights, options);
}

std::unique_ptr<Transformer> BackendConformance::make(const BackendVariant& variant,
                                                      const ModelConfig& config,
                                                      const WeightSource& weights) {
    auto made = load(config, weights, variant.settings);
    ENGINE_CHECK(made.hasValue(), "{} did not load: {}", m_backend, made.error().message);
    return std::move(made).value();
}

std::unique_ptr<Transformer> BackendConformance::makeTiny(const BackendVariant& variant) {
    return make(variant, tinyConfig(), randomWeights(tinyConfig(), 11));
}

Transformer* BackendConformance::tiny() {
    std::unique_ptr<Transformer>& made = m_tiny[&variant()];
    if (made == nullptr)
        made = makeTiny(variant());
    return made.get();
}

std::vector<std::pair<const char*, ModelConfig>> conformanceConfigs() {
    const ModelConfig tiny = tinyConfig();
    ModelConfig window = tiny;
    window.layerWindows.assign(3, 16);
    ModelConfig mixedWindows = tiny;
    mixedWindows.layerWindows = {0, 5, 16};
    ModelConfig ownKeys = tiny;
    ownKeys.kvHeadCount = 4;
    ModelConfig headDim20 = tiny;
    headDim20.headCount = 3;
    headDim20.kvHeadCount = 1;
    headDim20.headDim = 20;
    headDim20.qkvBias = headDim20.outputBias = headDim20.mlpBias = true;
    ModelConfig odd = tiny;
    odd.hiddenSize = 50;
    odd.mlpSize = 83;
    odd.vocabSize = 161;
    odd.headDim = 6;
    odd.kvHeadCount = 4;
    odd.tiedHead = true;
    ModelConfig smallest = tiny;
    smallest.hiddenSize = 8;
    smallest.mlpSize = 12;
    smallest.headDim = 2;
    smallest.vocabSize = 160;
    return {{"tiny", tiny},
            {"window of 16", window},
            {"mixed windows", mixedWindows},
            {"own keys for each head", ownKeys},
            {"head size 20, biases", headDim20},
            {"odd sizes", odd},
            {"smallest sizes", smallest},
            {"experts", expertConfig()},
            {"soft-caps", cappedConfig()},
            {"norms behind", normsBehindConfig()}};
}

std::vector<TokenId> conformanceIds(std::size_t count, int vocabSize) {
    std::mt19937 random(5);
    std::vector<TokenId> ids(count);
    for (TokenId& id : ids)
        id = static_cast<TokenId>(random() % static_cast<unsigned>(vocabSize));
    return ids;
}

} // namespace support
