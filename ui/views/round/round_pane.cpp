// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/round/round_pane.h"

#include "ui/shell/widgets/lean_table.h"

#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

namespace {

// The padding of headings in the style sheet; the first column is in line with the dock's title.
constexpr int kCellPadding = 8;
constexpr int kFirstPadding = 12;
constexpr int kWidestColumn = 240;

} // namespace

CellWidths::CellWidths(const QFont& font)
    : m_metrics(font)
    , m_letter(m_metrics.horizontalAdvance(u'0'))
    , m_isEven(m_letter == m_metrics.horizontalAdvance(u'i') &&
               m_letter == m_metrics.horizontalAdvance(u'W')) {}

int CellWidths::of(const QString& words) const {
    const bool isPlain = m_isEven && std::ranges::all_of(words, [](QChar letter) {
                             return letter >= u' ' && letter <= u'~';
                         });
    return isPlain ? m_letter * static_cast<int>(words.size()) : m_metrics.horizontalAdvance(words);
}

RoundDelegate::RoundDelegate(const Theme& theme, const RoundTableModel& model, QObject* parent)
    : QAbstractItemDelegate(parent)
    , m_theme(theme)
    , m_model(model) {}

QRect RoundDelegate::wordsRect(const QRect& cell, int column) const {
    const int left = m_theme.scaled(column == 0 ? kFirstPadding : kCellPadding);
    return cell.adjusted(left, 0, -m_theme.scaled(kCellPadding), 0);
}

void RoundDelegate::paint(QPainter* painter,
                          const QStyleOptionViewItem& option,
                          const QModelIndex& index) const {
    const Colours& colours = m_theme.colours();
    const bool isChosen = m_model.isChosen(index.row());
    if (isChosen || (option.state & QStyle::State_Selected) != 0)
        painter->fillRect(option.rect, colours.selection);
    if (isChosen && index.column() == 0) {
        const double side = m_theme.scaled(4);
        const QPointF tip(option.rect.left() + m_theme.scaled(3) + side,
                          QRectF(option.rect).center().y());
        const QPointF corners[] = {tip, tip - QPointF(side, side), tip - QPointF(side, -side)};
        painter->setPen(Qt::NoPen);
        painter->setBrush(colours.text);
        painter->drawPolygon(corners, 3);
    }
    const QRect place = wordsRect(option.rect, index.column());
    QString words = m_model.text(index.row(), index.column());
    if (CellWidths(option.font).of(words) > place.width())
        words = option.fontMetrics.elidedText(words, Qt::ElideRight, place.width());
    const bool isRight = m_model.isNumeric(index.column());
    painter->setPen(colours.text);
    painter->setFont(option.font);
    painter->drawText(place,
                      static_cast<int>(Qt::AlignVCenter | Qt::TextSingleLine |
                                       (isRight ? Qt::AlignRight : Qt::AlignLeft)),
                      words);
}

QSize RoundDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const int padding = -wordsRect(QRect(), index.column()).width();
    const QString& words = m_model.text(index.row(), index.column());
    return {CellWidths(option.font).of(words) + padding, m_theme.scaled(22)};
}

RoundPane::RoundPane(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_model(new RoundTableModel(this))
    , m_delegate(new RoundDelegate(theme, *m_model, this))
    , m_title(plainLabel(this))
    , m_table(new LeanTable(theme, this)) {
    m_table->setModel(m_model);
    m_table->setItemDelegate(m_delegate);
    m_table->setProperty("form", "figures");
    m_table->setShowGrid(false);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->horizontalHeader()->setTextElideMode(Qt::ElideRight);
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    auto* rows = new QVBoxLayout(this);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->addWidget(m_title);
    rows->addWidget(m_table, 1);
    connect(m_model, &QAbstractItemModel::modelReset, this, [this] {
        for (int column = 0; column < m_model->columnCount(); ++column)
            m_table->setColumnWidth(column, 0);
    });
    connect(&theme, &Theme::changed, this, &RoundPane::restyle);
    restyle();
}

void RoundPane::restyle() {
    layout()->setSpacing(m_theme.scaled(4));
    m_title->setFont(m_theme.font(TextRole::DockTitle));
    m_title->setContentsMargins(m_theme.scaled(kFirstPadding), 0, m_theme.scaled(kCellPadding), 0);
    m_table->setFont(m_theme.font(TextRole::Figure));
    m_table->horizontalHeader()->setFont(m_theme.font(TextRole::Small));
    m_table->horizontalHeader()->setMinimumSectionSize(m_theme.scaled(28));
    m_table->verticalHeader()->setMinimumSectionSize(m_theme.scaled(18));
    m_table->verticalHeader()->setDefaultSectionSize(m_theme.scaled(22));
    for (int column = 0; column < m_model->columnCount(); ++column)
        m_table->setColumnWidth(column, 0);
    widenColumns();
    m_table->viewport()->update();
}

void RoundPane::show(const engine::ShownTable& table, bool isTitled) {
    const QString title = QString::fromStdString(table.title);
    m_title->setText(title);
    m_title->setVisible(isTitled);
    m_table->setAccessibleName(title.isEmpty() ? tr("Table of the round")
                                               : tr("Table of the round: %1").arg(title));
    m_model->show(table);
    widenColumns();
}

void RoundPane::widenColumns() {
    const CellWidths cells(m_table->font());
    const QFontMetrics headings(m_theme.font(TextRole::Small));
    for (int column = 0; column < m_model->columnCount(); ++column) {
        const QString heading =
            m_model->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
        int wanted = headings.horizontalAdvance(heading);
        for (int row = 0; row < m_model->rowCount(); ++row)
            wanted = std::max(wanted, cells.of(m_model->text(row, column)));
        wanted -= m_delegate->wordsRect(QRect(), column).width();
        wanted = std::min(wanted + m_theme.scaled(4), m_theme.scaled(kWidestColumn));
        if (wanted > m_table->columnWidth(column))
            m_table->setColumnWidth(column, wanted);
    }
}

} // namespace ui
