// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/commands/action_catalog.h"

#include <QSettings>
#include <QWidget>

#include <algorithm>

namespace ui {

namespace {

QString settingsKey(const QString& id) { return QStringLiteral("keys/") + id; }

/// An empty text means no key, not an empty key.
QList<QKeySequence> keysOf(const QString& text) {
    return text.isEmpty() ? QList<QKeySequence>()
                          : QKeySequence::listFromString(text, QKeySequence::PortableText);
}

} // namespace

ActionCatalog::ActionCatalog(QWidget& window, QSettings& settings)
    : QObject(&window)
    , m_window(window)
    , m_settings(settings) {}

QAction* ActionCatalog::add(const QString& id,
                            const QString& group,
                            const QString& text,
                            const QList<QKeySequence>& keys,
                            std::function<void()> act) {
    Q_ASSERT(find(id) == nullptr);
    auto* action = new QAction(text, this);
    action->setShortcutContext(Qt::WindowShortcut);
    connect(action, &QAction::triggered, this, [act = std::move(act)] { act(); });
    m_window.addAction(action);
    m_entries.push_back({id, group, keys, action});
    const QVariant kept = m_settings.value(settingsKey(id));
    action->setShortcuts(kept.isValid() ? keysOf(kept.toString()) : keys);
    return action;
}

QAction* ActionCatalog::find(const QString& id) const {
    const Entry* found = entry(id);
    return found == nullptr ? nullptr : found->action;
}

const ActionCatalog::Entry* ActionCatalog::entry(const QString& id) const {
    const auto found = std::ranges::find(m_entries, id, &Entry::id);
    return found == m_entries.end() ? nullptr : &*found;
}

void ActionCatalog::setKeys(const QString& id, const QList<QKeySequence>& keys) {
    const Entry* found = entry(id);
    if (found == nullptr)
        return;
    found->action->setShortcuts(keys);
    if (keys == found->initialKeys)
        m_settings.remove(settingsKey(id));
    else
        m_settings.setValue(settingsKey(id),
                            QKeySequence::listToString(keys, QKeySequence::PortableText));
    emit keysChanged(id);
}

void ActionCatalog::resetKeys(const QString& id) {
    if (const Entry* found = entry(id))
        setKeys(id, found->initialKeys);
}

QStringList ActionCatalog::conflicts(const QString& id) const {
    QStringList texts;
    const Entry* asked = entry(id);
    if (asked == nullptr)
        return texts;
    const QList<QKeySequence> keys = asked->action->shortcuts();
    for (const Entry& other : m_entries) {
        const QList<QKeySequence> otherKeys = other.action->shortcuts();
        const bool shares = std::ranges::any_of(
            keys, [&](const QKeySequence& key) { return otherKeys.contains(key); });
        if (other.id != id && shares)
            texts << QString(other.action->text()).remove(QLatin1Char('&'));
    }
    return texts;
}

} // namespace ui
