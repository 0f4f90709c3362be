// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/data/prompt_source.h"
#include "engine/session/engine_event.h"

#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <string>

namespace app {

/// A decoder's results on the prompts of a task, or of all tasks.
struct StreamSums {
    int prompts = 0;
    long tokens = 0;
    double promptMs = 0.0;
    double decodeMs = 0.0;
    engine::DecodeMetrics decoding;
    int trials = 0;                  ///< re-scores and start sets not counted
    std::optional<double> matchness; ///< of the incumbent, as scored last
    std::optional<double> ratio;     ///< that the set in use was made for

    void add(const engine::PromptFinished& answer);

    nlohmann::ordered_json json() const;
};

/// Collects the events of a session, by task and over all. Thread: one.
class StreamReport {
public:
    /// Sets the record whose answers come next.
    void beginPrompt(const DataPrompt& prompt);

    /// Records the answer of one of its turns.
    void add(const engine::PromptFinished& answer);

    void add(const engine::TrialFinished& trial);
    void add(const engine::PlanChanged& change);

    /// Call this when all turns are answered; returns the JSON line of the record.
    nlohmann::ordered_json endPrompt();

    void addLeftOut() { ++m_leftOut; }

    int prompts() const { return m_all.prompts; }

    nlohmann::ordered_json doneLine(const DataSummary& data, bool isIncomplete) const;
    std::string table(const DataSummary& data, bool isIncomplete) const;

private:
    DataPrompt m_prompt;
    StreamSums m_current; // the record at work
    StreamSums m_all;
    std::map<std::string, StreamSums> m_byTask;
    int m_leftOut = 0;
};

} // namespace app
