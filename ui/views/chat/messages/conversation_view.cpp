// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/chat/messages/conversation_view.h"

#include "ui/origin/token_details.h"

#include <QApplication>
#include <QPushButton>
#include <QScrollBar>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

constexpr int kColumnWidth = 728; // as the input field below it
constexpr int kEndTolerance = 4;  ///< pixels from the end that still count as the end

/// All messages. A scroll area asks its page for its height at several widths, though the bar
/// stays; answering for the true width alone spares all messages a second layout.
class Page : public QWidget {
public:
    QSize sizeHint() const override { return minimumSizeHint(); }

    int heightForWidth(int width) const override {
        const QWidget* viewport = parentWidget();
        return QWidget::heightForWidth(viewport != nullptr ? viewport->width() : width);
    }
};

BranchPlace placeOf(const Chat& chat, const StoredMessage& message) {
    const QList<MessageId> siblings = chat.childrenOf(message.parentId);
    const qsizetype index = siblings.indexOf(message.id);
    BranchPlace place;
    place.index = static_cast<int>(std::max<qsizetype>(index, 0));
    place.count = static_cast<int>(std::max<qsizetype>(siblings.size(), 1));
    place.previous = index > 0 ? siblings[index - 1] : 0;
    place.next = index >= 0 && index + 1 < siblings.size() ? siblings[index + 1] : 0;
    return place;
}

} // namespace

ConversationView::ConversationView(const Theme& theme, QWidget* parent)
    : QScrollArea(parent)
    , m_theme(theme)
    , m_page(new Page)
    , m_column(new QVBoxLayout)
    , m_earlier(new QPushButton(tr("Show earlier messages"), m_page))
    , m_later(new QPushButton(tr("Show later messages"), m_page))
    , m_toEnd(new QPushButton(tr("Go to the newest text"), this))
    , m_details(new TokenDetails(theme, this)) {
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    // A bar that comes and goes would have the area ask all messages for their height at each width
    // with and without it, whenever one grows.
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
    verticalScrollBar()->setEnabled(false);
    setAccessibleName(tr("Conversation"));
    auto* centring = new QHBoxLayout(m_page);
    auto* column = new QWidget(m_page);
    column->setLayout(m_column);
    centring->addStretch(1);
    centring->addWidget(column, 100);
    centring->addStretch(1);
    // What is painted stays when a message below it grows.
    m_page->setAttribute(Qt::WA_StaticContents);
    column->setAttribute(Qt::WA_StaticContents);
    m_column->setContentsMargins(0, theme.scaled(12), 0, theme.scaled(12));
    m_column->setSpacing(theme.scaled(12));
    for (QPushButton* more : {m_earlier, m_later}) {
        more->setProperty("kind", "link");
        m_column->addWidget(more, 0, Qt::AlignHCenter);
    }
    m_later->hide();
    m_column->addStretch();
    setWidget(m_page);
    m_details->hide();
    m_toEnd->setProperty("form", "small");
    m_toEnd->hide();
    connect(m_earlier, &QPushButton::clicked, this, &ConversationView::showEarlier);
    connect(m_later, &QPushButton::clicked, this, &ConversationView::showLater);
    connect(m_toEnd, &QPushButton::clicked, this, &ConversationView::goToEnd);
    connect(m_details, &TokenDetails::closeRequested, this, &ConversationView::unpin);
    connect(m_details, &TokenDetails::branchAsked, this, [this](const engine::TokenChoice& choice) {
        if (m_detailsCard == nullptr)
            return;
        const MessageId id = m_detailsCard->message().id;
        const int token = m_detailsToken;
        unpin();
        emit tokenBranchAsked(id, token, choice);
    });
    connect(
        verticalScrollBar(), &QScrollBar::rangeChanged, this, &ConversationView::onRangeChanged);
    connect(verticalScrollBar(), &QScrollBar::valueChanged, this, &ConversationView::onScrolled);
    connect(&theme, &Theme::changed, this, &ConversationView::restyle);
    restyle();
}

/// A button hidden while it has the focus would pass the focus to some card, and the view would
/// scroll there.
void ConversationView::showButton(QPushButton& button, bool isShown) {
    if (!isShown && button.hasFocus())
        setFocus();
    button.setVisible(isShown);
}

