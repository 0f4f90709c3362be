// SPDX-License-Identifier: GPL-3.0-only
#include "ui/files/clean_path.h"
#include "ui/studio/studio.h"
#include "ui/studio/workspaces/lesson_hand.h"
#include "ui/views/chat/chat_view.h"
#include "ui/views/chat/input_bar.h"
#include "ui/views/chat/panels/prompts_dialog.h"
#include "ui/views/controls/parameters_view.h"
#include "ui/views/search_offer/skip_set_finder.h"

#include <QAction>
#include <QDateTime>
#include <QFile>
#include <QFileInfo>

#include <algorithm>
#include <utility>

// What is kept for later: the model, the open chat, prompts, the defaults of a model, and what
// becomes of the file that all this stands in.

namespace ui {

using namespace engine;

/// The chat on the screen; 0 = a new one.
constexpr const char* kChatKey = "session/chat";
constexpr const char* kModelKey = "session/model";
constexpr const char* kOriginKey = "chat/show_origin";
constexpr const char* kSimpleKey = "parameters/simple";

/// The file would be written over by the settings that could be read.
void Studio::setDamagedSettingsAside() {
    const QString kept = m_options.settingsPath + QStringLiteral(".damaged-") +
                         QDateTime::currentDateTime().toString(QStringLiteral("yyyyMMdd-HHmmss"));
    const bool isKept = QFile::copy(m_options.settingsPath, kept);
    m_window->messages().show(
        {Notice::Kind::Warning,
         QStringLiteral("settings"),
         tr("The file with your settings is damaged. What could be read of it is used."),
         isKept ? tr("A copy was kept as %1.").arg(kept)
                : tr("No copy of %1 could be kept.").arg(m_options.settingsPath)});
}

void Studio::tellUnsavedSettings() {
    m_window->messages().show({Notice::Kind::Warning,
                               QStringLiteral("settings"),
                               tr("Your settings cannot be saved now."),
                               tr("The file %1 cannot be written. What you choose is lost when the "
                                  "window closes, unless it can be written by then.")
                                   .arg(m_options.settingsPath)});
}

/// The model that was used last, unless the user named one. Where it is gone, the one of the start
/// stands in for it.
QString Studio::firstModel() {
    const QString last = m_settings.value(kModelKey).toString();
    if (last.isEmpty() || m_options.isModelAskedFor)
        return m_options.modelPath;
    if (QFileInfo::exists(last))
        return last;
    m_missingModel = last;
    m_window->messages().show(
        {Notice::Kind::Warning,
         QStringLiteral("missing_model"),
         tr("The model used last is missing."),
         tr("%1 is not there. It comes again at the next start if it is there by then.").arg(last),
         {},
         {{tr("Choose another model..."), [this] { showModelPanel(); }, true},
          {tr("Forget it"),
           [this] {
               m_missingModel.clear();
               m_settings.remove(kModelKey);
               if (m_run.model() != nullptr)
                   keepModel(QString::fromStdString(m_run.model()->path));
           },
           true}}});
    return m_options.modelPath;
}

/// One that only stands in for a missing model is no choice of the user.
void Studio::keepModel(const QString& path) {
    const QString whole = cleanPath(path);
    if (!m_missingModel.isEmpty() && whole == cleanPath(m_options.modelPath))
        return;
    m_missingModel.clear();
    m_window->messages().withdraw(QStringLiteral("missing_model"));
    m_settings.setValue(kModelKey, whole);
}

/// A replay changes none of what the next start of the window finds.
void Studio::keepSmallChoices(QAction& origin) {
    m_chatView->setShowsOrigin(m_settings.value(kOriginKey, true).toBool());
    m_parameters->setSimple(m_settings.value(kSimpleKey, true).toBool());
    if (m_bridge->isReplay())
        return;
    connect(&origin, &QAction::toggled, this, [this](bool isShown) {
        m_settings.setValue(kOriginKey, isShown);
    });
    connect(m_parameters, &ParametersView::simpleChosen, this, [this](bool isSimple) {
        m_settings.setValue(kSimpleKey, isSimple);
    });
}

void Studio::keepOpenChat() {
    if (m_options.replayName.isEmpty())
        m_settings.setValue(kChatKey, m_session->chat().record.id);
}

/// A first message begins a chat of its own. After a crash no chat is opened, as no model is
/// loaded.
void Studio::openKeptChat() {
    const ChatId id = m_settings.value(kChatKey).toLongLong();
    if (id != 0 && m_options.replayName.isEmpty() && m_options.firstMessage.isEmpty() &&
        !endedBadly())
        m_session->openChat(id);
}

/// Greedy answers of small models repeat themselves, so chats are sampled unless the user chooses
/// otherwise.
SamplingOptions Studio::keptSampling() const {
    SamplingOptions usual;
    usual.temperature = 0.7;
    usual.topP = 0.9;
    SamplingOptions sampling = m_answerDefaults.ofLastRun().sampling.value_or(usual);
    sampling.seed = 1;
    return sampling;
}

/// Without what was meant for one model's tokens or for one answer.
void Studio::keepGeneralSampling(const SamplingOptions& sampling) {
    m_generalSampling = sampling;
    ModelDefaults choices = m_answerDefaults.ofLastRun();
    choices.sampling = sampling;
    choices.sampling->logitBias.clear();
    choices.sampling->grammar = {};
    m_answerDefaults.setOfLastRun(choices);
}

/// A search for a skip set has settings of its own, and restores the user's at its end.
void Studio::keepChoices(const EngineEvent& event) {
    if (const auto* changed = event.as<SamplingChanged>(); changed != nullptr) {
        if (!hasOwnSampling() && !m_session->isSamplingLent())
            keepGeneralSampling(changed->sampling);
    } else if (const auto* failure = event.as<EngineFailed>();
               failure && failure->task == "choose_decoder") {
        if (failure->error.code == ErrorCode::InvalidInput)
            m_keptSettings.forgetRefused(m_bridge->nextDecoder().refused());
    } else if ((m_lessonHand && m_lessonHand->hasChosen()) || m_finder->isRunning())
        return; // theirs is not the user's
    else if (const auto* chosen = event.as<DecoderChosen>(); chosen && m_hasChosenDecoder)
        keepDecoder(chosen->settings);
    else if (event.as<SettingsChanged>() && m_hasChosenDecoder && m_run.decoder() != nullptr)
        keepDecoder(m_finder->usersSettings());
}

/// Its settings are kept beside those of the other decoders.
void Studio::keepDecoder(const SettingValues& settings) {
    ModelDefaults choices = m_answerDefaults.ofLastRun();
    choices.decoder = m_run.decoder()->name;
    choices.decoderSettings.clear();
    m_answerDefaults.setOfLastRun(choices);
    m_keptSettings.keep(settings);
}

/// The window closes while an answer is generated: what was chosen for the next one is kept, too.
void Studio::keepWaiting() {
    if (!m_options.replayName.isEmpty() || m_run.model() == nullptr)
        return;
    if (const SamplingOptions coming = m_parameters->comingSampling();
        coming != m_session->usersSampling() && !hasOwnSampling())
        keepGeneralSampling(coming);
    const NextDecoder& next = m_bridge->nextDecoder();
    if (!next.isWaiting() || m_lessonHand->hasChosen() || m_finder->isRunning())
        return;
    ModelDefaults choices = m_answerDefaults.ofLastRun();
    choices.decoder = next.info()->name;
    m_answerDefaults.setOfLastRun(choices);
    m_keptSettings.keep(*next.info(), next.settings());
}

void Studio::showPrompts() {
    auto* dialog = new PromptsDialog(m_theme, m_prompts, m_window.get());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &PromptsDialog::insertAsked, this, [this](const QString& text) {
        m_window->showWorkspace(0);
        m_chatView->insertText(text);
        m_chatView->input().focusText();
    });
    dialog->open();
}

