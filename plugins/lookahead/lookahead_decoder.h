// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder_registry.h"
#include "engine/decoding/drafts/drafter.h"
#include "engine/decoding/target_decoder.h"
#include "plugins/lookahead/lookahead_settings.h"

namespace lookahead {

/// Lookahead: one pass carries a window of guesses on and verifies the n-grams that earlier ones
/// have grown into, as a trie that hangs on the pending token. Guesses are always the most probable
/// tokens; the rule Match makes what is emitted vanilla's own, sampled or not.
/// Source: arXiv 2402.02057, algorithm 2; differs: a full match gives N tokens, the
/// model's own behind it included; the pool is bounded and is not kept for the next prompt.
class LookaheadDecoder final : public engine::TargetDecoder, private engine::Drafter {
public:
    static engine::Result<std::unique_ptr<engine::Decoder>>
    make(const engine::DecoderContext& context);

    engine::Result<void> begin(const engine::Prompt& prompt,
                               const engine::PromptWork& work) override;
    engine::Result<engine::SearchReport> configure(const engine::SettingValues& values,
                                                   const engine::SettingValues& given) override;

private:
    LookaheadDecoder(engine::Target target, const LookaheadSettings& settings)
        : TargetDecoder(std::move(target))
        , m_settings(settings)
        , m_used(settings)
        , m_pool(settings.ngrams) {}

    engine::Result<engine::DecodeStep> round() override;

    void observe(const engine::DecodeStep& step) override { remember(step.tokens); }

    engine::Result<engine::Draft> makeDraft(engine::Target& target,
                                            const engine::DraftTerms& terms) override;
    void fitWindow();
    engine::DraftEnd
    endOf(const engine::DraftTree& tree, std::span<const engine::Ngram> known, int room) const;
    engine::Ngram newestRow(int draftNodes) const;
    void carryOn(engine::TokenId pending, engine::Ngram next);
    void remember(std::span<const engine::TokenId> tokens);

    LookaheadSettings m_settings; // from the next answer on
    LookaheadSettings m_used;     // of this one
    engine::NgramPool m_pool;
    engine::PromptFiller m_filler;
    GuessWindow m_window;
    std::vector<engine::TokenId> m_newest; // the last tokens of the text, fewer than an n-gram has
};

} // namespace lookahead
