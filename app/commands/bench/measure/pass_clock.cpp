// SPDX-License-Identifier: Apache-2.0
#include "app/commands/bench/measure/pass_clock.h"

#include "app/commands/bench/bench_model.h"
#include "app/commands/options/text_options.h"
#include "engine/decoding/round/cached_sequence.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>

namespace app {

using namespace engine;

namespace {

/// Shorter samples would be lost in the noise of a busy machine.
constexpr double kShortestSampleMs = 20.0;

class Stopwatch {
public:
    double ms() const {
        const std::chrono::duration<double, std::milli> passed =
            std::chrono::steady_clock::now() - m_begin;
        return passed.count();
    }

private:
    std::chrono::steady_clock::time_point m_begin = std::chrono::steady_clock::now();
};

} // namespace

PassClock::PassClock(Transformer& transformer, PassSetup setup, KvCache cache)
    : m_transformer(&transformer)
    , m_setup(std::move(setup))
    , m_cache(std::move(cache)) {
    const int vocab = transformer.config().vocabSize;
    m_cachedIds = arbitraryIds(m_setup.cachedTokens, vocab, 11);
    m_rowIds = arbitraryIds(m_setup.mostRows, vocab, 12);
    m_prefillIds = arbitraryIds(m_setup.prefillTokens, vocab, 13);
    m_rowNumbers.resize(static_cast<std::size_t>(m_setup.mostRows));
    std::iota(m_rowNumbers.begin(), m_rowNumbers.end(), 0);
}

Result<PassClock> PassClock::make(Transformer& transformer, const PassSetup& setup) {
    const int slots = std::max(setup.cachedTokens + setup.mostRows, setup.prefillTokens);
    ENGINE_TRY(KvCache cache, transformer.makeCache(slots));
    PassClock clock(transformer, setup, std::move(cache));
    ENGINE_TRY_DO(clock.read(clock.m_cachedIds));
    return clock;
}

/// One pass as verification runs it: the only place that asks for the head of all rows.
Result<void> PassClock::pass(const LayerPlan& plan, int rows) {
    const auto count = static_cast<std::size_t>(rows);
    return m_transformer->forwardInto({.plan = plan,
                                       .layout = AttentionLayout::chain(m_cache.length(), rows),
                                       .tokens = std::span(m_rowIds).first(count),
                                       .summaryRows = std::span(m_rowNumbers).first(count)},
                                      m_cache,
                                      m_result);
}

Result<double> PassClock::passMs(const LayerPlan& plan, int rows) {
    if (m_hasPrefill) {
        ENGINE_TRY_DO(read(m_cachedIds));
        m_hasPrefill = false;
    }
    const Stopwatch first;
    ENGINE_TRY_DO(pass(plan, rows));
    // Measuring the roof empties the caches and lets threads sleep, which costs a short pass much
    // more than it ever does in decoding.
    if (const double ms = first.ms(); ms >= kShortestSampleMs)
        return ms;
    int passes = 0;
    const Stopwatch watch;
    while (passes == 0 || watch.ms() < kShortestSampleMs) {
        ENGINE_TRY_DO(pass(plan, rows));
        ++passes;
    }
    return watch.ms() / passes;
}

Result<double> PassClock::prefillMs() {
    m_hasPrefill = true;
    const Stopwatch watch;
    ENGINE_TRY_DO(read(m_prefillIds));
    return watch.ms();
}

Result<void> PassClock::read(std::span<const TokenId> tokens) {
    const LayerPlan plan = LayerPlan::full(m_transformer->config().layerCount);
    m_cache.truncate(0);
    for (std::size_t begin = 0; begin < tokens.size(); begin += kPrefillRows) {
        if (m_setup.stop.stop_requested())
            return cancelledError();
        const auto piece =
            tokens.subspan(begin, std::min<std::size_t>(kPrefillRows, tokens.size() - begin));
        const int rows = static_cast<int>(piece.size());
        const std::array last = {rows - 1};
        const bool isLast = begin + piece.size() == tokens.size();
        ENGINE_TRY_DO(
            m_transformer->forwardInto({.plan = plan,
                                        .layout = AttentionLayout::chain(m_cache.length(), rows),
                                        .tokens = piece,
                                        .summaryRows = std::span(last).first(isLast ? 1 : 0)},
                                       m_cache,
                                       m_result));
        m_cache.commit(rows);
    }
    return {};
}

} // namespace app
