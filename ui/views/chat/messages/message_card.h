// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/icons/icons.h"
#include "ui/store/chat_records.h"
#include "ui/text/message_body.h"
#include "ui/theme/theme.h"
#include "ui/views/chat/messages/figures_line.h"

#include <QWidget>

#include <functional>

class QAbstractButton;
class QHBoxLayout;
class QLabel;
class QPlainTextEdit;
class QPushButton;
class QVBoxLayout;
class QToolButton;

namespace ui {

/// A message's position among its sibling branches.
struct BranchPlace {
    int index = 0; ///< from 0
    int count = 1;
    MessageId previous = 0; ///< 0 = none
    MessageId next = 0;
};

/// One message of the conversation with its figures and actions.
class MessageCard : public QWidget {
    Q_OBJECT

public:
    MessageCard(const Theme& theme,
                const StoredMessage& message,
                const BranchPlace& place,
                QWidget* parent = nullptr);

    const StoredMessage& message() const { return m_message; }

    MessageBody& body() { return *m_body; }

    /// The message with more text and tokens at its end; its figures wait for showFigures().
    void grow(const StoredMessage& message);

    /// Shows the figures of the message as it is.
    void showFigures();

    /// The final message.
    void finish(const StoredMessage& message);

    void setShowsOrigin(bool isShown);

    /// How far the prompt has been read, shown instead of the figures until there are some.
    void setProgress(const QString& sentence);

    /// While an answer is written nothing can be edited. `canAsk`: the model can answer now.
    void setBusy(bool isBusy, bool canAsk);

    /// Text and ids of the token, for its details.
    QString tokenText(int index) const;

    /// The text in the editor of the user's message; empty unless the user has changed it.
    QString editedText() const;

    /// The same for an answer: another card of it can go on with that.
    QString editedAnswer() const;
    void resumeEdit(const QString& text);

signals:
    void copyAsked(qint64 id);
    void regenerateAsked(qint64 id);
    void branchAsked(qint64 id);
    void editAsked(qint64 id, const QString& text);
    void continueAsked(qint64 id);

    /// An answer was edited; `goesOn`: the model is to continue it.
    void answerEdited(qint64 id, const QString& text, bool goesOn);
    void keepAsPromptAsked(qint64 id);
    void branchShown(qint64 id);
    void taskAsked(const QString& task);
    void losslessAsked(qint64 id);

    /// The text in the message's editor was changed.
    void editTyped();

    /// The message's editor was closed.
    void editEnded();

protected:
    void paintEvent(QPaintEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    struct ActionButton {
        QToolButton* button;
        IconName icon;
    };

    bool isUser() const { return m_message.role == MessageRole::User; }

    void makeHeader(QHBoxLayout& row, const BranchPlace& place);
    void makeActions(QHBoxLayout& row);
    QToolButton* addAction(QHBoxLayout& row, IconName icon, const QString& name);
    QString typedText() const;
    void beginEdit();
    void openEditor();
    void endEdit();
    void keepEdit(bool goesOn);
    QPushButton* addEditChoice(const QString& text, std::function<void()> act);
    void showAttachments(QVBoxLayout& rows);
    void showState();
    void showKeeping();
    void restyle();

    const Theme& m_theme;
    StoredMessage m_message;
    MessageBody* m_body;
    QLabel* m_name;
    QLabel* m_chip;
    FiguresLine* m_figures;
    bool m_hasFigures = false; ///< they are shown, not a sentence instead of them
    QWidget* m_actionRow;
    QPushButton* m_continue = nullptr; ///< of an answer
    bool m_isBusy = false;
    QPlainTextEdit* m_editor = nullptr;
    QWidget* m_editorRow = nullptr;
    std::vector<ActionButton> m_actions;
    std::vector<QToolButton*> m_changing;   ///< off while an answer is written
    std::vector<QAbstractButton*> m_asking; ///< off while the model cannot answer
    std::vector<QPushButton*> m_keeping;    ///< of an answer's editor; off as m_changing
};

/// The marks that a body draws.
std::vector<TokenMark> tokenMarks(const QList<TokenTrace>& tokens, qsizetype first = 0);

} // namespace ui
