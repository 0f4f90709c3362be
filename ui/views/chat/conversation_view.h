// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/store/chat_records.h"
#include "ui/theme/theme.h"
#include "ui/views/chat/message_card.h"

#include <QPointer>
#include <QScrollArea>

#include <optional>
#include <set>
#include <vector>

class QPushButton;
class QVBoxLayout;

namespace ui {

class TokenDetails;

/// The messages of the branch that is shown, in one column. It follows the text at its end until
/// the reader scrolls away, and again when the reader comes back to the end. While it is hidden no
/// text is laid out: what comes meanwhile waits until it is shown.
class ConversationView : public QScrollArea {
    Q_OBJECT

public:
    /// Older messages are laid out when they are asked for.
    static constexpr qsizetype kMessagesShown = 40;

    explicit ConversationView(const Theme& theme, QWidget* parent = nullptr);

    void showChat(const Chat& chat);

    void add(const Chat& chat, const StoredMessage& message);

    /// Notes that the message has grown; flush() draws it.
    void noteGrown(MessageId id) { m_grown.insert(id); }

    /// Draws what has grown, once for all events of a tick.
    void flush(const Chat& chat);

    void finish(const StoredMessage& message);

    void setShowsOrigin(bool isShown);
    void setBusy(bool isBusy);

    bool isAtEnd() const { return m_isAtEnd; }

    void scrollToEnd();

    /// Brings a message of the branch to the top of the view, and the focus to it.
    void showMessage(MessageId id);

    MessageCard* card(MessageId id) const;

    const std::vector<MessageCard*>& cards() const { return m_cards; }

signals:
    void copyAsked(qint64 id);
    void regenerateAsked(qint64 id);
    void branchAsked(qint64 id);
    void editAsked(qint64 id, const QString& text);
    void continueAsked(qint64 id);
    void answerEdited(qint64 id, const QString& text, bool goesOn);
    void keepAsPromptAsked(qint64 id);
    void branchShown(qint64 id);
    void editEnded();

    /// The answer shall go on from this token of it, with `choice` in its place.
    void tokenBranchAsked(qint64 id, int index, const engine::TokenChoice& choice);

    /// The user points at a token of a message; -1 = at none.
    void tokenChosen(qint64 id, int index);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    void makeCards();
    void catchUp();
    void showMessages(const Chat& chat, qsizetype count);
    void showEarlier();
    void showButton(QPushButton& button, bool isShown);
    void onRangeChanged();
    void onScrolled(int value);
    void note(const StoredMessage& message);
    MessageCard* makeCard(const Chat& chat, const StoredMessage& message);
    void showDetails(MessageCard* card, int token, bool isPinned);
    void placeDetails();
    void scrollToSought();
    void hideDetails();
    void restyle();

    const Theme& m_theme;
    QWidget* m_page;
    QVBoxLayout* m_column;
    QPushButton* m_earlier;
    QPushButton* m_toEnd;
    TokenDetails* m_details;
    Chat m_chat;
    std::vector<MessageCard*> m_cards;
    std::set<MessageId> m_grown;
    std::vector<MessageId> m_added; ///< while hidden; no cards yet
    std::set<MessageId> m_finished; ///< while hidden
    bool m_hasCards = true;         ///< not since showChat() came while hidden
    qsizetype m_shownCount = kMessagesShown;
    bool m_showsOrigin = true;
    bool m_isBusy = false;
    bool m_isAtEnd = true;
    MessageId m_sought = 0; ///< stays at the top while the cards around it get their heights
    std::optional<int> m_keptFromEnd; ///< pixels from the end that stay in view above new messages
    QPointer<MessageCard> m_detailsCard;
    int m_detailsToken = -1;
};

} // namespace ui
