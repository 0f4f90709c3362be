// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/self_drafter.h"

#include "engine/base/counter_random.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace engine {

namespace {

/// The `count` best places of `scores`, best first; of equals the lower place.
std::vector<std::size_t> bestPlaces(std::span<const double> scores, int count) {
    std::vector<std::size_t> places(scores.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    const std::size_t kept = std::min(scores.size(), static_cast<std::size_t>(count));
    const auto better = [&](std::size_t a, std::size_t b) {
        return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
    };
    std::partial_sort(
        places.begin(), places.begin() + static_cast<std::ptrdiff_t>(kept), places.end(), better);
    places.resize(kept);
    return places;
}

/// The best of log q + Gumbel noise, in order: a draw without replacement from q. For Rejection,
/// whose noise is fresh for each round.
class CounterDraws final : public DraftDraws {
public:
    CounterDraws(std::uint64_t seed, std::uint64_t round)
        : m_key(mixBits(streamSeed(seed, RandomStream::Draft) ^ round)) {}

    std::vector<TokenId>
    drawSeveral(const Distribution& q, int count, Position outputPosition) override {
        std::vector<double> scores;
        scores.reserve(q.ids.size());
        for (std::size_t i = 0; i < q.ids.size(); ++i)
            scores.push_back(
                std::log(q.probabilities[i]) +
                counterGumbel(m_key, static_cast<std::uint64_t>(outputPosition), q.ids[i]));
        std::vector<TokenId> ids;
        for (const std::size_t place : bestPlaces(scores, count))
            ids.push_back(q.ids[place]);
        return ids;
    }

private:
    std::uint64_t m_key;
};

/// Chooses the tokens of one draft pass.
class LevelMaker {
public:
    /// `draws` null: vanilla's own.
    LevelMaker(const Sampler& sampler, const SelfDraftOptions& options, DraftDraws* draws)
        : m_sampler(sampler)
        , m_options(options)
        , m_draws(draws) {}

    /// Whether a pass must give full logits: to draw from, or to find more choices than a summary
    /// has.
    bool needsLogits() const { return draws() || mostChoices() > HeadSummary::kMost; }

    /// From the only row of a pass.
    DraftLevel make(const ForwardResult& pass, Position outputPosition) const {
        const HeadSummary& summary = pass.summaries.front();
        DraftLevel level;
        std::vector<TokenId> ids;
        if (draws() && m_draws == nullptr) {
            ids = m_sampler.chooseSeveral(pass.logitRow(0), mostChoices(), outputPosition);
        } else if (draws()) {
            Distribution q = m_sampler.distribution(pass.logitRow(0));
            ids = m_draws->drawSeveral(q, mostChoices(), outputPosition);
            if (m_options.rule == VerifyRule::Rejection)
                level.drawnFrom = std::move(q);
        } else if (needsLogits()) {
            for (const std::size_t place : bestPlaces(pass.logitRow(0), mostChoices()))
                ids.push_back(static_cast<TokenId>(place));
        } else {
            ids.assign(summary.ids.begin(), summary.ids.begin() + summary.count);
        }
        const int count = m_options.siblings.choicesAt(probabilityOf(pass, ids.front()));
        ids.resize(std::min(ids.size(), static_cast<std::size_t>(count)));
        for (const TokenId id : ids)
            level.choices.push_back({id, probabilityOf(pass, id)});
        return level;
    }

private:
    bool draws() const {
        return !m_sampler.isGreedy() &&
               (m_options.rule == VerifyRule::Rejection || m_options.sharesNoise);
    }

    static double probabilityOf(const ForwardResult& pass, TokenId id) {
        const HeadSummary& summary = pass.summaries.front();
        const int rank = summary.rankOf(id);
        return rank >= 0 ? summary.probability(rank)
                         : summary.probabilityOf(pass.logitRow(0)[static_cast<std::size_t>(id)]);
    }

    int mostChoices() const {
        return *std::max_element(m_options.siblings.counts.begin(),
                                 m_options.siblings.counts.end());
    }

    const Sampler& m_sampler;
    const SelfDraftOptions& m_options;
    DraftDraws* m_draws;
};

} // namespace

Result<SiblingSchedule> SiblingSchedule::parse(std::string_view text) {
    SiblingSchedule schedule;
    const char* at = text.data();
    const char* const end = text.data() + text.size();
    for (std::size_t i = 0; i < schedule.counts.size(); ++i) {
        int& count = schedule.counts[i];
        const auto [next, failure] = std::from_chars(at, end, count);
        const bool isLast = i + 1 == schedule.counts.size();
        const bool goesOn = isLast ? next == end : next < end && *next == ',';
        if (failure != std::errc() || !goesOn || count < 1 || count > 64)
            return Error{ErrorCode::InvalidInput,
                         fmt::format("The sibling schedule \"{}\" is not four whole numbers from 1 "
                                     "to 64.",
                                     text),
                         "Write the choices for a confidence above .95, .8, .5 and the rest: "
                         "1,3,5,10."};
        at = isLast ? next : next + 1;
    }
    return schedule;
}

Result<DraftTree> SelfDrafter::draft(Target& target,
                                     const LayerPlan& plan,
                                     const DraftStopRule& stopRule,
                                     const SelfDraftOptions& options) {
    CounterDraws counterDraws(target.sampler().options().seed, m_round++);
    DraftDraws* draws = m_draws;
    if (draws == nullptr && options.rule == VerifyRule::Rejection)
        draws = &counterDraws;
    const LevelMaker maker(target.sampler(), options, draws);
    // The bonus takes a place of the answer too.
    const int mostSteps = std::min(target.remainingTokens() - 1, options.maxNodes);
    const auto firstOutput = static_cast<Position>(target.output().size());
    std::vector<DraftLevel> levels;
    TokenId token = target.pending();
    const int onlyRow = 0;
    const std::span<const int> rows(&onlyRow, 1);
    while (static_cast<int>(levels.size()) < mostSteps) {
        if (target.stop().stop_requested())
            return Error{ErrorCode::Cancelled, "Drafting was cancelled.", ""};
        const auto steps = static_cast<Position>(levels.size());
        const AttentionLayout layout = AttentionLayout::chain(target.length() + steps, 1);
        ENGINE_TRY_DO(target.transformer().forwardInto(
            {.plan = plan,
             .layout = layout,
             .tokens = std::span(&token, 1),
             .logitRows = maker.needsLogits() ? rows : std::span<const int>(),
             .summaryRows = rows},
            target.cache(),
            m_pass));
        levels.push_back(maker.make(m_pass, firstOutput + steps));
        token = levels.back().choices.front().token;
        if (stopRule.stopsAfter(levels.back().choices.front().probability,
                                static_cast<int>(levels.size())))
            break;
    }
    return makeCaterpillar(levels, options.maxNodes);
}

} // namespace engine
