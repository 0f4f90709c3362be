// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/learn/lens/head_list.h"

#include "ui/origin/token_mark.h"
#include "ui/shell/figure_text.h"
#include "ui/theme/tip_text.h"
#include "ui/views/learn/lens/lens_model.h"

#include <QHeaderView>
#include <QPainter>
#include <QStyledItemDelegate>

#include <algorithm>
#include <cmath>

namespace ui {

using namespace engine;

namespace {

enum HeadColumn { HeadNumber, HeadBars, HeadTop, HeadWeight, HeadEntropy };

constexpr int kWeightsRole = Qt::UserRole + 1; // QList<double>
constexpr int kNamedPositions = 4;             // in the tip of a head

/// The weights from the first position to the newest; neighbours that share a pixel show their sum.
class WeightsDelegate : public QStyledItemDelegate {
public:
    WeightsDelegate(const Theme& theme, QObject* parent)
        : QStyledItemDelegate(parent)
        , m_theme(theme) {}

    void paint(QPainter* painter,
               const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        QStyledItemDelegate::paint(painter, option, index);
        const auto weights = index.data(kWeightsRole).value<QList<double>>();
        const QRect room = option.rect.adjusted(2, 3, -2, -3);
        if (weights.isEmpty() || room.width() <= 0)
            return;
        const Colours& colours = m_theme.colours();
        painter->fillRect(room.left(), room.bottom(), room.width(), 1, colours.axis);
        const auto count = static_cast<int>(weights.size());
        const int bars = std::min(count, room.width());
        for (int bar = 0; bar < bars; ++bar) {
            double sum = 0.0;
            for (int at = bar * count / bars; at < (bar + 1) * count / bars; ++at)
                sum += weights[at];
            const int left = room.left() + bar * room.width() / bars;
            const int right = room.left() + (bar + 1) * room.width() / bars;
            const int height = static_cast<int>(std::lround(std::min(sum, 1.0) * room.height()));
            painter->fillRect(left,
                              room.bottom() - height,
                              std::max(right - left - (right - left > 3 ? 1 : 0), 1),
                              height,
                              colours.heat[5]);
        }
    }

private:
    const Theme& m_theme;
};

/// The positions with the largest weights, the largest first.
std::vector<std::size_t> largestWeights(const std::vector<double>& weights) {
    std::vector<std::size_t> order(weights.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    const auto count = std::min<std::size_t>(kNamedPositions, order.size());
    std::partial_sort(order.begin(),
                      order.begin() + static_cast<std::ptrdiff_t>(count),
                      order.end(),
                      [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
    order.resize(count);
    return order;
}

} // namespace

HeadList::HeadList(const Theme& theme, QWidget* parent)
    : QTableWidget(0, 5, parent)
    , m_theme(theme) {
    setHorizontalHeaderLabels(
        {tr("Head"), tr("Over the text"), tr("Looks most at"), tr("Weight"), tr("Bits")});
    horizontalHeaderItem(HeadEntropy)
        ->setToolTip(tr("The entropy of the weights: 0 bits is one token alone, each bit more is "
                        "twice as many."));
    horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    setAccessibleName(tr("Where the heads of this layer look"));
    setItemDelegateForColumn(HeadBars, new WeightsDelegate(theme, this));
    verticalHeader()->hide();
    setShowGrid(false);
    setFrameShape(QFrame::NoFrame);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setTabKeyNavigation(false);
    horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    horizontalHeader()->setSectionResizeMode(HeadBars, QHeaderView::Stretch);
    connect(&theme, &Theme::changed, this, &HeadList::restyle);
    restyle();
}

/// Without room for bars their column goes, so that the others need not be scrolled.
void HeadList::resizeEvent(QResizeEvent* event) {
    int others = 0;
    for (const int column : {HeadNumber, HeadTop, HeadWeight, HeadEntropy})
        others += std::max(sizeHintForColumn(column), horizontalHeader()->sectionSizeHint(column));
    setColumnHidden(HeadBars, viewport()->width() - others < m_theme.scaled(70));
    QTableWidget::resizeEvent(event);
}

void HeadList::restyle() {
    verticalHeader()->setDefaultSectionSize(m_theme.scaled(26));
    horizontalHeader()->setFixedHeight(m_theme.scaled(24));
}

void HeadList::showHeads(const AttentionRead& read) {
    setRowCount(static_cast<int>(read.heads.size()));
    for (int head = 0; head < rowCount(); ++head) {
        const HeadAttention& shown = read.heads[static_cast<std::size_t>(head)];
        QStringList named;
        QString top;
        double most = 0.0;
        for (const std::size_t at : largestWeights(shown.weights)) {
            const QString text = visibleTokenText(QString::fromStdString(read.texts.at(at)));
            if (named.isEmpty()) {
                top = text;
                most = shown.weights[at];
            }
            // At once: a token may be "%2".
            named
                << tr("%1 at %2: %3").arg(text, QString::number(at), shareText(shown.weights[at]));
        }
        const QString bits = QString::number(shown.entropy, 'f', 1);
        const QString sentence =
            tr("Head %1 looks at %2; entropy %3 bits")
                .arg(QString::number(head), named.join(QStringLiteral(", ")), bits);
        const QString tip = tipOf(sentence);
        auto* bars = new QTableWidgetItem;
        bars->setData(
            kWeightsRole,
            QVariant::fromValue(QList<double>(shown.weights.begin(), shown.weights.end())));
        bars->setData(Qt::AccessibleTextRole, sentence);
        setItem(head, HeadNumber, new QTableWidgetItem(QString::number(head)));
        setItem(head, HeadBars, bars);
        setItem(head, HeadTop, new QTableWidgetItem(top));
        setItem(head, HeadWeight, new QTableWidgetItem(shareText(most)));
        setItem(head, HeadEntropy, new QTableWidgetItem(bits));
        for (int column = 0; column < columnCount(); ++column)
            item(head, column)->setToolTip(tip);
    }
}

} // namespace ui
