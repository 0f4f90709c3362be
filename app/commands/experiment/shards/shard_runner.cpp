// SPDX-License-Identifier: Apache-2.0
#include "app/commands/experiment/shards/shard_runner.h"

#include "app/commands/compare/answer_difference.h"
#include "app/commands/compare/quality/answer_quality.h"
#include "app/commands/experiment/shards/shard_log.h"
#include "app/commands/experiment/shards/shard_search.h"
#include "app/commands/experiment/shards/shard_variants.h"
#include "app/commands/options/text_options.h"
#include "engine/base/time/utc_time.h"
#include "engine/experiments/run/baseline/baseline_blocks.h"
#include "engine/experiments/run/draw_seed.h"
#include "engine/metrics/equation_six.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace app {

using namespace engine;

namespace {

/// Slots behind the longest answer, for the rows of drafts.
constexpr int kContextReserve = 512;

/// FNV-1a over the ids of all turns; between two turns stands an id that no token has.
std::uint64_t tokenHash(const Answers& answers) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    const auto add = [&hash](std::uint32_t word) {
        for (int byte = 0; byte < 4; ++byte) {
            hash ^= (word >> (8 * byte)) & 0xffU;
            hash *= 0x100000001b3ULL;
        }
    };
    for (const AnsweredTurn& turn : answers.turns) {
        for (const TokenId id : turn.tokens)
            add(static_cast<std::uint32_t>(id));
        add(0xffffffffU);
    }
    return hash;
}

/// The sums of an answer; its own time outside of passes and searches is `otherMs`.
DecodeMetrics metricsOf(const Answers& answers) {
    DecodeMetrics sums = answers.tally.metrics;
    const double known = sums.draftMs + sums.verifyMs + sums.baselineMs + sums.searchMs;
    sums.otherMs = std::max(0.0, answers.decodeMs - known);
    return sums;
}

/// One shard at work.
class ShardRun {
public:
    ShardRun(const RunFolder& folder, const PlannedShard& shard, const ShardWork& work)
        : m_folder(folder)
        , m_shard(shard)
        , m_stage(*folder.recipe().stage(shard.stage))
        , m_size(folder.recipe().sizes.begin()->second)
        , m_work(work)
        , m_isTwice(m_stage.isTwice && !folder.recipe().isStream)
        , m_request(answerRequest()) {}

    Result<void> run() {
        ENGINE_TRY_DO(begin());
        ENGINE_TRY_DO(search());
        ENGINE_TRY(m_variants, makeVariants(variantRequest()));
        for (const ShardVariant& variant : m_variants)
            if (variant.failure)
                tellDropped(variant);
        ENGINE_TRY_DO(checkDrafters());
        for (std::size_t i = 0; i < m_shard.prompts.size() && !m_variants.empty(); ++i)
            ENGINE_TRY_DO(askOrPass(i));
        if (m_folder.recipe().verdict.kind == "equal") // else plain steps are an answer, too
            m_log->dropIdle();
        ENGINE_TRY(const ShardResult result, m_log->finish());
        return m_folder.finish(result);
    }

private:
    AnswerRequest answerRequest() {
        AnswerRequest request{.model = m_work.model.data,
                              .maxTokens = m_stage.maxTokens.value_or(m_size.maxTokens),
                              .stop = m_work.stop};
        request.onStep = [this](const DecodeStep& step) { m_log->add(step); };
        request.onEnd = [this](const SearchReport& report) { m_log->add(report); };
        request.takeTurn = [this] {
            m_work.pause.wait(m_work.stop);
            return m_work.takeTurn ? m_work.takeTurn() : nullptr;
        };
        return request;
    }

    SamplingOptions samplingUnder(std::uint64_t seed) const {
        SamplingOptions sampling;
        sampling.temperature = m_stage.sampling.temperature;
        sampling.topP = m_stage.sampling.topP;
        sampling.topK = m_stage.sampling.topK;
        sampling.seed = seed;
        return sampling;
    }

    VariantRequest variantRequest() const {
        return {.folder = m_folder,
                .shard = m_shard,
                .model = m_work.model,
                .registry = m_work.registry,
                .sampling = samplingUnder(m_shard.seed),
                .contextLength = contextLength(),
                .isTwice = m_isTwice,
                .learnt = m_learnt};
    }

    /// What the longest prompt of the shard needs, so that many variants fit into the memory.
    int contextLength() const {
        const int most = m_work.model.data.contextLength;
        std::size_t longest = 0;
        for (const int prompt : m_shard.prompts)
            longest = std::max(longest, slotsFor(recordOf(prompt)));
        const std::size_t needed = longest + kContextReserve;
        return needed < static_cast<std::size_t>(most) ? static_cast<int>(needed) : most;
    }

