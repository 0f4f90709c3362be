// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/bars/message_bar.h"
#include "ui/shell/bars/mode_bar.h"
#include "ui/shell/bars/status_strip.h"
#include "ui/shell/commands/action_catalog.h"
#include "ui/shell/docks/workspace.h"

#include <QMainWindow>

#include <functional>
#include <map>
#include <vector>

class QSettings;
class QStackedWidget;
class QHBoxLayout;
class QVBoxLayout;

namespace ui {

/// The main window: menus, workspaces beside the mode bar, messages above them, the status strip
/// below. It knows nothing of chats or models; its owner adds workspaces and actions. Thread: UI.
class MainWindow : public QMainWindow {
    Q_OBJECT

public:
    /// Everything outlives the window. `theme` is set from the settings.
    MainWindow(Theme& theme,
               const RunStore& store,
               EngineBridge& bridge,
               QSettings& settings,
               QWidget* parent = nullptr);

    ActionCatalog& actionCatalog() { return m_actions; }

    MessageBar& messages() { return *m_messages; }

    StatusStrip& statusStrip() { return *m_status; }

    /// The menu with this name; a new one is added at the right.
    QMenu* menu(const QString& title);

    /// Adds a workspace, with its button, and Ctrl and a digit for it: by default 1 for the first,
    /// 2 for the second, ...
    void addWorkspace(Workspace* workspace, const QString& title, IconName icon, int digit = 0);

    /// In the order in which they were added; the titles are those of their windows.
    const std::vector<Workspace*>& workspaces() const { return m_workspaces; }

    Workspace* currentWorkspace() const;

    /// Pixels that the content may take: what the window has, or what its screen would give it.
    QSize room() const;

    /// Gives all workspaces their default layouts, in the room that there is now.
    void resetLayouts();

    void showWorkspace(int index);

    /// By its objectName(); another name changes nothing.
    void showWorkspace(const QString& name);

    /// Adds a widget between the mode bar and the workspaces, in every workspace. It may hide
    /// itself: docks for which it left no room come back then.
    void setCompanion(QWidget* companion);

    /// Adds a widget between the workspaces and the status strip, in every workspace. `takesKey` is
    /// asked about keys that the focused widget does not use.
    void setTransport(QWidget* transport, std::function<bool(const QKeyEvent&)> takesKey);

    /// Call this once all workspaces are added: it fills the view menu with their docks and
    /// restores the saved layout.
    void finish();

    /// Saves geometry and layouts, but not those of a replay; this also happens when the window
    /// closes.
    void keepLayout();

    /// Asked before the window closes; false keeps it open. The guard says why to the user.
    void setCloseGuard(std::function<bool()> mayClose) { m_mayClose = std::move(mayClose); }

    void setTheme(ThemeChoice choice);

    /// Shows a theme and a text size without keeping them in the settings.
    void tryTheme(ThemeChoice choice, int textPercent);
    void setTextPercent(int percent);
    void setReducedMotion(bool isReduced);

signals:
    void settingsAsked();
    void closing();

    /// These were dropped onto the window, and no widget accepted them.
    void filesDropped(const QStringList& paths);

protected:
    bool event(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    bool focusNextPrevChild(bool isForward) override;
    void closeEvent(QCloseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void addViewActions();
    void addThemeActions(QMenu& themes);
    void fillDockMenu(QMenu& docks);
    void layOutAgain();
    void keepOnScreen();
    void moveOntoScreen();
    void fitDocks();
    void tellWhatHasNoRoom();

    Theme& m_theme;
    QSettings& m_settings;
    EngineBridge& m_bridge;
    ActionCatalog m_actions;
    QStackedWidget* m_stack;
    QWidget* m_companion = nullptr;
    QHBoxLayout* m_middle; ///< the mode bar, the companion, and the column
    QVBoxLayout* m_column; ///< the workspaces and the widget below them
    ModeBar* m_modes;
    MessageBar* m_messages;
    StatusStrip* m_status;
    std::vector<Workspace*> m_workspaces;
    std::map<const Workspace*, QStringList> m_withoutRoom; ///< titles of docks, as told last
    const Workspace* m_reportedOf = nullptr;               ///< whose notice may be open
    QSize m_fitted;     ///< pixels that the content needed after docks were hidden
    QSize m_fittedRoom; ///< pixels that it might take then
    bool m_isFitting = false;
    std::function<bool()> m_mayClose;
    std::function<bool(const QKeyEvent&)> m_takesKey;
};

} // namespace ui
