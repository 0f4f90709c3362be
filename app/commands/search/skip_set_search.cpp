// SPDX-License-Identifier: Apache-2.0
#include "app/commands/search/skip_set_search.h"

#include "app/streams/counted.h"
#include "engine/search/layer_search.h"
#include "engine/search/matchness.h"

#include <algorithm>

namespace app {

using namespace engine;

namespace {

/// Shorter answers say little about a set.
constexpr std::size_t kShortestAnswer = 8;

/// Random sets before the first suggestion: a surrogate without data suggests nothing useful.
constexpr int kRandomBeforeBayes = 10;

/// A prompt in the cache, and what followed it.
struct CollectedWindow {
    CachedSequence prompt;
    MatchnessWindow window;
};

/// Keeps the last set that a decoder has reported.
void follow(const SearchReport& report, const SearchWatcher& watcher, FoundSet& found) {
    for (const TrialRecord& trial : report.trials) {
        found.trials = trial.index;
        ++found.scored;
        watcher.onTrial(trial);
    }
    if (!report.trials.empty())
        found.score = report.trials.back().best;
    for (const PlanChange& change : report.planChanges) {
        found.plan = change.plan;
        found.ratio = change.skipRatio;
        // These install a set first and score it later.
        if (change.reason == "start" || change.reason == "restart" || change.reason == "lower r")
            found.score.reset();
    }
    for (const std::string& note : report.notes)
        watcher.onNote(note);
}

bool isPassedOver(const Error& error, const DataPrompt& prompt, const SearchWatcher& watcher) {
    if (error.code != ErrorCode::InvalidInput)
        return false;
    watcher.onNote(
        fmt::format("{}: line {} was skipped: {}", prompt.file, prompt.record.line, error.message));
    return true;
}

/// Of more than kMostWindows the first so many are spread evenly over all; fewer stay in order.
std::vector<DataPrompt> spreadOut(const std::vector<DataPrompt>& prompts) {
    std::vector<DataPrompt> first;
    std::vector<DataPrompt> others;
    for (std::size_t i = 0; i < prompts.size(); ++i) {
        const bool isFirst =
            first.size() < kMostWindows && i == first.size() * prompts.size() / kMostWindows;
        (isFirst ? first : others).push_back(prompts[i]);
    }
    first.insert(first.end(), others.begin(), others.end());
    return first;
}

/// Runs vanilla over the prompts and keeps caches and answers.
class WindowCollector {
public:
    WindowCollector(const AnswerRequest& request, std::unique_ptr<Decoder> vanilla)
        : m_request(request)
        , m_vanilla(std::move(vanilla)) {}

    /// Adds nothing if the answer is too short. Errors: those of answerRecord.
    Result<void> add(DataRecord record) {
        record.turns.resize(1);
        ENGINE_TRY(Answers answers, answerRecord(*m_vanilla, record, m_request));
        const AnsweredTurn& turn = answers.turns.front();
        if (answers.isCancelled || turn.tokens.size() < kShortestAnswer)
            return {};
        Transformer& transformer = *m_request.model.loaded.transformer;
        const auto promptLength = static_cast<Position>(turn.prompt.size());
        const auto count = static_cast<Position>(turn.tokens.size());
        ENGINE_TRY(KvCache cache, transformer.makeCache(promptLength + count));
        CollectedWindow collected{CachedSequence(std::move(cache)), {}};
        std::shared_ptr<void> held = turnOf(m_request);
        const auto changeTurns = [&](double done) {
            held.reset();
            held = done < 1.0 ? turnOf(m_request) : nullptr;
        };
        ENGINE_TRY_DO(collected.prompt.fill(
            transformer, turn.prompt, {.stop = m_request.stop, .progress = changeTurns}));
        collected.window = {promptLength,
                            {turn.tokens.begin(), turn.tokens.end() - 1},
                            {turn.tokens.begin() + 1, turn.tokens.end()}};
        m_windows.push_back(std::move(collected));
        return {};
    }

    std::vector<CollectedWindow>& windows() { return m_windows; }

private:
    const AnswerRequest& m_request;
    std::unique_ptr<Decoder> m_vanilla;
    std::vector<CollectedWindow> m_windows;
};

/// Tries one set after another on all windows.
class TrialRun {
public:
    TrialRun(const TrialSearch& search, const AnswerRequest& request, const SearchWatcher& watcher)
        : m_search(search)
        , m_request(request)
        , m_watcher(watcher)
        , m_space(SkipSpace::inner(request.model.loaded.config.layerCount)) {}