    /// Of all turns, their answers as long as they may be. A record that cannot be encoded is left
    /// out later.
    std::size_t slotsFor(const DataRecord& record) const {
        std::vector<StoredMessage> messages;
        for (const std::string& turn : record.turns) {
            messages.push_back({{"user", turn}, {}});
            messages.push_back({{"assistant", "-"}, {}});
        }
        messages.pop_back();
        const auto encoded = m_work.model.data.encoder->encode(messages);
        const auto answers = record.turns.size() * static_cast<std::size_t>(m_request.maxTokens);
        return encoded ? encoded.value().size() + answers : 0;
    }

    const DataRecord& recordOf(int prompt) const {
        return m_folder.prompts()[static_cast<std::size_t>(prompt)];
    }

    Result<void> begin() {
        std::vector<ShardRecord> done;
        std::string damage;
        auto journal = m_folder.recipe().isStream ? m_folder.goOn(m_shard.index, done, &damage)
                                                  : m_folder.begin(m_shard.index);
        if (!journal)
            return std::move(journal).error();
        if (!damage.empty() && m_work.onNote)
            m_work.onNote(
                fmt::format("Part {} goes on behind the last prompt that was done before a "
                            "line that cannot be read: {}",
                            m_shard.index + 1,
                            damage));
        ShardResult result;
        result.shard = m_shard.index;
        result.runHash = m_folder.plan().runHash;
        result.machine = m_work.model.machine;
        result.startedUtc = utcNow();
        double before = 0.0;
        keepFinished(done, result, before);
        for (const ShardPlan& plan : result.plans)
            m_learnt[plan.variant] = SkipSet{plan.attention, plan.mlp};
        m_log.emplace(std::move(journal).value(),
                      std::move(result),
                      *m_work.model.data.tokenizer,
                      before,
                      m_work.onRecord);
        const auto next = std::find_if(m_shard.prompts.begin(),
                                       m_shard.prompts.end(),
                                       [this](int prompt) { return !m_done.contains(prompt); });
        if (!m_done.empty() && next != m_shard.prompts.end())
            m_log->add(ShardRecord(ShardResumed{.prompt = *next, .at = before}));
        return m_log->check();
    }

    /// Of a stream that was stopped: the prompts that are done.
    void keepFinished(std::vector<ShardRecord>& done, ShardResult& result, double& before) {
        for (ShardRecord& record : done) {
            if (const auto* answer = std::get_if<ShardAnswer>(&record)) {
                before = std::max(before, answer->startedAt + answer->decodeMs / 1e3);
                m_done.insert(answer->prompt);
                if (answer->pass == 1)
                    m_closed.insert(answer->prompt);
            } else if (const auto* leftOut = std::get_if<ShardLeftOut>(&record)) {
                m_done.insert(leftOut->prompt);
                m_leftOut.insert(leftOut->prompt);
            }
            addRecord(result, std::move(record));
        }
    }

    Result<void> search() {
        for (const std::string& name : m_shard.variants) {
            const RunVariant* variant = m_folder.plan().variant(name);
            if (variant == nullptr || !variant->search)
                continue;
            m_log->beginAnswer(name, m_shard.task.value_or(""), 0, 0, false);
            ENGINE_TRY_DO(runSearch(m_folder, m_shard, *variant, m_request, *m_log, m_work));
            ENGINE_TRY_DO(m_log->check());
        }
        return {};
    }

    Result<void> askOrPass(std::size_t place) {
        if (!m_done.contains(m_shard.prompts[place]))
            ENGINE_TRY_DO(ask(place));
        return !m_isTwice && endsBlock(m_shard, place) ? endBlock(place) : Result<void>();
    }

    /// Vanilla answers the first prompt of the block again.
    Result<void> endBlock(std::size_t place) {
        const auto vanilla = std::find_if(
            m_variants.begin(), m_variants.end(), [](const auto& one) { return one.isVanilla(); });
        const auto begin =
            m_shard.prompts.begin() + static_cast<std::ptrdiff_t>(place - place % kPromptsOfBlock);
        const auto end = m_shard.prompts.begin() + static_cast<std::ptrdiff_t>(place + 1);
        const auto first =
            std::find_if(begin, end, [this](int prompt) { return !m_leftOut.contains(prompt); });
        if (vanilla == m_variants.end() || first == end || m_closed.contains(*first))
            return {};
        m_log->beginAnswer(vanilla->name, recordOf(*first).task, *first, 1, false);
        const double startedAt = m_log->now();
        ENGINE_TRY(Answers answers,
                   answerRecord(*vanilla->passes.front(), recordOf(*first), m_request));
        if (answers.isCancelled || m_work.stop.stop_requested())
            return cancelledError();
        std::vector<Made> again;
        again.push_back(madeBy(*vanilla, std::move(answers), startedAt));
        ENGINE_TRY_DO(take(again, *first, 1));
        return m_log->check();
    }

