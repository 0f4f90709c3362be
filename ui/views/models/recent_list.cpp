// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/models/recent_list.h"

#include <QKeyEvent>
#include <QPainter>
#include <QStyledItemDelegate>

#include <algorithm>

namespace ui {

namespace {

constexpr int kPathRole = Qt::UserRole;
constexpr int kGoneRole = Qt::UserRole + 1;
constexpr int kRowsShown = 5;

/// Two lines: the name, then where it lies or that it is gone.
class RecentDelegate : public QStyledItemDelegate {
public:
    RecentDelegate(const Theme& theme, QObject* parent)
        : QStyledItemDelegate(parent)
        , m_theme(theme) {}

    QSize sizeHint(const QStyleOptionViewItem& /*option*/, const QModelIndex&) const override {
        return {m_theme.scaled(160), m_theme.scaled(40)};
    }

    void paint(QPainter* painter,
               const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const Colours& colours = m_theme.colours();
        const bool isGone = index.data(kGoneRole).toBool();
        const bool isCurrent = option.state & QStyle::State_Selected;
        painter->save();
        if (isCurrent || (option.state & QStyle::State_MouseOver))
            painter->fillRect(option.rect, isCurrent ? colours.selection : colours.hover);
        if (option.state & QStyle::State_HasFocus) {
            painter->setPen(QPen(colours.focus, 2));
            painter->drawRect(option.rect.adjusted(1, 1, -1, -1));
        }
        const int inset = m_theme.scaled(8);
        const QRect words = option.rect.adjusted(inset, m_theme.scaled(2), -inset, 0);
        const int line = m_theme.scaled(19);
        paintLine(*painter,
                  {words.left(), words.top(), words.width(), line},
                  index.data().toString(),
                  {TextRole::Interface, isGone ? colours.disabled : colours.text});
        const QString path = index.data(kPathRole).toString();
        paintLine(*painter,
                  {words.left(), words.top() + line, words.width(), m_theme.scaled(16)},
                  isGone ? RecentList::tr("gone: %1").arg(path) : path,
                  {TextRole::Tiny, isGone ? colours.warning : colours.muted});
        painter->restore();
    }

private:
    struct Look {
        TextRole role;
        QColor colour;
    };

    void
    paintLine(QPainter& painter, const QRect& area, const QString& text, const Look& look) const {
        painter.setFont(m_theme.font(look.role));
        painter.setPen(look.colour);
        painter.drawText(area,
                         Qt::AlignLeft | Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(text, Qt::ElideMiddle, area.width()));
    }

    const Theme& m_theme;
};

} // namespace

RecentList::RecentList(const Theme& theme, RecentModels& recent, QWidget* parent)
    : QListWidget(parent)
    , m_theme(theme)
    , m_recent(recent) {
    setAccessibleName(tr("Recent models"));
    setItemDelegate(new RecentDelegate(theme, this));
    setMouseTracking(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    connect(&recent, &RecentModels::changed, this, &RecentList::fill);
    connect(&theme, &Theme::changed, this, [this] {
        scheduleDelayedItemsLayout();
        updateGeometry();
    });
    connect(this, &QListWidget::itemClicked, this, [this](const QListWidgetItem* item) {
        if (!item->data(kGoneRole).toBool())
            emit opened(item->data(kPathRole).toString());
    });
    fill();
}

void RecentList::fill() {
    const int row = currentRow();
    clear();
    for (const RecentModel& model : m_recent.list()) {
        const bool isGone = RecentModels::isGone(model);
        auto* item = new QListWidgetItem(model.name, this);
        item->setData(kPathRole, model.path);
        item->setData(kGoneRole, isGone);
        item->setData(Qt::AccessibleTextRole,
                      isGone ? tr("%1, gone; Delete takes it off the list").arg(model.name)
                             : model.name);
        item->setToolTip(model.path.toHtmlEscaped());
    }
    setCurrentRow(std::min(row, count() - 1));
    updateGeometry();
}

void RecentList::removeCurrent() {
    if (const QListWidgetItem* item = currentItem())
        m_recent.remove(item->data(kPathRole).toString());
}

QSize RecentList::sizeHint() const {
    const int rows = std::clamp(count(), 1, kRowsShown);
    return {m_theme.scaled(200), rows * m_theme.scaled(40) + 2};
}

void RecentList::keyPressEvent(QKeyEvent* event) {
    const QListWidgetItem* item = currentItem();
    const bool isEnter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (event->key() == Qt::Key_Delete)
        removeCurrent();
    else if (isEnter && item != nullptr && !item->data(kGoneRole).toBool())
        emit opened(item->data(kPathRole).toString());
    else
        QListWidget::keyPressEvent(event);
}

} // namespace ui
