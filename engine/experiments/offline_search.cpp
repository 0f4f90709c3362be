// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/offline_search.h"

#include "engine/decoding/answer/generation.h"
#include "engine/model/skip_sets/skip_set.h"
#include "engine/model/weight_share.h"

#include <algorithm>

namespace engine {

namespace {

/// The published search's value: its library's default, which differs from SWIFT's.
constexpr double kKappa = 2.576;

/// Skip ratio of the uniform probe set, over all sublayers.
constexpr double kProbeRatio = 0.43;

int longestPrompt(const OfflineSearchTask& task) {
    std::size_t longest = 0;
    for (const auto& prompt : task.prompts)
        longest = std::max(longest, prompt.size());
    return static_cast<int>(longest);
}

/// Not longer than needed, because each trial creates a new cache.
int contextOf(const OfflineSearchTask& task) {
    return longestPrompt(task) + task.options.maxTokens;
}

Result<void> checkTask(const OfflineSearchTask& task) {
    const ModelConfig& config = task.transformer.config();
    if (task.options.maxTokens < 1 || task.options.iterations < 0)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("A search needs at least 0 iterations and answers of at least 1 "
                                 "token, not {} and {}.",
                                 task.options.iterations,
                                 task.options.maxTokens),
                     "Choose larger numbers."};
    if (task.prompts.empty())
        return Error{ErrorCode::InvalidInput,
                     "There is no prompt to search with.",
                     "Give a few prompts of the task; 8 are usual."};
    const int room = config.contextLength - task.options.maxTokens + 1;
    for (std::size_t i = 0; i < task.prompts.size(); ++i) {
        auto checked = checkPrompt(task.prompts[i], config.vocabSize, room);
        if (checked)
            continue;
        Error error = std::move(checked).error();
        error.message = fmt::format("Calibration prompt {}: {}", i + 1, error.message);
        return error;
    }
    return {};
}

double
scoreOf(const PlanMeasurement& measured, const LayerPlan& plan, const OfflineSearchTask& task) {
    if (task.options.objective == SearchObjective::TokensPerSecond)
        return measured.seconds > 0.0 ? measured.tokens / measured.seconds : 0.0;
    const double fullPasses = measured.steps;
    const double furtherRows = measured.verifiedRows - measured.steps;
    const double draftPass = weightShare(plan, task.transformer.config());
    const double cost =
        fullPasses + task.options.rowCost * furtherRows + draftPass * measured.draftSteps;
    return measured.tokens / cost;
}

Result<std::unique_ptr<Decoder>> makeDecoder(const OfflineSearchTask& task, const LayerPlan& plan) {
    SettingValues settings = task.options.settings;
    settings.insert_or_assign("start", std::string("manual"));
    settings.insert_or_assign("skip_set", skipSetJson(skipSetOf(plan)));
    return task.decoders.make(task.options.decoder,
                              {.transformer = task.transformer,
                               .sampling = task.options.sampling,
                               .contextLength = contextOf(task),
                               .settings = std::move(settings)});
}

std::shared_ptr<void> turnOf(const OfflineSearchTask& task) {
    return task.takeTurn ? task.takeTurn() : nullptr;
}

Result<void> addAnswer(const OfflineSearchTask& task,
                       const std::vector<TokenId>& prompt,
                       Decoder& decoder,
                       PlanMeasurement& measured) {
    GenerationRequest request;
    request.prompt = prompt;
    request.limits.maxTokens = task.options.maxTokens;
    request.stop = task.stop;
    ENGINE_TRY(Answer answer, Answer::begin(decoder, std::move(request)));
    while (true) {
        const std::shared_ptr<void> turn = turnOf(task);
        ENGINE_TRY(const std::optional<AnswerPart> part, answer.next());
        if (!part)
            break;
        const auto* made = std::get_if<AnswerStep>(&*part);
        if (made == nullptr)
            continue;
        measured.draftSteps += made->step.draft.draftSteps();
        measured.accepted += static_cast<int>(made->step.path.size());
        measured.verifiedRows += made->step.verifiedRows;
    }
    const GenerationResult& result = answer.result();
    if (result.reason == FinishReason::Cancelled)
        return Error{ErrorCode::Cancelled, "The search was cancelled.", ""};
    measured.tokens += result.metrics.outputTokens;
    measured.steps += result.metrics.steps;
    measured.seconds += result.metrics.decodeMs / 1e3;
    return {};
}

/// The first passes of a process are slow whatever the plan, so they must not belong to the first
/// trial.
Result<void> warmUp(const OfflineSearchTask& task, const LayerPlan& plan) {
    ENGINE_TRY(const auto decoder, makeDecoder(task, plan));
    PlanMeasurement forgotten;
    return addAnswer(task, task.prompts.front(), *decoder, forgotten);
}

Result<PlanMeasurement> measure(const OfflineSearchTask& task, const LayerPlan& plan) {
    ENGINE_TRY(const auto decoder, makeDecoder(task, plan));
    PlanMeasurement measured;
    for (const auto& prompt : task.prompts)
        ENGINE_TRY_DO(addAnswer(task, prompt, *decoder, measured));
    measured.score = scoreOf(measured, plan, task);
    return measured;
}

/// One search: proposes, measures, learns.
class OfflineSearch {
public:
    explicit OfflineSearch(const OfflineSearchTask& task)
        : m_task(task)
        , m_space(SkipSpace::all(task.transformer.config().layerCount))
        , m_search(makeBayesianSearch(
              {.space = m_space,
               .budget = SkipBudget::unit(m_space.dims(), m_space.dims()),
               .seed = task.options.seed},
              {.kappa = kKappa, .maximiser = task.options.maximiser, .isRatioFree = true})) {}