    /// One prompt, by all variants.
    Result<void> ask(std::size_t place) {
        const int prompt = m_shard.prompts[place];
        for (int pass = 0; pass < (m_isTwice ? 2 : 1); ++pass) {
            // In a single pass vanilla is first and last in turn.
            const bool isReverse = m_isTwice ? pass == 1 : place % 2 == 1;
            auto answered = answerAll(prompt, pass, isReverse);
            if (!answered && answered.error().code == ErrorCode::InvalidInput) {
                leaveOut(prompt, answered.error());
                return m_log->check();
            }
            if (!answered)
                return answered;
            ENGINE_TRY_DO(m_log->check());
        }
        return drawFurther(prompt);
    }

    /// The beginnings of further answers, for a test of their distribution. They are not timed, and
    /// what is searched meanwhile is not taken down.
    Result<void> drawFurther(int prompt) {
        const int draws = m_size.drawsIn(m_stage);
        if (draws == 0)
            return {};
        DataRecord record = recordOf(prompt);
        record.turns.resize(1);
        AnswerRequest request = m_request;
        request.maxTokens = m_size.drawTokens;
        request.onStep = {};
        request.onEnd = {};
        for (ShardVariant& variant : m_variants) {
            for (int i = 0; i < draws && !variant.failure; ++i) {
                const std::uint64_t seed = drawSeed(m_shard.seed, variant.name, prompt, i);
                auto drawn = drawUnder(seed, variant, record, request);
                if (!drawn) {
                    ENGINE_TRY_DO(drop(variant, drawn.error()));
                    continue;
                }
                ShardDraw made{.variant = variant.name, .prompt = prompt, .seed = seed};
                made.tokens = std::move(drawn).value();
                m_log->add(ShardRecord(std::move(made)));
            }
            if (!variant.failure) {
                ENGINE_TRY_DO(variant.passes.front()->changeSampling(samplingUnder(m_shard.seed)));
            }
        }
        return m_log->check();
    }

    Result<std::vector<int>> drawUnder(std::uint64_t seed,
                                       ShardVariant& variant,
                                       const DataRecord& record,
                                       const AnswerRequest& request) const {
        Decoder& decoder = *variant.passes.front();
        ENGINE_TRY_DO(decoder.changeSampling(samplingUnder(seed)));
        ENGINE_TRY(const Answers answers, answerRecord(decoder, record, request));
        if (answers.isCancelled || m_work.stop.stop_requested())
            return cancelledError();
        const std::vector<TokenId>& tokens = answers.turns.front().tokens;
        return std::vector<int>(tokens.begin(), tokens.end());
    }

    void leaveOut(int prompt, const Error& error) {
        m_leftOut.insert(prompt);
        m_log->add(ShardRecord(ShardLeftOut{.prompt = prompt, .reason = error.message}));
        if (m_work.onNote)
            m_work.onNote(fmt::format("Prompt {} ({}) was left out: {}",
                                      recordOf(prompt).id,
                                      recordOf(prompt).task,
                                      error.message));
    }

    struct Made {
        ShardVariant* variant;
        Answers answers;
        double startedAt;
        std::map<std::string, long> drafters;
        long draftedUntil;
    };

    Made madeBy(ShardVariant& variant, Answers answers, double startedAt) const {
        return {&variant, std::move(answers), startedAt, m_log->drafters(), m_log->draftedUntil()};
    }

    Result<void> answerAll(int prompt, int pass, bool isReverse) {
        std::vector<Made> all;
        for (std::size_t i = 0; i < m_variants.size(); ++i) {
            ShardVariant& variant = m_variants[isReverse ? m_variants.size() - 1 - i : i];
            if (variant.failure)
                continue;
            const bool keepsRounds = m_folder.recipe().keepsRounds && !variant.isVanilla();
            m_log->beginAnswer(variant.name, recordOf(prompt).task, prompt, pass, keepsRounds);
            const double startedAt = m_log->now();
            auto answers = answerRecord(
                *variant.passes.at(static_cast<std::size_t>(pass)), recordOf(prompt), m_request);
            if (!answers) {
                ENGINE_TRY_DO(drop(variant, answers.error()));
                continue;
            }
            if (answers.value().isCancelled || m_work.stop.stop_requested())
                return cancelledError();
            all.push_back(madeBy(variant, std::move(answers).value(), startedAt));
        }
        return take(all, prompt, pass);
    }

