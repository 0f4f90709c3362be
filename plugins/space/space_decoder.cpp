// SPDX-License-Identifier: Apache-2.0
#include "plugins/space/space_decoder.h"

#include "engine/base/counter_random.h"

#include <algorithm>

namespace space {

using namespace engine;

namespace {

/// Slots behind the context: k candidates and k + 1 groups of k masks.
constexpr int kScratchRows = kMostMasks * (kMostMasks + 2);

/// Replaces a rejected token by one of the model's law itself, as algorithm 1 of the paper and its
/// code do: what was drafted often comes out too often.
class PaperDraws final : public VerifyDraws {
public:
    explicit PaperDraws(VerifyDraws& draws)
        : m_draws(draws) {}

    bool accepts(double probability, Position outputPosition, TokenId token) override {
        return m_draws.accepts(probability, outputPosition, token);
    }

    Distribution leftBehind(const Distribution& p, const Distribution& /*q*/) const override {
        return p;
    }

    TokenId draw(const Distribution& p, Position outputPosition) override {
        return m_draws.draw(p, outputPosition);
    }

private:
    VerifyDraws& m_draws;
};

} // namespace

Result<std::unique_ptr<Decoder>> SpaceDecoder::make(const DecoderContext& context,
                                                    const SpaceDraws& draws) {
    ENGINE_TRY(const SpaceSettings settings,
               SpaceSettings::make(context.settings, context.transformer));
    ENGINE_TRY(
        Target target,
        Target::make(context.transformer, context.sampling, context.contextLength, kScratchRows));
    return std::unique_ptr<Decoder>(new SpaceDecoder(std::move(target), settings, draws));
}

/// The end of the prompt is left to the first round, which makes the first candidates with it.
Result<void> SpaceDecoder::begin(const Prompt& prompt, const PromptWork& work) {
    m_candidates.clear();
    return m_target.begin(prompt, work, kPrefillRows);
}

/// One round: verify the candidates and fill all masks in one pass, then take the candidates of the
/// group behind the last token accepted.
Result<DecodeStep> SpaceDecoder::round() {
    const RoundShape shape = shapeOfRound();
    const MaskGroups groups(m_settings.maskToken, shape.masks);
    ENGINE_TRY(DecodeStep step, verify(draftOf(shape, groups)));
    learn(shape, step);
    ENGINE_TRY_DO(pickCandidates(groups, step));
    if (!groups.sides().empty())
        step.tables = {groupTable(m_target, groups, static_cast<int>(step.path.size())),
                       candidateTable(m_candidates, m_rates)};
    return step;
}

/// Without masks there is nothing to draft with in the next round.
Result<DecodeStep> SpaceDecoder::plainRound() {
    m_candidates.clear();
    return m_target.plainStep();
}

Result<SearchReport> SpaceDecoder::configure(const SettingValues& values,
                                             const SettingValues& /*given*/) {
    ENGINE_TRY(m_settings, SpaceSettings::make(values, m_target.transformer()));
    m_candidates.clear(); // chosen as the settings were
    return SearchReport();
}

Result<void> SpaceDecoder::changeSampling(const SamplingOptions& sampling) {
    ENGINE_TRY_DO(m_target.changeSampling(sampling));
    m_candidates.clear();
    return {};
}

bool SpaceDecoder::isSampling() const {
    return m_settings.choice == CandidateChoice::Sampled && !m_target.sampler().isGreedy();
}

/// Behind an end nothing is emitted: candidates behind one are left out, itself stays.
RoundShape SpaceDecoder::shapeOfRound() const {
    const auto isEnd = [&](const Candidate& candidate) {
        return m_target.endsAnswer(candidate.token);
    };
    const auto end = std::find_if(m_candidates.begin(), m_candidates.end(), isEnd);
    const auto count = end - m_candidates.begin() + (end == m_candidates.end() ? 0 : 1);
    return planRound(m_rates,
                     {.masks = m_settings.masks,
                      .candidates = static_cast<int>(count),
                      .room = m_target.remainingTokens(),
                      .leastReach = m_settings.leastReach});
}

/// Why a round verifies the first `candidates` of what the masks gave.
DraftEnd SpaceDecoder::endOf(int candidates) const {
    const auto count = static_cast<std::size_t>(candidates);
    if (count > 0 && m_target.endsAnswer(m_candidates[count - 1].token))
        return {DraftEndReason::EndToken};
    if (candidates >= m_target.remainingTokens() - 1)
        return {DraftEndReason::Room};
    if (count == m_candidates.size())
        return count == 0 ? DraftEnd{DraftEndReason::Nothing}
                          : DraftEnd{DraftEndReason::Length, 0.0, static_cast<double>(candidates)};
    return {DraftEndReason::Unlikely, m_rates.reach(candidates + 1), m_settings.leastReach};
}

/// The first candidates as a chain, the masks beside it.
Draft SpaceDecoder::draftOf(const RoundShape& shape, const MaskGroups& groups) const {
    Draft draft = Draft::empty(endOf(shape.candidates));
    for (int place = 0; place < shape.candidates; ++place) {
        const Candidate& candidate = m_candidates[static_cast<std::size_t>(place)];
        draft.tree.add(candidate.token, place - 1, candidate.probability);
        draft.tree.addConfidence(candidate.probability);
        if (!candidate.drawnFrom.ids.empty())
            draft.tree.setDrawnFrom(place - 1, candidate.drawnFrom);
    }
    draft.sides.assign(groups.sides().begin(), groups.sides().end());
    return draft;
}

Result<DecodeStep> SpaceDecoder::verify(Draft draft) {
    CounterVerifyDraws counterDraws(m_target.sampler().options().seed);
    PaperDraws paperDraws(m_draws.verify == nullptr ? counterDraws : *m_draws.verify);
    const bool isBiased = isSampling() && m_settings.usesPaperSampling;
    return m_target.verify(std::move(draft),
                           {.rule = isSampling() ? VerifyRule::Rejection : VerifyRule::Match,
                            .draws = isBiased ? &paperDraws : m_draws.verify,
                            .drawsFromSides = m_settings.choice != CandidateChoice::Argmax});
}

/// A candidate behind a rejected one was not looked at.
void SpaceDecoder::learn(const RoundShape& shape, const DecodeStep& step) {
    const int accepted = static_cast<int>(step.path.size());
    const bool wasRejected = accepted < shape.candidates && step.tokens.size() > step.path.size();
    m_rates.learn(accepted + (wasRejected ? 1 : 0), accepted);
}

/// One from each mask of the group behind what was accepted, independently. The pass that verified
/// has drafted the next round, too: what is left is the time of drafting.
Result<void> SpaceDecoder::pickCandidates(const MaskGroups& groups, DecodeStep& step) {
    const double startMs = m_target.nowMs();
    const int group = static_cast<int>(step.path.size());
    const Position firstOutput = m_target.outputPosition();
    m_candidates.clear();
    for (int mask = 0; mask < groups.maskCount(group); ++mask) {
        ENGINE_TRY(Candidate candidate, pick(groups.row(group, mask), firstOutput + mask));
        m_candidates.push_back(std::move(candidate));
    }
    ++m_round;
    step.draftMs = m_target.nowMs() - startMs;
    return {};
}

Result<Candidate> SpaceDecoder::pick(int row, Position outputPosition) {
    const HeadSummary& summary = m_target.lastSummaries()[static_cast<std::size_t>(row)];
    const Sampler& sampler = m_target.sampler();
    if (sampler.isGreedy() || m_settings.choice == CandidateChoice::Argmax)
        return Candidate{summary.best(), summary.probability(0)};
    ENGINE_TRY(const auto logits, m_target.lastLogits(row));
    Candidate candidate;
    if (m_settings.choice == CandidateChoice::Noise) {
        candidate.token = sampler.choose(logits, outputPosition);
    } else {
        candidate.drawnFrom = sampler.distribution(logits);
        const std::uint64_t key =
            mixBits(streamSeed(sampler.options().seed, RandomStream::Draft) ^ m_round);
        candidate.token =
            m_draws.draft == nullptr
                ? drawByNoise(candidate.drawnFrom, key, outputPosition)
                : m_draws.draft->drawSeveral(candidate.drawnFrom, 1, outputPosition).front();
    }
    candidate.probability =
        summary.probabilityOf(logits[static_cast<std::size_t>(candidate.token)]);
    return candidate;
}

} // namespace space
