// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/rows/row_collector.h"

#include "engine/base/counter_random.h"
#include "engine/base/to_size.h"
#include "engine/tuning/rows/answer_collector.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <system_error>

namespace engine {

namespace {

/// Such an answer has a token that a draft could have been right about.
constexpr int kLeastAnswerRows = 2;

/// So many passes over the prompts, one behind the other, without a row of training mean that there
/// will never be one again.
constexpr int kMostEmptyPasses = 3;

constexpr double kAnswerTemperature = 0.7;
constexpr double kAnswerTopP = 0.9;

class RowCollector {
public:
    RowCollector(RowStore& store,
                 const std::filesystem::path& folder,
                 const std::string& run,
                 const CollectPlan& plan,
                 const CollectWork& work)
        : m_store(store)
        , m_folder(folder)
        , m_run(run)
        , m_plan(plan)
        , m_work(work)
        , m_place(store.next())
        , m_tokens(store.trainingTokens())
        , m_tokensBefore(m_tokens)
        , m_startMs(work.nowMs())
        , m_shardStartMs(m_startMs)
        , m_keptMs(m_startMs) {}

    Result<void> run() {
        ENGINE_TRY_DO(orderPrompts());
        ENGINE_TRY(AnswerCollector answers,
                   AnswerCollector::make(m_work.transformer,
                                         usedContext(),
                                         kAnswersAtOnce,
                                         m_plan.longestAnswer,
                                         m_plan.promptRows > 0 ? m_plan.promptRows : kPromptRows));
        ENGINE_TRY_DO(goOn());
        m_tokensBefore = m_tokens;
        while (!isEnough() || goesToHeldOut()) {
            const auto answered = answerNext(answers);
            if (!answered && answered.error().code == ErrorCode::Cancelled)
                ENGINE_TRY_DO(leaveUnfinished());
            ENGINE_TRY_DO(answered);
            ENGINE_TRY_DO(keepIfDue());
        }
        return closeShard(true);
    }

private:
    /// Whether an answer of the validation split is there.
    bool isHeldOut() const {
        const auto isOfValidation = [](const ShardText& text) {
            return text.split == RowSplit::Validation;
        };
        return !m_store.texts(RowSplit::Validation).empty() ||
               (m_shard && std::ranges::any_of(m_shard->facts().texts, isOfValidation));
    }

    /// However soon the answers of training are enough, the figures are to be those of others: goes
    /// to the next prompt of pass 0 that is held out, if none has given an answer yet and there is
    /// one.
    bool goesToHeldOut() {
        if (m_place.pass > 0 || isHeldOut())
            return false;
        for (int place = m_place.prompt; place < static_cast<int>(m_order.size()); ++place)
            if (promptAt(place).split == RowSplit::Validation) {
                m_place.prompt = place;
                return true;
            }
        return false;
    }

    int width() const { return m_work.transformer.config().hiddenSize; }

    const TuningPrompt& promptAt(int place) const { return m_work.prompts[m_order[toSize(place)]]; }

    int usedContext() const {
        std::size_t longest = 0;
        for (const std::size_t index : m_order)
            longest = std::max(longest, m_work.prompts[index].tokens.size());
        return std::min(m_work.contextLength, static_cast<int>(longest) + m_plan.longestAnswer + 1);
    }

    /// The prompts that can be answered, in the order in which they are.
    Result<void> orderPrompts() {
        const std::size_t room = toSize(std::max(0, m_work.contextLength - kLeastAnswerRows - 1));
        bool isTraining = false;
        for (std::size_t i = 0; i < m_work.prompts.size(); ++i) {
            const TuningPrompt& prompt = m_work.prompts[i];
            if (prompt.tokens.empty() || prompt.tokens.size() > room ||
                prompt.split == RowSplit::Test)
                continue;
            m_order.push_back(i);
            isTraining = isTraining || prompt.split == RowSplit::Training;
        }
        if (!isTraining)
            return Error{ErrorCode::InvalidInput,
                         fmt::format("Of {} prompts none can be used for training: eight of ten "
                                     "are chosen by their texts, and they must fit into the "
                                     "context.",
                                     m_work.prompts.size()),
                         "Give more prompts, shorter ones, or a larger --context."};
        const auto key = [&](std::size_t index) {
            return counterBits(counterKey(m_plan.seed, index), 0);
        };
        std::stable_sort(m_order.begin(), m_order.end(), [&](std::size_t a, std::size_t b) {
            return key(a) < key(b);
        });
        return {};
    }

