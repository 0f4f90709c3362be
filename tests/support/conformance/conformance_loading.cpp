// SPDX-License-Identifier: Apache-2.0
#include "tests/support/conformance/backend_conformance.h"
#include "tests/support/transformers/forward_helpers.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace support {

using namespace engine;

namespace {

constexpr const char* kDamaged = "model.layers.2.self_attn.k_proj.weight";

bool mentions(const Error& error, std::string_view text) {
    return error.message.find(text) != std::string::npos;
}

bool isWithinTenPercent(double told, double held) { return std::abs(told - held) <= 0.1 * held; }

} // namespace

void BackendConformance::theForecastIsWhatALoadedModelTakes() {
    const MemoryWeights weights = randomWeights(tinyConfig(), 11);
    const auto options = m_registry.options(m_backend, variant().settings);
    const auto info = m_registry.info(m_backend);
    const auto told = info.value().forecast(tinyConfig(), weights, options.value(), 300);
    QVERIFY2(told.hasValue(), told ? "" : told.error().message.c_str());
    const auto held = make(variant(), tinyConfig(), weights);
    QVERIFY(isWithinTenPercent(static_cast<double>(told.value().memory.weightBytes),
                               static_cast<double>(held->weightBytes())));
    const KvCache cache = emptyCache(*held, 300);
    QVERIFY(isWithinTenPercent(static_cast<double>(told.value().memory.cacheBytes),
                               static_cast<double>(cache.storage().byteSize())));
    QCOMPARE(told.value().arithmeticName, held->arithmeticName());
    QCOMPARE(told.value().kvTypeName, std::string(held->kvTypeName()));
    QCOMPARE(told.value().instructionSet, std::string(held->instructionSet()));
}

void BackendConformance::overflowNamesTheTensor_data() {
    QTest::addColumn<int>("variant");
    QTest::addColumn<QString>("tensor");
    QTest::addColumn<QString>("orReader"); // where the sums may stay finite until they are squared
    for (std::size_t i = 0; i < m_precisions; ++i) {
        if (m_variants[i].precision == Precision::F64)
            continue; // its range is far larger than that of a file's numbers
        const auto add = [&](const char* tensor, const char* reader) {
            QTest::addRow("%s, %s", m_variants[i].name.c_str(), tensor)
                << static_cast<int>(i) << QString(tensor) << QString(reader);
        };
        for (const char* tensor : {"model.layers.1.mlp.up_proj.weight",
                                   "model.layers.2.mlp.down_proj.weight",
                                   "lm_head.weight"})
            add(tensor, tensor);
        add("model.layers.0.self_attn.q_proj.weight", "model.layers.0.mlp.gate_proj.weight");
        add("model.layers.1.self_attn.o_proj.weight", "model.layers.1.mlp.gate_proj.weight");
    }
}

void BackendConformance::overflowNamesTheTensor() {
    QFETCH(const QString, tensor);
    QFETCH(const QString, orReader);
    MemoryWeights weights = randomWeights(tinyConfig(), 11);
    for (float& value : weights.values(tensor.toStdString()))
        value = value < 0 ? -3e38F : 3e38F;
    const auto transformer = make(variant(), tinyConfig(), weights);
    const std::vector<TokenId> ids = {1, 2};
    const std::vector<int> rows = {0, 1};
    for (const bool wantsLogits : {true, false}) {
        KvCache cache = emptyCache(*transformer, 4);
        const auto result =
            transformer->forward({.plan = LayerPlan::full(3),
                                  .layout = AttentionLayout::chain(0, 2),
                                  .tokens = ids,
                                  .logitRows = wantsLogits ? rows : std::vector<int>(),
                                  .summaryRows = rows},
                                 cache);
        QVERIFY(!result);
        QCOMPARE(result.error().code, ErrorCode::Numeric);
        QVERIFY2(mentions(result.error(), tensor.toStdString()) ||
                     mentions(result.error(), orReader.toStdString()),
                 result.error().message.c_str());
        QVERIFY2(mentions(result.error(), "position 0"), result.error().message.c_str());
        QVERIFY(!result.error().hint.empty());
    }
}

