// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/draft_tree/mask_view.h"

#include "ui/origin/token_mark.h"
#include "ui/views/draft_tree/draft_tree_view.h"

#include <QHeaderView>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

using namespace engine;

namespace {

ViewInfo maskInfo() {
    return {QStringLiteral("verification_mask"),
            MaskView::tr("Verification mask"),
            MaskView::tr("The full model checks a whole draft tree in one pass. Each row is a "
                         "token of that pass, and a mark says which others it may look at: its "
                         "own ancestors and itself, never a sibling (paper: figure 5). Rows that "
                         "run beside a draft come last, paler."),
            Topic::Answers | Topic::Selection};
}

} // namespace

MaskModel::MaskModel(const Theme& theme, QObject* parent)
    : QAbstractTableModel(parent)
    , m_theme(theme) {}

void MaskModel::show(const StepFinished* step, const QString& rootText) {
    beginResetModel();
    m_sees.clear();
    m_texts.clear();
    m_isAccepted.clear();
    if (step != nullptr) {
        m_sees = verificationMask(*step);
        m_texts << (rootText.isEmpty() ? tr("prompt") : visibleTokenText(rootText));
        m_isAccepted.push_back(true);
        for (std::size_t i = 0; i < step->draft.size(); ++i) {
            m_texts << draftedText(*step, i);
            m_isAccepted.push_back(std::ranges::count(step->path, static_cast<int>(i)) > 0);
        }
        m_firstSide = static_cast<int>(m_texts.size());
        for (std::size_t i = 0; i < step->sides.size(); ++i) {
            m_texts << sideText(*step, i);
            m_isAccepted.push_back(false);
        }
    }
    endResetModel();
}

int MaskModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_sees.size());
}

int MaskModel::columnCount(const QModelIndex& parent) const { return rowCount(parent); }

QVariant MaskModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid())
        return {};
    const auto row = static_cast<std::size_t>(index.row());
    const auto column = static_cast<std::size_t>(index.column());
    const bool sees = m_sees[row][column];
    switch (role) {
    case Qt::DisplayRole:
        return sees ? QStringLiteral("\u25CF") : QString();
    case Qt::TextAlignmentRole:
        return Qt::AlignCenter;
    case Qt::AccessibleTextRole:
        return (sees ? tr("%1 sees %2") : tr("%1 does not see %2"))
            .arg(m_texts[index.row()], m_texts[index.column()]);
    case Qt::ForegroundRole:
        return m_isAccepted[row]            ? m_theme.colours().acceptedLine
               : index.row() >= m_firstSide ? m_theme.colours().disabled
                                            : m_theme.colours().muted;
    case Qt::BackgroundRole:
        return sees && m_isAccepted[row] ? QVariant(m_theme.colours().accepted) : QVariant();
    default:
        return {};
    }
}

QVariant MaskModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role == Qt::DisplayRole && section < m_texts.size())
        return orientation == Qt::Vertical ? m_texts[section] : QString::number(section);
    const bool isSide = section >= m_firstSide;
    if (role == Qt::ToolTipRole && section < m_texts.size())
        return isSide ? tr("%1: beside the draft, cannot be accepted").arg(m_texts[section])
                      : m_texts[section];
    if (role == Qt::ForegroundRole && isSide)
        return m_theme.colours().muted;
    return {};
}

MaskView::MaskView(const ViewContext& context, QWidget* parent)
    : View(context, maskInfo(), parent)
    , m_model(new MaskModel(context.theme, this))
    , m_table(new QTableView(this)) {
    auto* rows = new QVBoxLayout(this);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->addWidget(m_table);
    m_table->setModel(m_model);
    m_table->setAccessibleName(tr("Verification mask: rows see columns"));
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setTabKeyNavigation(false);
    m_table->verticalHeader()->setTextElideMode(Qt::ElideRight);
    connect(&context.theme, &Theme::changed, this, &MaskView::restyle);
    restyle();
    refreshView({});
}

void MaskView::refreshView(Topics) {
    const ShownStep shown = shownStep(store(), selection());
    if (shown.step == nullptr) {
        m_model->show(nullptr, {});
        setSubtitle(tr("appears with the first draft"));
        return;
    }
    m_model->show(shown.step, textBefore(*shown.answer, *shown.step));
    setSubtitle(tr("decode step %1: rows see the marked columns").arg(shown.step->step + 1));
}

FigureTable MaskView::table() const {
    FigureTable table;
    table.header << tr("Row");
    for (int column = 0; column < m_model->columnCount(); ++column)
        table.header << m_model->headerData(column, Qt::Vertical, Qt::DisplayRole).toString();
    for (int row = 0; row < m_model->rowCount(); ++row) {
        QStringList cells = {m_model->headerData(row, Qt::Vertical, Qt::DisplayRole).toString()};
        for (int column = 0; column < m_model->columnCount(); ++column)
            cells << (m_model->data(m_model->index(row, column)).toString().isEmpty()
                          ? QString()
                          : QStringLiteral("1"));
        table.rows.push_back(std::move(cells));
    }
    return table;
}

void MaskView::restyle() {
    m_table->setFont(theme().font(TextRole::Figure));
    m_table->horizontalHeader()->setMinimumSectionSize(theme().scaled(20));
    m_table->horizontalHeader()->setDefaultSectionSize(theme().scaled(24));
    m_table->verticalHeader()->setDefaultSectionSize(theme().scaled(22));
    m_table->verticalHeader()->setMinimumSectionSize(theme().scaled(18));
    m_table->verticalHeader()->setMaximumWidth(theme().scaled(110));
    m_table->viewport()->update();
}

} // namespace ui
