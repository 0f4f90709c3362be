// SPDX-License-Identifier: GPL-3.0-only
#include "ui/present/presenter.h"

#include "ui/present/pointer_ring.h"
#include "ui/present/way_out.h"

#include <QGuiApplication>
#include <QKeyEvent>
#include <QMenuBar>
#include <QScreen>

#include <algorithm>

namespace ui {

namespace {

/// Lines of 100 % that a room reads from its last row: about 45 of the interface's text.
constexpr double kReadableHeight = 720.0;

} // namespace

Presenter::Presenter(MainWindow& window, Theme& theme, EngineBridge& bridge)
    : QObject(&window)
    , m_window(window)
    , m_theme(theme)
    , m_ring(new PointerRing(theme, &window))
    , m_wayOut(new WayOut(theme, &window)) {
    connect(&bridge, &EngineBridge::tickFinished, this, &Presenter::follow);
    connect(m_wayOut, &WayOut::asked, this, [this] { setPresenting(false); });
    window.installEventFilter(this);
}

int Presenter::textPercentFor(int screenHeight, int present) {
    const auto readable = static_cast<int>(screenHeight / kReadableHeight * 10.0) * 10;
    return std::clamp(std::max(readable, present), Theme::kSmallestPercent, Theme::kLargestPercent);
}

void Presenter::setPresenting(bool isPresenting) {
    if (isPresenting == m_isPresenting)
        return;
    m_isPresenting = isPresenting;
    if (isPresenting)
        enter();
    else
        leave();
    emit presentingChanged(isPresenting);
}

void Presenter::enter() {
    m_choice = m_theme.choice();
    m_textPercent = m_theme.textPercent();
    m_state = m_window.windowState();
    m_geometry = m_window.geometry();
    const bool isDark = m_theme.colours().isDark;
    m_window.menuBar()->hide();
    m_window.statusStrip().hide();
    m_window.setWindowState(m_state | Qt::WindowFullScreen);
    const int height = m_window.screen()->size().height();
    m_theme.setForAudience(true);
    m_window.tryTheme(isDark ? ThemeChoice::HighContrastDark : ThemeChoice::HighContrastLight,
                      textPercentFor(height, m_textPercent));
    m_ownChoice = m_theme.choice();
    m_ownTextPercent = m_theme.textPercent();
    m_ring->start();
    m_wayOut->start();
}

void Presenter::leave() {
    m_ring->hide();
    m_wayOut->hide();
    m_window.menuBar()->show();
    m_window.statusStrip().show();
    m_window.setWindowState(m_state);
    if (!(m_state & (Qt::WindowMaximized | Qt::WindowFullScreen)))
        m_window.setGeometry(m_geometry);
    m_theme.setForAudience(false);
    // What the user has changed meanwhile stays.
    const bool isOwnTheme = m_theme.choice() == m_ownChoice;
    const bool isOwnText = m_theme.textPercent() == m_ownTextPercent;
    m_theme.set(isOwnTheme ? m_choice : m_theme.choice(),
                isOwnText ? m_textPercent : m_theme.textPercent());
    m_window.setTheme(m_theme.choice()); // and remembers it
    m_window.setTextPercent(m_theme.textPercent());
}

/// With the bridge's ticks, so that nothing runs on a timer of its own.
void Presenter::follow() {
    if (!m_isPresenting)
        return;
    const QPoint at = m_window.mapFromGlobal(QCursor::pos());
    m_ring->moveTo(at, QGuiApplication::mouseButtons() != Qt::NoButton);
    m_wayOut->follow(at);
}

/// Esc arrives here when nothing else has used it. A window that closes keeps its usual form; one
/// that is being destroyed is closed too, and has no parts any more.
bool Presenter::eventFilter(QObject* watched, QEvent* event) {
    if (qobject_cast<MainWindow*>(watched) == nullptr)
        return false;
    if (event->type() == QEvent::Close)
        setPresenting(false);
    if (m_isPresenting && event->type() == QEvent::KeyPress &&
        static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
        setPresenting(false);
        return true;
    }
    return QObject::eventFilter(watched, event);
}

} // namespace ui
