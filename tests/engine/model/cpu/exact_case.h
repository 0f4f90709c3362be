// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/kernels/kernel_set.h"
#include "engine/model/cpu/cpu_transformer.h"
#include "tests/support/models/stored_weights.h"
#include "tests/support/transformers/forward_helpers.h"
#include "tests/support/value_of.h"

#include <QString>

#include <cstring>
#include <optional>
#include <random>

namespace support {

/// The shape whose matrices K-quants can store.
inline constexpr int kWideShape = 3;

/// The shape with windows shorter and longer than a section of keys, for all types of keys.
inline constexpr int kWindowShape = kWideShape + 4;

/// Tokens of a sequence: more than one block of keys, or than two sections of them.
inline int exactTokens(int shape) { return shape == 2 ? 300 : shape == kWindowShape ? 220 : 96; }

/// Shapes 0 to 2 differ in heads, windows, biases, a tied head and sizes that are no multiples of
/// a tile; the largest vocabulary is summarised in three pieces. Those behind the wide shape have
/// experts, soft-caps, norms behind and more.
inline engine::ModelConfig exactShape(int index) {
    if (index == kWideShape + 1)
        return expertConfig();
    if (index == kWideShape + 2)
        return cappedConfig();
    if (index == kWideShape + 3)
        return normsBehindConfig();
    engine::ModelConfig config = tinyConfig();
    config.hiddenSize = index == 1 ? 96 : 64;
    config.mlpSize = index == 2 ? 224 : 96;
    config.headCount = index == 2 ? 8 : 4;
    config.kvHeadCount = index == 0 ? 4 : 2;
    config.headDim = index == 0 ? 16 : index == 1 ? 24 : 20;
    config.vocabSize = 160 + 600 * (index % kWideShape);
    config.qkvBias = index == 1;
    config.tiedHead = index == 2;
    if (index == 1)
        config.layerWindows = {0, 24, 0};
    if (index == kWindowShape)
        config.layerWindows = {5, 100, 0};
    if (index == kWideShape) {
        config.hiddenSize = config.mlpSize = 256;
        config.headDim = 64;
    }
    return config;
}

/// How a network is held and computed.
struct ExactForm {
    engine::TensorType type = engine::TensorType::F32;
    engine::WeightForm form = engine::WeightForm::File;
    std::optional<engine::KvType> kvType = std::nullopt;
};

/// Where a form names no type, keys and values are held in every one: it goes by the shape.
inline std::optional<engine::KvType> exactKvType(int shape) {
    if (shape == 1)
        return engine::KvType::BF16;
    if (shape == kWideShape)
        return engine::KvType::Int8;
    return shape == 2 ? std::optional(engine::KvType::F16) : std::nullopt;
}

/// One network and a sequence for it.
struct ExactSubject {
    ExactSubject(int shape, ExactForm form, const engine::KernelSet& kernels, int threads)
        : config(exactShape(shape)) {
        const StoredWeights source(randomWeights(config, 3), form.type);
        engine::cpu::Options options;
        options.weights = form.form;
        options.kvType = form.kvType ? form.kvType : exactKvType(shape);
        options.threads = threads;
        transformer = std::make_unique<engine::cpu::CpuTransformer>(
            config, valueOf(engine::cpu::packWeights(config, source, options)), options, kernels);
        std::mt19937 random(5);
        for (int i = 0; i < exactTokens(shape); ++i)
            ids.push_back(
                static_cast<engine::TokenId>(random() % static_cast<unsigned>(config.vocabSize)));
    }

    int length() const { return static_cast<int>(ids.size()); }

    engine::KvCache emptyCache() const { return support::emptyCache(*transformer, length() + 64); }

    engine::ModelConfig config;
    std::unique_ptr<engine::cpu::CpuTransformer> transformer;
    std::vector<engine::TokenId> ids;
};

/// What decoding the sequence token by token gives.
struct VanillaRun {
    explicit VanillaRun(ExactSubject& subject)
        : cache(subject.emptyCache()) {
        const auto plan = engine::LayerPlan::full(subject.config.layerCount);
        const int row = 0;
        for (int i = 0; i < subject.length(); ++i) {
            auto result = valueOf(subject.transformer->forward(
                {.plan = plan,
                 .layout = engine::AttentionLayout::chain(i, 1),
                 .tokens = std::span(subject.ids).subspan(static_cast<std::size_t>(i), 1),
                 .logitRows = {&row, 1},
                 .summaryRows = {&row, 1}},
                cache));
            logits.push_back(rowOf(result, 0));
            summaries.push_back(result.summaries.front());
            cache.commit(1);
        }
    }

    engine::KvCache cache;
    std::vector<std::vector<double>> logits;
    std::vector<engine::HeadSummary> summaries;
};

inline bool isSameSummary(const engine::HeadSummary& a, const engine::HeadSummary& b) {
    return a.ids == b.ids && a.logits == b.logits && a.count == b.count &&
           a.logSumExp == b.logSumExp;
}

/// Whether two caches hold the same bits below `length`.
inline bool isSameCache(engine::KvCache& a, engine::KvCache& b, engine::Position length) {
    auto& first = dynamic_cast<engine::HostKvStorage&>(a.storage());
    auto& second = dynamic_cast<engine::HostKvStorage&>(b.storage());
    const engine::KvShape& shape = first.shape();
    const std::size_t slotBytes = engine::kvRowBytes(shape.type, shape.headDim);
    const auto plane = static_cast<std::size_t>(shape.capacity) * slotBytes;
    const std::size_t used = static_cast<std::size_t>(length) * slotBytes;
    for (int layer = 0; layer < shape.layerCount; ++layer)
        for (std::size_t head = 0; head < static_cast<std::size_t>(shape.kvHeadCount); ++head)
            if (std::memcmp(first.keys(layer) + head * plane,
                            second.keys(layer) + head * plane,
                            used) != 0 ||
                std::memcmp(first.values(layer) + head * plane,
                            second.values(layer) + head * plane,
                            used) != 0)
                return false;
    return true;
}

/// A random way to come to a place of the sequence, to draft there and to verify.
class ExactCase {
public:
    ExactCase(ExactSubject& subject, VanillaRun& vanilla, unsigned seed)
        : m_subject(subject)
        , m_vanilla(vanilla)
        , m_random(seed)
        , m_cache(subject.emptyCache()) {}

