// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/docks/dock_title.h"

#include "ui/icons/icons.h"
#include "ui/shell/widgets/badge.h"
#include "ui/shell/widgets/live_label.h"
#include "ui/theme/tip_text.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QToolButton>

#include <algorithm>

namespace ui {

namespace {

constexpr int kFewestLetters = 10; ///< of words that were cut, with the ellipsis

} // namespace

DockTitle::DockTitle(const Theme& theme, const QString& title, View* view, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_view(view)
    , m_row(new QHBoxLayout(this))
    , m_title(title)
    , m_name(new QLabel(title, this))
    , m_badge(new Badge(theme, {}, Badge::Tone::Current, this))
    , m_subtitle(
          new LiveLabel(theme, TextRole::Small, &Colours::muted, LiveLabel::Fit::Cut, this)) {
    m_row->setContentsMargins(0, 0, 0, 0);
    m_subtitle->installEventFilter(this);
    m_row->addWidget(m_name);
    m_row->addWidget(m_badge);
    m_row->addWidget(m_subtitle, 1);
    if (m_view != nullptr)
        addViewButtons();
    connect(&theme, &Theme::changed, this, &DockTitle::restyle);
    restyle();
}

void DockTitle::addViewButtons() {
    m_legend = m_view->makeLegend(this);
    if (m_legend != nullptr)
        m_row->addWidget(m_legend);
    m_freeze = new QToolButton(this);
    m_freeze->setCheckable(true);
    m_freeze->setToolTip(tr("Freeze: stop updating this view"));
    m_freeze->setAccessibleName(tr("Freeze %1").arg(m_view->info().title));
    m_more = new QToolButton(this);
    m_more->setToolTip(tr("Copy, save, show as table, explain"));
    m_more->setAccessibleName(tr("More for %1").arg(m_view->info().title));
    m_row->addWidget(m_freeze);
    m_row->addWidget(m_more);
    connect(m_freeze, &QToolButton::toggled, m_view, &View::setFrozen);
    connect(m_view, &View::frozenChanged, m_freeze, &QToolButton::setChecked);
    connect(m_view, &View::frozenChanged, this, &DockTitle::showFreeze);
    connect(m_view, &View::subtitleChanged, this, &DockTitle::showWords);
    connect(m_more, &QToolButton::clicked, this, [this] {
        emit menuAsked(m_more->mapToGlobal(QPoint(0, m_more->height())));
    });
}

void DockTitle::addButton(QToolButton* button) {
    m_row->insertWidget(m_freeze != nullptr ? m_row->indexOf(m_freeze) : m_row->count(), button);
    m_added.push_back(button);
    fitName();
}

void DockTitle::restyle() {
    setFixedHeight(m_theme.scaled(28));
    m_row->setContentsMargins(m_theme.scaled(12), 0, m_theme.scaled(4), 1);
    m_row->setSpacing(m_theme.scaled(8));
    m_name->setFont(m_theme.font(TextRole::DockTitle));
    if (m_view != nullptr) {
        const Colours& colours = m_theme.colours();
        m_more->setIcon(makeIcon(IconName::More, colours.muted, colours.disabled));
        showFreeze();
    }
    showWords();
    update();
}

void DockTitle::showFreeze() {
    const Colours& colours = m_theme.colours();
    m_freeze->setIcon(makeIcon(m_view->isFrozen() ? IconName::Play : IconName::Freeze,
                               m_view->isFrozen() ? colours.accent : colours.muted,
                               colours.disabled));
}

/// These change with every picture, so the title is laid out again only when the badge appears or
/// disappears.
void DockTitle::showWords() {
    m_badge->setVisible(m_view != nullptr && !m_view->badge().isEmpty());
    if (m_view != nullptr) {
        m_badge->setText(m_view->badge());
        m_badge->setTone(m_view->badge() == tr("live") ? Badge::Tone::Live : Badge::Tone::Current);
    }
    arrangeWords();
}

/// The legend goes before the name is cut.
void DockTitle::arrangeWords() {
    fitName();
    if (m_view == nullptr)
        return;
    if (m_legend != nullptr) {
        const int name = QFontMetrics(m_theme.font(TextRole::DockTitle)).horizontalAdvance(m_title);
        m_legend->setVisible(name + m_legend->sizeHint().width() + m_row->spacing() <=
                             roomForName());
    }
    cutWords();
}

/// What badge and buttons of every view leave, without legend and added buttons.
int DockTitle::roomForName() const {
    const int gap = m_row->spacing();
    const QMargins margins = m_row->contentsMargins();
    int room = width() - margins.left() - margins.right() - gap;
    for (const QWidget* part : std::initializer_list<QWidget*>{m_badge, m_freeze, m_more})
        if (part != nullptr && !part->isHidden())
            room -= part->sizeHint().width() + gap;
    return room;
}

/// Where there is little room, the added buttons go first, if the menu has what they do; then the
/// name is cut with an ellipsis.
void DockTitle::fitName() {
    const QFontMetrics metrics(m_theme.font(TextRole::DockTitle));
    int room = roomForName();
    int added = 0;
    for (const QToolButton* button : m_added)
        added += button->sizeHint().width() + m_row->spacing();
    const int whole = metrics.horizontalAdvance(m_title);
    const bool isShown = m_more == nullptr || whole + added <= room;
    for (QToolButton* button : m_added)
        button->setVisible(isShown);
    if (m_more == nullptr)
        room -= added;
    const QString shown = metrics.elidedText(m_title, Qt::ElideRight, std::max(room, 0));
    m_name->setText(shown);
    setTip(*m_name, shown == m_title ? QString() : m_title);
}

/// Text that does not fit is cut with an ellipsis; the tool tip has the full text.
/// Of words that are nearly gone, nothing is left.
void DockTitle::cutWords() {
    const QString whole = m_view->subtitle();
    m_subtitle->setText(whole);
    const bool isCut = m_subtitle->isCut();
    setTip(*m_subtitle, isCut ? whole : QString());
    if (isCut && m_subtitle->shownText().size() < kFewestLetters)
        m_subtitle->setText({});
}

/// A legend's words grow.
bool DockTitle::event(QEvent* event) {
    if (event->type() == QEvent::LayoutRequest && m_legend != nullptr)
        arrangeWords();
    return QWidget::event(event);
}

void DockTitle::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    m_row->activate();
    arrangeWords();
}

/// The subtitle gets the room that badge, legend and buttons leave. These may change after the text
/// was cut: a badge appears, a legend grows, a style sheet sets another font.
bool DockTitle::eventFilter(QObject* watched, QEvent* event) {
    if (m_view != nullptr &&
        (event->type() == QEvent::Resize || event->type() == QEvent::FontChange))
        cutWords();
    return QWidget::eventFilter(watched, event);
}

QSize DockTitle::sizeHint() const { return {m_row->sizeHint().width(), m_theme.scaled(28)}; }

/// Narrow docks are the user's choice: the text is cut.
QSize DockTitle::minimumSizeHint() const { return {m_theme.scaled(120), m_theme.scaled(28)}; }

void DockTitle::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), m_theme.colours().raised);
    painter.fillRect(QRect(0, height() - 1, width(), 1), m_theme.colours().border);
}

} // namespace ui
