// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/skip_sets/skip_set_tree.h"

#include "ui/shell/figure_text.h"
#include "ui/theme/tip_text.h"
#include "ui/views/skip_sets/shelf/skip_set_shelf.h"

#include <QDateTime>
#include <QHeaderView>
#include <QLocale>

#include <algorithm>
#include <utility>

namespace ui {

using namespace engine;

namespace {

enum SetColumn {
    SetName,
    SetState,
    SetScore,
    SetRatio,
    SetSkipped,
    SetJaccard,
    SetTrials,
    SetSource,
    SetDay,
    SetColumnCount
};

constexpr int kSetRole = Qt::UserRole + 1;   ///< index into the model's sets; none on its line
constexpr int kOwnRole = Qt::UserRole + 2;   ///< whether it is of the loaded model
constexpr int kOtherRole = Qt::UserRole + 3; ///< index of the other model
constexpr int kRoomForRatio = 260;           ///< pixels at 100 %
constexpr int kRoomForDay = 400;
constexpr int kRoomForAll = 500;

const QString kPublished = QStringLiteral(", published");

QString savedDay(std::int64_t seconds) {
    const QDate day = QDateTime::fromSecsSinceEpoch(seconds).date();
    return day.isValid() ? QLocale().toString(day, QLocale::ShortFormat) : QString();
}

QFont boldFont(const Theme& theme) {
    QFont font = theme.font(TextRole::Interface);
    font.setWeight(QFont::DemiBold);
    return font;
}

QStringList headings() {
    return {SkipSetTree::tr("Skip set"),
            SkipSetTree::tr("State"),
            SkipSetTree::tr("Score"),
            SkipSetTree::tr("r"),
            SkipSetTree::tr("Skipped"),
            SkipSetTree::tr("Jaccard"),
            SkipSetTree::tr("Trials"),
            SkipSetTree::tr("Source"),
            SkipSetTree::tr("Saved")};
}

} // namespace

QString shownModel(const ModelSkipSets& model) {
    return model.model.empty()
               ? SkipSetTree::tr("Model %1").arg(QString::fromStdString(model.fingerprint).left(8))
               : shownTask(model.model);
}

QString sourceText(const StoredSkipSet& stored) {
    QString source = QString::fromStdString(stored.decoder).simplified();
    if (source.endsWith(kPublished))
        return SkipSetTree::tr("published, %1").arg(source.chopped(kPublished.size()));
    if (stored.trials == 0)
        return source == QLatin1String("import") ? SkipSetTree::tr("import") : source;
    return SkipSetTree::tr("search, %1").arg(source);
}

QString skippedText(const SkipSet& set, int layerCount) {
    return SkipSetTree::tr("%1 of %2")
        .arg(set.attention.size() + set.mlp.size())
        .arg(2 * std::max(layerCount - 2, 0));
}

SkipSetTree::SkipSetTree(const Theme& theme, QWidget* parent)
    : QTreeView(parent)
    , m_theme(theme) {
    setModel(&m_model);
    setAccessibleName(tr("Stored skip sets"));
    setAccessibleDescription(tr("Enter uses the chosen set, F2 renames it, Del deletes it."));
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setEditTriggers(QAbstractItemView::EditKeyPressed);
    setTabKeyNavigation(false);
    setAllColumnsShowFocus(true);
    setUniformRowHeights(true);
    setExpandsOnDoubleClick(false);
    setContextMenuPolicy(Qt::CustomContextMenu);
    header()->setStretchLastSection(false);
    header()->setSectionsMovable(false);
    connect(&m_model, &QStandardItemModel::itemChanged, this, [this](QStandardItem* item) {
        if (m_isFilling || item->column() != SetName || !item->data(kSetRole).isValid())
            return;
        const auto place = static_cast<std::size_t>(item->data(kSetRole).toInt());
        const std::string task = m_listing.own.sets.at(place).task;
        const QString typed = item->text().trimmed();
        showAgain(); // until the engine has done it
        if (!typed.isEmpty() && typed != shownTask(task))
            emit renamed(task, typed);
    });
    connect(&theme, &Theme::changed, this, &SkipSetTree::fill);
    fill();
}

void SkipSetTree::setListing(const SkipSetListing& listing) {
    if (state() == QAbstractItemView::EditingState) {
        m_later = listing;
        return;
    }
    m_later.reset();
    if (listing == m_listing)
        return;
    m_listing = listing;
    fill();
}

/// What came meanwhile is shown once the view is done with the field, as in showAgain().
void SkipSetTree::closeEditor(QWidget* editor, QAbstractItemDelegate::EndEditHint hint) {
    QTreeView::closeEditor(editor, hint);
    QMetaObject::invokeMethod(
        this,
        [this] {
            if (m_later)
                setListing(SkipSetListing(*m_later));
        },
        Qt::QueuedConnection);
}

void SkipSetTree::showAgain() {
    // A row must not vanish while the view still takes what was typed into it.
    QMetaObject::invokeMethod(this, &SkipSetTree::fill, Qt::QueuedConnection);
}

std::optional<ListedSkipSet> SkipSetTree::current() const {
    const QModelIndex index = currentIndex().siblingAtColumn(SetName);
    const QVariant place = index.data(kSetRole);
    if (!place.isValid())
        return std::nullopt;
    const bool isOwn = index.data(kOwnRole).toBool();
    const ModelSkipSets& model =
        isOwn ? m_listing.own
              : m_listing.others.at(static_cast<std::size_t>(index.data(kOtherRole).toInt()));
    return ListedSkipSet{model.sets.at(static_cast<std::size_t>(place.toInt())), isOwn};
}

void SkipSetTree::choose(const std::string& task) {
    for (std::size_t i = 0; i < m_listing.own.sets.size(); ++i)
        if (m_listing.own.sets[i].task == task)
            setCurrentIndex(m_model.index(static_cast<int>(i), SetName, m_model.index(0, 0)));
}

void SkipSetTree::editName() {
    const QModelIndex index = currentIndex().siblingAtColumn(SetName);
    if (index.isValid())
        edit(index);
}

QString SkipSetTree::stateOf(const ModelSkipSets& model, const NamedSkipSet& set) const {
    if (&model != &m_listing.own)
        return {};
    QStringList states;
    if (m_listing.inUse == set.stored.set)
        states << tr("in use");
    if (m_listing.pinned == set.stored.set)
        states << tr("pinned");
    return states.join(QStringLiteral(", "));
}

QStringList SkipSetTree::cellsOf(const ModelSkipSets& model, const NamedSkipSet& set) const {
    const StoredSkipSet& stored = set.stored;
    const bool isMeasured = stored.trials > 0;
    const bool isCompared = m_listing.pinned && &model == &m_listing.own;
    return {shownTask(set.task),
            stateOf(model, set),
            isMeasured ? shareText(stored.score) : QString(),
            shareText(stored.skipRatio),
            skippedText(stored.set, model.layerCount),
            isCompared ? shareText(compareSkipSets(stored.set, *m_listing.pinned).jaccard())
                       : QString(),
            isMeasured ? numberText(stored.trials) : QString(),
            sourceText(stored),
            savedDay(stored.savedAt)};
}

QList<QStandardItem*> SkipSetTree::rowOf(const ModelSkipSets& model, int index, bool isOwn) const {
    const NamedSkipSet& set = model.sets[static_cast<std::size_t>(index)];
    const QStringList cells = cellsOf(model, set);
    const QStringList names = headings();
    QStringList words;
    for (int column = SetState; column < SetColumnCount; ++column)
        if (!cells[column].isEmpty())
            words << (column == SetState
                          ? cells[column]
                          : QStringLiteral("%1: %2").arg(names[column], cells[column]));
    const QString tip =
        isOwn ? words.join(u'\n')
              : tr("%1\nMade for another model, so it cannot be used.").arg(words.join(u'\n'));
    QList<QStandardItem*> row;
    for (int column = 0; column < SetColumnCount; ++column) {
        auto* item = new QStandardItem(cells[column]);
        item->setEditable(isOwn && column == SetName);
        item->setToolTip(tipOf(shownTask(set.task) + u'\n' + tip));
        if (column >= SetScore && column <= SetTrials) {
            item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
            item->setFont(m_theme.font(TextRole::Figure));
        }
        if (!isOwn)
            item->setForeground(m_theme.colours().muted);
        else if (!cells[SetState].isEmpty() && column == SetName)
            item->setFont(boldFont(m_theme));
        item->setData(index, kSetRole);
        item->setData(isOwn, kOwnRole);
        row << item;
    }
    row.front()->setData(
        QStringLiteral("%1, %2").arg(cells[SetName], words.join(QStringLiteral(", "))),
        Qt::AccessibleTextRole);
    return row;
}

void SkipSetTree::addModel(const ModelSkipSets& model, bool isOwn) {
    const QString title = isOwn ? shownModel(model)
                                : countText(model.layerCount,
                                            tr("%2 (another model, 1 layer)"),
                                            tr("%2 (another model, %1 layers)"))
                                      .arg(shownModel(model));
    auto* line = new QStandardItem(title);
    line->setEditable(false);
    line->setFont(m_theme.font(TextRole::Small));
    line->setForeground(m_theme.colours().muted);
    line->setToolTip(tipOf(title));
    m_model.appendRow(line);
    for (int i = 0; i < static_cast<int>(model.sets.size()); ++i) {
        const QList<QStandardItem*> row = rowOf(model, i, isOwn);
        if (!isOwn)
            row.front()->setData(m_model.rowCount() - 1 - (m_listing.own.sets.empty() ? 0 : 1),
                                 kOtherRole);
        line->appendRow(row);
    }
    setFirstColumnSpanned(line->row(), {}, true);
}

void SkipSetTree::fill() {
    const QModelIndex before = currentIndex().siblingAtColumn(SetName);
    const QString chosen = before.data().toString();
    const int line = before.parent().isValid() ? before.parent().row() : 0;
    const bool isFirst = !before.isValid();
    m_isFilling = true;
    m_model.clear();
    m_model.setHorizontalHeaderLabels(headings());
    for (int column = SetScore; column <= SetTrials; ++column)
        m_model.horizontalHeaderItem(column)->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    if (!m_listing.own.sets.empty())
        addModel(m_listing.own, true);
    for (const ModelSkipSets& other : m_listing.others)
        addModel(other, false);
    expandAll();
    m_isFilling = false;
    showColumns();
    const QModelIndex parent = m_model.index(line, SetName);
    QModelIndex next = m_model.index(isFirst ? 0 : before.row(), SetName, parent);
    for (int i = 0; i < m_model.rowCount(parent); ++i)
        if (m_model.index(i, SetName, parent).data().toString() == chosen)
            next = m_model.index(i, SetName, parent);
    setCurrentIndex(next.isValid() ? next : m_model.index(0, SetName, m_model.index(0, SetName)));
    emit currentChosen();
}

/// The name gets what the others leave; without room for a name the least important go.
void SkipSetTree::showColumns() {
    if (m_model.columnCount() < SetColumnCount)
        return;
    const int room = viewport()->width();
    bool hasState = false;
    for (const NamedSkipSet& set : m_listing.own.sets)
        hasState = hasState || !stateOf(m_listing.own, set).isEmpty();
    setColumnHidden(SetState, !hasState);
    setColumnHidden(SetJaccard, !m_listing.pinned);
    setColumnHidden(SetRatio, room < m_theme.scaled(kRoomForRatio));
    setColumnHidden(SetDay, room < m_theme.scaled(kRoomForDay));
    for (const int column : {SetTrials, SetSource})
        setColumnHidden(column, room < m_theme.scaled(kRoomForAll));
    header()->setSectionResizeMode(QHeaderView::ResizeToContents);
    header()->setSectionResizeMode(SetName, QHeaderView::Stretch);
    header()->setMinimumSectionSize(m_theme.scaled(40));
    setIndentation(m_theme.scaled(14));
}

FigureTable SkipSetTree::table() const {
    FigureTable table;
    table.header = QStringList{tr("Model")} + headings();
    const auto add = [&](const ModelSkipSets& model) {
        for (const NamedSkipSet& set : model.sets)
            table.rows.push_back(QStringList{shownModel(model)} + cellsOf(model, set));
    };
    add(m_listing.own);
    for (const ModelSkipSets& other : m_listing.others)
        add(other);
    return table;
}

void SkipSetTree::resizeEvent(QResizeEvent* event) {
    QTreeView::resizeEvent(event);
    showColumns();
}

void SkipSetTree::currentChanged(const QModelIndex& current, const QModelIndex& previous) {
    QTreeView::currentChanged(current, previous);
    if (!m_isFilling)
        emit currentChosen();
}

} // namespace ui
