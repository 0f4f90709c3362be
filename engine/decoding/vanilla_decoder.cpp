// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/cached_sequence.h"
#include "engine/decoding/decoder.h"

#include <chrono>

namespace engine {

namespace {

class VanillaDecoder final : public Decoder {
public:
    VanillaDecoder(Transformer& transformer, const SamplingOptions& sampling, KvCache cache)
        : m_transformer(transformer)
        , m_sampler(sampling)
        , m_sequence(std::move(cache))
        , m_plan(LayerPlan::full(transformer.config().layerCount)) {}

    Result<void> begin(std::span<const TokenId> prompt, const PromptWork& work) override {
        ENGINE_TRY_DO(checkPrompt(prompt, m_transformer.config().vocabSize, m_sequence.capacity()));
        m_emitted = 0;
        m_pending = kNoToken;
        ENGINE_TRY_DO(m_sequence.fill(m_transformer, prompt.first(prompt.size() - 1), work));
        m_pending = prompt.back();
        return {};
    }

    Result<DecodeStep> step() override {
        ENGINE_CHECK(m_pending != kNoToken && remainingContext() > 0,
                     "step without room or prompt");
        const auto start = std::chrono::steady_clock::now();
        const AttentionLayout layout = AttentionLayout::chain(m_sequence.length(), 1);
        const int logitRow = 0;
        ENGINE_TRY(const ForwardResult result,
                   m_transformer.forward({.plan = m_plan,
                                          .layout = layout,
                                          .tokens = std::span(&m_pending, 1),
                                          .logitRows = std::span(&logitRow, 1)},
                                         m_sequence.cache()));
        m_sequence.commit(m_pending);
        m_pending = m_sampler.choose(result.logitRow(0), m_emitted++);
        const std::chrono::duration<double, std::milli> took =
            std::chrono::steady_clock::now() - start;
        return DecodeStep{.tokens = {m_pending}, .verifyMs = took.count()};
    }

    int remainingContext() const override {
        return m_sequence.capacity() - m_sequence.length() - 1;
    }

private:
    Transformer& m_transformer;
    Sampler m_sampler;
    CachedSequence m_sequence;
    LayerPlan m_plan;
    TokenId m_pending = kNoToken; // emitted or last of the prompt, not yet in the cache
    Position m_emitted = 0;
};

} // namespace

Result<std::unique_ptr<Decoder>>
makeVanillaDecoder(Transformer& transformer, const SamplingOptions& sampling, int contextLength) {
    ENGINE_TRY_DO(sampling.validate());
    ENGINE_TRY(KvCache cache, transformer.makeCache(contextLength));
    return std::unique_ptr<Decoder>(
        std::make_unique<VanillaDecoder>(transformer, sampling, std::move(cache)));
}

} // namespace engine