    /// A decoder that goes wrong loses only its own answers.
    Result<void> drop(ShardVariant& variant, const Error& error) {
        const bool isItsOwn =
            error.code == ErrorCode::Internal || error.code == ErrorCode::Unsupported;
        if (!isItsOwn || variant.isVanilla())
            return error;
        variant.failure = error;
        variant.passes = {};
        tellDropped(variant);
        return checkDrafters();
    }

    /// A part whose last drafting variant was dropped ends with its error: vanilla alone answers no
    /// question of the recipe.
    Result<void> checkDrafters() const {
        const Error* failure = nullptr;
        for (const ShardVariant& variant : m_variants) {
            if (variant.isVanilla())
                continue;
            if (!variant.failure)
                return {};
            failure = &*variant.failure;
        }
        return failure != nullptr ? Result<void>(*failure) : Result<void>();
    }

    void tellDropped(const ShardVariant& variant) {
        m_log->drop(variant.name, variant.failure->message);
        if (m_work.onNote)
            m_work.onNote(fmt::format(
                "{} is dropped and the others go on: {}", variant.name, variant.failure->message));
    }

    Result<void> take(const std::vector<Made>& all, int prompt, int pass) {
        const auto vanilla = std::find_if(
            all.begin(), all.end(), [](const Made& made) { return made.variant->isVanilla(); });
        for (const Made& made : all) {
            ShardAnswer answer = recordAnswer(made, prompt, pass);
            if (vanilla != all.end() && &made != &*vanilla) {
                ENGINE_TRY(const auto difference,
                           findDifference(vanilla->answers, made.answers, m_request));
                answer.isEqual = !difference;
                if (difference) {
                    answer.differsAt = difference->position;
                    answer.gap = difference->margin;
                    answer.isNearTie = difference->isNearTie();
                }
            }
            ENGINE_TRY(answer.quality, scores(recordOf(prompt), made.answers));
            m_log->add(ShardRecord(std::move(answer)));
        }
        return {};
    }

    ShardAnswer recordAnswer(const Made& made, int prompt, int pass) const {
        ShardAnswer answer;
        answer.variant = made.variant->name;
        answer.prompt = prompt;
        answer.task = recordOf(prompt).task;
        answer.pass = pass;
        answer.seed = m_shard.seed;
        answer.tokens = made.answers.tally.tokens();
        answer.tokenHash = tokenHash(made.answers);
        if (m_folder.recipe().keepsTexts)
            answer.text = made.answers.turns.front().text;
        answer.promptMs = made.answers.promptMs;
        answer.decodeMs = made.answers.decodeMs;
        answer.startedAt = made.startedAt;
        answer.drafters = made.drafters;
        answer.draftedUntil = std::min(made.draftedUntil, answer.tokens);
        answer.decoding = metricsOf(made.answers);
        answer.draftRatio = draftRatio(answer.decoding,
                                       m_work.model.data.loaded.config.layerCount,
                                       made.variant->lockedLayers);
        return answer;
    }

    Result<std::map<std::string, double>> scores(const DataRecord& record,
                                                 const Answers& answers) const {
        ENGINE_TRY(const AnswerQuality quality, m_judge.score(record, answers.turns.front().text));
        std::map<std::string, double> named;
        for (std::size_t i = 0; i < quality.scores.size(); ++i)
            if (quality.scores.at(i))
                named[std::string(AnswerQuality::kNames.at(i))] = *quality.scores.at(i);
        return named;
    }

    const RunFolder& m_folder;
    const PlannedShard& m_shard;
    const RecipeStage& m_stage;
    const RecipeSize& m_size;
    const ShardWork& m_work;
    bool m_isTwice;
    AnswerRequest m_request;
    QualityJudge m_judge{std::nullopt};
    std::optional<ShardLog> m_log;
    std::vector<ShardVariant> m_variants;
    std::set<int> m_done;                    // prompts of a stream that went on
    std::map<std::string, SkipSet> m_learnt; // by variant, before it went on
    std::set<int> m_closed;                  // of them, those that ended a block
    std::set<int> m_leftOut;                 // prompts
};

} // namespace

Result<void> runShard(const RunFolder& folder, int shard, const ShardWork& work) {
    return ShardRun(folder, folder.plan().shards.at(static_cast<std::size_t>(shard)), work).run();
}

} // namespace app