    Result<FoundSet> run(std::vector<CollectedWindow>& windows) {
        const LayerSearchOptions options{
            .space = m_space,
            .budget = SkipBudget::unit(m_space.dims(), m_space.skippedCount(m_search.ratio)),
            .seed = m_search.seed};
        const auto random = makeRandomSearch(options);
        const auto bayesian = makeBayesianSearch(options, {});
        m_found.ratio = m_search.ratio;
        m_found.prompts = static_cast<int>(windows.size());
        while (m_found.trials < m_search.trials) {
            const bool isSuggested = m_search.isBayesian && m_found.trials > kRandomBeforeBayes;
            LayerSearch& chooser = isSuggested ? *bayesian : *random;
            auto scored = tryNext(chooser, windows);
            if (!scored && scored.error().code == ErrorCode::Cancelled) {
                m_found.isCancelled = true;
                break;
            }
            ENGINE_TRY(const double score, std::move(scored));
            if (m_search.isBayesian)
                bayesian->record(m_trial, score);
        }
        return m_found;
    }

private:
    Result<double> tryNext(LayerSearch& chooser, std::vector<CollectedWindow>& windows) {
        if (m_found.trials == 0) {
            m_trial = makeTrial(TrialKind::Start, m_space, m_space.uniform(m_search.ratio));
        } else {
            const std::shared_ptr<void> turn = turnOf(m_request);
            ENGINE_TRY(m_trial, chooser.nextTrial(m_request.stop));
        }
        ENGINE_TRY(const double score, scoreOf(m_trial.plan, windows));
        const bool isBest = !m_found.score || score > *m_found.score;
        if (isBest) {
            m_found.plan = m_trial.plan;
            m_found.score = score;
        }
        TrialRecord told;
        told.kind = trialKindName(m_trial.kind);
        told.index = ++m_found.trials;
        ++m_found.scored;
        told.score = score;
        told.best = *m_found.score;
        told.isBest = isBest;
        m_watcher.onTrial(told);
        return score;
    }

    Result<double> scoreOf(const LayerPlan& plan, std::vector<CollectedWindow>& windows) const {
        double sum = 0.0;
        for (CollectedWindow& collected : windows) {
            if (m_request.stop.stop_requested())
                return Error{ErrorCode::Cancelled, "The search was cancelled.", ""};
            const std::shared_ptr<void> turn = turnOf(m_request);
            ENGINE_TRY(const Matchness found,
                       matchness(*m_request.model.loaded.transformer,
                                 collected.prompt.cache(),
                                 plan,
                                 collected.window));
            sum += found.score;
        }
        return sum / static_cast<double>(windows.size());
    }

    const TrialSearch& m_search;
    const AnswerRequest& m_request;
    const SearchWatcher& m_watcher;
    SkipSpace m_space;
    Trial m_trial;
    FoundSet m_found;
};

} // namespace

Result<FoundSet> searchWhileDecoding(Decoder& decoder,
                                     const std::vector<DataPrompt>& prompts,
                                     const AnswerRequest& request,
                                     const SearchWatcher& watcher) {
    FoundSet found;
    DecoderPhase phase = DecoderPhase::Plain;
    AnswerRequest watched = request;
    watched.onEnd = [&](const SearchReport& report) {
        phase = report.phase;
        follow(report, watcher, found);
    };
    watched.onStep = [&](const DecodeStep& step) { watched.onEnd(step.search); };
    const auto visit = [&](const DataPrompt& prompt) -> Result<bool> {
        watcher.onProgress(
            fmt::format("prompt {}, {}", found.prompts + 1, counted(found.trials, "trial")));
        const auto answers = answerRecord(decoder, prompt.record, watched);
        if (!answers && isPassedOver(answers.error(), prompt, watcher))
            return true;
        if (!answers)
            return answers.error();
        ++found.prompts;
        found.isCancelled = answers.value().isCancelled;
        return !found.isCancelled && phase != DecoderPhase::Accelerate;
    };
    ENGINE_TRY_DO(forEachPrompt(prompts, visit));
    return found;
}

Result<FoundSet> searchByTrials(const TrialSearch& search,
                                const std::vector<DataPrompt>& prompts,
                                const AnswerRequest& request,
                                const SearchWatcher& watcher) {
    const DataModel& model = request.model;
    const int layerCount = model.loaded.config.layerCount;
    if (layerCount < 3)
        return Error{ErrorCode::Unsupported,
                     fmt::format("The model has {}, and the first and the last one always run, so "
                                 "there is nothing to search.",
                                 counted(layerCount, "layer")),
                     "Choose a model with three or more layers."};
    ENGINE_TRY(auto vanilla,
               makeVanillaDecoder(*model.loaded.transformer, {}, model.contextLength));
    AnswerRequest windowRequest = request;
    windowRequest.maxTokens = search.windowTokens;
    WindowCollector collector(windowRequest, std::move(vanilla));
    if (prompts.size() > kMostWindows)
        watcher.onNote(fmt::format("Of {}, the search uses at most {}, spread evenly over them: "
                                   "each is held in memory.",
                                   counted(prompts.size(), "prompt"),
                                   kMostWindows));
    const auto visit = [&](const DataPrompt& prompt) -> Result<bool> {
        watcher.onProgress(fmt::format("collecting window {}", collector.windows().size() + 1));
        const auto added = collector.add(prompt.record);
        if (!added && !isPassedOver(added.error(), prompt, watcher))
            return added.error();
        return !request.stop.stop_requested() && collector.windows().size() < kMostWindows;
    };
    ENGINE_TRY_DO(forEachPrompt(spreadOut(prompts), visit));
    if (request.stop.stop_requested()) {
        FoundSet nothing;
        nothing.isCancelled = true;
        return nothing;
    }
    if (collector.windows().empty())
        return Error{ErrorCode::InvalidInput,
                     fmt::format("No prompt has an answer of at least {} tokens, so there is "
                                 "nothing to score sets on.",
                                 kShortestAnswer),
                     "Give other prompts, or a larger --max-tokens."};
    return TrialRun(search, request, watcher).run(collector.windows());
}

} // namespace app