void Studio::keepAsPrompt(const QString& text) {
    const SavedPrompt prompt{PromptList::titleOf(text), text};
    const QString problem = m_prompts.add(prompt);
    if (!problem.isEmpty()) {
        m_window->messages().show({Notice::Kind::Error, QStringLiteral("prompts"), problem});
        return;
    }
    m_window->messages().show({Notice::Kind::Info,
                               QStringLiteral("prompts"),
                               tr("The message was added to your prompts."),
                               tr("Find your prompts in File > Prompts or with Ctrl+K."),
                               {},
                               {{tr("Undo"), [this, prompt] { m_prompts.remove(prompt); }, true}}});
}

/// Sampling and decoder as they are shown; the system prompt is already saved.
void Studio::saveModelDefaults() {
    const ModelLoaded* model = m_run.model();
    const NextDecoder& next = m_bridge->nextDecoder();
    const DecoderInfo* decoder = next.info();
    if (model == nullptr || decoder == nullptr)
        return;
    const QString path = QString::fromStdString(model->path);
    const ModelDefaults before = m_answerDefaults.ofModel(path);
    const SamplingOptions generalBefore = m_generalSampling;
    ModelDefaults defaults = before;
    defaults.sampling = m_session->usersSampling();
    defaults.decoder = decoder->name;
    defaults.decoderSettings = next.isWaiting() ? next.settings() : m_finder->usersSettings();
    m_answerDefaults.setOfModel(path, defaults);
    // Changes since the load were meant for this model.
    keepGeneralSampling(m_generalSamplingAtLoad);
    m_window->messages().show(
        {Notice::Kind::Info,
         QStringLiteral("model_defaults"),
         tr("These settings are now the defaults of %1.")
             .arg(QString::fromStdString(model->model.name)),
         tr("The decoder %1, its settings and the sampling are restored whenever this model is "
            "loaded.")
             .arg(QString::fromStdString(decoder->title)),
         {},
         {{tr("Undo"),
           [this, path, before, generalBefore] {
               m_answerDefaults.setOfModel(path, before);
               keepGeneralSampling(generalBefore);
           },
           true}}});
}

