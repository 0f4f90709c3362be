// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/chat/chat_view.h"

#include "ui/icons/icons.h"
#include "ui/origin/origin_legend.h"
#include "ui/shell/bars/prompt_progress.h"
#include "ui/shell/figure_text.h"
#include "ui/shell/widgets/column_scroll.h"
#include "ui/shell/widgets/live_label.h"
#include "ui/theme/tip_text.h"
#include "ui/views/chat/input_bar.h"
#include "ui/views/chat/messages/conversation_view.h"
#include "ui/views/chat/panels/answer_settings_panel.h"
#include "ui/views/chat/panels/context_panel.h"
#include "ui/views/chat/panels/start_panel.h"

#include <QApplication>
#include <QClipboard>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QMenu>
#include <QPushButton>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include <ranges>

namespace ui {

namespace {

constexpr int kInputWidth = 728;
constexpr int kCountMs = 300; ///< without a key press, until the typed text is counted

ViewInfo chatInfo() {
    return {QStringLiteral("chat"),
            ChatView::tr("Chat"),
            ChatView::tr("The conversation. With Show origin, each token of an answer shows where "
                         "it came from: drafted cheaply and confirmed by the full model, or "
                         "written by the full model itself. The text is exactly what the full "
                         "model alone would have written (paper: tables 13 and 14)."),
            Topic::Answers | Topic::Model | Topic::Loading | Topic::Context | Topic::Decoder};
}

} // namespace

/// The figures below the answer that is being written, which other views show too: refreshed
/// behind its text, and less often.
class ChatView::AnswerFigures final : public Picture {
public:
    explicit AnswerFigures(ChatView& view)
        : m_view(view) {
        view.context().bridge.add(*this, Topic::Answers | Topic::Context);
    }

    ~AnswerFigures() override { m_view.context().bridge.remove(*this); }

    bool isShowing() const override { return m_view.isShowing(); }

    int leastIntervalMs() const override { return EngineBridge::kFiguresMs; }

