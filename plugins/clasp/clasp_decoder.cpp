// SPDX-License-Identifier: Apache-2.0
#include "plugins/clasp/clasp_decoder.h"

#include "engine/model/weight_share.h"
#include "engine/search/skip_choices.h"

#include <algorithm>
#include <ctime>
#include <utility>

namespace clasp {

using namespace engine;

namespace {

/// The newest tokens of the answer on which a set is checked; with fewer than the shortest, the
/// first set is used unchecked.
constexpr int kWindow = 16;
constexpr int kShortestWindow = 8;

/// Sets of a front that are checked.
constexpr std::size_t kChecked = 2;

/// A set replaces another only if it promises this much more speed.
constexpr double kWorthChanging = 1.03;

/// A set is given up when acceptance falls below this part of what it promised.
constexpr double kLeastOfPromise = 0.8;

/// KnapSpec looks again when the text has grown by this factor: attention costs more then.
constexpr double kGrowth = 1.5;

/// Rows of a table.
constexpr std::size_t kMostTableRows = 64;

const char* nameOf(Method method) { return method == Method::Clasp ? "clasp" : "knapspec"; }

} // namespace

Result<std::unique_ptr<Decoder>> ClaspDecoder::make(Method method, const DecoderContext& context) {
    ENGINE_TRY(
        const ClaspSettings settings,
        ClaspSettings::make(method, context.settings, context.transformer.config().layerCount));
    ENGINE_TRY(
        Target target,
        Target::make(context.transformer, context.sampling, context.contextLength, kStreamRows));
    return std::unique_ptr<Decoder>(new ClaspDecoder(method, std::move(target), settings, context));
}

ClaspDecoder::ClaspDecoder(Method method,
                           Target target,
                           const ClaspSettings& settings,
                           const DecoderContext& context)
    : TargetDecoder(std::move(target))
    , m_method(method)
    , m_settings(settings)
    , m_memory(context.memory) {
    m_target.useClock(context.clock);
}

/// The set of the answer before stays until another one does better. What it has shown in another
/// task is not told as this one's.
Result<void> ClaspDecoder::begin(const Prompt& prompt, const PromptWork& work) {
    ENGINE_TRY_DO(m_target.begin(prompt, work));
    if (std::exchange(m_task, std::string(prompt.task)) != prompt.task) {
        m_settled = {};
        for (std::optional<Present>* set : {&m_present, &m_before})
            if (*set)
                (*set)->isChecked = false;
    }
    m_updateAt = m_rounds;
    return {};
}

/// One round: perhaps look for a set, draft without its parts, verify, learn.
Result<DecodeStep> ClaspDecoder::round() {
    if (isDue())
        ENGINE_TRY_DO(searched([this] { return update(); }));
    ENGINE_TRY(Draft drafted, draft());
    ENGINE_TRY(DecodeStep step, m_target.verify(std::move(drafted), m_settings.rule));
    step.tables = std::exchange(m_tables, {});
    observe(step);
    return step;
}

Result<Draft> ClaspDecoder::draft() {
    if (!m_present)
        return Draft::empty({DraftEndReason::Nothing});
    const int longest = m_method == Method::Clasp
                            ? m_settings.longest
                            : std::min(m_present->set.chain.length, m_settings.longest);
    const ConfidenceStopRule stopRule(m_settings.confidence, longest);
    return m_drafter.draft(m_target,
                           {.rule = m_settings.rule,
                            .sharesNoise = m_settings.sharesNoise,
                            .maxDepth = longest,
                            .stopRule = &stopRule});
}

void ClaspDecoder::observe(const DecodeStep& step) {
    ++m_rounds;
    m_costs.record(step.verifiedRows, step.verifyMs);
    watch(step);
}

/// Other text may need another set: a set that no longer keeps its promise is given up for the one
/// before, or looked for again.
void ClaspDecoder::watch(const DecodeStep& step) {
    const int drafted = step.draft.draftSteps();
    if (!m_present || step.planId == 0 || drafted == 0)
        return;
    const int accepted = static_cast<int>(step.path.size());
    // A token behind a rejected one was never judged.
    const auto acceptance = m_watch.add(accepted, std::min(accepted + 1, drafted));
    if (!acceptance || *acceptance >= kLeastOfPromise * m_present->set.acceptance)
        return;
    m_updateAt = m_rounds;
    if (!m_before)
        return;
    note(fmt::format("Of the drafted tokens {:.2f} were accepted where {:.2f} were expected, so "
                     "the skip set before is used again.",
                     *acceptance,
                     m_present->set.acceptance));
    m_present = std::exchange(m_before, std::nullopt);
    usePresent("back");
}

/// Without the rows that a search follows: a new set was fitted to them.
int ClaspDecoder::windowLength() const {
    return std::min(static_cast<int>(m_target.output().size()) - 1 - m_settings.references,
                    kWindow);
}

/// With a set in use the next one is looked for when it can be checked against it.
bool ClaspDecoder::isDue() const {
    if (m_target.length() == 0)
        return false;
    const bool hasGrown =
        m_method == Method::KnapSpec && m_target.length() > kGrowth * m_lengthAtUpdate;
    if (m_rounds < m_updateAt && !hasGrown)
        return false;
    return !m_present || !m_settings.checks || windowLength() >= kWindow;
}

/// Looks for the best sets and uses one of them if it is better than the present one.
Result<void> ClaspDecoder::update() {
    ENGINE_TRY(const std::vector<StreamPoint> points, front());
    std::vector<Promising> sets;
    for (const StreamPoint& point : points)
        sets.push_back(promising(point));
    m_tables = {frontTable(sets)};
    sets = fastest(std::move(sets), kChecked);
    m_lengthAtUpdate = m_target.length();
    m_updateAt = m_rounds + m_settings.interval;
    if (m_settings.checks && windowLength() >= kShortestWindow)
        ENGINE_TRY_DO(check(std::move(sets)));
    else if (!sets.empty())
        adopt(std::move(sets.front()), std::nullopt);
    return {};
}

/// CLaSp wants one size, KnapSpec all up to the largest.
Result<std::vector<StreamPoint>> ClaspDecoder::front() {
    const auto cached = m_target.cachedTokens();
    StreamTerms terms{.items = StreamItems::Layers,
                      .most = m_settings.skipped,
                      .least = m_settings.skipped,
                      .references = cached.last(
                          std::min(cached.size(), static_cast<std::size_t>(m_settings.references))),
                      .stop = m_target.stop()};
    if (m_method == Method::KnapSpec) {
        ENGINE_TRY_DO(m_sublayers.measure(m_target));
        terms.items = StreamItems::Sublayers;
        terms.worths = SublayerWorths::fromCosts(m_sublayers.attention(), m_sublayers.mlp());
        const int all = streamWorth(config(), terms.items, terms.worths);
        terms.most = std::max(static_cast<int>(m_settings.most * all + 1e-9), 1);
        terms.least = 1;
    }
    return streamFront(m_target.transformer(), m_target.cache(), terms);
}

Promising ClaspDecoder::promising(const StreamPoint& point) const {
    Promising set{.plan = point.plan, .loss = point.loss};
    set.cost = m_sublayers.draftCost(point.plan);
    set.acceptance = m_byLoss.expected(point.loss);
    set.chain = bestChain(set.acceptance, set.cost, m_costs, m_settings.longest);
    return set;
}

/// Counts on the newest tokens what the sets and the present one predict. CLaSp counts alone,
/// KnapSpec weighs the count with what a draft pass costs.
Result<void> ClaspDecoder::check(std::vector<Promising> sets) {
    const auto measure = [&](Promising& set, bool isNew) -> Result<double> {
        const double startMs = m_target.nowMs();
        ENGINE_TRY(Matchness found, score(set.plan));
        const auto count = static_cast<int>(found.matches.size());
        const auto hits =
            static_cast<int>(std::count(found.matches.begin(), found.matches.end(), 1));
        m_byLoss.learn(set.loss, hits, count);
        set.cost = m_sublayers.draftCost(set.plan);
        set.acceptance = (hits + 1.0) / (count + 2.0);
        set.chain = bestChain(set.acceptance, set.cost, m_costs, m_settings.longest);
        const double score = found.score;
        reportTrial(set, std::move(found), m_target.nowMs() - startMs, isNew);
        return score;
    };
    std::optional<Promising> best;
    double bestScore = 0.0;
    if (m_present) {
        ENGINE_TRY(m_present->score, measure(m_present->set, false));
        m_present->isChecked = true;
    }
    for (Promising& set : sets) {
        if (m_present && set.plan == m_present->set.plan)
            continue;
        ENGINE_TRY(const double score, measure(set, true));
        const bool isClasp = m_method == Method::Clasp;
        const bool beatsPresent =
            !m_present || (isClasp ? score >= m_present->score
                                   : set.chain.speed > kWorthChanging * m_present->set.chain.speed);
        const bool beatsBest =
            !best || (isClasp ? score > bestScore : set.chain.speed > best->chain.speed);
        if (!beatsPresent || !beatsBest)
            continue;
        best = set;
        bestScore = score;
    }
    if (best)
        adopt(std::move(*best), bestScore);
    if (m_method == Method::KnapSpec && m_present && m_present->set.chain.speed < 1.0)
        noteOnce("Even the best skip set found is expected to be slower than decoding without "
                 "drafts: this model has hardly any sublayers to spare.");
    return {};
}

Result<Matchness> ClaspDecoder::score(const LayerPlan& plan) {
    const auto count = static_cast<std::size_t>(windowLength());
    const auto followed = static_cast<std::size_t>(m_settings.references);
    const auto inputs = m_target.output().last(count + followed + 1).first(count);
    const auto expected = m_target.outputArgmax().last(count + followed).first(count);
    if (m_target.stop().stop_requested())
        return Error{ErrorCode::Cancelled, "Checking a skip set was cancelled.", ""};
    return matchness(m_target.transformer(),
                     m_target.cache(),
                     plan,
                     {m_target.length() - static_cast<Position>(count + followed),
                      {inputs.begin(), inputs.end()},
                      {expected.begin(), expected.end()}},
                     MatchnessKeys::Target);
}

void ClaspDecoder::reportTrial(const Promising& set, Matchness matchness, double ms, bool isNew) {
    m_trials += isNew ? 1 : 0;
    const std::size_t count = matchness.matches.size();
    const auto followed = static_cast<std::size_t>(m_settings.references);
    const auto expected = m_target.outputArgmax().last(count + followed).first(count);
    TrialRecord record;
    record.kind = isNew ? "stream" : "rescore";
    record.counts = isNew;
    record.index = m_trials;
    record.score = matchness.score;
    record.best = m_present ? std::max(m_present->score, matchness.score) : matchness.score;
    record.isBest = !isNew;
    record.plan = set.plan;
    record.ticks = std::move(matchness.matches);
    record.guesses = std::move(matchness.guesses);
    record.window.assign(expected.begin(), expected.end());
    record.scoreMs = ms;
    m_report.trials.push_back(std::move(record));
}

/// A set that could not be checked yet is looked at again as soon as it can be.
void ClaspDecoder::adopt(Promising set, std::optional<double> score) {
    const bool isOther = !m_present || m_present->set.plan != set.plan;
    if (isOther && m_present)
        m_before = std::move(m_present);
    for (TrialRecord& trial : m_report.trials)
        trial.isBest = trial.plan == set.plan;
    m_present = Present{std::move(set), score.value_or(0.0), score.has_value()};
    if (m_settings.checks && !score)
        m_updateAt = m_rounds;
    if (isOther)
        usePresent(m_plan.id() == 0 ? "start" : score ? "better" : "update");
}

void ClaspDecoder::usePresent(std::string reason) {
    const LayerPlan& plan = m_present->set.plan;
    const double ratio = SkipChoices(config(), BudgetUnit::Sublayers).ratioOf(plan);
    m_watch.clear();
    m_plan.use(plan, ratio, std::move(reason), m_report);
    if (m_drafter.planId() != m_plan.id())
        m_drafter.use(plan, m_plan.id());
}

/// The sizes that were found, with what each promises; of many every n-th.
StepTable ClaspDecoder::frontTable(const std::vector<Promising>& sets) const {
    const bool isClasp = m_method == Method::Clasp;
    StepTable table;
    table.name = "front";
    table.title = "Sets along the stream";
    table.columns = {"Sublayers skipped", "Loss of the stream"};
    if (!isClasp)
        table.columns.insert(table.columns.end(),
                             {"Cost of a draft pass", "Expected acceptance", "Expected speed"});
    const std::size_t step = (sets.size() + kMostTableRows - 1) / kMostTableRows;
    double fastestSpeed = 0.0;
    for (std::size_t i = 0; i < sets.size(); i += step) {
        const Promising& set = sets[i];
        const double loads = set.plan.layerCount() - set.plan.layerLoads();
        table.rows.push_back({TableCell(2.0 * loads), TableCell(set.loss)});
        if (isClasp)
            continue;
        for (const double value : {set.cost, set.acceptance, set.chain.speed})
            table.rows.back().emplace_back(value);
        if (set.chain.speed >= fastestSpeed)
            table.chosenRow = static_cast<int>(table.rows.size()) - 1;
        fastestSpeed = std::max(fastestSpeed, set.chain.speed);
    }
    return table;
}

Result<SearchReport> ClaspDecoder::endAnswer() {
    remember(true);
    return takeReport();
}

/// The set of an answer that was cancelled.
std::vector<std::string> ClaspDecoder::storeStatistics() {
    remember(false);
    return takeReport().notes;
}

/// Stores the task's set if it was checked in it and no better one is stored. What other decoders
/// call a score counts something else: beside a set of theirs both are counted on the same tokens,
/// once, or if that may not be done, theirs stays.
void ClaspDecoder::remember(bool mayCount) {
    const bool isWanted = m_memory != nullptr && m_present && m_present->isChecked;
    if (!isWanted || m_present->set.plan == m_settled)
        return;
    const LayerPlan& plan = m_present->set.plan;
    const auto known = m_memory->find(m_task);
    if (known && known.value()) {
        const StoredSkipSet& stored = *known.value();
        const bool isOurs =
            stored.decoder == nameOf(Method::Clasp) || stored.decoder == nameOf(Method::KnapSpec);
        const bool isCounted = !isOurs && mayCount && windowLength() >= kShortestWindow;
        const bool isBetter =
            isOurs ? m_present->score > stored.score : isCounted && countsMoreThan(stored);
        if (!isBetter && isCounted)
            m_settled = plan;
        if (!isBetter)
            return;
    }
    const auto kept =
        m_memory->store(m_task,
                        {.set = skipSetOf(plan),
                         .score = m_present->score,
                         .skipRatio = SkipChoices(config(), BudgetUnit::Sublayers).ratioOf(plan),
                         .decoder = nameOf(m_method),
                         .savedAt = static_cast<std::int64_t>(std::time(nullptr)),
                         .trials = m_trials});
    if (kept)
        note(kept.value());
    else
        noteOnce(notStored("A skip set", kept.error()));
    m_settled = plan;
}

/// Whether the present set predicts more of the newest tokens than a stored one. A pass that fails
/// speaks for the stored one.
bool ClaspDecoder::countsMoreThan(const StoredSkipSet& stored) {
    const auto theirPlan = planOf(stored.set, config().layerCount);
    if (!theirPlan)
        return false;
    const auto theirs = searched([&] { return score(theirPlan.value()); });
    const auto ours = searched([&] { return score(m_present->set.plan); });
    return theirs && ours && ours.value().score > theirs.value().score;
}

/// Another budget needs another set, which the next round looks for.
Result<SearchReport> ClaspDecoder::configure(const SettingValues& values,
                                             const SettingValues& /*given*/) {
    ENGINE_TRY(const ClaspSettings next,
               ClaspSettings::make(m_method, values, config().layerCount));
    const bool isOtherBudget = next.skipped != m_settings.skipped || next.most != m_settings.most;
    if (isOtherBudget || next.checks != m_settings.checks ||
        next.references != m_settings.references) {
        m_present.reset();
        m_before.reset();
    }
    m_updateAt = std::min(m_updateAt, m_rounds + next.interval);
    if (!m_present)
        m_updateAt = m_rounds;
    m_settings = next;
    return takeReport();
}

SearchReport ClaspDecoder::takeReport() {
    m_report.phase = m_present ? DecoderPhase::Accelerate : DecoderPhase::Accumulate;
    return TargetDecoder::takeReport();
}

} // namespace clasp

namespace {

void registerDecoders(engine::DecoderRegistry& registry) {
    using clasp::Method;
    for (const Method method : {Method::Clasp, Method::KnapSpec})
        registry.add(clasp::claspInfo(method), [method](const engine::DecoderContext& context) {
            return clasp::ClaspDecoder::make(method, context);
        });
}

} // namespace

ENGINE_DECODER_MODULE(registerDecoders);
