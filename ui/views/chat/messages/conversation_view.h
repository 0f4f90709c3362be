// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/store/chat_records.h"
#include "ui/theme/theme.h"
#include "ui/views/chat/messages/message_card.h"

#include <QPointer>
#include <QScrollArea>

#include <map>
#include <optional>
#include <set>
#include <vector>

class QPushButton;
class QVBoxLayout;

namespace ui {

class TokenDetails;

/// The messages of the branch that is shown, in one column. It follows the text at its end until
/// the reader scrolls away, and again when the reader comes back to the end. Of a long chat only
/// the messages around those that are read are laid out, others on request. While it is hidden no
/// text is laid out; new text waits until it is shown.
class ConversationView : public QScrollArea {
    Q_OBJECT

public:
    /// Of a chat that is opened; others are laid out on request.
    static constexpr qsizetype kMessagesShown = 40;

    /// With more than so many, a new message leaves only the last kMessagesShown.
    static constexpr std::size_t kMostBeforeNew = 120;

    explicit ConversationView(const Theme& theme, QWidget* parent = nullptr);

    void showChat(const Chat& chat);

    void add(const Chat& chat, const StoredMessage& message);

    /// Notes that the message has grown; flush() draws it.
    void noteGrown(MessageId id) { m_grown.insert(id); }

    /// Draws the grown messages, once for all events of a tick.
    void flush(const Chat& chat);

    /// Shows the figures of a message that grows, in the tick in which others show theirs.
    void showFigures(MessageId id);

    void finish(const StoredMessage& message);

    void setShowsOrigin(bool isShown);
    void setBusy(bool isBusy, bool canAsk); ///< see MessageCard

    bool isAtEnd() const { return m_isAtEnd; }

    void scrollToEnd();

    /// Scrolls a message of the branch to the top of the view and gives it the focus.
    void showMessage(MessageId id);

    MessageCard* card(MessageId id) const;

    const std::vector<MessageCard*>& cards() const { return m_cards; }

    /// What the user has typed into the editors of messages, and neither sent nor cancelled.
    QString editedText() const;

    bool hasPinnedToken() const;

    /// Closes the details of the token that is shown, and unpins it.
    void unpin();

signals:
    void copyAsked(qint64 id);
    void regenerateAsked(qint64 id);
    void branchAsked(qint64 id);
    void editAsked(qint64 id, const QString& text);
    void continueAsked(qint64 id);
    void answerEdited(qint64 id, const QString& text, bool goesOn);
    void keepAsPromptAsked(qint64 id);
    void branchShown(qint64 id);
    void taskAsked(const QString& task);
    void losslessAsked(qint64 id);
    void editTyped(); ///< editedText() is another one
    void editEnded();

    /// Editors with such text were removed with their cards; what was typed is to be kept
    /// elsewhere. An edited answer comes back with its card.
    void editsRemoved();

    /// The user wants the answer to continue from this token, with `choice` instead of it.
    void tokenBranchAsked(qint64 id, int index, const engine::TokenChoice& choice);

    /// The user hovers over a token of a message; -1 = none.
    void tokenChosen(qint64 id, int index);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    void makeCards();
    void catchUp();
    void showMessages(const Chat& chat, qsizetype count);
    void showEarlier();
    void showLater();
    void goToEnd();
    void showButton(QPushButton& button, bool isShown);
    void onRangeChanged();
    void onScrolled(int value);
    void note(const StoredMessage& message);
    MessageCard* makeCard(const Chat& chat, const StoredMessage& message);
    void showDetails(MessageCard* card, int token, bool isPinned);
    void placeDetails();
    void followEnd();
    void scrollToSought();
    void restyle();

    const Theme& m_theme;
    QWidget* m_page;
    QVBoxLayout* m_column;
    QPushButton* m_earlier;
    QPushButton* m_later;
    QPushButton* m_toEnd;
    TokenDetails* m_details;
    Chat m_chat;
    std::vector<MessageCard*> m_cards;
    std::set<MessageId> m_grown;
    std::vector<MessageId> m_added;               ///< while hidden; no cards yet
    std::set<MessageId> m_finished;               ///< while hidden
    std::map<MessageId, QString> m_editedAnswers; ///< whose cards were removed meanwhile
    bool m_hasCards = true; ///< false after showChat() was called while hidden
    qsizetype m_shownCount = kMessagesShown;
    qsizetype m_leftOut = 0; ///< newest messages, behind those that are laid out
    bool m_showsOrigin = true;
    bool m_isBusy = false;
    bool m_canAsk = true;
    bool m_isAtEnd = true;   ///< of the chat, not only of what is laid out
    bool m_onlyGrew = false; ///< since the last layout, a message; its own size stayed
    MessageId m_sought = 0;  ///< stays at the top while the cards around it get their heights
    std::optional<int> m_keptFromEnd; ///< pixels from the end that stay in view above new messages
    QPointer<MessageCard> m_detailsCard;
    int m_detailsToken = -1;
};

} // namespace ui