    /// What differs first; empty when nothing does.
    QString run() {
        const int prefix = below(m_subject.length() - 12);
        while (m_cache.length() < prefix) {
            const int rows = std::min(1 + below(40), prefix - m_cache.length());
            if (!pass(rows))
                return "a piece of the prompt";
        }
        if (!draft())
            return "a draft";
        return verify();
    }

private:
    int below(int bound) { return static_cast<int>(m_random() % static_cast<unsigned>(bound)); }

    /// The next tokens in one pass.
    bool pass(int rows) {
        const int begin = m_cache.length();
        const auto logits =
            logitsOf(*m_subject.transformer,
                     m_cache,
                     engine::LayerPlan::full(m_subject.config.layerCount),
                     engine::AttentionLayout::chain(begin, rows),
                     std::span(m_subject.ids)
                         .subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(rows)));
        m_cache.commit(rows);
        for (std::size_t i = 0; i < logits.size(); ++i)
            if (logits[i] != m_vanilla.logits[static_cast<std::size_t>(begin) + i])
                return false;
        return true;
    }

    engine::LayerPlan randomPlan() {
        engine::LayerPlan plan = engine::LayerPlan::full(m_subject.config.layerCount);
        for (auto* actions : {&plan.attention, &plan.mlp})
            for (engine::SublayerAction& action : *actions)
                if (below(2) == 0)
                    action = engine::SublayerAction::Skip;
        if (below(4) == 0)
            plan.exitAfterLayer = below(m_subject.config.layerCount);
        return plan;
    }

    /// Random tokens under a random plan, one by one and then at once beside others; forgotten.
    bool draft() {
        const engine::LayerPlan plan = randomPlan();
        const int length = m_cache.length();
        std::vector<engine::TokenId> tokens;
        std::vector<int> parents;
        std::vector<std::vector<double>> logits;
        const int steps = below(5);
        for (int step = 0; step < steps; ++step) {
            parents.push_back(step - 1);
            tokens.push_back(below(m_subject.config.vocabSize));
            logits.push_back(logitsOf(*m_subject.transformer,
                                      m_cache,
                                      plan,
                                      engine::AttentionLayout::chain(length + step, 1),
                                      std::span(tokens).last(1))
                                 .front());
        }
        for (int others = below(4); others > 0; --others) {
            parents.push_back(below(steps + 1) - 1);
            tokens.push_back(below(m_subject.config.vocabSize));
        }
        if (tokens.empty())
            return true;
        const auto atOnce = logitsOf(*m_subject.transformer,
                                     m_cache,
                                     plan,
                                     engine::AttentionLayout::tree(length, parents),
                                     tokens);
        return std::equal(logits.begin(), logits.end(), atOnce.begin());
    }

    /// A tree that holds the sequence's next tokens among others.
    QString verify() {
        const int length = m_cache.length();
        const int path = 1 + below(7);
        std::vector<int> parents;
        std::vector<engine::TokenId> tokens;
        std::vector<int> pathNodes;
        while (static_cast<int>(pathNodes.size()) < path || below(3) > 0) {
            const bool isOnPath = static_cast<int>(pathNodes.size()) < path && below(2) == 0;
            const int node = static_cast<int>(parents.size());
            if (node >= 40)
                break;
            if (isOnPath) {
                parents.push_back(pathNodes.empty() ? -1 : pathNodes.back());
                tokens.push_back(
                    m_subject.ids[static_cast<std::size_t>(length) + pathNodes.size()]);
                pathNodes.push_back(node);
            } else {
                parents.push_back(below(node + 1) - 1);
                tokens.push_back(below(m_subject.config.vocabSize));
            }
        }
        const engine::AttentionLayout layout = engine::AttentionLayout::tree(length, parents);
        const engine::LayerPlan plan = engine::LayerPlan::full(m_subject.config.layerCount);
        auto result = m_subject.transformer->forward({.plan = plan,
                                                      .layout = layout,
                                                      .tokens = tokens,
                                                      .logitRows = pathNodes,
                                                      .summaryRows = pathNodes},
                                                     m_cache);
        if (!result)
            return QString::fromStdString(result.error().message);
        std::vector<engine::Position> kept;
        for (std::size_t i = 0; i < pathNodes.size(); ++i) {
            const std::size_t at = static_cast<std::size_t>(length) + i;
            if (rowOf(result.value(), static_cast<int>(i)) != m_vanilla.logits[at])
                return QString("logits at %1").arg(at);
            if (!isSameSummary(result.value().summaries[i], m_vanilla.summaries[at]))
                return QString("summary at %1").arg(at);
            kept.push_back(length + pathNodes[i]);
        }
        m_cache.keepPath(kept);
        return isSameCache(m_cache, m_vanilla.cache, m_cache.length()) ? QString() : "cache";
    }

    ExactSubject& m_subject;
    VanillaRun& m_vanilla;
    std::mt19937 m_random;
    engine::KvCache m_cache;
};

} // namespace support
