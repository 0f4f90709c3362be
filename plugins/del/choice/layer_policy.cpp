// SPDX-License-Identifier: Apache-2.0
#include "plugins/del/choice/exit_policy.h"

#include <algorithm>

namespace del {

using namespace engine;

namespace {

/// DEL's own: tokens per layer, a draft ends by the dynamic threshold.
/// Source: arXiv 2504.05598 section 3
class LayerPolicy final : public ExitPolicy {
public:
    explicit LayerPolicy(int layerCount)
        : m_layerCount(layerCount) {}

    void configure(const DelSettings& settings) override { m_settings = settings; }

    std::vector<int> comparedExits(int exit, bool isFirst) override {
        if (!isFirst && ++m_roundsSince < m_settings.compareEvery)
            return {};
        m_roundsSince = 0;
        if (m_settings.fixedExit > 0)
            return {m_settings.fixedExit};
        return thinnedExits(exit, m_settings.near, m_settings.stride, m_layerCount);
    }

    std::vector<ExitOffer> offers(const ExitStatistics& statistics) const override {
        const std::vector<int> exits =
            m_settings.fixedExit > 0 ? std::vector{m_settings.fixedExit} : statistics.known();
        return bestOfEach(exits, m_settings.mostSteps(), [&](int exit, int steps) {
            return tokensPerLayer(statistics.counts(exit).alpha(), {exit, steps}, m_layerCount);
        });
    }

    std::unique_ptr<DraftStopRule> stopRule(const ExitStatistics& statistics,
                                            const ExitOffer& round) const override {
        if (m_settings.isLengthChosen)
            return std::make_unique<ConfidenceStopRule>(0.0, std::max(round.steps, 1));
        // Where there is no number nothing is below it: such a draft runs to its end.
        return std::make_unique<ConfidenceStopRule>(threshold(statistics, round.exit),
                                                    m_settings.mostDraft);
    }

    StepTable table(const ExitStatistics& statistics,
                    std::span<const ExitOffer> offers) const override {
        const ExitColumn columns[] = {
            {"α", [&](const ExitOffer& offer) { return statistics.counts(offer.exit).alpha(); }},
            {"τ", [&](const ExitOffer& offer) { return threshold(statistics, offer.exit); }},
            {"best k", [](const ExitOffer& offer) { return static_cast<double>(offer.steps); }},
            {"tokens per layer", [](const ExitOffer& offer) { return offer.value; }}};
        return exitTable(offers, columns);
    }

private:
    double threshold(const ExitStatistics& statistics, int exit) const {
        return dynamicThreshold(statistics.counts(exit), m_settings.isOfficialNan);
    }

    int m_layerCount;
    DelSettings m_settings;
    int m_roundsSince = 0; // that were compared
};

} // namespace

std::unique_ptr<ExitPolicy> makeLayerPolicy(const ModelConfig& config) {
    return std::make_unique<LayerPolicy>(config.layerCount);
}

} // namespace del