/// Token 5 alone has a number in the first column, which overflows behind the first query's
/// weights.
void BackendConformance::afterAnOverflowTheNextPassIsRight() {
    MemoryWeights weights = randomWeights(tinyConfig(), 11);
    std::vector<float>& embedding = weights.values("model.embed_tokens.weight");
    for (std::size_t id = 0; id < embedding.size() / 48; ++id)
        embedding[id * 48] = id == 5 ? 100.0F : 0.0F;
    std::vector<float>& query = weights.values("model.layers.0.self_attn.q_proj.weight");
    for (std::size_t at = 0; at < query.size(); at += 48)
        query[at] = 3e38F;
    const auto transformer = make(m_variants.front(), tinyConfig(), weights);
    const LayerPlan plan = LayerPlan::full(3);
    const std::vector<TokenId> ids = {1, 2, 3};
    KvCache clean = emptyCache(*transformer, 4);
    const auto expected = runChain(*transformer, clean, plan, ids, 3);
    KvCache cache = emptyCache(*transformer, 4);
    const std::vector<TokenId> bad = {5, 5, 5};
    const auto failed = transformer->forward(
        {.plan = plan, .layout = AttentionLayout::chain(0, 3), .tokens = bad}, cache);
    QVERIFY(!failed);
    QCOMPARE(failed.error().code, ErrorCode::Numeric);
    QCOMPARE(runChain(*transformer, cache, plan, ids, 3), expected);
}

/// Nothing runs behind the embedding but the head.
void BackendConformance::anInputThatOverflowsIsAnError() {
    ModelConfig config = tinyConfig();
    config.embeddingScale = variant().precision == Precision::F64 ? 1.7e308 : 3e38;
    MemoryWeights weights = randomWeights(config, 11);
    for (float& value : weights.values("model.embed_tokens.weight"))
        value = 10.0F;
    const auto transformer = make(variant(), config, weights);
    LayerPlan plan = LayerPlan::full(3);
    plan.attention.assign(3, SublayerAction::Skip);
    plan.mlp.assign(3, SublayerAction::Skip);
    KvCache cache = emptyCache(*transformer, 4);
    const std::vector<TokenId> ids = {1, 2};
    const int row = 1;
    const auto failed = transformer->forward({.plan = plan,
                                              .layout = AttentionLayout::chain(0, 2),
                                              .tokens = ids,
                                              .summaryRows = {&row, 1}},
                                             cache);
    QVERIFY(!failed);
    QCOMPARE(failed.error().code, ErrorCode::Numeric);
}

void BackendConformance::weightsThatAreNotFiniteNameTheTensor() {
    for (const float value :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        MemoryWeights weights = randomWeights(tinyConfig(), 11);
        weights.values(kDamaged)[17] = value;
        const auto loaded = load(tinyConfig(), weights, variant().settings);
        QVERIFY(!loaded);
        QCOMPARE(loaded.error().code, ErrorCode::Numeric);
        QVERIFY2(mentions(loaded.error(), kDamaged), loaded.error().message.c_str());
    }
}

void BackendConformance::aMissingTensorIsNamed() {
    ModelConfig config = tinyConfig();
    const MemoryWeights weights = randomWeights(config, 11);
    config.mlpBias = true;
    const auto loaded = load(config, weights);
    QVERIFY(!loaded);
    QCOMPARE(loaded.error().code, ErrorCode::NotFound);
    QVERIFY2(mentions(loaded.error(), "model.layers.0.mlp.gate_proj.bias"),
             loaded.error().message.c_str());
}

void BackendConformance::aWrongShapeNamesBothShapes() {
    ModelConfig config = tinyConfig();
    const MemoryWeights weights = randomWeights(config, 11);
    config.mlpSize = 81;
    const auto loaded = load(config, weights);
    QVERIFY(!loaded);
    QCOMPARE(loaded.error().code, ErrorCode::CorruptFile);
    QVERIFY(mentions(loaded.error(), "model.layers.0.mlp.gate_proj.weight"));
    QVERIFY(mentions(loaded.error(), "[80, 48]") && mentions(loaded.error(), "[81, 48]"));
}

void BackendConformance::loadingCanBeCancelled() {
    std::stop_source source;
    source.request_stop();
    TransformerOptions options;
    options.stop = source.get_token();
    const auto loaded = load(tinyConfig(), randomWeights(tinyConfig(), 1), {}, options);
    QVERIFY(!loaded);
    QCOMPARE(loaded.error().code, ErrorCode::Cancelled);
}

void BackendConformance::progressGrowsToTheEnd() {
    std::vector<double> parts;
    TransformerOptions options;
    options.progress = [&parts](double part) { parts.push_back(part); };
    QVERIFY(load(tinyConfig(), randomWeights(tinyConfig(), 1), {}, options).hasValue());
    QVERIFY(!parts.empty());
    QVERIFY(std::is_sorted(parts.begin(), parts.end()));
    QCOMPARE(parts.back(), 1.0);
}

} // namespace support
