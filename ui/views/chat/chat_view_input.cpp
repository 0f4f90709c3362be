// SPDX-License-Identifier: GPL-3.0-only
#include "ui/chat/attachment_file.h"
#include "ui/shell/figure_text.h"
#include "ui/views/chat/attachment_row.h"
#include "ui/views/chat/chat_view.h"
#include "ui/views/chat/input_bar.h"
#include "ui/views/chat/messages/conversation_view.h"
#include "ui/views/chat/panels/answer_settings_panel.h"

#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QMimeData>
#include <QPushButton>
#include <QUrl>

#include <algorithm>

// The input for the model: text, files, system prompt.

namespace ui {

namespace {

constexpr int kShownOfPrompt = 400; ///< characters of the system prompt in the head, at most

} // namespace

void ChatView::connectInput() {
    connect(m_input, &InputBar::sendAsked, this, [this](const QString& text) {
        const QList<Attachment> attachments = m_input->attachments().attachments();
        if (!text.trimmed().isEmpty())
            m_input->setLastMessage(text);
        m_input->setText({});
        m_input->attachments().setAttachments({});
        m_session.send(text, attachments);
    });
    connect(m_input, &InputBar::stopAsked, &m_session, &ChatSession::stop);
    connect(m_input, &InputBar::textChanged, this, [this] {
        keepDraft();
        showState();
        m_countSoon.start();
    });
    connect(m_input, &InputBar::attachAsked, this, &ChatView::askForFile);
    connect(&m_session, &ChatSession::draftLoaded, this, &ChatView::showDraft);
    connect(m_conversation, &ConversationView::editTyped, this, &ChatView::keepDraft);
    connect(m_conversation, &ConversationView::editEnded, this, &ChatView::keepDraft);
    connect(m_conversation, &ConversationView::editsRemoved, this, &ChatView::showDraft);
    connect(&m_session,
            &ChatSession::draftReturned,
            this,
            [this](const QString& text, const QList<Attachment>& attachments) {
                insertText(text);
                m_input->attachments().setAttachments(m_input->attachments().attachments() +
                                                      attachments);
            });
}

void ChatView::insertText(const QString& text) {
    const QString typed = m_input->text();
    m_input->setText(typed.isEmpty() ? text : typed + u'\n' + text);
}

/// Files alone can be sent, too.
SendObstacle ChatView::obstacle() const {
    const bool hasFiles = !m_input->attachments().attachments().isEmpty();
    return m_session.obstacle(hasFiles ? QStringLiteral("x") : m_input->text());
}

/// The input field holds this chat's unsent text.
void ChatView::showDraft() {
    const Draft draft = m_session.draft();
    if (m_input->text() != draft.text)
        m_input->setText(draft.text);
    m_input->attachments().setAttachments(draft.attachments);
}

/// Words in the editor of a message belong to it: its card may be removed at any time.
void ChatView::keepDraft() {
    QStringList texts{m_input->text(), m_conversation->editedText()};
    texts.removeAll(QString());
    m_session.setDraft({texts.join(u'\n'), m_input->attachments().attachments()});
}

void ChatView::askForFile() {
    auto* dialog = new QFileDialog(this, tr("Attach text files"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFiles);
    connect(dialog, &QFileDialog::filesSelected, this, &ChatView::attachFiles);
    dialog->open();
}

/// They belong to the chat that is shown when the user asks for them.
void ChatView::attachFiles(const QStringList& paths) {
    readFiles(paths, m_session.chat().record.id);
}

void ChatView::readFiles(QStringList paths, ChatId chat) {
    if (paths.isEmpty())
        return;
    const QString path = paths.takeFirst();
    readAttachment(path, this, [this, chat, paths](const AttachmentFile& file) {
        if (!file.error.isEmpty())
            emit refused(file.error);
        else if (m_session.chat().record.id != chat) // a chat that begins gets an id, too
            emit refused(tr("%1 was not attached: when it had been read, its message was sent, or "
                            "another chat was shown.")
                             .arg(file.attachment.name));
        else
            attach(file.attachment);
        readFiles(paths, chat);
    });
}

void ChatView::attach(const Attachment& attachment) {
    AttachmentRow& row = m_input->attachments();
    row.setAttachments(row.attachments() + QList<Attachment>{attachment});
    m_counter.count(attachment.text,
                    [&row, attachment](int tokens, int) { row.setTokens(attachment, tokens); });
}

/// Models, chats, recipes, recordings and folders are left to the window.
void ChatView::dragEnterEvent(QDragEnterEvent* event) {
    const QList<QUrl> urls = event->mimeData()->urls();
    const auto isText = [](const QUrl& url) {
        static const QStringList kOfWindow = {QStringLiteral("gguf"),
                                              QStringLiteral("json"),
                                              QStringLiteral("jsonl"),
                                              QStringLiteral("swiftexp"),
                                              QStringLiteral("swiftrun")};
        const QFileInfo file(url.toLocalFile());
        return url.isLocalFile() && !file.isDir() && !kOfWindow.contains(file.suffix().toLower());
    };
    if (urls.isEmpty() ? event->mimeData()->hasText()
                       : std::all_of(urls.cbegin(), urls.cend(), isText))
        event->acceptProposedAction();
    else
        event->ignore();
}

void ChatView::dropEvent(QDropEvent* event) {
    const QList<QUrl> urls = event->mimeData()->urls();
    event->acceptProposedAction();
    QStringList paths;
    for (const QUrl& url : urls)
        paths.append(url.toLocalFile());
    attachFiles(paths);
    if (urls.isEmpty())
        insertText(event->mimeData()->text());
}

void ChatView::connectSettings() {
    m_settings->hide();
    m_systemPrompt->setCheckable(true);
    m_systemPrompt->setProperty("kind", "link");
    m_systemPrompt->setProperty("form", "small");
    // As wide as there is room; a long prompt must not widen the window.
    m_systemPrompt->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    m_systemPrompt->setStyleSheet(QStringLiteral("text-align: left;"));
    connect(m_systemPrompt, &QPushButton::toggled, this, [this](bool isOpen) {
        m_settings->setVisible(isOpen);
        if (isOpen)
            m_settings->focusText();
    });
    connect(m_settings, &AnswerSettingsPanel::closed, this, [this] {
        m_systemPrompt->setChecked(false);
        m_input->focusText();
    });
    connect(m_settings, &AnswerSettingsPanel::saved, &m_session, &ChatSession::setSettingsAt);
    connect(m_settings, &AnswerSettingsPanel::saved, this, [this] { m_countSoon.start(); });
    connect(m_settings, &AnswerSettingsPanel::systemPromptTyped, this, [this](const QString& text) {
        m_counter.count(text, [this](int tokens, int contextLength) {
            m_settings->setTokens(tokens, contextLength);
        });
    });
}

void ChatView::showAnswerSettings() { m_systemPrompt->setChecked(true); }

void ChatView::showSettings() {
    const engine::ModelLoaded* model = store().model();
    m_settings->setSettings({m_session.settingsAt(SettingsPlace::Chat),
                             m_session.settingsAt(SettingsPlace::Model),
                             m_session.settingsAt(SettingsPlace::Everywhere)},
                            model != nullptr ? QString::fromStdString(model->model.name)
                                             : QString(),
                            m_session.chat().record.id);
    showSystemPrompt();
}

/// As much of it as fits into the head.
void ChatView::showSystemPrompt() {
    const ResolvedAnswerSettings settings = m_session.settings();
    const QString prompt = settings.systemPrompt.left(kShownOfPrompt).simplified();
    const QString place = settings.systemPromptPlace == SettingsPlace::Chat    ? tr("this chat's")
                          : settings.systemPromptPlace == SettingsPlace::Model ? tr("this model's")
                                                                               : tr("of all chats");
    const QString text =
        prompt.isEmpty() ? tr("No system prompt") : tr("System prompt (%1): %2").arg(place, prompt);
    const int room = width() - theme().scaled(48);
    m_systemPrompt->setText(
        menuText(m_systemPrompt->fontMetrics().elidedText(text, Qt::ElideRight, room)));
    m_systemPrompt->setToolTip(
        tr("Edit the system prompt, the longest answer and where answers stop"));
}

void ChatView::resizeEvent(QResizeEvent* event) {
    View::resizeEvent(event);
    showSystemPrompt();
}

void ChatView::continueLast() {
    if (canContinueLast())
        m_session.continueAnswer(m_session.chat().record.leafId);
}

bool ChatView::canContinueLast() const {
    const StoredMessage* last = m_session.message(m_session.chat().record.leafId);
    return last != nullptr && ChatSession::canContinue(*last);
}

} // namespace ui
