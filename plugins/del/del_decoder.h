// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder_registry.h"
#include "engine/decoding/drafts/exit_drafter.h"
#include "engine/decoding/round/numbered_plan.h"
#include "engine/decoding/target_decoder.h"
#include "plugins/del/choice/exit_policy.h"
#include "plugins/del/head_reader.h"

#include <map>

namespace del {

/// What draws and tests tokens under Rejection, so that tests can go through every outcome; null =
/// counter random numbers under the sampler's seed. Must outlive the decoder.
struct DelDraws {
    engine::DraftDraws* draft = nullptr;
    engine::VerifyDraws* verify = nullptr;
};

/// DEL: drafts by leaving the model early, at the exit that lately promised most. Shadow tokens of
/// the other exits, over the rows that were verified anyway, show what those would have given. The
/// policy decides what "most" means. Thread: engine.
/// Source: arXiv 2504.05598; differs: see DelRule.
class DelDecoder final : public engine::TargetDecoder {
public:
    static engine::Result<std::unique_ptr<engine::Decoder>>
    make(const engine::DecoderContext& context, bool isByTime, DelDraws draws = {});

    engine::Result<void> begin(const engine::Prompt& prompt,
                               const engine::PromptWork& work) override;
    engine::Result<engine::SearchReport> configure(const engine::SettingValues& values,
                                                   const engine::SettingValues& given) override;

private:
    /// What a round shall do, and where what it has shown is found.
    struct Round {
        ExitOffer offer; ///< steps 0: plain
        bool isFirst = false;
        bool isProbe = false;      ///< plain to measure a plain step, whatever a draft promises
        int unread = 0;            ///< prompt rows before those of the pending token and the draft
        int context = 0;           ///< of them the last ones, at which exits are compared
        std::vector<int> compared; ///< exits
        std::map<int, const engine::HiddenRows*> streams; ///< by exit, of all rows
        const engine::HiddenRows* lastStream = nullptr;   ///< behind the last layer, if kept
    };

    DelDecoder(engine::Target target, const DelSettings& settings, DelDraws draws);

    engine::Result<engine::DecodeStep> round() override;
    engine::Result<engine::DecodeStep> plainRound() override;
    Round nextRound();
    void choose();
    engine::Result<engine::Draft> draft(const Round& round);
    void useExit(const Round& round);
    engine::Result<engine::DecodeStep> verify(engine::Draft draft, Round& round);
    engine::Result<void> learn(const Round& round, const engine::DecodeStep& step);
    engine::Result<void> compareExits(const Round& round, const engine::DecodeStep& step);
    engine::Result<int> validRows(const Round& round, const engine::DecodeStep& step);
    engine::Result<std::vector<engine::HeadSummary>>
    read(std::span<const engine::HiddenPiece> rows);
    void learnDraft(const Round& round, const engine::DecodeStep& step);
    void describe(const Round& round, engine::DecodeStep& step);

    const engine::ModelConfig& config() { return m_target.transformer().config(); }

    engine::ExitDrafter m_drafter;
    engine::VerifyDraws* m_verifyDraws;
    HeadReader m_heads;
    std::vector<int> m_earlier;              // layers whose streams a draft keeps beside its exit's
    std::vector<engine::HiddenRows> m_later; // the streams of the newest verification
    DelSettings m_settings;
    std::unique_ptr<ExitPolicy> m_policy;
    ExitStatistics m_statistics;
    std::vector<ExitOffer> m_offers; // what the next round is chosen from
    ExitOffer m_chosen;              // of them
    int m_exit = 1;                  // drafted with last
    bool m_isFirst = true;           // no round of this answer was compared yet
    engine::NumberedPlan m_plan;
};

} // namespace del
