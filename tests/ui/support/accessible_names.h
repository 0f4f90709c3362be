// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QAccessible>
#include <QStringList>
#include <QTabBar>
#include <QWidget>

namespace support {

/// The widgets of a window that take the keyboard and that a screen reader could not name, each as
/// "class objectName in parent". Hidden ones count too. Compare with an empty list.
inline QStringList namelessWidgets(QWidget& window) {
    QStringList nameless;
    for (QWidget* widget : window.findChildren<QWidget*>()) {
        const QByteArray type = widget->metaObject()->className();
        // Parts of a control, which speaks for them.
        // A tab bar that docks have left is kept without tabs.
        const auto* tabs = qobject_cast<const QTabBar*>(widget);
        const bool isPart = widget->objectName().startsWith("qt_") || type == "QComboBoxListView" ||
                            type == "QComboBoxPrivateContainer" ||
                            (tabs != nullptr && tabs->count() == 0);
        if (isPart || widget->focusPolicy() == Qt::NoFocus || widget->focusProxy() != nullptr)
            continue;
        QAccessibleInterface* read = QAccessible::queryAccessibleInterface(widget);
        if (read == nullptr || read->text(QAccessible::Name).trimmed().isEmpty())
            nameless << QStringLiteral("%1 %2 in %3")
                            .arg(QString::fromLatin1(type),
                                 widget->objectName(),
                                 widget->parentWidget() != nullptr
                                     ? QString::fromLatin1(
                                           widget->parentWidget()->metaObject()->className())
                                     : QString());
    }
    return nameless;
}

} // namespace support
