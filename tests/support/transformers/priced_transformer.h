// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/target.h"
#include "engine/model/weight_share.h"
#include "tests/support/transformers/wrapping_transformer.h"

#include <algorithm>

namespace support {

/// Invented costs of passes.
struct Prices {
    double plainMs = 10.0;        ///< a full pass of one row
    double rowPart = 0.05;        ///< of that for each further row
    bool savesByBytes = true;     ///< a pass costs its share of the weights; otherwise as much as a
                                  ///< full one
    bool isWrongSkipping = false; ///< plans that skip something predict nothing
};

/// Wraps a transformer and advances a clock of its own by the given cost of each pass, so that
/// decisions based on time are the same on every machine.
class PricedTransformer final : public WrappingTransformer {
public:
    explicit PricedTransformer(engine::Transformer& inner, Prices first = {})
        : WrappingTransformer(inner)
        , prices(first) {}

    /// Reads this one's clock; it must outlive the copy.
    engine::StepClock clock() const {
        return [this] { return nowMs; };
    }

    engine::Result<void> forwardInto(const engine::ForwardRequest& request,
                                     engine::KvCache& cache,
                                     engine::ForwardResult& result) override {
        const int rows = request.layout.rowCount();
        const bool isFull = engine::weightShare(request.plan, *this) > 1.0 - 1e-9;
        const bool isTrial = request.summaryRows.size() > 1;
        const double share = prices.savesByBytes ? shareRead(request) : 1.0;
        const double ms = prices.plainMs * share * (1.0 + prices.rowPart * (rows - 1));
        nowMs += ms;
        handedOut += request.handOuts.empty() ? 0 : 1;
        if (!isFull)
            (isTrial ? trialMs : draftMs) += ms;
        if (!isFull)
            ++(isTrial ? trials : draftPasses);
        auto ran = inner().forwardInto(request, cache, result);
        if (!isFull && prices.isWrongSkipping)
            for (engine::HeadSummary& summary : result.summaries)
                for (engine::TokenId& id : summary.ids)
                    id = (id + 1) % config().vocabSize;
        return ran;
    }

    engine::Result<bool> makeCopyPiece() override { return inner().makeCopyPiece(); }

    void dropCopy() override { inner().dropCopy(); }

    double copyShare() const override { return inner().copyShare(); }

    Prices prices;
    double nowMs = 0.0;
    double draftMs = 0.0; ///< of passes that skip something
    double trialMs = 0.0; ///< of those among them that predict behind several rows
    int draftPasses = 0;
    int trials = 0;
    int handedOut = 0; ///< passes whose streams were wanted

private:
    /// The share of the weights that a pass reads: of the layers that it runs, and of the head if a
    /// row needs it.
    double shareRead(const engine::ForwardRequest& request) const {
        engine::LayerPlan below = request.plan;
        below.exitAfterLayer = request.firstLayer - 1;
        engine::LayerPlan headAlone = request.plan;
        headAlone.exitAfterLayer = -1;
        engine::LayerPlan run = request.plan;
        if (request.endLayer >= 0)
            run.exitAfterLayer = std::min(run.exitAfterLayer, request.endLayer - 1);
        const bool needsHead = !request.summaryRows.empty() || !request.logitRows.empty();
        const double head = engine::weightShare(headAlone, *this);
        return engine::weightShare(run, *this) - engine::weightShare(below, *this) +
               (needsHead ? head : 0.0);
    }
};

} // namespace support
