// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/commands/command_search.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

constexpr std::size_t kMostMatches = 50;

bool hasLettersInOrder(const QString& text, const QString& typed) {
    int place = 0;
    for (const QChar letter : text)
        if (place < typed.size() && letter.toCaseFolded() == typed[place].toCaseFolded())
            ++place;
    return place == typed.size();
}

} // namespace

CommandSearch::CommandSearch(const Theme& theme, std::vector<Command> commands, QWidget* parent)
    : QDialog(parent, Qt::Popup)
    , m_theme(theme)
    , m_commands(std::move(commands))
    , m_field(new QLineEdit(this))
    , m_list(new QListWidget(this)) {
    setAccessibleName(tr("Search or run a command"));
    setStyleSheet(QStringLiteral("ui--CommandSearch { background: %1; border: 1px solid %2; }")
                      .arg(theme.colours().panel.name(), theme.colours().controlBorder.name()));
    resize(theme.scaledWindow(*this, 560, 380));
    m_field->setPlaceholderText(tr("Search chats, commands, decoders and settings"));
    m_field->setAccessibleName(tr("Search chats and commands"));
    m_field->installEventFilter(this);
    m_list->setAccessibleName(tr("Matches"));
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* rows = new QVBoxLayout(this);
    rows->setContentsMargins(theme.scaled(8), theme.scaled(8), theme.scaled(8), theme.scaled(8));
    rows->addWidget(m_field);
    rows->addWidget(m_list, 1);
    connect(m_field, &QLineEdit::textChanged, this, &CommandSearch::showMatches);
    connect(m_field, &QLineEdit::returnPressed, this, &CommandSearch::runChosen);
    connect(m_list, &QListWidget::itemClicked, this, &CommandSearch::runChosen);
    showMatches();
    m_field->setFocus();
}

int CommandSearch::matchScore(const QString& text, const QString& typed) {
    if (typed.isEmpty())
        return 1;
    if (text.startsWith(typed, Qt::CaseInsensitive))
        return 4;
    if (text.contains(QLatin1Char(' ') + typed, Qt::CaseInsensitive))
        return 3;
    if (text.contains(typed, Qt::CaseInsensitive))
        return 2;
    return hasLettersInOrder(text, typed) ? 1 : 0;
}

void CommandSearch::showMatches() {
    const QString typed = m_field->text().trimmed();
    std::vector<std::pair<int, std::size_t>> matches;
    for (std::size_t i = 0; i < m_commands.size(); ++i)
        if (const int score = std::max(matchScore(m_commands[i].text, typed),
                                       matchScore(m_commands[i].otherName, typed));
            score > 0)
            matches.emplace_back(score, i);
    std::ranges::stable_sort(matches,
                             [](const auto& a, const auto& b) { return a.first > b.first; });
    m_list->clear();
    for (const auto& [score, index] : matches) {
        if (static_cast<std::size_t>(m_list->count()) >= kMostMatches)
            break;
        const Command& command = m_commands[index];
        auto* item = new QListWidgetItem(command.hint.isEmpty()
                                             ? command.text
                                             : command.text + QStringLiteral("    ") + command.hint,
                                         m_list);
        item->setData(Qt::UserRole, static_cast<int>(index));
    }
    if (m_list->count() == 0)
        tellNothing();
    m_list->setCurrentRow(0);
}

/// A line that cannot be chosen.
void CommandSearch::tellNothing() {
    auto* item =
        new QListWidgetItem(tr("No command, chat, decoder or setting matches \u201c%1\u201d.")
                                .arg(m_field->text().trimmed()),
                            m_list);
    item->setFlags(Qt::NoItemFlags);
}

void CommandSearch::runChosen() {
    const QListWidgetItem* item = m_list->currentItem();
    if (item == nullptr || !(item->flags() & Qt::ItemIsEnabled))
        return;
    const auto run = m_commands[static_cast<std::size_t>(item->data(Qt::UserRole).toInt())].run;
    accept();
    run();
}

bool CommandSearch::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        const int step = key == Qt::Key_Down ? 1 : key == Qt::Key_Up ? -1 : 0;
        if (step != 0 && m_list->count() > 0) {
            m_list->setCurrentRow((m_list->currentRow() + step + m_list->count()) %
                                  m_list->count());
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

} // namespace ui
