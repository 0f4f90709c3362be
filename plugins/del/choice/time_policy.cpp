// SPDX-License-Identifier: Apache-2.0
#include "plugins/del/choice/exit_policy.h"
#include "plugins/del/choice/round_costs.h"
#include "plugins/del/head_reader.h"

#include <algorithm>
#include <array>

namespace del {

using namespace engine;

namespace {

/// How often tokens of some confidence were right, for one exit. Until much was seen they are right
/// as often as they say.
class Calibration {
public:
    void learn(const ShadowToken& shadow) {
        Bin& bin = m_bins[indexOf(shadow.confidence)];
        bin.right = kMemory * bin.right + shadow.agreement;
        bin.seen = kMemory * bin.seen + 1.0;
    }

    double acceptance(double confidence) const {
        const Bin& bin = m_bins[indexOf(confidence)];
        return (bin.right + kPriorTokens * confidence) / (bin.seen + kPriorTokens);
    }

private:
    static constexpr int kBins = 8;
    static constexpr double kMemory = 0.98;
    static constexpr double kPriorTokens = 4.0;

    struct Bin {
        double right = 0.0;
        double seen = 0.0;
    };

    static std::size_t indexOf(double confidence) {
        return static_cast<std::size_t>(
            std::clamp(static_cast<int>(confidence * kBins), 0, kBins - 1));
    }

    std::array<Bin, kBins> m_bins;
};

/// What the next token of a draft is weighed with.
struct RoundTerms {
    ExitOffer round; ///< its value is what a millisecond is worth, tokens
    double alpha = 0.0;
    int mostDraft = 0;
};

/// Goes on while the next token, should all before it be taken, gives more than its pass and its
/// row cost.
class BreakEvenStopRule final : public DraftStopRule {
public:
    BreakEvenStopRule(const RoundTerms& terms, const RoundCosts& costs, const Calibration& known)
        : m_terms(terms)
        , m_costs(costs)
        , m_known(known) {}

    std::optional<DraftEnd> stopsAfter(double confidence, int steps) const override {
        if (steps == 1)
            m_path = 1.0;
        m_path *= m_known.acceptance(confidence);
        const int exit = m_terms.round.exit;
        const double nextMs = m_costs.roundMs(exit, steps + 1) - m_costs.roundMs(exit, steps);
        const double promised = m_path * m_terms.alpha;
        const double worth = m_terms.round.value * nextMs;
        if (promised < worth)
            return DraftEnd{DraftEndReason::Price, promised, worth};
        return unsureOrLong(confidence, 0.0, steps, m_terms.mostDraft);
    }

private:
    RoundTerms m_terms;
    const RoundCosts& m_costs;
    const Calibration& m_known;
    mutable double m_path = 1.0; // of the present draft: that all its tokens so far are taken
};

/// Tokens per measured millisecond. Comparing exits is paid from a purse that fills with a share of
/// the time.
class TimePolicy final : public ExitPolicy {
public:
    explicit TimePolicy(const ModelConfig& config)
        : m_layerCount(config.layerCount)
        , m_costs(config)
        , m_calibrations(static_cast<std::size_t>(config.layerCount)) {}

    void configure(const DelSettings& settings) override { m_settings = settings; }

    /// All exits where a round's share pays for them, else a few of them once the purse does.
    std::vector<int> comparedExits(int exit, bool isFirst) override {
        const double income = m_settings.compareShare * m_costs.plainMs();
        std::vector<int> exits = thinnedExits(exit, 0, 1, m_layerCount);
        if (comparisonMs(exits.size(), m_rows) > income)
            exits = thinnedExits(exit, m_settings.near, m_settings.stride, m_layerCount);
        m_comparedCount = exits.size();
        const bool isPaid = m_purseMs >= comparisonMs(exits.size(), m_rows);
        return isFirst || isPaid ? exits : std::vector<int>();
    }

    /// As many as a few plain steps pay for: how long the answer will be nobody knows.
    int contextRows(int wanted, std::size_t exits) const override {
        while (wanted > 0 && comparisonMs(exits, wanted + 1) > kMostForPrompt * m_costs.plainMs())
            --wanted;
        return wanted;
    }

    /// Drafts are compared with plain steps. Without new plain steps a machine that became slower
    /// could not be distinguished from drafts that did.
    bool wantsPlainRound() const override {
        return m_costs.plainSamples() < kFirstPlainRounds || m_roundsSincePlain >= kPlainEvery;
    }

    std::vector<ExitOffer> offers(const ExitStatistics& statistics) const override {
        return bestOfEach(statistics.known(), m_settings.mostSteps(), [&](int exit, int steps) {
            const double alpha = statistics.counts(exit).alpha();
            const double besideMs =
                std::min(m_settings.compareShare * m_costs.roundMs(exit, steps),
                         comparisonMs(m_comparedCount, expectedTokens(alpha, steps)));
            const double margin = steps == 0 ? 1.0 + m_settings.margin : 1.0;
            return margin * tokensPerMs(alpha, {exit, steps}, m_costs, besideMs);
        });
    }

