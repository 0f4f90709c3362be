// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/widgets/segmented_control.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QPainter>
#include <QPainterPath>

namespace ui {

namespace {

constexpr int kRingRoom = 3; // 2 px ring and 1 px gap
constexpr double kRadius = 4.0;

/// One choice. Its neighbours share their border with it.
class Segment : public QAbstractButton {
public:
    Segment(const Theme& theme, const QString& text, QWidget* parent)
        : QAbstractButton(parent)
        , m_theme(theme) {
        setText(text);
        setAccessibleName(text);
        setCheckable(true);
        setSizePolicy(QSizePolicy::Minimum, QSizePolicy::Fixed);
    }

    QSize sizeHint() const override {
        QFont bold = m_theme.font(TextRole::DockTitle); // width of the chosen one, so that none
                                                        // moves
        return {QFontMetrics(bold).horizontalAdvance(text()) + m_theme.scaled(20),
                m_theme.scaled(24)};
    }

    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent* /*event*/) override {
        const Colours& colours = m_theme.colours();
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        painter.setBrush(isChecked()    ? (isEnabled() ? colours.accent : colours.hover)
                         : underMouse() ? colours.hover
                                        : colours.panel);
        painter.setClipPath(innerShape());
        painter.drawRect(rect());
        painter.setClipping(false);
        painter.setFont(m_theme.font(isChecked() ? TextRole::DockTitle : TextRole::Small));
        painter.setPen(!isEnabled()  ? colours.disabled
                       : isChecked() ? colours.onAccent
                                     : colours.text);
        painter.drawText(rect(), Qt::AlignCenter, text());
    }

    void enterEvent(QEnterEvent* /*event*/) override { update(); }

    void leaveEvent(QEvent* /*event*/) override { update(); }

private:
    /// Its rectangle, rounded at the control's corners.
    QPainterPath innerShape() const {
        const QRectF own(rect());
        const bool isFirst = x() <= kRingRoom + 1;
        const bool isLast = geometry().right() >= parentWidget()->width() - kRingRoom - 2;
        QPainterPath path;
        path.setFillRule(Qt::WindingFill);
        path.addRoundedRect(own, kRadius - 1, kRadius - 1);
        if (!isFirst)
            path.addRect(own.adjusted(0, 0, -kRadius, 0));
        if (!isLast)
            path.addRect(own.adjusted(kRadius, 0, 0, 0));
        return path;
    }

    const Theme& m_theme;
};

} // namespace

SegmentedControl::SegmentedControl(const Theme& theme, const QString& name, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_group(new QButtonGroup(this)) {
    setAccessibleName(name);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(kRingRoom + 1, kRingRoom + 1, kRingRoom + 1, kRingRoom + 1);
    layout->setSpacing(1);
    connect(m_group, &QButtonGroup::idClicked, this, &SegmentedControl::chosen);
    connect(&theme, &Theme::changed, this, [this] {
        for (QAbstractButton* segment : m_segments)
            segment->updateGeometry();
        update();
    });
}

void SegmentedControl::setSegments(const QStringList& texts) {
    for (QAbstractButton* segment : m_segments) {
        m_group->removeButton(segment);
        delete segment;
    }
    m_segments.clear();
    for (const QString& text : texts) {
        auto* segment = new Segment(m_theme, text, this);
        segment->setAccessibleDescription(accessibleName());
        segment->installEventFilter(this);
        m_group->addButton(segment, count());
        layout()->addWidget(segment);
        m_segments.push_back(segment);
    }
}

int SegmentedControl::currentIndex() const { return m_group->checkedId(); }

void SegmentedControl::setCurrentIndex(int index) {
    if (index == currentIndex())
        return;
    if (QAbstractButton* wanted = segment(index)) {
        wanted->setChecked(true);
    } else if (QAbstractButton* checked = m_group->checkedButton()) {
        m_group->setExclusive(false); // an exclusive group keeps one checked
        checked->setChecked(false);
        m_group->setExclusive(true);
    }
    update();
}

QAbstractButton* SegmentedControl::segment(int index) const {
    return index >= 0 && index < count() ? m_segments[static_cast<std::size_t>(index)] : nullptr;
}

void SegmentedControl::paintEvent(QPaintEvent* /*event*/) {
    const Colours& colours = m_theme.colours();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF frame = QRectF(rect()).adjusted(
        kRingRoom + 0.5, kRingRoom + 0.5, -kRingRoom - 0.5, -kRingRoom - 0.5);
    painter.setPen(colours.controlBorder);
    painter.setBrush(colours.panel);
    painter.drawRoundedRect(frame, kRadius, kRadius);
    for (int i = 1; i < count(); ++i) {
        const double x = segment(i)->geometry().left() - 0.5;
        painter.drawLine(QPointF(x, frame.top()), QPointF(x, frame.bottom()));
    }
    bool hasRing = false;
    for (const QAbstractButton* one : m_segments)
        hasRing = hasRing || one->hasFocus();
    if (!hasRing)
        return;
    painter.setPen(QPen(colours.focus, 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), kRadius + 2, kRadius + 2);
}

/// Arrow keys choose at once; Qt's own group would only move the focus.
bool SegmentedControl::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut)
        update();
    if (event->type() != QEvent::KeyPress)
        return QWidget::eventFilter(watched, event);
    int at = 0;
    for (int i = 0; i < count(); ++i)
        if (segment(i) == watched)
            at = i;
    switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Left:
    case Qt::Key_Up:
        choose(at - 1);
        return true;
    case Qt::Key_Right:
    case Qt::Key_Down:
        choose(at + 1);
        return true;
    case Qt::Key_Home:
        choose(0);
        return true;
    case Qt::Key_End:
        choose(count() - 1);
        return true;
    default:
        return QWidget::eventFilter(watched, event);
    }
}

void SegmentedControl::choose(int index) {
    QAbstractButton* wanted = segment(index);
    if (wanted == nullptr || !wanted->isEnabled())
        return;
    wanted->setFocus(Qt::TabFocusReason);
    if (wanted->isChecked())
        return;
    wanted->setChecked(true);
    emit chosen(index);
}

} // namespace ui
