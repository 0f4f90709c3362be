// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/matchness/matchness_strip.h"

#include "ui/theme/theme.h"

#include <QHeaderView>
#include <QPainter>
#include <QScrollBar>
#include <QStyledItemDelegate>

#include <algorithm>

namespace ui {

namespace {

constexpr int kCellWidth = 60;  ///< pixels at 100 %, with the gap, for a token of usual length
constexpr int kCellHeight = 41; ///< with the gap
constexpr int kGap = 3;

class StripDelegate : public QStyledItemDelegate {
public:
    StripDelegate(const Theme& theme, QObject* parent)
        : QStyledItemDelegate(parent)
        , m_theme(theme) {}

    void paint(QPainter* painter,
               const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        if (!index.data(Qt::DisplayRole).isValid())
            return;
        const Colours& colours = m_theme.colours();
        const bool isMatch = index.data(StripModel::IsMatchRole).toBool();
        const QRect cell = option.rect.adjusted(0, 0, -kGap - 1, -kGap - 1);
        painter->save();
        painter->setPen(isMatch ? colours.border : colours.rejectedText);
        painter->setBrush(isMatch ? colours.panel : colours.rejected);
        painter->drawRect(cell);
        const QRect upper(cell.left(), cell.top(), cell.width() + 1, cell.height() / 2);
        const QRect lower(cell.left(), upper.bottom() + 1, cell.width() + 1, cell.height() / 2);
        if (isMatch) {
            painter->setPen(colours.grid);
            painter->drawLine(upper.left() + 1, upper.bottom(), upper.right() - 1, upper.bottom());
        }
        drawTexts(*painter, index, upper, lower);
        if (option.state.testFlag(QStyle::State_HasFocus))
            drawFocus(*painter, cell);
        painter->restore();
    }

private:
    void drawTexts(QPainter& painter,
                   const QModelIndex& index,
                   const QRect& upper,
                   const QRect& lower) const {
        const Colours& colours = m_theme.colours();
        QFont font = m_theme.font(TextRole::AxisFigure);
        const QFontMetrics metrics(font);
        const int room = upper.width() - 6;
        painter.setFont(font);
        painter.setPen(colours.text);
        const QString token = index.data(Qt::DisplayRole).toString();
        painter.drawText(upper, Qt::AlignCenter, metrics.elidedText(token, Qt::ElideRight, room));
        if (index.data(StripModel::IsMatchRole).toBool()) {
            painter.setPen(colours.success);
            painter.drawText(lower, Qt::AlignCenter, QStringLiteral("✓"));
            return;
        }
        painter.setPen(colours.rejectedText);
        const QString cross = QStringLiteral("✗ ");
        const int crossWidth = metrics.horizontalAdvance(cross);
        const QString guess = metrics.elidedText(
            index.data(StripModel::GuessRole).toString(), Qt::ElideRight, room - crossWidth);
        const int width = crossWidth + metrics.horizontalAdvance(guess);
        const int left = lower.left() + (lower.width() - width) / 2;
        painter.drawText(QRect(left, lower.top(), crossWidth, lower.height()),
                         Qt::AlignLeft | Qt::AlignVCenter,
                         cross);
        font.setStrikeOut(true);
        painter.setFont(font);
        painter.drawText(QRect(left + crossWidth, lower.top(), width, lower.height()),
                         Qt::AlignLeft | Qt::AlignVCenter,
                         guess);
    }

    void drawFocus(QPainter& painter, const QRect& cell) const {
        QPen pen(m_theme.colours().focus, 2.0);
        pen.setJoinStyle(Qt::MiterJoin);
        painter.setPen(pen);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(cell.adjusted(1, 1, 0, 0));
    }

    const Theme& m_theme;
};

} // namespace

MatchnessStrip::MatchnessStrip(const Theme& theme, QWidget* parent)
    : QTableView(parent)
    , m_theme(theme) {
    setAccessibleName(tr("Tokens of the context window and the draft's guesses"));
    setModel(&m_model);
    setItemDelegate(new StripDelegate(theme, this));
    horizontalHeader()->hide();
    verticalHeader()->hide();
    horizontalHeader()->setMinimumSectionSize(1);
    verticalHeader()->setMinimumSectionSize(1);
    setShowGrid(false);
    setSelectionMode(SingleSelection);
    setEditTriggers(NoEditTriggers);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollMode(ScrollPerPixel);
    setTabKeyNavigation(false);
    setFrameShape(NoFrame);
    connect(&theme, &Theme::changed, this, &MatchnessStrip::restyle);
    restyle();
}

void MatchnessStrip::setCells(std::vector<StripCell> cells) {
    const int place = placeOfKeyboard();
    if (!m_model.setCells(std::move(cells)))
        return;
    arrange();
    returnTo(place);
    updateGeometry();
}

int MatchnessStrip::placeOfKeyboard() const {
    const QModelIndex at = currentIndex();
    return at.isValid() ? at.row() * m_model.columnCount() + at.column() : -1;
}

/// Other guesses, or lines of another length, leave the keyboard at its token.
void MatchnessStrip::returnTo(int place) {
    const int columns = m_model.columnCount();
    if (place >= 0 && place < static_cast<int>(m_model.cells().size()))
        setCurrentIndex(m_model.index(place / columns, place % columns));
}

int MatchnessStrip::columnsFor(int width) const {
    const auto count = static_cast<int>(m_model.cells().size());
    const int most = std::max(1, width / std::max(1, m_theme.scaled(kCellWidth)));
    if (count <= most)
        return std::max(1, count);
    // Lines of equal length: 32 tokens are shown as 16 and 16, not as 20 and 12.
    const int lines = (count + most - 1) / most;
    return (count + lines - 1) / lines;
}

void MatchnessStrip::arrange() {
    const int width = viewport()->width();
    const int columns = columnsFor(width);
    const int place = placeOfKeyboard();
    m_model.setColumns(columns);
    if (placeOfKeyboard() != place)
        returnTo(place);
    const int cellWidth = std::min(width / columns, m_theme.scaled(kCellWidth) * 3 / 2);
    horizontalHeader()->setDefaultSectionSize(std::max(1, cellWidth));
    verticalHeader()->setDefaultSectionSize(m_theme.scaled(kCellHeight));
}

void MatchnessStrip::restyle() {
    arrange();
    updateGeometry();
    viewport()->update();
}

void MatchnessStrip::resizeEvent(QResizeEvent* event) {
    QTableView::resizeEvent(event);
    arrange();
}

int MatchnessStrip::heightFor(int width) const {
    const auto count = static_cast<int>(m_model.cells().size());
    const int columns = columnsFor(width);
    return std::max(1, (count + columns - 1) / columns) * m_theme.scaled(kCellHeight);
}

QSize MatchnessStrip::sizeHint() const {
    const int width = std::max(viewport()->width(), m_theme.scaled(240));
    return {width, heightFor(width)};
}

QSize MatchnessStrip::minimumSizeHint() const {
    return {m_theme.scaled(kCellWidth), m_theme.scaled(kCellHeight)};
}

} // namespace ui