    Result<OfflineSearchResult> run() {
        auto ended = trials();
        const bool isStopped = !ended && ended.error().code == ErrorCode::Cancelled;
        if (!ended && !(isStopped && !m_result.trials.empty()))
            return std::move(ended).error();
        m_result.isComplete = !isStopped;
        return std::move(m_result);
    }

private:
    Result<void> trials() {
        const std::vector<LayerPlan> probes = probePlans(m_space.layerCount());
        if (m_task.options.objective == SearchObjective::TokensPerSecond)
            ENGINE_TRY_DO(warmUp(m_task, probes.back()));
        for (const LayerPlan& probe : probes)
            ENGINE_TRY_DO(observe(makeTrial(TrialKind::Start, m_space, probe)));
        for (int i = 0; i < m_task.options.iterations; ++i) {
            ENGINE_TRY(const Trial trial, suggested());
            ENGINE_TRY_DO(observe(trial));
        }
        return {};
    }

    Result<Trial> suggested() {
        const std::shared_ptr<void> turn = turnOf(m_task);
        return m_search->nextTrial(m_task.stop);
    }

    Result<void> observe(const Trial& trial) {
        ENGINE_TRY(const PlanMeasurement measured, measureOnce(trial));
        m_search->record(trial, measured.score);
        auto& trials = m_result.trials;
        trials.push_back({static_cast<int>(trials.size()) + 1, trial.kind, trial.plan, measured});
        if (measured.score > m_result.bestTrial().measured.score)
            m_result.best = trials.size() - 1;
        if (m_task.onTrial)
            m_task.onTrial(trials.back(), m_result.bestTrial());
        return {};
    }

    /// Counts are reproducible, times are not.
    Result<PlanMeasurement> measureOnce(const Trial& trial) {
        if (m_task.options.objective == SearchObjective::TokensPerSecond)
            return measure(m_task, trial.plan);
        const auto& trials = m_result.trials;
        const auto known = std::find_if(trials.begin(), trials.end(), [&](const auto& earlier) {
            return earlier.plan == trial.plan;
        });
        return known != trials.end() ? known->measured : measure(m_task, trial.plan);
    }

    const OfflineSearchTask& m_task;
    SkipSpace m_space;
    std::unique_ptr<LayerSearch> m_search;
    OfflineSearchResult m_result;
};

} // namespace

Result<OfflineSearchResult> searchOffline(const OfflineSearchTask& task) {
    ENGINE_TRY_DO(checkTask(task));
    return OfflineSearch(task).run();
}

Result<PlanMeasurement> measurePlan(const OfflineSearchTask& task, const LayerPlan& plan) {
    ENGINE_TRY_DO(checkTask(task));
    const int layerCount = task.transformer.config().layerCount;
    if (plan.layerCount() != layerCount)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The plan is for {} layers, but the model has {}.",
                                 plan.layerCount(),
                                 layerCount),
                     "Choose a skip set that was found with this model."};
    return measure(task, plan);
}

std::vector<LayerPlan> probePlans(int layerCount) {
    LayerPlan laterAttention = LayerPlan::full(layerCount);
    std::fill(laterAttention.attention.begin() + layerCount / 2,
              laterAttention.attention.end(),
              SublayerAction::Skip);
    const SkipSpace all = SkipSpace::all(layerCount);
    return {laterAttention, all.oddLayers(), all.uniform(kProbeRatio)};
}

} // namespace engine
