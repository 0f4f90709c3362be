// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/chat/messages/message_card.h"

#include "ui/chat/session/chat_session.h"
#include "ui/shell/text_field.h"
#include "ui/views/chat/attachment_row.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QSignalBlocker>
#include <QToolButton>
#include <QVBoxLayout>

namespace ui {

namespace {

constexpr qsizetype kShownOfFile = 2000; ///< characters of a file in its tip

} // namespace

std::vector<TokenMark> tokenMarks(const QList<TokenTrace>& tokens, qsizetype first) {
    std::vector<TokenMark> marks;
    for (qsizetype i = first; i < tokens.size(); ++i) {
        const TokenTrace& token = tokens[i];
        TokenMark mark;
        mark.begin = token.begin;
        mark.end = token.end;
        mark.origin = token.fact.origin;
        mark.rank = token.fact.rank;
        mark.draftProbability = token.fact.draftProbability;
        mark.targetProbability = token.fact.targetProbability;
        mark.step = token.step;
        mark.stepMs = token.stepMs;
        mark.id = token.id;
        marks.push_back(mark);
    }
    return marks;
}

MessageCard::MessageCard(const Theme& theme,
                         const StoredMessage& message,
                         const BranchPlace& place,
                         QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_message(message)
    , m_body(new MessageBody(theme, this))
    , m_name(plainLabel(this))
    , m_chip(plainLabel(this))
    , m_figures(new FiguresLine(theme, this))
    , m_actionRow(new QWidget(this)) {
    setAttribute(Qt::WA_StaticContents); // as its text, when it grows
    auto* rows = new QVBoxLayout(this);
    // The body keeps room for its focus ring; names and figures are aligned with its text.
    const int inset = m_body->textInset();
    const int side = theme.scaled(12) - inset;
    rows->setContentsMargins(side, theme.scaled(6), side, theme.scaled(6));
    rows->setSpacing(theme.scaled(2));
    auto* header = new QHBoxLayout;
    makeHeader(*header, place);
    header->setContentsMargins(inset, 0, inset, 0);
    rows->addLayout(header);
    rows->addWidget(m_body);
    showAttachments(*rows);
    auto* actions = new QHBoxLayout(m_actionRow);
    actions->setContentsMargins(inset, theme.scaled(4), inset, 0);
    actions->setSpacing(theme.scaled(2));
    actions->addWidget(m_figures, 1);
    connect(m_figures, &FiguresLine::taskAsked, this, &MessageCard::taskAsked);
    makeActions(isUser() ? *header : *actions);
    rows->addWidget(m_actionRow);
    m_actionRow->setVisible(!isUser());
    if (message.state == MessageState::Streaming)
        m_body->append(message.text, tokenMarks(message.tokens));
    else
        m_body->setMessage(message.text, tokenMarks(message.tokens));
    connect(&theme, &Theme::changed, this, &MessageCard::restyle);
    restyle();
    showState();
}

void MessageCard::makeHeader(QHBoxLayout& row, const BranchPlace& place) {
    row.setSpacing(m_theme.scaled(8));
    m_chip->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    const QString& model = m_message.figures.modelName; // empty for imported answers
    m_name->setText(isUser() ? tr("You") : model.isEmpty() ? tr("Answer") : model);
    row.addWidget(m_name);
    row.addWidget(m_chip);
    m_chip->setText(decoderTitle(m_message.figures.decoderName));
    m_chip->setVisible(!isUser() && !m_chip->text().isEmpty());
    row.addStretch();
    if (place.count <= 1)
        return;
    const auto addStep = [&](IconName icon, const QString& name, MessageId target) {
        QToolButton* button = addAction(row, icon, name);
        button->setEnabled(target != 0);
        connect(button, &QToolButton::clicked, this, [this, target] { emit branchShown(target); });
        if (target != 0)
            m_changing.push_back(button);
    };
    addStep(IconName::ChevronLeft, tr("Show the previous version"), place.previous);
    auto* count = new QLabel(tr("%1 of %2").arg(place.index + 1).arg(place.count), this);
    count->setProperty("tone", "small");
    row.addWidget(count);
    addStep(IconName::ChevronRight, tr("Show the next version"), place.next);
}

/// The files of the user's message; their text is in the tips.
void MessageCard::showAttachments(QVBoxLayout& rows) {
    for (const Attachment& attachment : m_message.attachments) {
        QLabel* name = plainLabel(this);
        name->setProperty("tone", "small");
        name->setContentsMargins(m_body->textInset(), 0, 0, 0);
        name->setText(attachmentText(attachment));
        name->setToolTip(
            attachment.text.left(kShownOfFile).toHtmlEscaped().prepend(QStringLiteral("<pre>")));
        rows.addWidget(name);
    }
}

void MessageCard::makeActions(QHBoxLayout& row) {
    if (!isUser()) {
        m_continue = new QPushButton(tr("Continue"), this);
        m_continue->setProperty("form", "small");
        m_continue->setToolTip(tr("Continue where the answer ended (Ctrl+Shift+Return)"));
        connect(
            m_continue, &QPushButton::clicked, this, [this] { emit continueAsked(m_message.id); });
        row.addWidget(m_continue);
        m_asking.push_back(m_continue);
    }
    QToolButton* copy = addAction(row, IconName::Copy, tr("Copy the text"));
    connect(copy, &QToolButton::clicked, this, [this] { emit copyAsked(m_message.id); });
    if (isUser()) {
        QToolButton* edit = addAction(row, IconName::Edit, tr("Edit and send again"));
        connect(edit, &QToolButton::clicked, this, &MessageCard::beginEdit);
        m_changing.push_back(edit);
        QToolButton* keep = addAction(row, IconName::Save, tr("Add to your prompts"));
        connect(
            keep, &QToolButton::clicked, this, [this] { emit keepAsPromptAsked(m_message.id); });
    } else {
        QToolButton* edit = addAction(row, IconName::Edit, tr("Edit the answer in a new branch"));
        connect(edit, &QToolButton::clicked, this, &MessageCard::beginEdit);
        m_changing.push_back(edit);
        QToolButton* again =
            addAction(row, IconName::Regenerate, tr("Answer again, with a new seed (Ctrl+R)"));
        connect(again, &QToolButton::clicked, this, [this] { emit regenerateAsked(m_message.id); });
        m_asking.push_back(again);
        QToolButton* check = addAction(
            row, IconName::Check, tr("Lossless check: compare with vanilla (Ctrl+Shift+D)"));
        connect(check, &QToolButton::clicked, this, [this] { emit losslessAsked(m_message.id); });
        m_changing.push_back(check);
    }
    QToolButton* branch = addAction(row, IconName::Branch, tr("Continue from here in a new chat"));
    connect(branch, &QToolButton::clicked, this, [this] { emit branchAsked(m_message.id); });
    m_changing.push_back(branch);
}

QToolButton* MessageCard::addAction(QHBoxLayout& row, IconName icon, const QString& name) {
    auto* button = new QToolButton(this);
    button->setToolTip(name);
    button->setAccessibleName(name);
    button->setFocusPolicy(Qt::TabFocus);
    row.addWidget(button);
    m_actions.push_back({button, icon});
    return button;
}

void MessageCard::grow(const StoredMessage& message) {
    const qsizetype shownText = m_message.text.size();
    const qsizetype shownTokens = m_message.tokens.size();
    m_message = message;
    m_body->append(message.text.mid(shownText), tokenMarks(message.tokens, shownTokens));
    showState();
}

void MessageCard::finish(const StoredMessage& message) {
    grow(message);
    m_body->finish();
    showState();
}

void MessageCard::showState() {
    const bool isWriting = m_message.state == MessageState::Streaming;
    if (!isWriting || !m_hasFigures)
        showFigures();
    m_figures->setVisible(!isUser());
    for (const ActionButton& action : m_actions)
        if (action.button->parentWidget() == m_actionRow)
            action.button->setVisible(!isWriting);
    if (m_continue != nullptr)
        m_continue->setVisible(ChatSession::canContinue(m_message));
    const QString role = isUser() ? tr("Your message") : tr("Answer");
    setAccessibleName(role);
}

void MessageCard::showFigures() {
    if (m_message.state == MessageState::Streaming && m_message.tokens.isEmpty())
        return; // how far the prompt is read may stand there
    m_hasFigures = true;
    m_figures->show(m_message);
}

void MessageCard::setProgress(const QString& sentence) {
    if (!m_message.tokens.isEmpty())
        return;
    m_figures->showSentence(sentence);
    m_hasFigures = false;
}

void MessageCard::setShowsOrigin(bool isShown) { m_body->setShowsOrigin(isShown && !isUser()); }

void MessageCard::setBusy(bool isBusy, bool canAsk) {
    m_isBusy = isBusy;
    for (QToolButton* button : m_changing)
        button->setEnabled(!isBusy);
    for (QAbstractButton* button : m_asking)
        button->setEnabled(canAsk);
    showKeeping();
}

void MessageCard::showKeeping() {
    for (QPushButton* button : m_keeping) {
        button->setEnabled(!m_isBusy);
        button->setToolTip(m_isBusy ? tr("Wait for the answer, or stop it (Esc).") : QString());
    }
}

QString MessageCard::tokenText(int index) const {
    const TokenTrace& token = m_message.tokens.at(index);
    return m_message.text.mid(token.begin, token.end - token.begin);
}

QString MessageCard::typedText() const {
    const bool isChanged = m_editor != nullptr && m_editor->document()->isModified();
    return isChanged ? m_editor->toPlainText() : QString();
}

QString MessageCard::editedText() const { return isUser() ? typedText() : QString(); }

QString MessageCard::editedAnswer() const { return isUser() ? QString() : typedText(); }

/// The focus stays where it is, and nothing was typed now.
void MessageCard::resumeEdit(const QString& text) {
    openEditor();
    const QSignalBlocker quiet(m_editor);
    m_editor->setPlainText(text);
    m_editor->document()->setModified(true);
}

void MessageCard::beginEdit() {
    if (m_editor != nullptr)
        return;
    openEditor();
    m_editor->setFocus();
    if (isUser())
        m_editor->selectAll();
    else
        m_editor->moveCursor(QTextCursor::End);
}

void MessageCard::openEditor() {
    m_editor = new TextField(m_message.text, this);
    m_editor->setAccessibleName(tr("Edit the message"));
    m_editor->setTabChangesFocus(true);
    m_editor->setMaximumHeight(m_theme.scaled(160));
    m_editor->installEventFilter(this);
    connect(m_editor, &QPlainTextEdit::textChanged, this, &MessageCard::editTyped);
    m_editorRow = new QWidget(this);
    auto* row = new QHBoxLayout(m_editorRow);
    row->setContentsMargins(0, 0, 0, 0);
    if (isUser()) {
        addEditChoice(tr("Send as a new branch"), [this] {
            keepEdit(false);
        })->setProperty("kind", "primary");
    } else {
        m_keeping = {addEditChoice(tr("Keep and continue"), [this] { keepEdit(true); }),
                     addEditChoice(tr("Keep as a new branch"), [this] { keepEdit(false); })};
        m_keeping.front()->setProperty("kind", "primary");
        showKeeping();
    }
    addEditChoice(tr("Cancel"), [this] { endEdit(); });
    row->addStretch();
    auto* rows = static_cast<QVBoxLayout*>(layout());
    rows->insertWidget(rows->indexOf(m_body) + 1, m_editor);
    rows->insertWidget(rows->indexOf(m_editor) + 1, m_editorRow);
    m_body->hide();
    m_actionRow->hide();
}

QPushButton* MessageCard::addEditChoice(const QString& text, std::function<void()> act) {
    auto* button = new QPushButton(text, m_editorRow);
    button->setProperty("form", "small");
    connect(button, &QPushButton::clicked, this, std::move(act));
    m_editorRow->layout()->addWidget(button);
    return button;
}

void MessageCard::endEdit() {
    m_editor->deleteLater();
    m_editorRow->deleteLater();
    m_editor = nullptr;
    m_editorRow = nullptr;
    m_keeping.clear();
    m_body->show();
    m_actionRow->setVisible(!isUser());
    emit editEnded();
}

/// While an answer is being written, no branch can be made: an edited text waits in its editor.
void MessageCard::keepEdit(bool goesOn) {
    if (!isUser() && m_isBusy)
        return;
    const QString text = m_editor->toPlainText();
    endEdit();
    if (text.trimmed().isEmpty())
        return;
    if (isUser())
        emit editAsked(m_message.id, text);
    else if (goesOn || text != m_message.text)
        emit answerEdited(m_message.id, text, goesOn);
}

bool MessageCard::eventFilter(QObject* watched, QEvent* event) {
    const bool isKey =
        event->type() == QEvent::KeyPress || event->type() == QEvent::ShortcutOverride;
    if (watched != m_editor || !isKey)
        return QWidget::eventFilter(watched, event);
    const auto* key = static_cast<QKeyEvent*>(event);
    if (event->type() == QEvent::ShortcutOverride) {
        // Here Esc ends the editing; elsewhere it stops the answer.
        if (key->key() == Qt::Key_Escape)
            event->accept();
        return key->key() == Qt::Key_Escape;
    }
    const bool isEnter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
    // An answer has many lines: there Enter starts a new line, and Ctrl+Enter ends the editing.
    const bool isEnd = isUser() ? !(key->modifiers() & Qt::ShiftModifier)
                                : bool(key->modifiers() & Qt::ControlModifier);
    if (isEnter && isEnd) {
        keepEdit(true);
        return true;
    }
    if (key->key() == Qt::Key_Escape) {
        endEdit();
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

void MessageCard::restyle() {
    const Colours& colours = m_theme.colours();
    QFont name = m_theme.font(TextRole::Interface);
    name.setWeight(QFont::DemiBold);
    m_name->setFont(name);
    const bool isDrafting = m_message.figures.decoderName != QLatin1String("vanilla");
    const QString edge = (isDrafting ? colours.accent : colours.controlBorder).name();
    m_chip->setFont(m_theme.font(TextRole::Tiny));
    m_chip->setStyleSheet(
        QStringLiteral("color: %1; border: 1px solid %2; border-radius: 3px; padding: 0 %3px;")
            .arg((isDrafting ? colours.accent : colours.muted).name(), edge)
            .arg(m_theme.scaled(6)));
    for (const ActionButton& action : m_actions)
        action.button->setIcon(makeIcon(action.icon, colours.muted, colours.disabled));
    m_figures->show(m_message);
    update();
}

void MessageCard::paintEvent(QPaintEvent*) {
    if (!isUser())
        return;
    QPainter painter(this);
    painter.fillRect(rect(), m_theme.colours().window);
}

} // namespace ui
