// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/docks/workspace.h"

#include "ui/shell/docks/dock_title.h"

#include <QAction>
#include <QApplication>
#include <QDockWidget>
#include <QGuiApplication>
#include <QLayout>
#include <QScreen>
#include <QSettings>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

/// At least this much of a floating dock must be on a screen, in both directions.
constexpr int kVisiblePixels = 40;

/// The widget itself, or the first in it that the Tab key reaches.
QWidget* stopIn(QWidget* widget) {
    if (widget->focusPolicy() != Qt::NoFocus)
        return widget;
    for (QWidget* next = widget->nextInFocusChain(); next != widget;
         next = next->nextInFocusChain())
        if (widget->isAncestorOf(next) && next->isVisible() && next->isEnabled() &&
            (next->focusPolicy() & Qt::TabFocus) != 0)
            return next;
    return widget;
}

bool isOnAScreen(const QRect& place) {
    const auto screens = QGuiApplication::screens();
    return std::ranges::any_of(screens, [&](const QScreen* screen) {
        const QRect seen = screen->availableGeometry().intersected(place);
        return seen.width() >= kVisiblePixels && seen.height() >= kVisiblePixels;
    });
}

QString layoutKey(const Workspace& workspace) {
    return QStringLiteral("layout/") + workspace.objectName();
}

/// The floating docks that are hidden only because their workspace is.
QString floatingKey(const Workspace& workspace) {
    return layoutKey(workspace) + QStringLiteral("_floating");
}

} // namespace

Workspace::Workspace(const QString& id, const Theme& theme, QWidget* parent)
    : QMainWindow(parent)
    , m_theme(theme) {
    setObjectName(id);
    setWindowFlags(Qt::Widget);
    setDockOptions(AnimatedDocks | AllowNestedDocks | AllowTabbedDocks);
    setDockNestingEnabled(true);
    setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
    setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
}

void Workspace::addDock(const Dock& place) {
    auto* dock = new QDockWidget(place.title, this);
    dock->setObjectName(place.id);
    auto* title = new DockTitle(m_theme, place.title, place.view, dock);
    dock->setTitleBarWidget(title);
    dock->setWidget(place.content);
    connect(title, &DockTitle::menuAsked, this, [this, view = place.view](const QPoint& at) {
        if (m_showMenu)
            m_showMenu(view, at);
    });
    connect(dock->toggleViewAction(), &QAction::triggered, this, [this, dock](bool isShown) {
        m_wanted = isShown ? dock : nullptr;
    });
    m_docks.push_back(dock);
    m_places.push_back(place);
    placeDock(dock);
}

void Workspace::setArrangement(std::function<void(Workspace&)> arrange) {
    m_arrange = std::move(arrange);
    resetLayout();
}

QDockWidget* Workspace::dock(const QString& id) const {
    const auto found = std::ranges::find_if(
        m_docks, [&](const QDockWidget* dock) { return dock->objectName() == id; });
    return found == m_docks.end() ? nullptr : *found;
}

void Workspace::onMenuAsked(std::function<void(View*, const QPoint&)> show) {
    m_showMenu = std::move(show);
}

void Workspace::placeDock(QDockWidget* dock) {
    const auto place = std::ranges::find(m_places, dock->objectName(), &Dock::id);
    dock->setFloating(false);
    addDockWidget(place->area, dock);
    dock->setVisible(place->isInitiallyShown);
}

void Workspace::resetLayout() {
    m_hiddenFloating.clear();
    m_withoutRoom.clear();
    m_unfitted.clear();
    m_kept = {};
    // One that is removed while it floats keeps floating.
    for (QDockWidget* dock : m_docks)
        dock->setFloating(false);
    for (QDockWidget* dock : m_docks)
        removeDockWidget(dock);
    for (QDockWidget* dock : m_docks)
        placeDock(dock);
    if (m_arrange)
        m_arrange(*this);
    m_hasSizes = isVisible();
    if (m_hasSizes)
        sizeDocks();
}

/// Sizes are meaningful only at the window's real size: before, Qt fits a saved layout into
/// whatever size the hidden workspace happens to have.
void Workspace::showEvent(QShowEvent* event) {
    QMainWindow::showEvent(event);
    if (std::exchange(m_hasSizes, true))
        return;
    layout()->activate();
    if (m_kept.state.isEmpty())
        sizeDocks();
    else if (m_unfitted.isEmpty())
        useKept();
    else
        m_unfitted = m_kept.state;
    m_kept = {};
}

/// In a low window, the docks below leave the centre the height it needs, as far as possible.
int Workspace::heightBelow(int wanted) const {
    if (centralWidget() == nullptr)
        return wanted;
    const int left = height() - centralWidget()->sizeHint().height();
    return std::clamp(left, wanted / 2, wanted);
}

