// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/commands/shortcut_list.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QVBoxLayout>

namespace ui {

ShortcutModel::ShortcutModel(ActionCatalog& catalog, QObject* parent)
    : QAbstractTableModel(parent)
    , m_catalog(catalog) {
    // A change of another action can create or resolve a conflict in any row.
    connect(&catalog, &ActionCatalog::keysChanged, this, [this] {
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    });
}

int ShortcutModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_catalog.entries().size());
}

int ShortcutModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant ShortcutModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid())
        return {};
    const ActionCatalog::Entry& entry = m_catalog.entries()[static_cast<std::size_t>(index.row())];
    const QStringList conflicts =
        index.column() == Keys ? m_catalog.conflicts(entry.id) : QStringList();
    if (role == Qt::ToolTipRole && !conflicts.isEmpty())
        return tr("Also used by: %1").arg(conflicts.join(QStringLiteral(", ")));
    if (role != Qt::DisplayRole)
        return {};
    if (index.column() == Action)
        return QString(entry.action->text()).remove(QLatin1Char('&'));
    if (index.column() == Group)
        return entry.group;
    const QString keys =
        QKeySequence::listToString(entry.action->shortcuts(), QKeySequence::NativeText);
    return conflicts.isEmpty() ? keys : tr("%1 (conflict)").arg(keys);
}

QVariant ShortcutModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Action:
        return tr("Action");
    case Keys:
        return tr("Keys");
    default:
        return tr("Group");
    }
}

QString ShortcutModel::id(int row) const {
    return m_catalog.entries()[static_cast<std::size_t>(row)].id;
}

ShortcutList::ShortcutList(const Theme& theme, ActionCatalog& catalog, QWidget* parent)
    : QDialog(parent)
    , m_catalog(catalog)
    , m_model(new ShortcutModel(catalog, this))
    , m_filtered(new QSortFilterProxyModel(this))
    , m_search(new QLineEdit(this))
    , m_table(new QTableView(this))
    , m_keys(new QKeySequenceEdit(this))
    , m_reset(new QPushButton(tr("Reset"), this))
    , m_none(new QPushButton(tr("No key"), this))
    , m_conflict(new QLabel(this)) {
    setWindowTitle(tr("Keyboard shortcuts"));
    resize(theme.scaledWindow(*this, 620, 560));
    m_filtered->setSourceModel(m_model);
    m_filtered->setFilterCaseSensitivity(Qt::CaseInsensitive);
    m_filtered->setFilterKeyColumn(-1);
    m_search->setPlaceholderText(tr("Search actions and keys"));
    m_search->setAccessibleName(tr("Search actions and keys"));
    m_search->setClearButtonEnabled(true);
    m_table->setModel(m_filtered);
    m_table->setAccessibleName(tr("Actions and their keys"));
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setShowGrid(false);
    m_table->setTabKeyNavigation(false);
    m_table->verticalHeader()->hide();
    m_table->horizontalHeader()->setSectionResizeMode(ShortcutModel::Action, QHeaderView::Stretch);
    m_table->setColumnWidth(ShortcutModel::Keys, theme.scaled(200));
    m_keys->setAccessibleName(tr("Keys of the selected action"));
    m_keys->installEventFilter(this);
    m_none->setToolTip(tr("Take the keys of the selected action away. Backspace and Delete in the "
                          "field do the same."));
    m_reset->setToolTip(tr("Give the selected action its first keys again"));
    // Enter in the search field means neither.
    for (QPushButton* button : {m_reset, m_none})
        button->setAutoDefault(false);
    m_conflict->setWordWrap(true);
    auto* editor = new QHBoxLayout;
    editor->addWidget(new QLabel(tr("Keys"), this));
    editor->addWidget(m_keys, 1);
    editor->addWidget(m_none);
    editor->addWidget(m_reset);
    auto* rows = new QVBoxLayout(this);
    rows->addWidget(m_search);
    rows->addWidget(m_table, 1);
    rows->addLayout(editor);
    rows->addWidget(m_conflict);
    connect(m_search,
            &QLineEdit::textChanged,
            m_filtered,
            &QSortFilterProxyModel::setFilterFixedString);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] {
        changeKeys();
        showChosen();
    });
    connect(m_keys, &QKeySequenceEdit::editingFinished, this, &ShortcutList::changeKeys);
    connect(m_reset, &QPushButton::clicked, this, [this] {
        m_catalog.resetKeys(chosenId());
        showChosen();
    });
    connect(m_none, &QPushButton::clicked, this, &ShortcutList::takeKeysAway);
    m_table->selectRow(0);
    m_search->setFocus();
}

QString ShortcutList::chosenId() const {
    const QModelIndex row = m_filtered->mapToSource(m_table->currentIndex());
    return row.isValid() ? m_model->id(row.row()) : QString();
}

void ShortcutList::done(int result) {
    changeKeys();
    QDialog::done(result);
}

void ShortcutList::showChosen() {
    m_shownId = chosenId();
    const QAction* action = m_catalog.find(m_shownId);
    m_keys->setEnabled(action != nullptr);
    m_reset->setEnabled(action != nullptr);
    m_none->setEnabled(action != nullptr && !action->shortcuts().isEmpty());
    m_conflict->clear();
    if (action == nullptr)
        return;
    m_keys->setKeySequence(action->shortcut());
    const QStringList conflicts = m_catalog.conflicts(m_shownId);
    if (!conflicts.isEmpty())
        m_conflict->setText(
            tr("These keys are also used by: %1. None of these actions works until one of them is "
               "changed.")
                .arg(conflicts.join(QStringLiteral(", "))));
}

/// The field says that it is finished only a second after the last key; who goes on before means
/// these keys, too. A modifier alone empties it, as in Shift+Tab, and means nothing.
void ShortcutList::changeKeys() {
    const QString id = m_shownId;
    const QAction* action = m_catalog.find(id);
    const QKeySequence keys = m_keys->keySequence();
    if (action == nullptr || keys == action->shortcut())
        return;
    if (!keys.isEmpty())
        m_catalog.setKeys(id, {keys});
    showChosen();
}

void ShortcutList::takeKeysAway() {
    m_catalog.setKeys(m_shownId, {});
    showChosen();
}

/// The field itself would take them for the keys that are wanted.
bool ShortcutList::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_keys && event->type() == QEvent::KeyPress) {
        const auto& pressed = static_cast<const QKeyEvent&>(*event);
        const bool isErasing =
            pressed.key() == Qt::Key_Backspace || pressed.key() == Qt::Key_Delete;
        if (isErasing && !(pressed.modifiers() & ~Qt::KeyboardModifiers(Qt::KeypadModifier))) {
            takeKeysAway();
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

} // namespace ui
