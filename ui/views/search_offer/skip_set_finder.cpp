// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/search_offer/skip_set_finder.h"

#include "ui/shell/figure_text.h"
#include "ui/views/search_offer/search_offer.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ui {

using namespace engine;

namespace {

constexpr int kAnswerTokens = 256;

/// Below this share of tokens that a draft predicts, drafting costs more than it saves.
constexpr double kUsefulMatchness = 0.7;

struct SearchSetting {
    const char* name;
    double value;
};

/// A trial with every step, and a limited number of trials.
constexpr std::array kSearchSettings = {SearchSetting{"S", SkipSetFinder::kTrials},
                                        SearchSetting{"opt_interval", 1},
                                        SearchSetting{"rows_per_trial", 1},
                                        SearchSetting{"search_share", 0},
                                        SearchSetting{"quick_trials", 1e6}};

} // namespace

SkipSetFinder::SkipSetFinder(EngineBridge& bridge,
                             const RunStore& run,
                             QUndoStack& undoStack,
                             QObject* parent)
    : QObject(parent)
    , m_bridge(bridge)
    , m_run(run)
    , m_choices(bridge, undoStack)
    , m_promptId(kFirstHiddenPrompt) {
    connect(&bridge, &EngineBridge::settingsAsked, this, &SkipSetFinder::onAsked);
    connect(&bridge, &EngineBridge::eventCame, this, &SkipSetFinder::onEvent);
}

SettingValues SkipSetFinder::usersSettings() const {
    SettingValues settings = m_run.settings();
    // What was taken for a change that is not answered yet is the user's until then.
    for (const SettingValues& taken : m_taken)
        for (const auto& [name, value] : taken)
            settings[name] = value;
    for (const auto& [name, value] : m_settingsBefore)
        if (const auto now = settings.find(name); now != settings.end())
            now->second = value;
    return settings;
}

void SkipSetFinder::start(std::optional<SubmitPrompt> question) {
    if (isRunning())
        return;
    const DecoderInfo* decoder = searchingDecoder(m_run);
    if (decoder == nullptr) {
        end(m_run.model() == nullptr ? tr("Open a model first.")
                                     : tr("No decoder here searches for skip sets."));
        return;
    }
    if (m_run.answers().isRunning()) {
        end(tr("Wait for the answer, or stop it (Esc). The search needs the model to itself."));
        return;
    }
    if (!question) {
        end(tr("Send a message first. Skip sets are tried on the model's answer to it."));
        return;
    }
    m_question = *std::move(question);
    m_question.maxTokens = kAnswerTokens;
    m_isOver = m_isStopped = false;
    m_stage = Stage::Choosing;
    m_sentence = tr("The search begins.");
    if (m_run.decoder() != nullptr && m_run.decoder()->name == decoder->name)
        beginSearch(*m_run.decoder(), usersSettings());
    else if (!m_choices.request(searchingChange(m_run, *decoder)))
        end(busyText());
    emit changed();
}

void SkipSetFinder::stop() {
    if (!isRunning())
        return;
    m_isStopped = true;
    m_bridge.send(StopGeneration{});
    if (m_stage == Stage::Choosing)
        end(tr("The search was stopped."));
}

bool SkipSetFinder::change(const SettingValues& values) {
    m_isChanging = true;
    const bool isTaken = m_bridge.send(ChangeSettings{values, 0, m_decoder});
    m_isChanging = false;
    return isTaken;
}

/// What the user changes is not restored; a profile changes all settings.
void SkipSetFinder::onAsked(const ChangeSettings& asked) {
    if (asked.conversation != 0)
        return;
    SettingValues& taken = m_taken.emplace_back();
    if (m_isChanging)
        return;
    if (asked.values.contains(kProfileSetting))
        taken.swap(m_settingsBefore);
    for (const auto& [name, value] : asked.values)
        if (auto before = m_settingsBefore.extract(name))
            taken.insert(std::move(before));
}

/// The engine answers changes in their order, each by settings or an error.
void SkipSetFinder::onAnswered(const EngineEvent& event) {
    const auto* failure = event.as<EngineFailed>();
    const bool isRefused = failure != nullptr && failure->task == "change_settings";
    if (event.conversation != 0 || m_taken.empty() ||
        (!isRefused && event.as<SettingsChanged>() == nullptr))
        return;
    if (isRefused)
        m_settingsBefore.merge(m_taken.front());
    m_taken.pop_front();
}

void SkipSetFinder::onEvent(const EngineEvent& event) {
    onAnswered(event);
    if (!isRunning()) {
        if (isRestored(event))
            m_settingsBefore.clear();
        forgetWith(event);
        return;
    }
    if (const auto* chosen = event.as<DecoderChosen>())
        onChosen(*chosen);
    else if (const auto* failure = event.as<EngineFailed>())
        onFailed(*failure);
    else if (event.as<ModelLoaded>() != nullptr || event.as<ModelUnloaded>() != nullptr)
        giveUp(tr("The search ended, because its model was unloaded."));
    else if (m_stage != Stage::Searching)
        return;
    else if (const auto* trial = event.as<TrialFinished>())
        onTrial(*trial);
    else if (const auto* phase = event.as<PhaseChanged>();
             phase != nullptr && phase->phase == DecoderPhase::Accelerate) {
        m_isOver = true;
        m_bridge.send(StopGeneration{});
    } else if (const auto* finished = event.as<PromptFinished>())
        onFinished(*finished);
}

