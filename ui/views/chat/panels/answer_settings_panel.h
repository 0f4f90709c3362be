// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/chat/answer_defaults.h"
#include "ui/shell/widgets/column_scroll.h"
#include "ui/store/chat_records.h"
#include "ui/theme/theme.h"

#include <QHash>
#include <QTimer>

#include <array>

class QComboBox;
class QLabel;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;

namespace ui {

/// System prompt, longest answer and stop strings, for the chat shown, for the model, or for all
/// chats. The fields show the settings in effect, whether they are the place's own or a wider
/// one's. Changes take effect when they are saved. It scrolls where it has too little height.
class AnswerSettingsPanel : public ColumnScroll {
    Q_OBJECT

public:
    explicit AnswerSettingsPanel(const Theme& theme, QWidget* parent = nullptr);

    /// What each SettingsPlace has of its own. What was typed and not saved is kept with the chat
    /// or the model that it was typed for, and is there when that is shown again; without a model,
    /// for the next one.
    void
    setSettings(const std::array<AnswerSettings, 3>& places, const QString& modelName, ChatId chat);

    /// The new chat that is shown has begun: what was typed for it goes along. Does nothing while
    /// another chat is shown.
    void beginChat(ChatId chat);

    /// Answers systemPromptTyped().
    void setTokens(int tokens, int contextLength);

    void focusText();

signals:
    void saved(ui::SettingsPlace place, const ui::AnswerSettings& settings);
    void closed();

    /// The system prompt was edited; its tokens are to be counted.
    void systemPromptTyped(const QString& text);

protected:
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    /// What the fields hold, as it was typed.
    struct Typed {
        QString systemPrompt;
        int maxTokens = 0;
        QString stopStrings;
    };

    SettingsPlace place() const;
    QString keyOfPlace() const;
    void keepTyped();
    void moveTyped(const QString& from, const QString& to);
    AnswerSettings wider() const;
    AnswerSettings written() const;
    void fill();
    void save();
    void showButtons();
    void restyle();

    const Theme& m_theme;
    std::array<AnswerSettings, 3> m_places; ///< by SettingsPlace
    QComboBox* m_place;
    QPlainTextEdit* m_systemPrompt;
    QLabel* m_note;
    QSpinBox* m_maxTokens;
    QPlainTextEdit* m_stopStrings;
    QPushButton* m_save;
    QPushButton* m_forget;
    QTimer m_countTimer;
    ChatId m_chat = 0;
    QString m_modelName;
    QString m_shownKey;
    bool m_isTyped = false;        ///< the fields hold something that is not saved
    QHash<QString, Typed> m_typed; ///< and not saved, by keyOfPlace()
};

} // namespace ui