    std::unique_ptr<DraftStopRule> stopRule(const ExitStatistics& statistics,
                                            const ExitOffer& round) const override {
        return std::make_unique<BreakEvenStopRule>(
            RoundTerms{round, statistics.counts(round.exit).alpha(), m_settings.mostDraft},
            m_costs,
            m_calibrations[static_cast<std::size_t>(round.exit)]);
    }

    StepTable table(const ExitStatistics& statistics,
                    std::span<const ExitOffer> offers) const override {
        constexpr double kMsPerSecond = 1000.0;
        const ExitColumn columns[] = {
            {"α", [&](const ExitOffer& offer) { return statistics.counts(offer.exit).alpha(); }},
            {"draft ms", [&](const ExitOffer& offer) { return m_costs.draftMs(offer.exit); }},
            {"best k", [](const ExitOffer& offer) { return static_cast<double>(offer.steps); }},
            {"tokens per s", [](const ExitOffer& offer) { return kMsPerSecond * offer.value; }}};
        return exitTable(offers, columns);
    }

    /// A plain round refused the best first token of a draft.
    DraftChoice choice(const ExitStatistics& statistics,
                       std::span<const ExitOffer> offers,
                       const ExitOffer& round) const override {
        const auto tokens = [&](const ExitOffer& offer) {
            return expectedTokens(statistics.counts(offer.exit).alpha(), offer.steps);
        };
        const auto cost = [&](const ExitOffer& offer) {
            return m_costs.roundMs(offer.exit, offer.steps) / m_costs.plainMs();
        };
        DraftChoice choice{.plainMs = m_costs.plainSamples() > 0 ? m_costs.plainMs() : 0.0};
        if (round.steps > 0) {
            choice.drafter = "exit";
            choice.expectedTokens = tokens(round);
            choice.expectedCost = cost(round);
            return choice;
        }
        choice.drafter = "none";
        ExitOffer refused{};
        for (ExitOffer offer : offers) {
            offer.steps = 1;
            if (refused.steps == 0 || tokens(offer) / cost(offer) > tokens(refused) / cost(refused))
                refused = offer;
        }
        if (refused.steps > 0 && bestOf(offers).steps == 0) {
            choice.refused = "exit";
            choice.refusedTokens = tokens(refused);
            choice.refusedCost = cost(refused);
        }
        return choice;
    }

    void learnShadows(int exit, std::span<const ShadowToken> shadows) override {
        for (const ShadowToken& shadow : shadows)
            m_calibrations[static_cast<std::size_t>(exit)].learn(shadow);
    }

    /// A long prompt's comparison must not forbid those of the next hundred rounds.
    void learnHead(int rows, double ms) override {
        m_costs.recordHead(rows, ms);
        m_purseMs = std::max(m_purseMs - ms, -kMostDebt * m_costs.plainMs());
    }

    void learnRound(const DecodeStep& step, int exit) override {
        m_purseMs += m_settings.compareShare * (step.draftMs + step.verifyMs);
        m_rows += kRowsShare * (static_cast<double>(step.tokens.size()) - m_rows);
        ++m_roundsSincePlain;
        if (step.isPlain()) {
            m_roundsSincePlain = 0;
            m_costs.recordVerify(0, 1, step.verifyMs);
            return;
        }
        m_costs.recordDraft({exit, step.draft.draftSteps()}, step.draftMs);
        m_costs.recordVerify(exit, step.verifiedRows, step.verifyMs);
    }

private:
    static constexpr double kMostDebt = 1.0;      // plain steps
    static constexpr double kMostForPrompt = 2.0; // plain steps
    static constexpr double kRowsShare = 0.1;
    static constexpr int kFirstPlainRounds = 2;
    static constexpr int kPlainEvery = 32;

    /// The head over so many rows of so many exits, in passes as HeadReader makes them.
    double comparisonMs(std::size_t exits, double rows) const {
        const double all = static_cast<double>(exits) * rows;
        const int passes = static_cast<int>(all / HeadReader::kRowsAtOnce);
        const int rest = static_cast<int>(all + 0.5) - passes * HeadReader::kRowsAtOnce;
        return passes * m_costs.headMs(HeadReader::kRowsAtOnce) +
               (rest > 0 ? m_costs.headMs(rest) : 0.0);
    }

    int m_layerCount;
    RoundCosts m_costs;
    DelSettings m_settings;
    std::vector<Calibration> m_calibrations; // [layers], by exit
    std::size_t m_comparedCount = 0;         // exits, in a round that compares
    double m_rows = 1.0;                     // that a round compares, on average
    double m_purseMs = 0.0;
    int m_roundsSincePlain = 0;
};

} // namespace

std::unique_ptr<ExitPolicy> makeTimePolicy(const ModelConfig& config) {
    return std::make_unique<TimePolicy>(config);
}

} // namespace del
