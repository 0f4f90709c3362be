// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/main_window.h"

#include "ui/shell/reading_order.h"
#include "ui/shell/widgets/wheel_guard.h"

#include <QActionGroup>
#include <QCloseEvent>
#include <QCoreApplication>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLayout>
#include <QMenu>
#include <QMenuBar>
#include <QMimeData>
#include <QScreen>
#include <QSettings>
#include <QStackedWidget>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <utility>

namespace ui {

namespace {

constexpr int kTextStep = 10;
constexpr const char* kThemeKey = "window/theme";
constexpr const char* kTextKey = "window/text_percent";
constexpr const char* kGeometryKey = "window/geometry";
constexpr const char* kMotionKey = "window/reduced_motion";
constexpr const char* kWorkspaceKey = "window/workspace";

struct NamedTheme {
    ThemeChoice choice;
    const char* name;
    const char* title;
};

constexpr std::array kThemes = {
    NamedTheme{ThemeChoice::System, "system", QT_TR_NOOP("Theme: same as the system")},
    NamedTheme{ThemeChoice::Light, "light", QT_TR_NOOP("Theme: light")},
    NamedTheme{ThemeChoice::Dark, "dark", QT_TR_NOOP("Theme: dark")},
    NamedTheme{ThemeChoice::HighContrastLight,
               "high_contrast_light",
               QT_TR_NOOP("Theme: high contrast, light")},
    NamedTheme{ThemeChoice::HighContrastDark,
               "high_contrast_dark",
               QT_TR_NOOP("Theme: high contrast, dark")}};

/// The first ones by name, so that a notice has room on a small screen.
QString shortList(const QStringList& names) {
    constexpr int kNamed = 2; // in one line also where the screen is small and the text large
    const QString named = names.mid(0, kNamed).join(QStringLiteral(", "));
    const auto left = names.size() - kNamed;
    return left > 0 ? MainWindow::tr("%1 and %2 more").arg(named).arg(left) : named;
}

QStringList localPaths(const QMimeData& dragged) {
    QStringList paths;
    for (const QUrl& url : dragged.urls())
        if (url.isLocalFile())
            paths.append(url.toLocalFile());
    return paths;
}

} // namespace

MainWindow::MainWindow(
    Theme& theme, const RunStore& store, EngineBridge& bridge, QSettings& settings, QWidget* parent)
    : QMainWindow(parent)
    , m_theme(theme)
    , m_settings(settings)
    , m_bridge(bridge)
    , m_actions(*this, settings)
    , m_stack(new QStackedWidget)
    , m_middle(new QHBoxLayout)
    , m_column(new QVBoxLayout)
    , m_modes(new ModeBar(theme))
    , m_messages(new MessageBar(theme))
    , m_status(new StatusStrip(theme, store, bridge)) {
    setWindowTitle(QStringLiteral("SWIFT Studio"));
    setAcceptDrops(true);
    layout()->setSizeConstraint(QLayout::SetNoConstraint); // see keepOnScreen()
    new WheelGuard(this);
    for (const NamedTheme& known : kThemes)
        if (settings.value(kThemeKey).toString() == QLatin1String(known.name))
            theme.setChoice(known.choice);
    theme.setTextPercent(settings.value(kTextKey, 100).toInt());
    theme.setReducedMotion(settings.value(kMotionKey, false).toBool());
    auto* centre = new QWidget(this);
    auto* rows = new QVBoxLayout(centre);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(0);
    m_middle->setSpacing(0);
    m_middle->addWidget(m_modes);
    m_column->setSpacing(0);
    m_column->addWidget(m_stack, 1);
    m_middle->addLayout(m_column, 1);
    rows->addWidget(m_messages);
    rows->addLayout(m_middle, 1);
    rows->addWidget(m_status);
    setCentralWidget(centre);
    connect(m_modes, &ModeBar::chosen, this, qOverload<int>(&MainWindow::showWorkspace));
    connect(m_messages, &MessageBar::focusFreed, this, [this] { currentWorkspace()->focusHome(); });
    connect(m_modes, &ModeBar::settingsAsked, this, &MainWindow::settingsAsked);
    for (const char* title : {QT_TR_NOOP("&File"),
                              QT_TR_NOOP("&Edit"),
                              QT_TR_NOOP("&View"),
                              QT_TR_NOOP("&Run"),
                              QT_TR_NOOP("&Model"),
                              QT_TR_NOOP("&Help")})
        menu(tr(title));
}

QMenu* MainWindow::menu(const QString& title) {
    const auto menus = menuBar()->findChildren<QMenu*>(QString(), Qt::FindDirectChildrenOnly);
    for (QMenu* known : menus)
        if (known->title() == title)
            return known;
    return menuBar()->addMenu(title);
}

void MainWindow::addWorkspace(Workspace* workspace,
                              const QString& title,
                              IconName icon,
                              int digit) {
    const int index = m_stack->addWidget(workspace);
    workspace->setMinimumSize(0, 0); // laid out as a window of its own, it may have got one
    const int key = digit == 0 ? index + 1 : digit;
    m_workspaces.push_back(workspace);
    workspace->setWindowTitle(title);
    m_modes->addMode(title, icon);
    menu(tr("&View"))
        ->addAction(m_actions.add(QStringLiteral("workspace.") + workspace->objectName(),
                                  tr("View"),
                                  tr("Workspace: %1").arg(title),
                                  {QKeySequence(Qt::CTRL | Qt::Key(Qt::Key_0 + key))},
                                  [this, index] { showWorkspace(index); }));
}

void MainWindow::setCompanion(QWidget* companion) {
    m_companion = companion;
    m_middle->insertWidget(1, companion);
    companion->installEventFilter(this);
}

bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_companion && event->type() == QEvent::HideToParent)
        layOutAgain();
    return QMainWindow::eventFilter(watched, event);
}