void Workspace::sizeDocks() {
    for (const Qt::Orientation orientation : {Qt::Horizontal, Qt::Vertical}) {
        QList<QDockWidget*> docks;
        QList<int> sizes;
        for (std::size_t i = 0; i < m_docks.size(); ++i) {
            const QSize extent = m_places[i].extent;
            const int pixels = orientation == Qt::Horizontal ? extent.width() : extent.height();
            if (pixels <= 0 || !m_places[i].isInitiallyShown)
                continue;
            docks << m_docks[i];
            sizes << (m_places[i].area == Qt::BottomDockWidgetArea
                          ? heightBelow(m_theme.scaled(pixels))
                          : m_theme.scaled(pixels));
        }
        resizeDocks(docks, sizes, orientation);
    }
}

bool Workspace::restoreLayout(const QSettings& settings) {
    m_kept = {settings.value(layoutKey(*this)).toByteArray(),
              settings.value(floatingKey(*this)).toStringList()};
    if (m_kept.state.isEmpty())
        return false;
    if (!useKept()) {
        resetLayout();
        return false;
    }
    return true;
}

bool Workspace::useKept() {
    if (!restoreState(m_kept.state, kLayoutVersion))
        return false;
    for (QDockWidget* dock : m_docks)
        if (dock->isFloating() && m_kept.hiddenFloating.contains(dock->objectName()))
            dock->show();
    clampToScreens();
    return true;
}

void Workspace::saveLayout(QSettings& settings) const {
    if (!m_hasSizes)
        return;
    settings.setValue(layoutKey(*this), saveState(kLayoutVersion));
    QStringList hidden;
    for (const QDockWidget* dock : m_hiddenFloating)
        hidden << dock->objectName();
    settings.setValue(floatingKey(*this), hidden);
}

void Workspace::clampToScreens() {
    const QRect home = QGuiApplication::primaryScreen()->availableGeometry();
    for (QDockWidget* dock : m_docks) {
        if (!dock->isFloating())
            continue;
        const bool hasSize = dock->width() >= kVisiblePixels && dock->height() >= kVisiblePixels;
        if (!hasSize)
            dock->resize(
                dock->sizeHint().expandedTo(QSize(m_theme.scaled(300), m_theme.scaled(200))));
        if (!hasSize || !isOnAScreen(dock->geometry()))
            dock->move(home.center() - dock->rect().center());
    }
}

void Workspace::showFloating(bool isShown) {
    if (isShown) {
        for (QDockWidget* dock : std::exchange(m_hiddenFloating, {}))
            dock->show();
        return;
    }
    for (QDockWidget* dock : m_docks) {
        if (!dock->isFloating() || dock->isHidden())
            continue;
        m_hiddenFloating.push_back(dock);
        dock->hide();
    }
}

/// An empty view may hide it; then the view itself gets the focus.
void Workspace::focusHome() {
    for (QWidget* place = m_home; place != nullptr && place != this;
         place = place->parentWidget()) {
        QWidget* stop = stopIn(place);
        const bool canTake = stop->focusPolicy() != Qt::NoFocus && stop->isEnabled();
        if (!canTake || !stop->isVisibleTo(this))
            continue;
        stop->setFocus(Qt::OtherFocusReason);
        return;
    }
}

void Workspace::focusDock(QDockWidget& dock) {
    m_wanted = &dock;
    dock.show();
    dock.raise();
    stopIn(dock.widget())->setFocus(Qt::OtherFocusReason);
}

/// Docks that are beside each other in this direction need room one by one, those across it
/// together. The first ones are hidden first.
std::vector<Workspace::Group> Workspace::groupsAlong(Qt::Orientation orientation) const {
    std::vector<Group> groups;
    const auto add = [&](Qt::DockWidgetArea area, bool isSingle) {
        Group yielding;
        Group others;
        for (std::size_t i = m_docks.size(); i-- > 0;)
            if (!m_docks[i]->isHidden() && !m_docks[i]->isFloating() && m_docks[i] != m_wanted &&
                dockWidgetArea(m_docks[i]) == area)
                (m_places[i].yieldsHeight ? yielding : others).push_back(m_docks[i]);
        yielding.insert(yielding.end(), others.begin(), others.end());
        if (isSingle)
            for (QDockWidget* dock : yielding)
                groups.push_back({dock});
        else if (!yielding.empty())
            groups.push_back(std::move(yielding));
    };
    const bool isWidth = orientation == Qt::Horizontal;
    add(Qt::LeftDockWidgetArea, !isWidth);
    add(Qt::RightDockWidgetArea, !isWidth);
    add(Qt::BottomDockWidgetArea, isWidth);
    return groups;
}

QSize Workspace::leastSize() const {
    layout()->invalidate();
    return layout()->minimumSize();
}

