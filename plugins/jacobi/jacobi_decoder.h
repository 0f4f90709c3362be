// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder_registry.h"
#include "engine/decoding/drafts/drafter.h"
#include "engine/decoding/guesses/ngram_pool.h"
#include "engine/decoding/guesses/prompt_filler.h"
#include "engine/decoding/target_decoder.h"
#include "plugins/jacobi/guess_block.h"
#include "plugins/jacobi/jacobi_settings.h"

namespace jacobi {

/// Jacobi, Gauss-Seidel and hybrid decoding: a block of guesses is verified as a drafted chain, and
/// what the model says behind each of them is the next guess. Never more passes than tokens.
/// Source: arXiv 2305.10427; differs: for causal models, without the answer's length
/// from an earlier run; all that a pass decides is taken at once; what is drawn is guessed with
/// vanilla's own noise of its place and checked by the rule Match, so tokens are vanilla's own.
class JacobiDecoder final : public engine::TargetDecoder, private engine::Drafter {
public:
    static engine::Result<std::unique_ptr<engine::Decoder>>
    make(const engine::DecoderContext& context);

    engine::Result<void> begin(const engine::Prompt& prompt,
                               const engine::PromptWork& work) override;
    engine::Result<engine::SearchReport> configure(const engine::SettingValues& values,
                                                   const engine::SettingValues& given) override;

private:
    JacobiDecoder(engine::Target target, const JacobiSettings& settings);

    engine::Result<engine::DecodeStep> round() override;
    engine::Result<engine::DecodeStep> plainRound() override;
    engine::Result<engine::DecodeStep> roundBeyondBudget();
    int blockLength() const;
    engine::Result<engine::Draft> makeDraft(engine::Target& target,
                                            const engine::DraftTerms& terms) override;
    Guess fill(engine::TokenId before);
    engine::Result<std::vector<Guess>> predictions(const engine::DecodeStep& step);
    void learn(const engine::DecodeStep& step);
    void remember(std::span<const engine::TokenId> tokens);

    JacobiSettings m_settings;
    GuessBlock m_block;
    engine::PromptFiller m_filler;
    engine::NgramPool m_pool;
    std::vector<engine::TokenId> m_newest; // the last tokens of the text, fewer than an n-gram has
    engine::Ngram m_filling;               // what is left of the n-gram that places are filled from
};

} // namespace jacobi
