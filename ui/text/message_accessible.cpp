// SPDX-License-Identifier: GPL-3.0-only
#include "ui/text/message_accessible.h"

#include "ui/text/message_body.h"

#include <QAccessible>
#include <QAccessibleWidget>

namespace ui {

namespace {

/// A message as one read-only text whose paragraphs are its blocks.
class MessageAccessible : public QAccessibleWidget, public QAccessibleTextInterface {
public:
    explicit MessageAccessible(MessageBody* body)
        : QAccessibleWidget(body, QAccessible::StaticText)
        , m_body(body) {}

    void* interface_cast(QAccessible::InterfaceType type) override {
        if (type == QAccessible::TextInterface)
            return static_cast<QAccessibleTextInterface*>(this);
        return QAccessibleWidget::interface_cast(type);
    }

    QString text(QAccessible::Text kind) const override {
        return kind == QAccessible::Value ? m_body->spokenText() : QAccessibleWidget::text(kind);
    }

    QAccessible::State state() const override {
        QAccessible::State state = QAccessibleWidget::state();
        state.readOnly = true;
        state.selectableText = true;
        state.multiLine = true;
        return state;
    }

    void selection(int index, int* start, int* end) const override {
        const auto selected = static_cast<int>(m_body->spokenSelection().size());
        const bool isHere = index == 0 && selected > 0;
        *start = isHere ? m_body->selectionStart() : 0;
        *end = isHere ? *start + selected : 0;
    }

    int selectionCount() const override { return m_body->selectedText().isEmpty() ? 0 : 1; }

    // Selecting by offsets is not offered: the pointer and Ctrl+A select.
    void addSelection(int, int) override {}

    void removeSelection(int) override { m_body->clearSelection(); }

    void setSelection(int, int, int) override {}

    int cursorPosition() const override { return 0; }

    void setCursorPosition(int) override {}

    QString text(int start, int end) const override {
        return m_body->spokenText().mid(start, end - start);
    }

    int characterCount() const override { return static_cast<int>(m_body->spokenText().size()); }

    QRect characterRect(int) const override { return rect(); }

    int offsetAtPoint(const QPoint&) const override { return -1; }

    void scrollToSubstring(int, int) override {}

    QString attributes(int offset, int* start, int* end) const override {
        *start = offset;
        *end = characterCount();
        return {};
    }

private:
    MessageBody* m_body;
};

QAccessibleInterface* makeAccessible(const QString&, QObject* object) {
    auto* body = qobject_cast<MessageBody*>(object);
    return body == nullptr ? nullptr : new MessageAccessible(body);
}

} // namespace

void installMessageAccessibility() { QAccessible::installFactory(makeAccessible); }

} // namespace ui