void MainWindow::setTransport(QWidget* transport, std::function<bool(const QKeyEvent&)> takesKey) {
    m_column->addWidget(transport);
    m_takesKey = std::move(takesKey);
}

bool MainWindow::focusNextPrevChild(bool isForward) { return moveFocus(*this, isForward); }

void MainWindow::keyPressEvent(QKeyEvent* event) {
    if (!m_takesKey || !m_takesKey(*event))
        QMainWindow::keyPressEvent(event);
}

Workspace* MainWindow::currentWorkspace() const {
    return m_workspaces.at(static_cast<std::size_t>(m_stack->currentIndex()));
}

void MainWindow::showWorkspace(int index) {
    if (index < 0 || index >= m_stack->count())
        return;
    m_stack->setCurrentIndex(index);
    m_modes->setCurrent(index);
    if (!m_bridge.isReplay()) // whose window may stand beside the one that these belong to
        m_settings.setValue(kWorkspaceKey, currentWorkspace()->objectName()); // a crash keeps it
    for (Workspace* workspace : m_workspaces)
        workspace->showFloating(workspace == currentWorkspace());
    m_bridge.refreshPictures(); // a view that was hidden may still hide where the focus belongs
    tellWhatHasNoRoom();
    currentWorkspace()->focusHome();
}

void MainWindow::showWorkspace(const QString& name) {
    const auto found = std::ranges::find(m_workspaces, name, &QObject::objectName);
    if (found != m_workspaces.end())
        showWorkspace(static_cast<int>(found - m_workspaces.begin()));
}

void MainWindow::finish() {
    addViewActions();
    const bool hasGeometry = restoreGeometry(m_settings.value(kGeometryKey).toByteArray());
    const QScreen* home = QGuiApplication::primaryScreen();
    const bool isSeen = QGuiApplication::screenAt(geometry().center()) != nullptr;
    if (!hasGeometry || !isSeen) {
        // The window's frame is known only once it is shown.
        const QSize room = home->availableGeometry().size() - QSize(0, m_theme.scaled(40));
        resize(QSize(m_theme.scaled(1440), m_theme.scaled(900)).boundedTo(room));
        move(home->availableGeometry().topLeft());
    }
    for (Workspace* workspace : m_workspaces)
        workspace->restoreLayout(m_settings);
    const QString last = m_settings.value(kWorkspaceKey).toString();
    showWorkspace(0);
    showWorkspace(last);
}

