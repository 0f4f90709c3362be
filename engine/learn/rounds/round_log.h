// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/drafts/draft_terms.h"
#include "engine/metrics/decode_metrics.h"
#include "engine/session/engine_event.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace engine {

/// What belongs to a round, but is in other events than its own. A plain value.
struct RoundGround {
    int step = 0;         ///< of the answer, from 0
    std::string rootText; ///< the token that the draft hangs on; empty at the start of an answer
    int layerCount = 0;   ///< of the model; 0 = not known
    /// The plan that the draft's passes ran; null = the full model, or not known.
    std::shared_ptr<const PlanOutline> plan;
    std::optional<SiblingSchedule> siblings; ///< by which the draft was widened, if the decoder
                                             ///< has such a setting
    /// The settings are known, and none widens a draft: guesses that took no pass may stand beside
    /// the tokens of its passes, or behind them.
    bool isJoinedByGuesses = false;
    bool isDrawn = false; ///< at a temperature, so that not always the likeliest token is written
    std::vector<TrialFinished> trials; ///< scored in this round
    double plainMs = 0.0;              ///< time of a plain step; 0 = not known yet
    DecodeMetrics before;              ///< of the answer, without this round
    DecodeMetrics soFar;               ///< of the answer, this round included
};

/// The grounds of all rounds of the newest answers, from events as they come or as a recording has
/// them. It keeps no step twice: those are with the answers. Thread: one.
class RoundLog {
public:
    static constexpr std::size_t kAnswersKept = 8;

    /// Prompts with this id or a higher one are those of a search: nobody walks through their
    /// rounds, and there may be many of them, so none is kept.
    static constexpr std::uint64_t kFirstHidden = std::uint64_t{1} << 40U;

    void apply(const EngineEvent& event);

    /// Null if the round is not known, or forgotten.
    const RoundGround* find(std::uint64_t promptId, int step) const;

private:
    struct AnswerRounds {
        std::uint64_t promptId = 0;
        bool isDrawn = false;
        std::vector<RoundGround> rounds;
    };

    void begin(std::uint64_t promptId);
    void addStep(const StepFinished& step);
    void forgetModel();
    void useSettings(const SettingValues& settings);

    std::deque<AnswerRounds> m_answers; // oldest first
    std::map<std::uint64_t, std::shared_ptr<const PlanOutline>> m_plans;
    std::optional<SiblingSchedule> m_siblings;
    bool m_isJoinedByGuesses = false;
    bool m_isDrawn = false;              // the next answer; another temperature waits for it
    std::vector<TrialFinished> m_trials; // since the newest step
    double m_plainMs = 0.0;
    int m_layerCount = 0;
    std::string m_newestText; // of the newest token of the newest answer
};

} // namespace engine
