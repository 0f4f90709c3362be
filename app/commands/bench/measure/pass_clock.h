// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/transformer.h"

#include <stop_token>
#include <vector>

namespace app {

/// The largest passes that a PassClock has to time.
struct PassSetup {
    int cachedTokens = 0;
    int mostRows = 0;
    int prefillTokens = 0;
    std::stop_token stop = {};
};

/// Times passes of one model as verification and prompts run them. Thread: one.
class PassClock {
public:
    /// Reads `cachedTokens` arbitrary tokens. Errors: NoMemory, Cancelled, those of a pass.
    /// `transformer` must outlive it.
    static engine::Result<PassClock> make(engine::Transformer& transformer, const PassSetup& setup);

    /// Milliseconds of one pass of a chain of `rows` rows after the cached tokens, with the head's
    /// summary of each, as greedy verification asks for it; short passes are repeated, and their
    /// mean counts. Errors: those of a pass.
    engine::Result<double> passMs(const engine::LayerPlan& plan, int rows);

    /// Milliseconds of reading the whole prompt from nothing, with the head on its last row alone.
    /// Errors: Cancelled, those of a pass.
    engine::Result<double> prefillMs();

    const std::vector<engine::TokenId>& prefillIds() const { return m_prefillIds; }

private:
    PassClock(engine::Transformer& transformer, PassSetup setup, engine::KvCache cache);

    engine::Result<void> pass(const engine::LayerPlan& plan, int rows);
    engine::Result<void> read(std::span<const engine::TokenId> tokens);

    engine::Transformer* m_transformer;
    PassSetup m_setup;
    engine::KvCache m_cache;
    engine::ForwardResult m_result; // kept, so that a pass allocates nothing
    std::vector<engine::TokenId> m_cachedIds;
    std::vector<engine::TokenId> m_rowIds;
    std::vector<engine::TokenId> m_prefillIds;
    std::vector<int> m_rowNumbers;
    bool m_hasPrefill = false; // the cache holds the prompt, not the cached tokens
};

} // namespace app
