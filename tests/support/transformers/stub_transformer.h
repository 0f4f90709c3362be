// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/counter_random.h"
#include "engine/model/transformer.h"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

namespace test_support {

/// Its slots hold the tokens themselves. With `gpuSlots`, those that a made-up GPU still has, it
/// takes its own from them at once and gives them back at the end.
class StubStorage final : public engine::KvStorage {
public:
    explicit StubStorage(engine::Position capacity,
                         std::shared_ptr<engine::Position> gpuSlots = nullptr)
        : tokens(static_cast<std::size_t>(capacity), engine::kNoToken)
        , m_gpuSlots(std::move(gpuSlots)) {
        if (m_gpuSlots)
            *m_gpuSlots -= capacity;
    }

    ~StubStorage() override {
        if (m_gpuSlots)
            *m_gpuSlots += capacity();
    }

    StubStorage(const StubStorage&) = delete;
    StubStorage& operator=(const StubStorage&) = delete;

    engine::Position capacity() const override {
        return static_cast<engine::Position>(tokens.size());
    }

    void copySlots(std::span<const engine::SlotCopy> copies) override {
        for (const auto [from, to] : copies)
            tokens[static_cast<std::size_t>(to)] = tokens[static_cast<std::size_t>(from)];
    }

    std::size_t byteSize() const override { return tokens.size() * sizeof(engine::TokenId); }

    bool isInHostMemory() const override { return m_gpuSlots == nullptr; }

    std::vector<engine::TokenId> tokens;

private:
    std::shared_ptr<engine::Position> m_gpuSlots;
};

/// Counts passes for a test on another thread. Thread: any.
class PassCounter {
public:
    void add() {
        {
            const std::scoped_lock lock(m_mutex);
            ++m_count;
        }
        m_changed.notify_all();
    }

    int count() const {
        const std::scoped_lock lock(m_mutex);
        return m_count;
    }

    void waitFor(int count) {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [this, count] { return m_count >= count; });
    }

private:
    mutable std::mutex m_mutex;
    std::condition_variable m_changed;
    int m_count = 0; // guarded by m_mutex
};

/// A network without weights: the next token follows from all tokens that a row sees, by a hash,
/// and is a letter. A plan that skips anything agrees with the full one about three times in four.
/// Wrong positions, slots or visibility change the tokens. Behind each layer a row's hidden state
/// is how often it sees tokens of each remainder modulo the hidden size. Thread: engine.
class StubTransformer final : public engine::Transformer {
public:
    static constexpr int kVocabSize = 128;

    /// `onPass` may be called before each pass, from the engine's thread; its error is the pass's.
    /// With `gpuSlots` above 0, all caches together may have so many slots.
    explicit StubTransformer(std::function<engine::Result<void>()> onPass = {},
                             int contextLength = 1 << 20,
                             engine::Position gpuSlots = 0)
        : m_onPass(std::move(onPass)) {
        if (gpuSlots > 0)
            m_gpuSlots = std::make_shared<engine::Position>(gpuSlots);
        m_config.architecture = "stub";
        m_config.layerCount = 4;
        m_config.hiddenSize = m_config.mlpSize = m_config.headCount = m_config.headDim = 8;
        m_config.kvHeadCount = 4;
        m_config.vocabSize = kVocabSize;
        m_config.contextLength = contextLength;
        m_config.eosIds = {0};
        m_fullPlan = engine::LayerPlan::full(m_config.layerCount);
    }

    const engine::ModelConfig& config() const override { return m_config; }

    engine::Precision precision() const override { return engine::Precision::F64; }

    engine::Result<engine::KvCache> makeCache(engine::Position capacity) const override {
        if (m_gpuSlots && capacity > *m_gpuSlots)
            return engine::Error{engine::ErrorCode::NoMemory, "The GPU is full.", ""};
        return engine::KvCache(std::make_unique<StubStorage>(capacity, m_gpuSlots));
    }

    engine::Result<void> forwardInto(const engine::ForwardRequest& request,
                                     engine::KvCache& cache,
                                     engine::ForwardResult& result) override {
        if (m_onPass)
            ENGINE_TRY_DO(m_onPass());
        auto& held = dynamic_cast<StubStorage&>(cache.storage()).tokens;
        const engine::AttentionLayout& layout = request.layout;
        for (int row = 0; row < layout.rowCount(); ++row)
            held[static_cast<std::size_t>(layout.firstSlot() + row)] =
                request.tokens[static_cast<std::size_t>(row)];
        result.clear();
        const engine::HeadRows wanted(request.logitRows, request.summaryRows);
        double* logits = m_logits->begin(wanted.rows.size());
        std::fill_n(logits, wanted.rows.size() * kVocabSize, 0.0);
        result.logits.show(m_logits, static_cast<int>(request.logitRows.size()));
        const bool isFull = request.plan == m_fullPlan;
        for (std::size_t i = 0; i < wanted.rows.size(); ++i) {
            std::uint64_t context = 0;
            layout.forEachKey(wanted.rows[i], 0, [&](engine::Position slot) {
                context = engine::mixBits(
                    context ^ static_cast<std::uint64_t>(held[static_cast<std::size_t>(slot)]));
            });
            const bool isWrong = !isFull && context % 4 == 0;
            const std::uint64_t next = 'a' + (context / 4 + (isWrong ? 1 : 0)) % 26;
            logits[i * kVocabSize + next] = isFull ? 8.0 : 6.0;
        }
        for (const int place : wanted.summaryPlaces)
            result.summaries.push_back(engine::summarise(
                {logits + static_cast<std::size_t>(place) * kVocabSize, kVocabSize}));
        for (const engine::HandOut& handOut : request.handOuts)
            append(request.layout, held, *handOut.to);
        result.influence.assign(2 * static_cast<std::size_t>(m_config.layerCount), 1.0);
        return {};
    }

    std::size_t weightBytes() const override { return 0; }

private:
    void append(const engine::AttentionLayout& layout,
                const std::vector<engine::TokenId>& held,
                engine::HiddenRows& to) const {
        const int width = m_config.hiddenSize;
        auto& storage = to.storageFor<engine::HostHidden<double>>(m_key, width);
        for (int row = 0; row < layout.rowCount(); ++row) {
            std::vector<double> counts(static_cast<std::size_t>(width), 0.0);
            layout.forEachKey(row, 0, [&](engine::Position slot) {
                counts[static_cast<std::size_t>(held[static_cast<std::size_t>(slot)] % width)] +=
                    1.0;
            });
            storage.append(counts.data());
        }
    }

    const engine::TransformerKey m_key;
    engine::ModelConfig m_config;
    engine::LayerPlan m_fullPlan;
    std::shared_ptr<engine::HostLogits<double>> m_logits =
        std::make_shared<engine::HostLogits<double>>(kVocabSize);
    std::function<engine::Result<void>()> m_onPass;
    std::shared_ptr<engine::Position> m_gpuSlots; // that are left; null: any number
};

} // namespace test_support
