// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QAction>
#include <QKeySequence>
#include <QObject>
#include <QString>

#include <functional>
#include <vector>

class QSettings;
class QWidget;

namespace ui {

/// All actions that a key or menu can trigger, by name: the one list from which menus, the shortcut
/// editor and the command search are built. Keys that the user changed are stored in `settings`.
/// Thread: UI.
class ActionCatalog : public QObject {
    Q_OBJECT

public:
    struct Entry {
        QString id;    ///< for settings: "chat.new"; never shown
        QString group; ///< "Chat", "View", ...
        QList<QKeySequence> initialKeys;
        QAction* action = nullptr;
    };

    /// The keys work in `window`; both outlive the catalog.
    ActionCatalog(QWidget& window, QSettings& settings);

    /// Adds an action that works wherever the focus is. Each id may be added once.
    QAction* add(const QString& id,
                 const QString& group,
                 const QString& text,
                 const QList<QKeySequence>& keys,
                 std::function<void()> act);

    const std::vector<Entry>& entries() const { return m_entries; }

    QAction* find(const QString& id) const;

    /// Gives an action other keys and stores them. Another action with one of these keys keeps it
    /// too: see conflicts().
    void setKeys(const QString& id, const QList<QKeySequence>& keys);

    void resetKeys(const QString& id);

    /// Texts of the other actions with one of this action's keys.
    QStringList conflicts(const QString& id) const;

signals:
    void keysChanged(const QString& id);

private:
    const Entry* entry(const QString& id) const;

    QWidget& m_window;
    QSettings& m_settings;
    std::vector<Entry> m_entries;
};

} // namespace ui
