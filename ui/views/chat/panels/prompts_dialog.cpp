// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/chat/panels/prompts_dialog.h"

#include "ui/shell/text_field.h"
#include "ui/theme/tip_text.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QSignalBlocker>

#include <utility>

namespace ui {

PromptsDialog::PromptsDialog(const Theme& theme, PromptList& prompts, QWidget* parent)
    : QDialog(parent)
    , m_prompts(prompts)
    , m_list(new QListWidget(this))
    , m_title(new QLineEdit(this))
    , m_text(new TextField(this))
    , m_note(plainLabel(this, true))
    , m_undo(new QPushButton(tr("Undo"), this))
    , m_insert(new QPushButton(tr("Insert"), this))
    , m_save(new QPushButton(tr("Save"), this))
    , m_delete(new QPushButton(tr("Delete"), this)) {
    setWindowTitle(tr("Prompts"));
    m_list->setAccessibleName(tr("Your prompts"));
    m_title->setAccessibleName(tr("Title"));
    m_title->setPlaceholderText(tr("Title; if empty, the beginning of the text is used"));
    m_text->setAccessibleName(tr("Text"));
    m_text->setPlaceholderText(tr("A text that you want to use again and again"));
    m_text->setTabChangesFocus(true);
    m_text->setProperty("form", "field");
    m_list->setProperty("form", "field");
    m_insert->setProperty("kind", "primary");
    m_insert->setToolTip(tr("Put the text into the message field"));
    auto* grid = new QGridLayout(this);
    grid->setColumnStretch(0, 2);
    grid->setColumnStretch(1, 3);
    grid->addWidget(m_list, 0, 0, 2, 1);
    grid->addWidget(m_title, 0, 1);
    grid->addWidget(m_text, 1, 1);
    auto* noteRow = new QHBoxLayout;
    noteRow->addWidget(m_note, 1);
    noteRow->addWidget(m_undo);
    grid->addLayout(noteRow, 2, 0, 1, 2);
    auto* begin = new QPushButton(tr("New prompt"), this);
    auto* close = new QPushButton(tr("Close"), this);
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(begin);
    buttons->addWidget(m_delete);
    buttons->addStretch();
    buttons->addWidget(m_save);
    buttons->addWidget(m_insert);
    buttons->addWidget(close);
    grid->addLayout(buttons, 3, 0, 1, 2);
    for (QPushButton* button : findChildren<QPushButton*>()) {
        button->setProperty("form", "small");
        button->setAutoDefault(false);
    }
    connect(m_list, &QListWidget::currentRowChanged, this, &PromptsDialog::choose);
    connect(m_list, &QListWidget::itemActivated, m_insert, &QPushButton::click);
    connect(m_title, &QLineEdit::textChanged, this, &PromptsDialog::showButtons);
    connect(m_text, &QPlainTextEdit::textChanged, this, &PromptsDialog::showButtons);
    connect(begin, &QPushButton::clicked, this, &PromptsDialog::begin);
    connect(m_save, &QPushButton::clicked, this, &PromptsDialog::save);
    connect(m_delete, &QPushButton::clicked, this, &PromptsDialog::remove);
    connect(m_undo, &QPushButton::clicked, this, &PromptsDialog::undo);
    connect(close, &QPushButton::clicked, this, &QDialog::accept);
    connect(m_insert, &QPushButton::clicked, this, [this] {
        const QString text = m_text->toPlainText();
        accept();
        if (!isVisible())
            emit insertAsked(text);
    });
    m_undo->hide();
    m_note->setText(m_prompts.problem());
    resize(theme.scaledWindow(*this, 680, 420));
    showList();
    showButtons();
    if (m_list->count() > 0)
        m_list->setCurrentRow(0);
    else
        m_title->setFocus();
}

SavedPrompt PromptsDialog::written() const {
    return {m_title->text().trimmed(), m_text->toPlainText()};
}

void PromptsDialog::showList() {
    const QSignalBlocker quiet(m_list);
    m_list->clear();
    for (const SavedPrompt& prompt : m_prompts.prompts()) {
        m_list->addItem(prompt.title);
        m_list->item(m_list->count() - 1)->setToolTip(tipOf(prompt.text.left(400)));
        if (m_shown && prompt == *m_shown)
            m_list->setCurrentRow(m_list->count() - 1);
    }
}

/// Saving sorts the list, which cannot be done while the list itself is handling a click.
void PromptsDialog::choose() {
    const int row = m_list->currentRow();
    if (row < 0 || !m_save->isEnabled())
        return showPrompt();
    const SavedPrompt wanted = m_prompts.prompts().value(row);
    const auto turnTo = [this, wanted] {
        if (keepEdits())
            edit(wanted);
        else
            showList();
    };
    QMetaObject::invokeMethod(this, turnTo, Qt::QueuedConnection);
}

void PromptsDialog::showPrompt() {
    const int row = m_list->currentRow();
    if (row < 0 || row >= m_prompts.prompts().size())
        return;
    m_shown = m_prompts.prompts()[row];
    m_title->setText(m_shown->title);
    m_text->setPlainText(m_shown->text);
    showButtons();
}

void PromptsDialog::edit(const SavedPrompt& prompt) {
    m_list->setCurrentRow(static_cast<int>(m_prompts.prompts().indexOf(prompt)));
}

void PromptsDialog::showButtons() {
    const SavedPrompt now = written();
    const bool hasText = !now.text.trimmed().isEmpty();
    m_insert->setEnabled(hasText);
    m_save->setEnabled(hasText && !(m_shown && now == *m_shown));
    m_delete->setEnabled(m_shown.has_value());
    m_mayLoseEdits = false;
}

void PromptsDialog::begin() {
    if (keepEdits())
        clearPrompt();
}

void PromptsDialog::clearPrompt() {
    m_shown.reset();
    m_list->setCurrentRow(-1);
    m_title->clear();
    m_text->clear();
    m_text->setFocus();
    showButtons();
}

/// Whether there was none.
bool PromptsDialog::tell(const QString& problem) {
    m_note->setText(problem);
    m_undo->hide();
    return problem.isEmpty();
}

/// Whether nothing is left to be saved.
bool PromptsDialog::keepEdits() { return !m_save->isEnabled() || save(); }

bool PromptsDialog::save() {
    SavedPrompt now = written();
    if (now.title.isEmpty())
        now.title = PromptList::titleOf(now.text);
    if (!tell(m_shown ? m_prompts.replace(*m_shown, now) : m_prompts.add(now)))
        return false;
    m_shown = now;
    m_title->setText(now.title);
    showList();
    showButtons();
    return true;
}

void PromptsDialog::remove() {
    const SavedPrompt gone = *m_shown;
    if (!tell(m_prompts.remove(gone)))
        return;
    m_deleted = gone;
    clearPrompt();
    showList();
    m_note->setText(tr("\"%1\" was deleted.").arg(gone.title));
    m_undo->show();
}

void PromptsDialog::undo() {
    const SavedPrompt back = *m_deleted;
    if (!keepEdits() || !tell(m_prompts.add(back)))
        return;
    m_deleted.reset();
    m_shown = back;
    showList();
    edit(back);
    showPrompt();
}

/// The edited text is saved, however the dialog is closed. If the disk refuses it, the dialog stays
/// until it is closed once more.
void PromptsDialog::done(int result) {
    if (keepEdits() || std::exchange(m_mayLoseEdits, true))
        QDialog::done(result);
    else
        m_note->setText(tr("%1 Close again to leave without saving.").arg(m_note->text()));
}

} // namespace ui
