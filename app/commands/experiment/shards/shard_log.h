// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/data/answering.h"
#include "engine/base/forward_clock.h"
#include "engine/experiments/run/run_folder.h"
#include "engine/text/token_stream.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace app {

/// Takes down what a shard does: every record goes into the part file at once and into the result.
/// After the first failed write nothing more is taken. Thread: one.
class ShardLog {
public:
    /// `before`: seconds that the shard took before it was stopped and went on. `onRecord`: is told
    /// each record once it is written; may be empty.
    ShardLog(engine::PartJournal journal,
             engine::ShardResult result,
             const engine::Tokenizer& words,
             double before,
             std::function<void(const engine::ShardRecord&)> onRecord)
        : m_journal(std::move(journal))
        , m_result(std::move(result))
        , m_words(words)
        , m_before(before)
        , m_onRecord(std::move(onRecord)) {}

    /// Whose answer to which prompt comes now.
    void beginAnswer(
        const std::string& variant, const std::string& task, int prompt, int pass, bool rounds);

    /// Trials, changes of the set, what drafted the tokens, and the round itself if rounds are
    /// kept.
    void add(const engine::DecodeStep& step);

    /// What a decoder reports at the end of an answer's turn.
    void add(const engine::SearchReport& report);
    void add(const engine::TrialRecord& trial);
    void add(engine::ShardRecord record);

    void drop(const std::string& variant, const std::string& reason);

    /// Drops those that have never drafted and have said why.
    void dropIdle();

    /// What drafted the tokens since beginAnswer(), see ShardAnswer::drafters.
    const std::map<std::string, long>& drafters() const { return m_drafters; }

    /// The tokens of these until the end of the last round that was drafted.
    long draftedUntil() const { return m_draftedUntil; }

    /// Seconds since the shard began.
    double now() const;

    /// Errors: Io, if a record could not be written.
    engine::Result<void> check() const;

    /// The finished shard. Errors: as check().
    engine::Result<engine::ShardResult> finish();

private:
    /// With which a variant drafts.
    struct Plan {
        std::string task = {}; ///< for which its matchness was measured
        double matchness = 0.0;
        double ratio = 0.0;
        bool isExit = false; ///< it ends before the last layer
    };

    std::string drafterOf(const engine::DecodeStep& step) const;
    void beginText();
    std::string textOf(engine::TokenId id);
    void addSearch(const engine::SearchReport& report);

    engine::PartJournal m_journal;
    engine::ShardResult m_result;
    const engine::Tokenizer& m_words;
    double m_before;
    std::function<void(const engine::ShardRecord&)> m_onRecord;
    engine::ForwardClock::time_point m_start = engine::ForwardClock::now();
    std::optional<engine::Error> m_failure;
    std::map<std::string, std::string> m_notes; // by variant: the first sentence it has said
    std::string m_variant;                      // this and the next ones: of the present answer
    std::string m_task;
    int m_prompt = 0;
    int m_pass = 0;
    bool m_keepsRounds = false;
    std::optional<engine::TokenStream> m_text; // of a turn, if rounds are kept
    std::map<std::string, long> m_drafters;
    long m_tokens = 0;
    long m_draftedUntil = 0;
    std::map<std::pair<std::string, int>, Plan> m_plans; // by variant and pass
    Plan* m_plan = nullptr;                              // of the present answer
};

} // namespace app