/// The engine took the user's settings again, or refused them.
bool SkipSetFinder::isRestored(const EngineEvent& event) const {
    if (const auto* failure = event.as<EngineFailed>())
        return failure->task == "change_settings";
    const auto* changed = event.as<SettingsChanged>();
    return changed != nullptr && std::ranges::all_of(m_settingsBefore, [&](const auto& each) {
               const auto now = changed->settings.find(each.first);
               return now != changed->settings.end() && now->second == each.second;
           });
}

/// The result of a search is shown until the next answer, decoder or model.
void SkipSetFinder::forgetWith(const EngineEvent& event) {
    const bool isOld = event.as<PromptStarted>() != nullptr ||
                       event.as<DecoderChosen>() != nullptr || event.as<ModelLoaded>() != nullptr ||
                       event.as<ModelUnloaded>() != nullptr;
    if (!isOld || m_sentence.isEmpty())
        return;
    m_sentence.clear();
    emit changed();
}

void SkipSetFinder::onChosen(const DecoderChosen& chosen) {
    const DecoderInfo* searching = searchingDecoder(m_run);
    if (m_stage == Stage::Choosing && searching != nullptr && chosen.info.name == searching->name)
        beginSearch(chosen.info, chosen.settings);
    else {
        m_settingsBefore.clear(); // of a decoder that is gone
        giveUp(tr("The search ended, because another decoder was chosen."));
    }
}

void SkipSetFinder::beginSearch(const DecoderInfo& decoder, const SettingValues& settings) {
    SettingValues wanted;
    m_decoder = decoder.name;
    m_settingsBefore.clear();
    for (const SearchSetting& each : kSearchSettings) {
        const auto now = settings.find(each.name);
        if (decoder.find(each.name) == nullptr || now == settings.end())
            continue;
        m_settingsBefore[each.name] = now->second;
        wanted[each.name] = each.value;
    }
    if (!wanted.empty())
        change(wanted);
    m_stage = Stage::Searching;
    m_tried = 0;
    submit();
}

void SkipSetFinder::submit() {
    m_question.promptId = ++m_promptId;
    m_triedInAnswer = 0;
    if (!m_bridge.send(m_question))
        end(busyText());
}

void SkipSetFinder::onTrial(const TrialFinished& trial) {
    if (trial.counts) {
        ++m_tried;
        ++m_triedInAnswer;
    }
    m_sentence = countText(m_tried,
                           tr("Searching: 1 set tried, best matchness %2. Esc stops."),
                           tr("Searching: %1 sets tried, best matchness %2. Esc stops."))
                     .replace(QLatin1String("%2"), shareText(trial.best));
    emit changed();
}

/// A short answer has room for only a few trials, so it is generated again.
void SkipSetFinder::onFinished(const PromptFinished& finished) {
    if (finished.promptId != m_promptId)
        return;
    if (!m_isOver && !m_isStopped && m_triedInAnswer > 0) {
        submit();
        return;
    }
    end(m_isStopped ? tr("The search was stopped. %1").arg(outcome()) : outcome());
}

void SkipSetFinder::onFailed(const EngineFailed& failure) {
    const bool isMine = (failure.task == "submit_prompt" && failure.promptId == m_promptId) ||
                        (failure.task == "choose_decoder" && m_stage == Stage::Choosing);
    if (!isMine)
        return;
    if (failure.error.code == ErrorCode::Cancelled)
        end(tr("The search was stopped."));
    else
        end(tr("The search failed: %1 %2")
                .arg(QString::fromStdString(failure.error.message),
                     QString::fromStdString(failure.error.hint)));
}

QString SkipSetFinder::outcome() const {
    const SearchLog& search = m_run.search();
    const BestSet* set = search.current();
    if (set == nullptr || search.trials().empty() || m_tried == 0)
        return tr("No set could be tried, because the answer is too short. Ask for a longer one.");
    const SkipSet& skipped = set->change.plan.skipped;
    const auto sublayers = static_cast<qint64>(skipped.attention.size() + skipped.mlp.size());
    const double best = search.trials().back().best;
    if (sublayers == 0 || best < kUsefulMatchness)
        return tr("No useful set was found. Of %1 tried, the best has matchness %2, and below %3 "
                  "most drafts are wrong. Auto drafts without skipping layers.")
            .arg(QString::number(m_tried), shareText(best), shareText(kUsefulMatchness));
    return countText(sublayers,
                     tr("Found a set that skips 1 sublayer with matchness %2. The next answer "
                        "uses it."),
                     tr("Found a set that skips %1 sublayers with matchness %2. The next answer "
                        "uses it."))
        .replace(QLatin1String("%2"), shareText(best));
}

void SkipSetFinder::giveUp(const QString& sentence) {
    m_bridge.send(StopGeneration{});
    end(sentence);
}

void SkipSetFinder::end(const QString& sentence) {
    if (isRunning() && !m_settingsBefore.empty() && !change(m_settingsBefore))
        m_settingsBefore.clear();
    m_stage = Stage::Idle;
    m_sentence = sentence;
    emit changed();
}

} // namespace ui
