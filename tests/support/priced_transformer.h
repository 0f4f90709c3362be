// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/target.h"
#include "engine/model/transformer.h"
#include "engine/model/weight_share.h"

#include <algorithm>

namespace support {

/// What passes cost, made up.
struct Prices {
    double plainMs = 10.0;        ///< a full pass of one row
    double rowPart = 0.05;        ///< of that for each further row
    bool savesByBytes = true;     ///< a plan costs its share of the weights; else as much as all
    bool isWrongSkipping = false; ///< plans that leave something out foretell nothing
};

/// Another transformer whose passes move a clock of its own by what they are said to cost: what is
/// decided by time is decided the same on every machine.
class PricedTransformer final : public engine::Transformer {
public:
    explicit PricedTransformer(engine::Transformer& inner, Prices first = {})
        : prices(first)
        , m_inner(inner) {}

    /// Reads this one's clock; it must outlive the copy.
    engine::StepClock clock() const {
        return [this] { return nowMs; };
    }

    const engine::ModelConfig& config() const override { return m_inner.config(); }

    engine::Precision precision() const override { return m_inner.precision(); }

    engine::Result<engine::KvCache> makeCache(engine::Position capacity) const override {
        return m_inner.makeCache(capacity);
    }

    engine::Result<void> forwardInto(const engine::ForwardRequest& request,
                                     engine::KvCache& cache,
                                     engine::ForwardResult& result) override {
        const int rows = request.layout.rowCount();
        const double read = engine::weightShare(request.plan, config());
        const bool isFull = read > 1.0 - 1e-9;
        const double share = prices.savesByBytes ? read : 1.0;
        const double ms = prices.plainMs * share * (1.0 + prices.rowPart * (rows - 1));
        nowMs += ms;
        if (!isFull)
            (rows == 1 ? draftMs : trialMs) += ms;
        if (!isFull)
            ++(rows == 1 ? draftPasses : trials);
        auto ran = m_inner.forwardInto(request, cache, result);
        if (!isFull && prices.isWrongSkipping)
            for (engine::HeadSummary& summary : result.summaries)
                for (engine::TokenId& id : summary.ids)
                    id = (id + 1) % config().vocabSize;
        return ran;
    }

    std::size_t weightBytes() const override { return m_inner.weightBytes(); }

    Prices prices;
    double nowMs = 0.0;
    double draftMs = 0.0; ///< of passes of one row that leave something out
    double trialMs = 0.0; ///< of such passes of several rows
    int draftPasses = 0;
    int trials = 0;

private:
    engine::Transformer& m_inner;
};

} // namespace support