void ConversationView::onRangeChanged() {
    verticalScrollBar()->setEnabled(verticalScrollBar()->maximum() > 0); // its handle is drawn then
    if (m_sought != 0)
        scrollToSought();
    else if (m_isAtEnd)
        followEnd();
    else if (const std::optional<int> kept = m_keptFromEnd) {
        verticalScrollBar()->setValue(verticalScrollBar()->maximum() - *kept);
        m_keptFromEnd = kept; // scrolling forgets it
    }
    showButton(*m_toEnd, !m_isAtEnd);
}

void ConversationView::onScrolled(int value) {
    m_keptFromEnd.reset();
    m_sought = 0;
    m_isAtEnd = m_leftOut == 0 && value >= verticalScrollBar()->maximum() - kEndTolerance;
    showButton(*m_toEnd, !m_isAtEnd);
    if (m_details->isPinned())
        placeDetails();
    else
        unpin();
}

/// They are inserted above the visible text, which stays where it is.
void ConversationView::showEarlier() {
    const int fromEnd = verticalScrollBar()->maximum() - verticalScrollBar()->value();
    const auto laidOut = static_cast<qsizetype>(m_cards.size()); // new ones, too
    showMessages(m_chat, std::max(m_shownCount, laidOut) + kMessagesShown);
    m_keptFromEnd = fromEnd;
}

/// They come below the last one that was there, which goes to the top of the view.
void ConversationView::showLater() {
    const qsizetype more = std::min(m_leftOut, kMessagesShown);
    const MessageId last = m_cards.empty() ? 0 : m_cards.back()->message().id;
    m_leftOut -= more;
    showMessages(m_chat, m_shownCount + more);
    m_sought = last;
    scrollToSought();
}

void ConversationView::goToEnd() {
    if (m_leftOut > 0)
        showChat(m_chat);
    else
        scrollToEnd();
}

void ConversationView::showChat(const Chat& chat) {
    m_isAtEnd = true;
    m_leftOut = 0;
    m_keptFromEnd.reset();
    m_sought = 0;
    showMessages(chat, kMessagesShown);
    scrollToEnd();
}

void ConversationView::showMessage(MessageId id) {
    const QList<StoredMessage> branch = m_chat.currentBranch();
    const auto found = std::ranges::find(branch, id, &StoredMessage::id);
    if (found == branch.end())
        return;
    const qsizetype behind = branch.end() - found - 1;
    const bool isLaidOut = behind >= m_leftOut && behind < m_leftOut + m_shownCount;
    if (card(id) == nullptr && !isLaidOut) {
        m_leftOut = std::max<qsizetype>(0, behind - kMessagesShown * 3 / 4);
        showMessages(m_chat, kMessagesShown);
    }
    m_sought = id;
    scrollToSought();
    if (MessageCard* shown = card(id))
        shown->body().setFocus(Qt::OtherFocusReason);
}

void ConversationView::scrollToSought() {
    const MessageCard* shown = card(m_sought);
    if (shown == nullptr)
        return;
    const MessageId sought = m_sought;
    m_column->activate();
    verticalScrollBar()->setValue(shown->y() - m_theme.scaled(8));
    m_sought = sought; // scrolling forgets it
}

void ConversationView::showMessages(const Chat& chat, qsizetype count) {
    // A card removed while it has the focus would pass the focus to some distant widget.
    if (isAncestorOf(QApplication::focusWidget()))
        setFocus();
    m_chat = chat;
    m_shownCount = count;
    m_isAtEnd = m_isAtEnd && m_leftOut == 0;
    unpin();
    const bool hasEdits = !editedText().isEmpty();
    for (MessageCard* card : std::exchange(m_cards, {})) {
        if (const QString text = card->editedAnswer(); !text.isEmpty())
            m_editedAnswers[card->message().id] = text;
        card->hide();
        card->deleteLater();
    }
    m_grown.clear();
    m_added.clear();
    m_finished.clear();
    m_hasCards = isVisible();
    if (m_hasCards)
        makeCards();
    if (hasEdits)
        emit editsRemoved();
}

void ConversationView::makeCards() {
    const QList<StoredMessage> branch = m_chat.currentBranch();
    const qsizetype end = std::max<qsizetype>(0, branch.size() - m_leftOut);
    const qsizetype first = std::max<qsizetype>(0, end - m_shownCount);
    showButton(*m_earlier, first > 0);
    showButton(*m_later, m_leftOut > 0);
    showButton(*m_toEnd, !m_isAtEnd);
    for (qsizetype i = first; i < end; ++i)
        makeCard(m_chat, branch[i]);
}

