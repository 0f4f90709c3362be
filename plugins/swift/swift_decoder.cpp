// SPDX-License-Identifier: Apache-2.0
#include "plugins/swift/swift_decoder.h"

#include "engine/model/weight_share.h"

#include <algorithm>
#include <ctime>
#include <utility>

namespace swift {

using namespace engine;

namespace {

/// Windows of one answer are told apart by their length.
constexpr std::uint64_t kWindowsPerAnswer = 1U << 16U;

/// Slots behind the context: for the largest tree and the longest window that can be set.
constexpr int kScratchRows = 1025;

/// Tokens that a node of a free draft must promise to be worth its row.
constexpr double kLeastFreeGain = 0.1;

} // namespace

Result<std::unique_ptr<Decoder>> SwiftDecoder::make(const DecoderContext& context) {
    const bool isGreedy = context.sampling.temperature == 0.0;
    ENGINE_TRY(
        SwiftSettings settings,
        SwiftSettings::make(context.settings, isGreedy, context.transformer.preferredTreeNodes()));
    ENGINE_TRY_DO(checkManualSet(settings.search, context.transformer.config().layerCount));
    ENGINE_TRY(
        Target target,
        Target::make(context.transformer, context.sampling, context.contextLength, kScratchRows));
    return std::unique_ptr<Decoder>(
        new SwiftDecoder(std::move(target), std::move(settings), context));
}

SwiftDecoder::SwiftDecoder(Target target, SwiftSettings settings, const DecoderContext& context)
    : TargetDecoder(std::move(target))
    , m_values(context.settings)
    , m_settings(std::move(settings))
    , m_memory(context.memory)
    , m_accumulation(m_settings.search.window) {
    m_target.useClock(context.clock);
}

Result<void> SwiftDecoder::begin(const Prompt& prompt, const PromptWork& work) {
    ENGINE_TRY_DO(m_target.begin(prompt, work));
    beginFreely(prompt);
    const bool isOtherTask = std::exchange(m_task, std::string(prompt.task)) != prompt.task;
    m_accumulation.begin(m_settings.search.window);
    ++m_answer;
    m_state = nullptr;
    if (const auto known = m_tasks.find(m_task); known != m_tasks.end()) {
        m_state = &known->second;
        if (isOtherTask) { // whose plan drafts from here on
            PlanChange& change = m_report.planChanges.emplace_back(m_state->search.planAgain());
            change.planId = m_state->planId;
        }
        return {};
    }
    if (m_settings.search.start == StartSet::Stream)
        return {}; // its passes are no part of reading the prompt
    return prepareSearch();
}

/// Makes the search of a task that is new; without any influence known a start set that needs it
/// waits for the first full pass, and one that follows a stream for a cached token.
Result<void> SwiftDecoder::prepareSearch() {
    const bool needsInfluence = m_settings.search.start == StartSet::Influence;
    if (needsInfluence && m_target.influence().rows() == 0)
        return {};
    if (m_settings.search.start == StartSet::Stream && m_target.length() == 0)
        return {};
    ENGINE_TRY_DO(checkStoredSet(m_settings.search, m_memory, m_task));
    SearchSurroundings surroundings{
        m_target.transformer().config(), m_memory, m_task, m_target.influence().means()};
    surroundings.stream = [this](const SkipChoices& choices,
                                 double ratio) -> Result<std::optional<LayerPlan>> {
        if (const LayerPlan* proven = provenPlan(ratio))
            return std::optional(*proven);
        return searched([&] { return streamPlan(m_target, choices, ratio); });
    };
    ENGINE_TRY(TaskSearch search,
               TaskSearch::make(m_settings.search, std::move(surroundings), m_report));
    LayerPlan start = search.plan();
    m_tasks.erase(m_task);
    m_state =
        &m_tasks.emplace(m_task, TaskState{std::move(search), 0, std::move(start)}).first->second;
    return {};
}

/// The best set of another task whose search has ended with success at this ratio: the stream of a
/// token need not be followed again for what is known. Null if there is none, or if it is the one
/// that the present task has just given up.
const LayerPlan* SwiftDecoder::provenPlan(double ratio) const {
    const TaskSearch* best = nullptr;
    for (const auto& [task, state] : m_tasks) {
        const TaskSearch& search = state.search;
        const bool isProven = search.isScored() && search.ratio() == ratio &&
                              search.bestScore() > m_settings.search.stopScore;
        if (task != m_task && isProven && (!best || search.bestScore() > best->bestScore()))
            best = &search;
    }
    const bool isGivenUp = best && m_state && m_state->search.plan() == best->plan();
    return best && !isGivenUp ? &best->plan() : nullptr;
}

/// One round: perhaps a trial of the search, draft, verify, learn.
Result<DecodeStep> SwiftDecoder::round() {
    ENGINE_TRY_DO(search());
    if (m_state == nullptr)
        return plainRound();
    ENGINE_TRY(Draft drafted, draft());
    ENGINE_TRY(DecodeStep step, m_target.verify(std::move(drafted), m_settings.draft.rule));
    observe(step);
    return step;
}

Result<DecodeStep> SwiftDecoder::plainRound() {
    ENGINE_TRY(DecodeStep step, m_target.plainStep());
    learn(step);
    if (m_learnsFreely)
        m_freeDrafter->observe(m_target, step);
    return step;
}

/// A step of the search, when one is due.
Result<void> SwiftDecoder::search() {
    if (m_state == nullptr)
        ENGINE_TRY_DO(prepareSearch());
    if (m_state == nullptr)
        return {};
    const TaskSearch& search = m_state->search;
    const bool waits = search.hasUnscoredManualSet() && m_accumulation.hasWindow(outputs());
    const bool isDue = !search.isOver() && isTrialAffordable() &&
                       m_accumulation.isOver(outputs(), m_settings.search, search.rowsPerTrial());
    if (waits || isDue)
        ENGINE_TRY_DO(optimise(m_accumulation.window()));
    numberPlans();
    return {};
}

/// What was seen before costs no pass: it goes first when it is likely enough.
Result<Draft> SwiftDecoder::draft() {
    double freeMs = 0.0;
    if (draftsFreely()) {
        ENGINE_TRY(Draft free,
                   m_freeDrafter->draft(m_target, {.maxNodes = m_settings.draft.maxNodes}));
        if (free.tree.size() > 0 && free.tree.node(0).probability >= m_settings.freeLeast)
            return free;
        freeMs = free.ms;
    }
    if (m_settings.weighs && m_costs.samples(1) == 0)
        return Draft::empty({DraftEndReason::Measuring});
    if (m_drafter.planId() != m_state->planId)
        usePlan();
    WeighedStopRule stopRule(m_settings.calibrates ? m_worth.thresholdBelow(m_settings.epsilon)
                                                   : m_settings.epsilon,
                             m_settings.maxDraft);
    if (m_settings.weighs)
        stopRule.weigh(m_worth.rates(), m_worth.rate(), {.draft = passShare()}, m_costs);
    DraftTerms terms = m_settings.draft;
    terms.stopRule = &stopRule;
    ENGINE_TRY(Draft made, m_drafter.draft(m_target, terms));
    made.ms += freeMs;
    return made;
}

/// What was learnt of a plan goes on when another task drafts with it.
void SwiftDecoder::usePlan() {
    const TaskSearch& search = m_state->search;
    if (m_drafter.planId() == 0 || m_drafter.plan() != search.plan())
        m_worth = search.isScored() ? DraftWorth(search.bestScore(), m_worth) : DraftWorth();
    m_drafter.use(search.plan(), m_state->planId);
}

/// Of the weights, read by a draft pass with the plan in use: `draft_vocabulary` may change between
/// two rounds.
double SwiftDecoder::passShare() const {
    const Transformer& transformer = m_target.transformer();
    return weightShare(m_drafter.plan(),
                       transformer.config(),
                       DraftHead::keptShare(transformer, m_settings.draft.vocabularyShare));
}

/// The credit is never saved up beyond the next trial.
void SwiftDecoder::learn(const DecodeStep& step) {
    const double matchness = m_state != nullptr ? m_state->search.scoreToExceed() : 0.0;
    const double earned = m_settings.searchShareAt(matchness) * (step.draftMs + step.verifyMs);
    m_trialCreditMs = std::min(m_trialCreditMs + earned, 0.0);
    m_costs.record(step.verifiedRows, step.verifyMs);
    const int passes = step.draft.draftSteps();
    if (passes == 0 || step.planId == 0)
        return;
    const double share = passShare();
    m_costs.recordDraft(share, step.draftMs / passes);
    m_worth.observe(step, share, m_costs);
}

void SwiftDecoder::observe(const DecodeStep& step) {
    if (m_learnsFreely)
        m_freeDrafter->observe(m_target, step);
    learn(step);
    m_accumulation.add(step.verifiedRows);
    m_state->search.observe(step, m_target.influence().means(), m_report);
}

/// The free drafter learns from this whole answer, whatever the setting becomes meanwhile.
void SwiftDecoder::beginFreely(const Prompt& prompt) {
    m_learnsFreely = m_settings.draftsFreely;
    if (!m_learnsFreely)
        return;
    if (m_freeDrafter == nullptr) {
        m_freeDrafter = std::make_unique<FreeDrafter>(m_target.transformer().config().vocabSize);
        m_freeDrafter->use({}, kLeastFreeGain);
        note(m_freeDrafter->remember(m_memory));
    }
    m_freeDrafter->begin(prompt, m_target.sampler().options());
}

/// An answer that was too short for a window still gives a small one.
Result<SearchReport> SwiftDecoder::endAnswer() {
    if (m_state != nullptr) {
        ENGINE_TRY_DO(scoreManualSet());
        int owed =
            m_accumulation.trialsOwed(outputs(), m_settings.search, m_state->search.rowsPerTrial());
        for (; owed > 0 && !m_state->search.isOver() && isTrialAffordable(); --owed)
            ENGINE_TRY_DO(optimise(m_accumulation.comparisons(outputs())));
        remember();
    }
    if (m_learnsFreely)
        note(m_freeDrafter->keep());
    return takeReport();
}

std::vector<std::string> SwiftDecoder::storeStatistics() {
    remember(); // of answers that were cancelled
    std::vector<std::string> sentences = takeReport().notes;
    if (m_freeDrafter)
        for (std::string& sentence : m_freeDrafter->storeAll())
            sentences.push_back(std::move(sentence));
    return sentences;
}

/// The answer's first tokens; what must come out is the full model's most probable token (the
/// published code takes the token that was drawn).
MatchnessWindow SwiftDecoder::window(int comparisons) const {
    const auto count = static_cast<std::ptrdiff_t>(comparisons);
    const auto inputs = m_target.output();
    const auto expected =
        m_settings.search.isAsPublished ? m_target.output() : m_target.outputArgmax();
    return {m_target.promptLength(),
            {inputs.begin(), inputs.begin() + count},
            {expected.begin() + 1, expected.begin() + 1 + count}};
}

Result<void> SwiftDecoder::optimise(int comparisons) {
    const MatchnessWindow context = window(comparisons);
    const ScoredWindow scored{m_answer * kWindowsPerAnswer + static_cast<unsigned>(comparisons),
                              [&](const LayerPlan& plan) {
                                  return matchness(
                                      m_target.transformer(), m_target.cache(), plan, context);
                              },
                              context.expected,
                              m_target.stop()};
    double ms = 0.0;
    auto advanced = searched([&] { return m_state->search.advance(scored, m_report); }, &ms);
    m_trialCreditMs -= ms;
    if (advanced)
        m_accumulation.spend(comparisons);
    return advanced;
}

/// The user waits for this score: it is taken at once, on as much of the answer as there is.
Result<void> SwiftDecoder::scoreManualSet() {
    const bool isLongEnough =
        outputs() >= Accumulation::kShortestWindow || m_accumulation.hasWindow(outputs());
    if (!m_state->search.hasUnscoredManualSet() || !isLongEnough)
        return {};
    return optimise(m_accumulation.comparisons(outputs()));
}

void SwiftDecoder::numberPlans() {
    for (PlanChange& change : m_report.planChanges)
        if (change.planId == 0)
            change.planId = m_state->planId = ++m_lastPlanId;
}

DecoderPhase SwiftDecoder::phase() const {
    if (m_state == nullptr)
        return DecoderPhase::Accumulate;
    if (m_state->search.isOver())
        return DecoderPhase::Accelerate;
    return m_accumulation.hasWindow(outputs()) ? DecoderPhase::Optimise : DecoderPhase::Accumulate;
}

SearchReport SwiftDecoder::takeReport() {
    if (m_state != nullptr)
        numberPlans();
    m_report.phase = phase();
    return TargetDecoder::takeReport();
}

/// Stores the sets of the tasks for which this run found another one. A set that has no score yet,
/// as when r was just lowered, replaces none that has.
void SwiftDecoder::remember() {
    for (auto& [task, state] : m_tasks)
        rememberOne(task, state);
}

void SwiftDecoder::rememberOne(const std::string& task, TaskState& state) {
    const TaskSearch& search = state.search;
    if (m_memory == nullptr || search.trials() == 0 || search.bestScore() <= 0.0 ||
        search.plan() == state.stored)
        return;
    const StoredSkipSet stored{.set = skipSetOf(search.plan()),
                               .score = search.bestScore(),
                               .skipRatio = search.ratio(),
                               .decoder = "swift",
                               .savedAt = static_cast<std::int64_t>(std::time(nullptr)),
                               .trials = search.trials()};
    const auto kept = m_memory->store(task, stored);
    if (kept)
        note(kept.value());
    else
        noteOnce(notStored("A skip set", kept.error()));
    state.stored = search.plan();
}

Result<SearchReport> SwiftDecoder::configure(const SettingValues& values,
                                             const SettingValues& given) {
    ENGINE_TRY(SwiftSettings next,
               SwiftSettings::make(values,
                                   m_target.sampler().isGreedy(),
                                   m_target.transformer().preferredTreeNodes()));
    ENGINE_TRY_DO(checkManualSet(next.search, m_target.transformer().config().layerCount));
    if (m_target.pending() != kNoToken)
        ENGINE_TRY_DO(checkStoredSet(next.search, m_memory, m_task));
    // A set that is given once more is wanted again: the search may have left it.
    const bool isManualSetGiven =
        next.search.start == StartSet::Manual && given.contains("skip_set");
    const bool beginsAnew = isManualSetGiven || m_settings.needsNewSearch(next);
    if (next.draft.vocabularyShare != m_settings.draft.vocabularyShare)
        m_costs.forgetDrafts();
    m_values = values;
    m_settings = std::move(next);
    for (auto& [task, state] : m_tasks)
        state.search.adopt(m_settings.search);
    if (beginsAnew) {
        remember(); // what this answer has found
        m_tasks.clear();
        m_state = nullptr;
        if (m_target.pending() != kNoToken)
            ENGINE_TRY_DO(prepareSearch());
    }
    if (m_state == nullptr)
        return SearchReport();
    if (const auto scored = scoreManualSet(); !scored)
        note("The skip set could not be scored: " + scored.error().message);
    return takeReport();
}

/// How wide a draft is may hang on whether tokens are drawn; what was searched does not.
Result<void> SwiftDecoder::changeSampling(const SamplingOptions& sampling) {
    ENGINE_TRY(SwiftSettings next,
               SwiftSettings::make(m_values,
                                   sampling.temperature == 0.0,
                                   m_target.transformer().preferredTreeNodes()));
    ENGINE_TRY_DO(m_target.changeSampling(sampling));
    m_settings = std::move(next);
    return {};
}

} // namespace swift

namespace {

void registerDecoders(engine::DecoderRegistry& registry) {
    registry.add(swift::swiftInfo(), &swift::SwiftDecoder::make);
}

} // namespace

ENGINE_DECODER_MODULE(registerDecoders);
