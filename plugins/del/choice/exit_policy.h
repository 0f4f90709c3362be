// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/drafts/draft_stop_rule.h"
#include "engine/decoding/round/decode_step.h"
#include "engine/loading/model_config.h"
#include "plugins/del/choice/exit_choice.h"
#include "plugins/del/del_settings.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace del {

/// What is decided by layers read in `del` and by milliseconds in `del-ms`: the exit, when a draft
/// ends, and which exits are compared. Thread: engine.
class ExitPolicy {
public:
    virtual ~ExitPolicy() = default;

    /// From the next round on.
    virtual void configure(const DelSettings& settings) = 0;

    /// The exits to compare in the round that is about to begin, ascending; none when it is left
    /// out. Asked once a round. `exit`: what is, or was last, drafted with; a first round, the
    /// first that is compared at all, is never left out.
    virtual std::vector<int> comparedExits(int exit, bool isFirst) = 0;

    /// Prompt rows at which a round that reads a prompt along compares so many exits; at most
    /// `wanted`.
    virtual int contextRows(int wanted, std::size_t /*exits*/) const { return wanted; }

    /// Whether the next round shall be a plain step, to measure it.
    virtual bool wantsPlainRound() const { return false; }

    /// What each exit that was compared promises.
    virtual std::vector<ExitOffer> offers(const ExitStatistics& statistics) const = 0;

    /// When a draft of this round ends. A guest of the policy and of the statistics.
    virtual std::unique_ptr<engine::DraftStopRule> stopRule(const ExitStatistics& statistics,
                                                            const ExitOffer& round) const = 0;

    /// The offers that a round was chosen from, for people.
    virtual engine::StepTable table(const ExitStatistics& statistics,
                                    std::span<const ExitOffer> offers) const = 0;

    /// Why a round was drafted as it was, if time decided that; otherwise nothing was chosen.
    virtual engine::DraftChoice choice(const ExitStatistics& /*statistics*/,
                                       std::span<const ExitOffer> /*offers*/,
                                       const ExitOffer& /*round*/) const {
        return {};
    }

    /// What an exit would have said, and whether it was right; drafted tokens as well.
    virtual void learnShadows(int /*exit*/, std::span<const ShadowToken> /*shadows*/) {}

    /// A pass of the head that compared exits.
    virtual void learnHead(int /*rows*/, double /*ms*/) {}

    /// A round that read no prompt along, drafted with this exit unless it was plain.
    virtual void learnRound(const engine::DecodeStep& /*step*/, int /*exit*/) {}
};

std::unique_ptr<ExitPolicy> makeLayerPolicy(const engine::ModelConfig& config);
std::unique_ptr<ExitPolicy> makeTimePolicy(const engine::ModelConfig& config);

/// A column of a table of exits.
struct ExitColumn {
    std::string heading;
    std::function<double(const ExitOffer&)> cell;
};

/// Exits as rows, the first column the exit itself; at most 40 of them, evenly thinned out.
engine::StepTable exitTable(std::span<const ExitOffer> offers, std::span<const ExitColumn> columns);

/// The row of an exit; -1 when it has none.
int rowOfExit(const engine::StepTable& table, int exit);

} // namespace del