    /// Takes over what a stopped run has left for the next shard.
    Result<void> goOn() {
        std::error_code ignored;
        const auto path = RowStore::unfinishedFile(m_folder);
        if (!std::filesystem::exists(path, ignored))
            return {};
        const auto left = RowShard::open(path);
        if (!left || left.value().facts().run != m_run || left.value().facts().from != m_place)
            return {}; // it is made again
        ENGINE_TRY_DO(beginShard());
        for (const ShardText& text : left.value().facts().texts) {
            ENGINE_TRY(const AnswerRows rows, left.value().read(text));
            ENGINE_TRY_DO(add(rows, text.split, text.task));
        }
        m_place = left.value().facts().next;
        m_earlierSeconds = left.value().facts().seconds;
        return {};
    }

    /// A file that is whole takes no more texts, so they go on in a copy of it, as behind a stop.
    Result<void> keepIfDue() {
        if (m_work.nowMs() - m_keptMs < m_work.keepSeconds * 1e3)
            return {};
        if (m_shard && !m_shard->isEmpty()) {
            ENGINE_TRY_DO(leaveUnfinished());
            m_shard.reset();
            m_shardStartMs = m_work.nowMs();
            m_earlierSeconds = 0.0;
            m_place = m_store.next();
            m_tokens = m_store.trainingTokens();
            ENGINE_TRY_DO(goOn());
        }
        m_keptMs = m_work.nowMs();
        return {};
    }

    bool isEnough() const {
        const bool isLate =
            m_plan.seconds > 0.0 && m_store.seconds() + shardSeconds() >= m_plan.seconds;
        return m_tokens >= m_plan.answerTokens || (isLate && m_tokens > 0) ||
               m_place.pass - m_place.filled > kMostEmptyPasses;
    }

    Result<void> answerNext(AnswerCollector& answers) {
        const CollectPlace place = m_place;
        const TuningPrompt& prompt = promptAt(place.prompt);
        if (prompt.split == RowSplit::Training || place.pass == 0) {
            const auto sampling = samplingFor(place, prompt.split);
            ENGINE_TRY(const auto collected,
                       answers.collect(prompt.tokens,
                                       {.sampling = sampling,
                                        .maxTokens = m_plan.longestAnswer,
                                        .endIds = m_work.endIds,
                                        .stop = m_work.stop,
                                        .forbidden = m_work.forbidden}));
            ++m_prompts;
            ENGINE_TRY_DO(store(collected, prompt.split, prompt.task));
        }
        moveOn();
        report();
        return {};
    }

    std::vector<SamplingOptions> samplingFor(CollectPlace place, RowSplit split) const {
        std::vector<SamplingOptions> answers(
            toSize(split == RowSplit::Training ? kAnswersAtOnce : kAnswersOfValidation));
        for (std::size_t i = 0; i < answers.size(); ++i) {
            const std::size_t draw = toSize(place.pass * kAnswersAtOnce) + i;
            if (draw == 0)
                continue; // greedy
            answers[i].temperature = kAnswerTemperature;
            answers[i].topP = kAnswerTopP;
            answers[i].seed = counterBits(counterKey(m_plan.seed + 1, draw), place.prompt);
        }
        return answers;
    }

    void moveOn() {
        if (++m_place.prompt < static_cast<int>(m_order.size()))
            return;
        ++m_place.pass;
        m_place.prompt = 0;
    }