void MainWindow::addViewActions() {
    QMenu& view = *menu(tr("&View"));
    const auto add = [&](const char* id, const QString& text, QList<QKeySequence> keys, auto act) {
        view.addAction(m_actions.add(QLatin1String(id), tr("View"), text, keys, act));
    };
    view.addSeparator();
    QMenu* docks = view.addMenu(tr("&Docks"));
    connect(docks, &QMenu::aboutToShow, this, [this, docks] { fillDockMenu(*docks); });
    add("view.reset_layout", tr("&Reset to default layout"), {}, [this] {
        currentWorkspace()->resetLayout();
        currentWorkspace()->focusHome();
    });
    add("view.next_dock", tr("Next dock"), {QKeySequence(Qt::Key_F6)}, [this] {
        currentWorkspace()->focusNextDock(1);
    });
    add("view.previous_dock", tr("Previous dock"), {QKeySequence(Qt::SHIFT | Qt::Key_F6)}, [this] {
        currentWorkspace()->focusNextDock(-1);
    });
    view.addSeparator();
    add("view.larger_text",
        tr("Larger text"),
        {QKeySequence(Qt::CTRL | Qt::Key_Plus), QKeySequence(Qt::CTRL | Qt::Key_Equal)},
        [this] { setTextPercent(m_theme.textPercent() + kTextStep); });
    add("view.smaller_text", tr("Smaller text"), {QKeySequence(Qt::CTRL | Qt::Key_Minus)}, [this] {
        setTextPercent(m_theme.textPercent() - kTextStep);
    });
    add("view.usual_text", tr("Normal text size"), {QKeySequence(Qt::CTRL | Qt::Key_0)}, [this] {
        setTextPercent(100);
    });
    view.addSeparator();
    addThemeActions(*view.addMenu(tr("&Theme")));
}

void MainWindow::addThemeActions(QMenu& themes) {
    auto* group = new QActionGroup(this);
    for (const NamedTheme& known : kThemes) {
        QAction* action = m_actions.add(QStringLiteral("theme.") + QLatin1String(known.name),
                                        tr("View"),
                                        tr(known.title),
                                        {},
                                        [this, choice = known.choice] { setTheme(choice); });
        action->setCheckable(true);
        action->setChecked(m_theme.choice() == known.choice);
        group->addAction(action);
        themes.addAction(action);
    }
}

void MainWindow::fillDockMenu(QMenu& docks) {
    docks.clear();
    for (QDockWidget* dock : currentWorkspace()->docks())
        docks.addAction(dock->toggleViewAction());
}

void MainWindow::setTheme(ThemeChoice choice) {
    m_theme.setChoice(choice);
    for (const NamedTheme& known : kThemes) {
        if (known.choice != choice)
            continue;
        const QLatin1String name(known.name);
        m_settings.setValue(kThemeKey, name);
        if (QAction* action = m_actions.find(QStringLiteral("theme.") + name))
            action->setChecked(true);
    }
}

void MainWindow::tryTheme(ThemeChoice choice, int textPercent) {
    m_theme.set(choice, textPercent);
    layOutAgain();
}

void MainWindow::setTextPercent(int percent) {
    m_theme.setTextPercent(percent);
    m_settings.setValue(kTextKey, m_theme.textPercent());
    layOutAgain();
}

/// What had no room may have it now.
void MainWindow::layOutAgain() {
    for (Workspace* workspace : m_workspaces)
        workspace->bringBack();
    m_fitted = {};
    m_fittedRoom = {};
    // Layouts know their new sizes once all widgets have their fonts.
    QTimer::singleShot(0, this, &MainWindow::fitDocks);
}

void MainWindow::setReducedMotion(bool isReduced) {
    m_theme.setReducedMotion(isReduced);
    m_settings.setValue(kMotionKey, isReduced);
}

void MainWindow::resetLayouts() {
    for (Workspace* workspace : m_workspaces)
        workspace->resetLayout();
}

