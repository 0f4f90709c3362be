// SPDX-License-Identifier: GPL-3.0-only
#include "ui/studio/studio.h"
#include "ui/views/chat/chat_view.h"
#include "ui/views/chat/input_bar.h"
#include "ui/views/chat/panels/prompts_dialog.h"
#include "ui/views/controls/decoder_switch.h"
#include "ui/views/search_offer/skip_set_finder.h"

#include <algorithm>

// What is kept for later: the open chat, prompts, and the defaults of a model.

namespace ui {

using namespace engine;

/// The chat on the screen; 0 = a new one.
constexpr const char* kChatKey = "session/chat";

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
    if (const auto* changed = event.as<SamplingChanged>(); changed && !hasOwnSampling())
        keepGeneralSampling(changed->sampling);
    else if (const auto* chosen = event.as<DecoderChosen>(); chosen && m_hasChosenDecoder)
        keepDecoder(chosen->info, chosen->settings);
    else if (event.as<SettingsChanged>() && m_hasChosenDecoder && m_run.decoder() != nullptr)
        keepDecoder(*m_run.decoder(), m_finder->usersSettings());
}

/// Texts are left out: they name files, which may be gone.
void Studio::keepDecoder(const DecoderInfo& decoder, const SettingValues& settings) {
    ModelDefaults choices = m_answerDefaults.ofLastRun();
    choices.decoder = decoder.name;
    choices.decoderSettings.clear();
    const SettingValues usual = startingSettings(m_run, decoder.name);
    for (const SettingInfo& setting : decoder.settings) {
        const auto value = settings.find(setting.name);
        const auto started = usual.find(setting.name);
        if (value != settings.end() && setting.kind != SettingKind::Text &&
            value->second != (started != usual.end() ? started->second : setting.initial))
            choices.decoderSettings[setting.name] = value->second;
    }
    m_answerDefaults.setOfLastRun(choices);
}

/// As the user left them, unless the start asks for a decoder.
SettingValues Studio::settingsAtStart(const ModelLoaded& loaded, const std::string& decoder) const {
    SettingValues settings = startingSettings(m_run, decoder);
    const ModelDefaults kept = m_answerDefaults.ofLastRun();
    if (!m_options.decoder.isEmpty() || kept.decoder != decoder)
        return settings;
    const auto info = std::ranges::find(loaded.decoders, decoder, &DecoderInfo::name);
    if (info == loaded.decoders.end())
        return settings;
    for (const auto& [name, value] : kept.decoderSettings) {
        const SettingInfo* setting = findSetting(info->settings, name);
        if (setting != nullptr && checkSetting(*setting, value))
            settings[name] = value;
    }
    return settings;
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

/// Sampling and decoder as they are now; the system prompt is already saved.
void Studio::saveModelDefaults() {
    const ModelLoaded* model = m_run.model();
    const DecoderInfo* decoder = m_run.decoder();
    if (model == nullptr || decoder == nullptr)
        return;
    const QString path = QString::fromStdString(model->path);
    const ModelDefaults before = m_answerDefaults.ofModel(path);
    const SamplingOptions generalBefore = m_generalSampling;
    ModelDefaults defaults = before;
    defaults.sampling = m_run.sampling();
    defaults.decoder = decoder->name;
    defaults.decoderSettings = m_finder->usersSettings();
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