/// Messages that arrived while the view was hidden.
void ConversationView::catchUp() {
    const std::vector<MessageId> added = std::exchange(m_added, {});
    const std::set<MessageId> finished = std::exchange(m_finished, {});
    if (!std::exchange(m_hasCards, true)) {
        makeCards();
        return;
    }
    const auto known = [this](MessageId id) {
        return std::ranges::find(m_chat.messages, id, &StoredMessage::id);
    };
    for (const MessageId id : added)
        if (known(id) != m_chat.messages.end())
            makeCard(m_chat, *known(id));
    for (const MessageId id : finished)
        if (MessageCard* shown = card(id); shown != nullptr && known(id) != m_chat.messages.end())
            shown->finish(*known(id));
}

void ConversationView::showEvent(QShowEvent* event) {
    QScrollArea::showEvent(event);
    catchUp();
    if (m_sought != 0)
        scrollToSought();
    else if (m_isAtEnd)
        scrollToEnd();
}

MessageCard* ConversationView::makeCard(const Chat& chat, const StoredMessage& message) {
    auto* card = new MessageCard(m_theme, message, placeOf(chat, message), m_page);
    card->setShowsOrigin(m_showsOrigin);
    card->setBusy(m_isBusy, m_canAsk);
    m_column->insertWidget(m_column->indexOf(m_later), card);
    m_cards.push_back(card);
    connect(card, &MessageCard::copyAsked, this, &ConversationView::copyAsked);
    connect(card, &MessageCard::regenerateAsked, this, &ConversationView::regenerateAsked);
    connect(card, &MessageCard::branchAsked, this, &ConversationView::branchAsked);
    connect(card, &MessageCard::editAsked, this, &ConversationView::editAsked);
    connect(card, &MessageCard::continueAsked, this, &ConversationView::continueAsked);
    connect(card, &MessageCard::answerEdited, this, &ConversationView::answerEdited);
    connect(card, &MessageCard::keepAsPromptAsked, this, &ConversationView::keepAsPromptAsked);
    connect(card, &MessageCard::branchShown, this, &ConversationView::branchShown);
    connect(card, &MessageCard::taskAsked, this, &ConversationView::taskAsked);
    connect(card, &MessageCard::losslessAsked, this, &ConversationView::losslessAsked);
    connect(card, &MessageCard::editTyped, this, &ConversationView::editTyped);
    connect(card, &MessageCard::editEnded, this, &ConversationView::editEnded);
    connect(&card->body(), &MessageBody::tokenHovered, this, [this, card](int token) {
        if (!m_details->isPinned())
            showDetails(card, token, false);
    });
    connect(&card->body(), &MessageBody::tokenPinned, this, [this, card](int token) {
        showDetails(card, token, true);
    });
    if (const auto edited = m_editedAnswers.extract(message.id))
        card->resumeEdit(edited.mapped());
    return card;
}

void ConversationView::add(const Chat& chat, const StoredMessage& message) {
    if (m_leftOut > 0 || m_cards.size() + m_added.size() >= kMostBeforeNew) {
        showChat(chat); // its end, with the new message
        return;
    }
    m_chat = chat;
    m_isAtEnd = true;
    m_sought = 0;
    if (!isVisible()) {
        m_added.push_back(message.id);
        return;
    }
    makeCard(chat, message);
    scrollToEnd();
}

void ConversationView::flush(const Chat& chat) {
    for (const MessageId id : std::exchange(m_grown, {})) {
        const auto grown = std::ranges::find(chat.messages, id, &StoredMessage::id);
        if (grown == chat.messages.end())
            continue;
        m_keptFromEnd.reset();
        note(*grown);
        if (MessageCard* shown = card(id)) {
            shown->grow(*grown);
            m_onlyGrew = true;
        }
    }
}

/// Remembered for when the cards are created again.
void ConversationView::note(const StoredMessage& message) {
    const auto known = std::ranges::find(m_chat.messages, message.id, &StoredMessage::id);
    if (known != m_chat.messages.end())
        *known = message;
}

void ConversationView::showFigures(MessageId id) {
    if (MessageCard* shown = card(id))
        shown->showFigures();
}

void ConversationView::finish(const StoredMessage& message) {
    m_grown.erase(message.id);
    m_onlyGrew = false;
    note(message);
    if (!isVisible())
        m_finished.insert(message.id);
    else if (MessageCard* shown = card(message.id))
        shown->finish(message);
}

