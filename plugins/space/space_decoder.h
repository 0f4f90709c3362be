// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder_registry.h"
#include "engine/decoding/drafts/self_drafter.h"
#include "engine/decoding/target_decoder.h"
#include "plugins/space/mask_groups.h"
#include "plugins/space/place_rates.h"
#include "plugins/space/space_settings.h"
#include "plugins/space/space_tables.h"

#include <memory>
#include <vector>

namespace space {

/// The random decisions of sampled candidates, guests of the decoder; null: counter random numbers
/// under the sampler's seed.
struct SpaceDraws {
    engine::DraftDraws* draft = nullptr;
    engine::VerifyDraws* verify = nullptr;
};

/// Drafts and verifies in one pass: candidates c_1..c_k behind the pending token, and behind it and
/// each of them a group of masks, which propose the next candidates. Keeps vanilla's tokens
/// (candidates argmax or noise) or its law (sampled, with the residual that the paper leaves out).
/// Source: arXiv 2402.11809, section 3.2, algorithm 1.
class SpaceDecoder final : public engine::TargetDecoder {
public:
    /// Errors: those of SpaceSettings::make and Target::make.
    static engine::Result<std::unique_ptr<engine::Decoder>>
    make(const engine::DecoderContext& context, const SpaceDraws& draws = {});

    engine::Result<void> begin(const engine::Prompt& prompt,
                               const engine::PromptWork& work) override;
    engine::Result<engine::SearchReport> configure(const engine::SettingValues& values,
                                                   const engine::SettingValues& given) override;
    engine::Result<void> changeSampling(const engine::SamplingOptions& sampling) override;

private:
    SpaceDecoder(engine::Target target, const SpaceSettings& settings, const SpaceDraws& draws)
        : TargetDecoder(std::move(target))
        , m_settings(settings)
        , m_draws(draws) {}

    engine::Result<engine::DecodeStep> round() override;
    engine::Result<engine::DecodeStep> plainRound() override;
    bool isSampling() const;
    RoundShape shapeOfRound() const;
    engine::DraftEnd endOf(int candidates) const;
    engine::Draft draftOf(const RoundShape& shape, const MaskGroups& groups) const;
    engine::Result<engine::DecodeStep> verify(engine::Draft draft);
    void learn(const RoundShape& shape, const engine::DecodeStep& step);
    engine::Result<void> pickCandidates(const MaskGroups& groups, engine::DecodeStep& step);
    engine::Result<Candidate> pick(int row, engine::Position outputPosition);

    SpaceSettings m_settings;
    SpaceDraws m_draws;
    PlaceRates m_rates;
    std::vector<Candidate> m_candidates; // for the next round
    std::uint64_t m_round = 0;           // keys the draws of candidates: each round has its own
};

} // namespace space