    /// A shard ends between two prompts: its place is that of a prompt.
    Result<void>
    store(const std::vector<AnswerRows>& answers, RowSplit split, const std::string& task) {
        int rows = 0;
        for (const AnswerRows& answer : answers)
            rows += answer.rows();
        if (m_shard && !m_shard->hasRoomFor(rows))
            ENGINE_TRY_DO(closeShard(false));
        if (!m_shard)
            ENGINE_TRY_DO(beginShard());
        for (const AnswerRows& answer : answers) {
            if (answer.answerRows() < kLeastAnswerRows)
                continue;
            ENGINE_TRY_DO(add(answer, split, task));
            if (split == RowSplit::Training)
                m_place.filled = m_place.pass;
        }
        return {};
    }

    Result<void> add(const AnswerRows& rows, RowSplit split, const std::string& task) {
        if (split == RowSplit::Training)
            m_tokens += rows.answerRows();
        return m_shard->add(rows, split, task);
    }

    Result<void> beginShard() {
        ENGINE_TRY(RowShardWriter writer,
                   RowShardWriter::begin(
                       RowStore::unfinishedFile(m_folder), m_run, width(), m_store.next()));
        m_shard.emplace(std::move(writer));
        return {};
    }

    /// Without a limit of time the files of equal runs are equal.
    double shardSeconds() const {
        if (m_plan.seconds <= 0.0)
            return 0.0;
        return m_earlierSeconds + (m_work.nowMs() - m_shardStartMs) / 1e3;
    }

    Result<void> closeShard(bool isLast) {
        if (!m_shard)
            ENGINE_TRY_DO(beginShard());
        ENGINE_TRY_DO(m_shard->finish(m_place, isLast, shardSeconds()));
        m_shard.reset();
        const auto path = RowStore::shardFile(m_folder, m_store.shardCount());
        std::error_code failure;
        std::filesystem::rename(RowStore::unfinishedFile(m_folder), path, failure);
        if (failure)
            return Error{ErrorCode::Io,
                         fmt::format("{} cannot be made: {}.", path.string(), failure.message()),
                         "Check the folder and its permissions."};
        m_shardStartMs = m_work.nowMs();
        m_earlierSeconds = 0.0;
        return m_store.addNext();
    }

    /// What is there of the next shard stays for the next run.
    Result<void> leaveUnfinished() {
        if (!m_shard || m_shard->isEmpty())
            return {};
        const auto left = m_shard->finish(m_place, false, shardSeconds());
        return left ? Result<void>() : left.error();
    }

    void report() {
        if (!m_work.onProgress)
            return;
        CollectProgress progress;
        progress.prompts = m_prompts;
        progress.answerTokens = m_tokens;
        progress.plannedTokens = m_plan.answerTokens;
        const double seconds = (m_work.nowMs() - m_startMs) / 1e3;
        const auto made = static_cast<double>(m_tokens - m_tokensBefore);
        if (seconds > 0.0 && made > 0.0) {
            progress.tokensPerSecond = made / seconds;
            progress.secondsLeft =
                static_cast<double>(std::max<std::int64_t>(0, m_plan.answerTokens - m_tokens)) /
                progress.tokensPerSecond;
            if (m_plan.seconds > 0.0)
                progress.secondsLeft =
                    std::min(progress.secondsLeft,
                             std::max(0.0, m_plan.seconds - m_store.seconds() - shardSeconds()));
        }
        m_work.onProgress(progress);
    }

    RowStore& m_store;
    const std::filesystem::path& m_folder;
    const std::string& m_run;
    const CollectPlan& m_plan;
    const CollectWork& m_work;
    std::vector<std::size_t> m_order; // indices of prompts
    std::optional<RowShardWriter> m_shard;
    CollectPlace m_place;
    std::int64_t m_tokens;
    std::int64_t m_tokensBefore; // this run
    int m_prompts = 0;
    double m_startMs;
    double m_shardStartMs;
    double m_keptMs;               // when the newest unfinished shard was kept
    double m_earlierSeconds = 0.0; // of the unfinished shard that was taken over
};

} // namespace

Result<void> collectRows(RowStore& store,
                         const std::filesystem::path& folder,
                         const std::string& run,
                         const CollectPlan& plan,
                         const CollectWork& work) {
    if (store.isComplete())
        return {};
    return RowCollector(store, folder, run, plan, work).run();
}

} // namespace engine