MessageCard* ConversationView::card(MessageId id) const {
    const auto found = std::ranges::find_if(
        m_cards, [id](const MessageCard* card) { return card->message().id == id; });
    return found == m_cards.end() ? nullptr : *found;
}

void ConversationView::setShowsOrigin(bool isShown) {
    m_showsOrigin = isShown;
    if (!isShown)
        unpin();
    for (MessageCard* card : m_cards)
        card->setShowsOrigin(isShown);
}

void ConversationView::setBusy(bool isBusy, bool canAsk) {
    m_isBusy = isBusy;
    m_canAsk = canAsk;
    for (MessageCard* card : m_cards)
        card->setBusy(isBusy, canAsk);
}

void ConversationView::scrollToEnd() {
    verticalScrollBar()->setValue(verticalScrollBar()->maximum());
}

/// The picture of a window is moved only where nothing waits to be painted. Therefore the new text
/// is painted first, below the edge; otherwise all messages would be painted for each new line. Not
/// while the window is laid out: what is painted then is not what will be there.
void ConversationView::followEnd() {
    if (std::exchange(m_onlyGrew, false))
        viewport()->repaint(0, 0, 1, 1); // with all that waits
    scrollToEnd();
}

void ConversationView::showDetails(MessageCard* card, int token, bool isPinned) {
    if (token < 0 || token >= card->message().tokens.size()) {
        if (card == m_detailsCard)
            unpin();
        return;
    }
    m_detailsToken = token;
    if (MessageCard* other = std::exchange(m_detailsCard, card); other != nullptr && other != card)
        other->body().setPinnedToken(-1);
    const QList<TokenTrace> one = {card->message().tokens[token]};
    m_details->setToken(tokenMarks(one).front(), card->tokenText(token));
    m_details->setPinned(isPinned);
    m_details->setChoices(one.front().choices, one.front().id, m_canAsk);
    m_details->adjustSize();
    placeDetails();
    m_details->show();
    m_details->raise();
    emit tokenChosen(card->message().id, token);
}

/// Below the token if there is room, otherwise above or beside it: never cut while the token is
/// visible, and never on top of it.
void ConversationView::placeDetails() {
    if (m_detailsCard == nullptr)
        return;
    const MessageBody& body = m_detailsCard->body();
    const QRect inBody = body.tokenRect(m_detailsToken);
    const QRect place(body.mapTo(this, inBody.topLeft()), inBody.size());
    const QSize room = size() - m_details->size();
    const int gap = m_theme.scaled(6);
    QPoint at(place.left(), place.bottom() + gap);
    if (at.y() > room.height())
        at.setY(place.top() - m_details->height() - gap);
    if (at.y() < 0 && place.intersects(rect())) {
        const int right = place.right() + gap;
        at = {right <= room.width() ? right : place.left() - gap - m_details->width(),
              std::clamp(place.top(), 0, std::max(0, room.height()))};
    }
    at.setX(std::clamp(at.x(), 0, std::max(0, room.width())));
    m_details->move(at);
}

QString ConversationView::editedText() const {
    QStringList texts;
    for (const MessageCard* card : m_cards)
        if (const QString text = card->editedText(); !text.isEmpty())
            texts << text;
    return texts.join(u'\n');
}

bool ConversationView::hasPinnedToken() const {
    return m_details->isPinned() && !m_details->isHidden();
}

void ConversationView::unpin() {
    if (m_details->isHidden())
        return;
    const bool hadFocus =
        m_details->hasFocus() || m_details->isAncestorOf(QApplication::focusWidget());
    m_details->setPinned(false);
    m_details->hide();
    if (MessageCard* card = std::exchange(m_detailsCard, nullptr)) {
        card->body().setPinnedToken(-1);
        if (hadFocus)
            card->body().setFocus();
    }
    emit tokenChosen(0, -1);
}

void ConversationView::resizeEvent(QResizeEvent* event) {
    m_onlyGrew = false;
    QScrollArea::resizeEvent(event);
    m_toEnd->adjustSize();
    m_toEnd->move((width() - m_toEnd->width()) / 2,
                  height() - m_toEnd->height() - m_theme.scaled(8));
}

void ConversationView::restyle() {
    m_column->parentWidget()->setMaximumWidth(m_theme.scaled(kColumnWidth));
    m_page->setAutoFillBackground(true);
    setGround(*m_page, m_theme.colours().panel);
}

} // namespace ui
