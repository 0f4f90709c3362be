// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/docks/view.h"

#include <QMainWindow>
#include <QPointer>

#include <functional>
#include <vector>

class QDockWidget;
class QSettings;

namespace ui {

/// A central widget with docks around it, whose layout is saved. Thread: UI.
class Workspace : public QMainWindow {
    Q_OBJECT

public:
    /// Must change whenever docks are added or removed: a layout saved by an older program is then
    /// ignored and the default one is built.
    static constexpr int kLayoutVersion = 8;

    struct Dock {
        QString id;
        QString title;
        QWidget* content = nullptr;
        View* view = nullptr; ///< `content` where it is a view, else null
        Qt::DockWidgetArea area = Qt::RightDockWidgetArea;
        QSize extent; ///< pixels at 100 %; 0 = its own
        bool isInitiallyShown = true;
        bool yieldsHeight = false; ///< hidden first where the docks are higher than the room
    };

    Workspace(const QString& id, const Theme& theme, QWidget* parent = nullptr);

    void addDock(const Dock& dock);

    /// Called once all docks are there, and by resetLayout(): places what addDock() cannot, such as
    /// docks side by side. Sizes are the docks' own.
    void setArrangement(std::function<void(Workspace&)> arrange);

    QDockWidget* dock(const QString& id) const;

    const std::vector<QDockWidget*>& docks() const { return m_docks; }

    /// The title widgets' menus; see DockTitle::menuAsked().
    void onMenuAsked(std::function<void(View*, const QPoint&)> show);

    void resetLayout();

    /// Moves floating docks that are on no screen back to one. Returns whether the saved layout was
    /// used.
    bool restoreLayout(const QSettings& settings);

    /// One that was never shown leaves what is saved as it is.
    void saveLayout(QSettings& settings) const;

    /// Hidden with the workspace, shown again with it: floating docks are windows of their own.
    void showFloating(bool isShown);

    /// The widget that gets the focus when the workspace is shown. (A focus proxy would not work:
    /// the Tab key jumps from a proxied parent over everything before the proxy.)
    void setHome(QWidget* home) { m_home = home; }

    void focusHome();

    /// Shows one of its docks, raises it and gives it the focus.
    void focusDock(QDockWidget& dock);

    /// Takes docks out of their places until the workspace fits into so many pixels, as far as that
    /// helps: for the width one side after the other, for the height those that yield it before the
    /// others. The dock that the user showed last stays. Those from the right and from below become
    /// tabs behind docks at the right, if there is room for them; the others are hidden.
    void fitInto(const QSize& room);

    /// The titles of the docks that fitInto() has hidden for want of room.
    QStringList withoutRoom() const;

    /// Undoes what fitInto() has done; what the user has shown, hidden or set afloat stays so.
    void bringBack();

    /// Moves the focus to the next dock (or the previous one); the central widget is one of them.
    void focusNextDock(int direction);

protected:
    void showEvent(QShowEvent* event) override;

private:
    using Group = std::vector<QDockWidget*>;

    struct Kept {
        QByteArray state;
        QStringList hiddenFloating; ///< docks
    };

    std::vector<Group> groupsAlong(Qt::Orientation orientation) const;
    QSize leastSize() const;
    void giveWay(Qt::Orientation orientation, int room);
    QDockWidget* hostOfTabs() const;
    void stackHidden(const QSize& room);
    void sizeDocks();
    int heightBelow(int wanted) const;
    void placeDock(QDockWidget* dock);
    void clampToScreens();
    bool useKept();

    const Theme& m_theme;
    std::vector<Dock> m_places;
    std::vector<QDockWidget*> m_docks;
    std::vector<QDockWidget*> m_hiddenFloating;
    std::vector<QDockWidget*> m_withoutRoom; ///< hidden by fitInto()
    QByteArray m_unfitted;                   ///< the layout before fitInto(), if that changed it
    QDockWidget* m_wanted = nullptr;         ///< the one that the user showed last
    std::function<void(Workspace&)> m_arrange;
    std::function<void(View*, const QPoint&)> m_showMenu;
    QPointer<QWidget> m_home;
    bool m_hasSizes = false; // wait for the first time it is shown at its real size
    Kept m_kept;             ///< the saved layout, until then
};

} // namespace ui
