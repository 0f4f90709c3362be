// SPDX-License-Identifier: Apache-2.0
#include "engine/learn/rounds/round_log.h"

#include <algorithm>
#include <ranges>
#include <variant>

namespace engine {

namespace {

/// As much of the step as its figures are made from.
DecodeStep countedStep(const StepFinished& step) {
    DecodeStep counted;
    for (const EmittedToken& token : step.tokens)
        counted.tokens.push_back(token.id);
    for (const DraftNode& node : step.draft)
        counted.draft.add(node.token, -1, node.probability);
    for (const double confidence : step.confidences)
        counted.draft.addConfidence(confidence);
    counted.path = step.path;
    counted.sides = step.sides;
    counted.verifiedRows = step.verifiedRows;
    counted.draftLayers = step.draftLayers;
    counted.verifyLayers = step.verifyLayers;
    counted.draftMs = step.draftMs;
    counted.verifyMs = step.verifyMs;
    counted.search.searchMs = step.searchMs;
    return counted;
}

void addTo(DecodeMetrics& metrics, const StepFinished& step) {
    const double allMs = step.draftMs + step.verifyMs + step.searchMs + step.otherMs;
    if (step.isBaseline)
        metrics.addBaseline(countedStep(step), allMs);
    else
        metrics.add(countedStep(step), allMs);
}

/// The newest token as people read it; its own text may be part of a character.
std::string newestTextOf(const StepFinished& step) {
    if (step.tokens.empty())
        return {};
    const EmittedToken& token = step.tokens.back();
    for (const TokenChoice& choice : token.choices)
        if (choice.id == token.id && !choice.text.empty())
            return choice.text;
    return token.text;
}

} // namespace

void RoundLog::apply(const EngineEvent& event) {
    if (const auto* step = event.as<StepFinished>()) {
        addStep(*step);
    } else if (const auto* trial = event.as<TrialFinished>()) {
        m_trials.push_back(*trial);
    } else if (const auto* started = event.as<PromptStarted>()) {
        begin(started->promptId);
    } else if (const auto* change = event.as<PlanChanged>()) {
        if (change->planId != 0)
            m_plans[change->planId] = std::make_shared<const PlanOutline>(change->plan);
    } else if (const auto* statistics = event.as<Statistics>()) {
        m_plainMs = statistics->baselineStepMs;
    } else if (const auto* chosen = event.as<DecoderChosen>()) {
        m_plans.clear();
        useSettings(chosen->settings);
    } else if (const auto* changed = event.as<SettingsChanged>()) {
        useSettings(changed->settings);
    } else if (const auto* sampling = event.as<SamplingChanged>()) {
        m_isDrawn = sampling->sampling.temperature > 0.0;
    } else if (const auto* loaded = event.as<ModelLoaded>()) {
        forgetModel();
        m_layerCount = loaded->model.layerCount;
    } else if (event.as<ModelUnloaded>() != nullptr) {
        forgetModel();
    } else if (event.as<PromptFinished>() != nullptr) {
        m_trials.clear();
    }
}

void RoundLog::begin(std::uint64_t promptId) {
    m_trials.clear();
    m_newestText.clear();
    if (promptId >= kFirstHidden)
        return;
    m_answers.push_back({promptId, m_isDrawn, {}});
    if (m_answers.size() > kAnswersKept)
        m_answers.pop_front();
}

/// The settings and the sampling stay: a new model is drafted for and drawn from as the old one.
void RoundLog::forgetModel() {
    m_answers.clear();
    m_plans.clear();
    m_trials.clear();
    m_plainMs = 0.0;
    m_layerCount = 0;
    m_newestText.clear();
}

void RoundLog::addStep(const StepFinished& step) {
    const auto answer = std::ranges::find(m_answers, step.promptId, &AnswerRounds::promptId);
    if (answer == m_answers.end())
        return;
    RoundGround ground;
    ground.step = step.step;
    ground.rootText = m_newestText;
    ground.layerCount = m_layerCount;
    if (const auto plan = m_plans.find(step.planId); plan != m_plans.end())
        ground.plan = plan->second;
    ground.siblings = m_siblings;
    ground.isJoinedByGuesses = m_isJoinedByGuesses;
    ground.isDrawn = answer->isDrawn;
    ground.trials = std::exchange(m_trials, {});
    ground.plainMs = m_plainMs > 0.0 ? m_plainMs : step.plainMs;
    if (!answer->rounds.empty())
        ground.before = answer->rounds.back().soFar;
    ground.soFar = ground.before;
    addTo(ground.soFar, step);
    answer->rounds.push_back(std::move(ground));
    m_newestText = newestTextOf(step);
}

const RoundGround* RoundLog::find(std::uint64_t promptId, int step) const {
    for (const AnswerRounds& answer : m_answers | std::views::reverse)
        if (answer.promptId == promptId) {
            const auto place = static_cast<std::size_t>(step); // in a whole answer
            if (step >= 0 && place < answer.rounds.size() && answer.rounds[place].step == step)
                return &answer.rounds[place];
            const auto found = std::ranges::find(answer.rounds, step, &RoundGround::step);
            return found == answer.rounds.end() ? nullptr : &*found;
        }
    return nullptr;
}

void RoundLog::useSettings(const SettingValues& settings) {
    m_siblings.reset();
    const auto setting = settings.find("siblings");
    m_isJoinedByGuesses = setting == settings.end();
    if (m_isJoinedByGuesses)
        return;
    if (const auto* text = std::get_if<std::string>(&setting->second))
        if (const auto schedule = SiblingSchedule::parse(*text))
            m_siblings = schedule.value();
}

} // namespace engine