    void refresh(Topics changed) override {
        if (changed.testFlag(Topic::Answers))
            m_view.m_conversation->showFigures(m_view.m_session.answeringId());
        if (changed.testFlag(Topic::Context)) {
            m_view.takeStatistics();
            m_view.showGauge();
        }
    }

private:
    ChatView& m_view;
};

ChatView::ChatView(const ViewContext& context, ChatSession& session, QWidget* parent)
    : View(context, chatInfo(), parent)
    , m_session(session)
    , m_titleRow(makeTitleRow())
    , m_systemPrompt(new QPushButton(this))
    , m_settings(new AnswerSettingsPanel(context.theme, this))
    , m_legend(new OriginLegend(context.theme, this))
    , m_pages(new QStackedWidget(this))
    , m_start(new StartPanel(context.theme, this))
    , m_conversation(new ConversationView(context.theme, this))
    , m_contextPanel(new ContextPanel(context.theme, this))
    , m_input(new InputBar(context.theme, this))
    , m_counter(context.bridge) {
    setAcceptDrops(true);
    auto* rows = new QVBoxLayout(this);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(0);
    rows->addWidget(m_titleRow);
    auto* promptRow = new QHBoxLayout;
    promptRow->setContentsMargins(theme().scaled(8), 0, theme().scaled(8), 0);
    promptRow->addWidget(m_systemPrompt);
    rows->addLayout(promptRow);
    rows->addWidget(m_settings);
    auto* legendRow = new QHBoxLayout;
    legendRow->setContentsMargins(theme().scaled(16), 0, theme().scaled(8), 0);
    legendRow->addWidget(m_legend, 1);
    rows->addLayout(legendRow);
    auto* startPage = new QWidget(m_pages);
    auto* startRow = new QHBoxLayout(startPage);
    startRow->addStretch(1);
    startRow->addWidget(m_start, 100);
    startRow->addStretch(1);
    auto* startScroll = new ColumnScroll(m_pages); // in a low window, or with large text
    startScroll->setFrameShape(QFrame::NoFrame);
    startScroll->setWidget(startPage);
    m_pages->addWidget(startScroll);
    m_pages->addWidget(m_conversation);
    rows->addWidget(m_pages, 1);
    auto* bottom = new QHBoxLayout;
    bottom->setContentsMargins(
        theme().scaled(12), theme().scaled(4), theme().scaled(12), theme().scaled(12));
    auto* column = new QVBoxLayout;
    column->setSpacing(theme().scaled(8));
    column->addWidget(m_contextPanel);
    column->addWidget(m_input);
    bottom->addStretch(1);
    bottom->addLayout(column, 100);
    bottom->addStretch(1);
    rows->addLayout(bottom);
    m_countSoon.setSingleShot(true);
    m_countSoon.setInterval(kCountMs);
    connect(&m_countSoon, &QTimer::timeout, this, [this] { m_session.countDraft(); });
    connectSession();
    connectInput();
    connectSettings();
    connectConversation();
    connect(&context.theme, &Theme::changed, this, &ChatView::restyle);
    restyle();
    showChat();
    m_figures = std::make_unique<AnswerFigures>(*this);
}

ChatView::~ChatView() = default;

void ChatView::addNotice(QWidget* notice) {
    auto* rows = static_cast<QVBoxLayout*>(layout());
    rows->insertWidget(rows->indexOf(m_pages), notice);
}

QWidget* ChatView::makeTitleRow() {
    auto* row = new QWidget(this);
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(
        theme().scaled(16), theme().scaled(4), theme().scaled(8), theme().scaled(4));
    m_title = new LiveLabel(theme(), TextRole::Title, &Colours::text, LiveLabel::Fit::Cut, row);
    m_originButton = new QPushButton(tr("Show origin"), row);
    m_originButton->setCheckable(true);
    m_originButton->setChecked(m_showsOrigin);
    m_originButton->setProperty("form", "small");
    m_originButton->setToolTip(tr("Mark where each token came from (Ctrl+Shift+H)"));
    m_menuButton = new QToolButton(row);
    m_menuButton->setAccessibleName(tr("More for this chat"));
    m_menuButton->setToolTip(tr("Rename, export"));
    m_menuButton->setPopupMode(QToolButton::InstantPopup);
    m_menuButton->setFocusPolicy(Qt::TabFocus);
    layout->addWidget(m_title, 1);
    layout->addWidget(m_originButton);
    layout->addWidget(m_menuButton);
    connect(m_originButton, &QPushButton::toggled, this, &ChatView::setShowsOrigin);
    return row;
}

void ChatView::connectSession() {
    connect(&m_session, &ChatSession::shown, this, &ChatView::showChat);
    connect(&m_session, &ChatSession::stateChanged, this, [this] {
        showState();
        showTitle();
    });
    connect(&m_session, &ChatSession::messageAdded, this, [this](MessageId id) {
        if (m_session.chat().messages.size() == 1)
            m_settings->beginChat(m_session.chat().record.id);
        m_pages->setCurrentIndex(1);
        if (const StoredMessage* added = m_session.message(id))
            m_conversation->add(m_session.chat(), *added);
        showTitle();
    });
    connect(
        &m_session, &ChatSession::messageSought, m_conversation, &ConversationView::showMessage);
    connect(&m_session, &ChatSession::messageGrew, m_conversation, &ConversationView::noteGrown);
    connect(&m_session, &ChatSession::messageFinished, this, [this](MessageId id) {
        if (const StoredMessage* done = m_session.message(id))
            m_conversation->finish(*done);
        m_countSoon.start();
    });
    connect(&m_session, &ChatSession::promptCounted, this, [this](int tokens) {
        m_countedTokens = tokens;
        showGauge();
    });
    connect(m_start, &StartPanel::promptChosen, this, [this](const QString& prompt) {
        m_session.send(prompt);
        m_input->focusText(); // the examples are gone, and the next keys must not be lost
    });
    connect(m_contextPanel, &ContextPanel::chosen, &m_session, &ChatSession::goOn);
    connect(m_contextPanel, &ContextPanel::newChatChosen, &m_session, &ChatSession::goOnInNewChat);
    connect(
        m_contextPanel, &ContextPanel::dismissed, &m_session, &ChatSession::dismissContextQuestion);
}

void ChatView::connectConversation() {
    connect(m_conversation, &ConversationView::copyAsked, this, [this](MessageId id) {
        if (MessageCard* card = m_conversation->card(id))
            QApplication::clipboard()->setText(card->message().text);
    });
    connect(
        m_conversation, &ConversationView::regenerateAsked, &m_session, &ChatSession::regenerate);
    connect(m_conversation,
            &ConversationView::branchAsked,
            &m_session,
            &ChatSession::branchIntoNewChat);
    connect(m_conversation, &ConversationView::editEnded, m_input, &InputBar::focusText);
    connect(m_conversation, &ConversationView::editAsked, &m_session, &ChatSession::edit);
    connect(
        m_conversation, &ConversationView::continueAsked, &m_session, &ChatSession::continueAnswer);
    connect(m_conversation, &ConversationView::answerEdited, &m_session, &ChatSession::editAnswer);
    connect(
        m_conversation, &ConversationView::tokenBranchAsked, &m_session, &ChatSession::branchAt);
    connect(m_conversation, &ConversationView::keepAsPromptAsked, this, [this](MessageId id) {
        if (const StoredMessage* message = m_session.message(id))
            emit keepAsPromptAsked(message->text);
    });
    connect(m_conversation, &ConversationView::branchShown, &m_session, &ChatSession::showBranch);
}

int ChatView::leastIntervalMs() const {
    constexpr int kTextMs = 2 * EngineBridge::kTickMs;
    const MessageCard* card = m_conversation->card(m_session.answeringId());
    return card == nullptr || card->message().text.isEmpty() ? 0 : kTextMs;
}

void ChatView::refreshView(Topics changed) {
    m_conversation->flush(m_session.chat());
    showPromptProgress();
    if (changed.testFlag(Topic::Model))
        m_countSoon.start();
    if (changed.testFlag(Topic::Model) || changed.testFlag(Topic::Loading) ||
        changed.testFlag(Topic::Decoder) || obstacle() != m_shownObstacle)
        showState();
}

/// The engine's own figures, if they belong to the chat shown.
void ChatView::takeStatistics() {
    const Answer* newest = store().answers().latest();
    const StoredMessage* shown = lastAnswer();
    if (newest == nullptr || shown == nullptr)
        return;
    const auto place = m_session.placeOf(shown->id, static_cast<int>(shown->tokens.size()) - 1);
    if (place && place->promptId == newest->promptId)
        m_countedTokens = store().statistics().contextUsed;
}

void ChatView::showPromptProgress() {
    const QString sentence = promptProgressText(store().answers().latest());
    if (MessageCard* card = m_conversation->card(m_session.answeringId());
        card != nullptr && !sentence.isEmpty())
        card->setProgress(sentence);
}

void ChatView::showChat() {
    m_countedTokens = 0;
    m_countSoon.start();
    m_conversation->showChat(m_session.chat());
    for (const StoredMessage& message : m_session.branch())
        if (message.role == MessageRole::User)
            m_input->setLastMessage(message.text);
    m_pages->setCurrentIndex(m_session.branch().isEmpty() ? 0 : 1);
    showDraft();
    showTitle();
    showState();
    showGauge();
}

void ChatView::showTitle() {
    const QString title = m_session.chat().record.title;
    m_title->setText(title.isEmpty() ? tr("New chat") : title);
    setTip(*m_title, m_title->text());
    setSubtitle(title);
}

QString ChatView::obstacleText(SendObstacle obstacle) const {
    switch (obstacle) {
    case SendObstacle::NoModel:
        return tr("Open a model first (Ctrl+Shift+M).");
    case SendObstacle::Loading:
        return tr("The model is being loaded.");
    case SendObstacle::Answering:
        return tr("Wait for the answer, or stop it (Esc).");
    case SendObstacle::ContextFull:
        return tr("The context is full. Choose above how to continue.");
    case SendObstacle::NoText:
        return tr("Write something first.");
    case SendObstacle::Replay:
        return tr("This is a recording, so there is no model to answer.");
    case SendObstacle::None:
        break;
    }
    return {};
}

void ChatView::showState() {
    const SendObstacle obstacle = this->obstacle();
    m_shownObstacle = obstacle;
    showSettings();
    m_input->setObstacle(obstacleText(obstacle));
    // A recorded answer can be neither stopped nor continued.
    const bool isReplay = obstacle == SendObstacle::Replay;
    m_input->setAnswering(m_session.isAnswering() && !isReplay);
    const bool canSend = m_session.obstacle(QStringLiteral("x")) == SendObstacle::None;
    m_conversation->setBusy(m_session.isBusy() || isReplay, canSend);
    const ContextQuestion* question = m_session.contextQuestion();
    m_contextPanel->setVisible(question != nullptr);
    if (question != nullptr)
        m_contextPanel->ask(*question);
    if (question != nullptr && m_session.isAnswering())
        m_contextPanel->setBusy(true);
    const engine::ModelLoaded* model = store().model();
    const QString name = model != nullptr ? QString::fromStdString(model->model.name) : QString();
    if (isReplay)
        m_input->setPlaceholder(tr("A recording is shown"));
    else if (model == nullptr)
        m_input->setPlaceholder(store().loading() != nullptr ? tr("The model is being loaded")
                                                             : tr("Load a model to write"));
    else
        m_input->setPlaceholder(m_session.isAnswering() ? tr("Write the next message meanwhile")
                                                        : tr("Message %1").arg(name));
    const bool isReady =
        model != nullptr && m_session.obstacle(QStringLiteral("x")) != SendObstacle::Loading;
    m_start->setState(isReady ? tr("%1 is ready. It runs only on this computer.").arg(name)
                              : obstacleText(m_session.obstacle(QStringLiteral("x"))),
                      canSend);
}

void ChatView::showGauge() {
    m_input->gauge().show(m_countedTokens, store().statistics().contextLength);
}

const StoredMessage* ChatView::lastAnswer() const {
    for (const StoredMessage& message : m_session.branch() | std::views::reverse)
        if (message.role == MessageRole::Assistant)
            return m_session.message(message.id);
    return nullptr;
}

void ChatView::setShowsOrigin(bool isShown) {
    if (m_showsOrigin == isShown && m_originButton->isChecked() == isShown &&
        m_legend->isHidden() != isShown)
        return;
    m_showsOrigin = isShown;
    m_originButton->setChecked(isShown);
    m_legend->setVisible(isShown);
    m_conversation->setShowsOrigin(isShown);
    emit originToggled(isShown);
}

void ChatView::copyLastAnswer() {
    if (const StoredMessage* answer = lastAnswer())
        QApplication::clipboard()->setText(answer->text);
}

void ChatView::regenerateLast() { m_session.regenerate(m_session.chat().record.leafId); }

void ChatView::setMenuActions(const QList<QAction*>& actions) {
    auto* menu = new QMenu(m_menuButton);
    menu->addActions(actions);
    m_menuButton->setMenu(menu);
}

FigureTable ChatView::table() const {
    FigureTable table{{tr("Token"),
                       tr("Id"),
                       tr("Origin"),
                       tr("Rank"),
                       tr("Draft probability"),
                       tr("Target probability"),
                       tr("Step"),
                       tr("Step ms")},
                      {}};
    const StoredMessage* answer = lastAnswer();
    if (answer == nullptr)
        return table;
    for (const TokenTrace& token : answer->tokens) {
        const bool isDrafted = token.fact.rank >= 0;
        const bool isOfModel = token.step != kChosenByUser;
        table.rows.push_back(
            {answer->text.mid(token.begin, token.end - token.begin),
             QString::number(token.id),
             isOfModel ? QString::fromUtf8(engine::tokenOriginName(token.fact.origin).data())
                       : QString(),
             isDrafted ? QString::number(token.fact.rank + 1) : QString(),
             isDrafted ? QString::number(token.fact.draftProbability, 'f', 4) : QString(),
             QString::number(token.fact.targetProbability, 'f', 4),
             token.step < 0 ? QString() : QString::number(token.step + 1),
             decimalText(token.stepMs)});
    }
    return table;
}

void ChatView::restyle() {
    m_titleRow->setFixedHeight(theme().scaled(36));
    m_titleRow->setProperty("ground", "panel");
    for (QWidget* widget : {static_cast<QWidget*>(m_contextPanel), static_cast<QWidget*>(m_input)})
        widget->setMaximumWidth(theme().scaled(kInputWidth));
    m_menuButton->setIcon(
        makeIcon(IconName::More, theme().colours().muted, theme().colours().disabled));
}

} // namespace ui