/// Only what makes the workspace smaller is hidden.
void Workspace::giveWay(Qt::Orientation orientation, int room) {
    const auto needed = [&] {
        const QSize least = leastSize();
        return orientation == Qt::Horizontal ? least.width() : least.height();
    };
    bool hasHelped = true;
    while (needed() > room && std::exchange(hasHelped, false))
        for (const Group& group : groupsAlong(orientation)) {
            const int before = needed();
            for (QDockWidget* dock : group)
                dock->hide();
            hasHelped = needed() < before;
            if (hasHelped) {
                m_withoutRoom.insert(m_withoutRoom.end(), group.begin(), group.end());
                break;
            }
            for (QDockWidget* dock : group)
                dock->show();
        }
}

/// The dock at the right behind which one more tab is read best: the tabs' names share its width.
QDockWidget* Workspace::hostOfTabs() const {
    QDockWidget* host = nullptr;
    int least = 0;
    for (QDockWidget* dock : m_docks) {
        if (dock->isHidden() || dock->isFloating() ||
            dockWidgetArea(dock) != Qt::RightDockWidgetArea)
            continue;
        int width = 0;
        QList<QDockWidget*> tabs = tabifiedDockWidgets(dock);
        tabs.append(dock);
        for (const QDockWidget* tab : tabs)
            if (!tab->isHidden())
                width += fontMetrics().horizontalAdvance(tab->windowTitle());
        if (host == nullptr || width < least) {
            host = dock;
            least = width;
        }
    }
    return host;
}

void Workspace::stackHidden(const QSize& room) {
    std::erase_if(m_withoutRoom, [&](QDockWidget* dock) {
        QDockWidget* host = hostOfTabs();
        if (host == nullptr || dockWidgetArea(dock) == Qt::LeftDockWidgetArea)
            return false;
        tabifyDockWidget(host, dock);
        dock->show();
        (tabifiedDockWidgets(host).contains(m_wanted) ? m_wanted : host)->raise();
        const bool fits = leastSize().boundedTo(room) == leastSize();
        dock->setVisible(fits);
        return fits;
    });
}

void Workspace::fitInto(const QSize& room) {
    std::erase_if(m_withoutRoom, [](const QDockWidget* dock) { return !dock->isHidden(); });
    if (m_unfitted.isEmpty() && leastSize().boundedTo(room) != leastSize())
        m_unfitted = saveState(kLayoutVersion);
    giveWay(Qt::Horizontal, room.width());
    giveWay(Qt::Vertical, room.height());
    stackHidden(room);
}

QStringList Workspace::withoutRoom() const {
    QStringList titles;
    for (const QDockWidget* dock : m_withoutRoom)
        if (dock->isHidden()) // else the user has brought it back
            titles << dock->windowTitle();
    return titles;
}

void Workspace::bringBack() {
    struct Choice {
        QDockWidget* dock;
        bool isShown;
        bool isFloating;
        QRect place;
    };

    if (m_unfitted.isEmpty())
        return;
    std::vector<Choice> choices;
    for (QDockWidget* dock : m_docks)
        choices.push_back({dock,
                           !dock->isHidden() || std::ranges::count(m_withoutRoom, dock) > 0,
                           dock->isFloating(),
                           dock->geometry()});
    m_withoutRoom.clear();
    restoreState(std::exchange(m_unfitted, {}), kLayoutVersion);
    for (const Choice& choice : choices) {
        if (choice.dock->isFloating() != choice.isFloating) {
            choice.dock->setFloating(choice.isFloating);
            if (choice.isFloating)
                choice.dock->setGeometry(choice.place);
        }
        if (choice.dock->isHidden() == choice.isShown)
            choice.dock->setVisible(choice.isShown);
    }
}

void Workspace::focusNextDock(int direction) {
    std::vector<QWidget*> stops;
    if (centralWidget() != nullptr)
        stops.push_back(centralWidget());
    for (QDockWidget* dock : m_docks)
        if (dock->isVisible())
            stops.push_back(dock->widget());
    if (stops.empty())
        return;
    const QWidget* focused = QApplication::focusWidget();
    const auto holds = [focused](const QWidget* stop) {
        return focused != nullptr && (stop == focused || stop->isAncestorOf(focused));
    };
    const auto now = std::ranges::find_if(stops, holds);
    const auto count = static_cast<std::ptrdiff_t>(stops.size());
    const std::ptrdiff_t place =
        now == stops.end() ? (direction > 0 ? -1 : 0) : now - stops.begin();
    QWidget* next = stops[static_cast<std::size_t>((place + direction + count) % count)];
    // It may be behind another dock.
    if (auto* dock = qobject_cast<QDockWidget*>(next->parentWidget()))
        dock->raise();
    stopIn(next)->setFocus(Qt::TabFocusReason);
}

} // namespace ui