void Studio::forgetModelDefaults() {
    const ModelLoaded* model = m_run.model();
    if (model == nullptr)
        return;
    const QString path = QString::fromStdString(model->path);
    const ModelDefaults before = m_answerDefaults.ofModel(path);
    m_answerDefaults.setOfModel(path, {});
    m_window->messages().show(
        {Notice::Kind::Info,
         QStringLiteral("model_defaults"),
         tr("%1 no longer has defaults of its own.").arg(QString::fromStdString(model->model.name)),
         {},
         {},
         {{tr("Undo"),
           [this, path, before] { m_answerDefaults.setOfModel(path, before); },
           true}}});
}

bool Studio::hasOwnSampling() const {
    const ModelLoaded* model = m_run.model();
    return model != nullptr &&
           m_answerDefaults.ofModel(QString::fromStdString(model->path)).sampling.has_value();
}

/// Forgets what was meant for layers or tokens of another model, or for one answer of it.
void Studio::leaveFormerModel(const std::string& path) {
    const std::string former = std::exchange(m_modelPath, path);
    if (former.empty() || former == path)
        return;
    m_selection.setPinnedSet(std::nullopt);
    m_generalSampling.logitBias.clear();
    m_generalSampling.grammar = {};
}

/// The engine keeps the settings from model to model, but a skip set in them belongs to one model:
/// that of another one goes, and the loaded one's own comes back. A decoder that was chosen while
/// the model was being loaded is the one that counts.
void Studio::useSetOfModel() {
    const DecoderInfo* next = m_bridge->nextDecoder().info();
    if (next == nullptr)
        return;
    const std::string decoder = next->name;
    const SettingValues own = m_keptSettings.useSetOf(decoder);
    const SettingValues present = m_bridge->nextDecoder().settings();
    const auto isSame = [&](const char* name) {
        const auto valueIn = [name](const SettingValues& values) {
            const auto found = values.find(name);
            return found == values.end() ? SettingValue(std::string()) : found->second;
        };
        return valueIn(own) == valueIn(present);
    };
    if (!isSame("skip_set") || !isSame("entry"))
        m_bridge->send(ChooseDecoder{decoder, m_keptSettings.startOf(decoder)});
}

/// Applies the parts that still exist. The previous model's sampling is never taken over; a decoder
/// requested at the start stays.
void Studio::useModelDefaults(const ModelLoaded& loaded) {
    const ModelDefaults defaults = m_answerDefaults.ofModel(QString::fromStdString(loaded.path));
    m_generalSamplingAtLoad = m_generalSampling;
    SamplingOptions sampling = defaults.sampling.value_or(m_generalSampling);
    // The seed in use goes on; before the first model there is none.
    if (m_run.sampling() != SamplingOptions())
        sampling.seed = m_run.sampling().seed;
    if (sampling != m_run.sampling())
        m_bridge->send(ChangeSampling{sampling});
    const auto isIt = [&](const DecoderInfo& info) { return info.name == defaults.decoder; };
    if (m_options.decoder.isEmpty() && std::ranges::any_of(loaded.decoders, isIt))
        m_bridge->send(ChooseDecoder{defaults.decoder, defaults.decoderSettings});
}

} // namespace ui