QSize MainWindow::room() const {
    const QSize frame = frameGeometry().size() - geometry().size();
    return size().expandedTo(screen()->availableGeometry().size() - frame);
}

bool MainWindow::event(QEvent* event) {
    const bool isDone = QMainWindow::event(event);
    if (event->type() == QEvent::LayoutRequest || event->type() == QEvent::Show)
        keepOnScreen();
    if (event->type() == QEvent::Show)
        moveOntoScreen();
    // On a larger screen, or larger than its screen, the window has room for docks that gave way.
    if (event->type() == QEvent::Resize && m_fittedRoom.isValid() &&
        room().boundedTo(m_fittedRoom) != room())
        layOutAgain();
    return isDone;
}

/// The window grows with what it shows, but never beyond its screen: there, docks give way.
void MainWindow::keepOnScreen() {
    if (m_workspaces.empty())
        return;
    const QSize needed = minimumSizeHint();
    const QSize room = this->room();
    const QSize before = size();
    setMinimumSize(needed.boundedTo(room));
    if (!isVisible())
        return;
    if (size() != before)
        moveOntoScreen();
    if (needed.boundedTo(room) != needed && needed != m_fitted && !m_isFitting)
        QTimer::singleShot(0, this, &MainWindow::fitDocks);
}

/// Qt restores a window that fills the screen a title bar lower, even where there are none; its
/// last line would be cut off.
void MainWindow::moveOntoScreen() {
    const QRect seen = screen()->availableGeometry();
    const QRect frame = frameGeometry();
    move(std::max(seen.left(), std::min(frame.left(), seen.right() + 1 - frame.width())),
         std::max(seen.top(), std::min(frame.top(), seen.bottom() + 1 - frame.height())));
}

void MainWindow::fitDocks() {
    m_isFitting = true;
    // What is laid out later would still have the sizes of before.
    const auto layOut = [] { QCoreApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest); };
    layOut();
    const int above = minimumSizeHint().height() - m_stack->minimumSizeHint().height();
    const bool hasCompanion = m_companion != nullptr && m_companion->isVisible();
    const int beside =
        m_modes->minimumSizeHint().width() + (hasCompanion ? m_companion->width() : 0);
    const QSize left = room() - QSize(beside, above);
    for (Workspace* workspace : m_workspaces)
        workspace->fitInto(left);
    layOut();
    m_isFitting = false;
    m_fitted = minimumSizeHint();
    m_fittedRoom = room();
    keepOnScreen();
    tellWhatHasNoRoom();
}

/// Only the workspace on the screen counts: a dock that Chat has no room for may stand in Inspect.
/// Who comes back to a workspace is not told again.
void MainWindow::tellWhatHasNoRoom() {
    const Workspace* shown = currentWorkspace();
    const QStringList hidden = shown->withoutRoom();
    const bool isReported = std::exchange(m_withoutRoom[shown], hidden) == hidden;
    if (std::exchange(m_reportedOf, shown) == shown && isReported)
        return;
    m_messages->withdraw(QStringLiteral("no_room"));
    if (!isReported && !hidden.isEmpty() && !menuBar()->isHidden()) // its hint names a menu
        m_messages->show({Notice::Kind::Info,
                          QStringLiteral("no_room"),
                          tr("No room for: %1.").arg(shortList(hidden)),
                          tr("Bring one back with View > Docks.")});
}

void MainWindow::keepLayout() {
    if (m_bridge.isReplay())
        return;
    // What only the text's size has hidden is no choice of the user.
    for (Workspace* workspace : m_workspaces)
        workspace->bringBack();
    m_settings.setValue(kGeometryKey, saveGeometry());
    for (const Workspace* workspace : m_workspaces)
        workspace->saveLayout(m_settings);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (!localPaths(*event->mimeData()).isEmpty())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    event->acceptProposedAction();
    emit filesDropped(localPaths(*event->mimeData()));
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (m_mayClose && !m_mayClose()) {
        event->ignore();
        return;
    }
    keepLayout();
    emit closing();
    QMainWindow::closeEvent(event);
}

} // namespace ui
