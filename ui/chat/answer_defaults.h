// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_event.h"

#include <QJsonObject>
#include <QObject>
#include <QString>
#include <QStringList>

#include <optional>

class QSettings;

namespace ui {

/// What an answer is asked for besides the chat's messages. What is not set here is taken from the
/// next wider place: first the chat, then the model, then all chats. A plain value.
struct AnswerSettings {
    std::optional<QString> systemPrompt;
    std::optional<int> maxTokens; ///< of an answer
    std::optional<QStringList> stopStrings;

    bool isEmpty() const { return !systemPrompt && !maxTokens && !stopStrings; }

    bool operator==(const AnswerSettings&) const = default;
};

/// The places that keep settings, nearest first.
enum class SettingsPlace : std::uint8_t { Chat, Model, Everywhere };

/// All of them, and where the system prompt came from.
struct ResolvedAnswerSettings {
    QString systemPrompt;
    SettingsPlace systemPromptPlace = SettingsPlace::Everywhere;
    int maxTokens = 0;
    QStringList stopStrings;
};

/// The defaults of a model, as saved by *Save as this model's defaults*.
struct ModelDefaults {
    AnswerSettings answers;
    std::optional<engine::SamplingOptions> sampling; ///< without the seed
    std::string decoder;                             ///< empty = the one used last
    engine::SettingValues decoderSettings;

    bool isEmpty() const { return answers.isEmpty() && !sampling && decoder.empty(); }
};

QJsonObject answerSettingsToJson(const AnswerSettings& settings);

/// Invalid parts are left out.
AnswerSettings answerSettingsFromJson(const QJsonObject& json);

/// The settings of all chats and of each model, kept in the settings it is given. Thread: UI.
class AnswerDefaults : public QObject {
    Q_OBJECT

public:
    static constexpr int kMaxTokens = 1024; ///< of an answer, unless the user says otherwise
    static constexpr int kMostTokens = 1'000'000;

    /// `settings` outlives it.
    explicit AnswerDefaults(QSettings& settings, QObject* parent = nullptr);

    AnswerSettings everywhere() const;
    void setEverywhere(const AnswerSettings& settings);

    /// Of the chat that has not begun yet.
    AnswerSettings ofNewChat() const;
    void setOfNewChat(const AnswerSettings& settings);

    /// The folder of the chat that has not begun yet; empty = none.
    QString folderOfNewChat() const;
    void setFolderOfNewChat(const QString& folder);

    /// By the path that the model was loaded from; a model that was moved keeps its defaults.
    ModelDefaults ofModel(const QString& path) const;

    /// Empty defaults are removed.
    void setOfModel(const QString& path, const ModelDefaults& defaults);

    /// The choices of the last run: its decoder, and the sampling of models without defaults of
    /// their own.
    ModelDefaults ofLastRun() const;
    void setOfLastRun(const ModelDefaults& choices);

    /// The settings in effect for a chat with these settings of its own and this model ("" = none).
    ResolvedAnswerSettings resolve(const AnswerSettings& chat, const QString& modelPath) const;

    /// Whether the tasks of prompts are recognised, in all chats.
    bool recognisesTasks() const;
    void setRecognisesTasks(bool recognises);

signals:
    void changed();

private:
    QSettings& m_settings;
};

} // namespace ui
