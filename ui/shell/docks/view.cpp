// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/docks/view.h"

#include <QPainter>

namespace ui {

namespace {

/// Whether any part of the widget is visible within all its parents.
bool isWithin(const QWidget& widget) {
    QRect seen = widget.rect();
    for (const QWidget* inner = &widget; !inner->isWindow(); inner = inner->parentWidget()) {
        if (inner->parentWidget() == nullptr)
            break;
        seen = seen.translated(inner->pos()) & inner->parentWidget()->rect();
        if (seen.isEmpty())
            return false;
    }
    return true;
}

} // namespace

View::View(const ViewContext& context, ViewInfo info, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_info(std::move(info)) {
    setObjectName(m_info.id);
    setAccessibleName(m_info.title);
    setAccessibleDescription(m_info.explanation);
    // Every view has the panel's background colour, not the window's.
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    m_context.bridge.add(*this, m_info.topics);
}

View::~View() { m_context.bridge.remove(*this); }

bool View::isShowing() const {
    return isVisible() && !m_isFrozen && !window()->isMinimized() && isWithin(*this);
}

void View::drawPicture(QPaintDevice& device, QSize size) {
    QPainter painter(&device);
    drawFigure(painter, size);
}

void View::drawFigure(QPainter& painter, const QSize& size) {
    if (width() > 0 && height() > 0)
        painter.scale(static_cast<double>(size.width()) / width(),
                      static_cast<double>(size.height()) / height());
    render(&painter, QPoint(), QRegion(), DrawChildren);
}

void View::setFrozen(bool isFrozen) {
    if (m_isFrozen == isFrozen)
        return;
    m_isFrozen = isFrozen;
    emit frozenChanged(isFrozen);
}

void View::refresh(Topics changed) {
    ++m_refreshCount;
    refreshView(changed);
}

void View::setSubtitle(const QString& subtitle) {
    if (m_subtitle == subtitle)
        return;
    m_subtitle = subtitle;
    emit subtitleChanged();
}

QString View::newestBadge() const {
    return m_context.bridge.isReplay() ? tr("replay") : tr("live");
}

void View::setBadge(const QString& badge) {
    if (m_badge == badge)
        return;
    m_badge = badge;
    emit subtitleChanged();
}

} // namespace ui
