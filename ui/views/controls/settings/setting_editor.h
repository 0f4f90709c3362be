// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/controls/settings/setting_text.h"

#include <QTimer>
#include <QWidget>

namespace ui {

/// The control for one value of a kind. Thread: UI.
class SettingEditor : public QWidget {
    Q_OBJECT

public:
    explicit SettingEditor(QWidget* parent = nullptr);

    /// The value in the control, committed or not.
    virtual engine::SettingValue value() const = 0;

    /// Shows the value without emitting a signal.
    virtual void setValue(const engine::SettingValue& value) = 0;

    /// Whether the user is changing it: dragging, typing, stepping.
    virtual bool isBusy() const { return m_settle.isActive(); }

    /// The widget that takes the focus.
    virtual QWidget* mainControl() const = 0;

signals:
    /// The user has finished this change: released the control, left the field, or paused while
    /// stepping.
    void committed();

protected:
    /// Steps by keys or wheel come in bursts; committed() follows the last one.
    void settleSoon() { m_settle.start(); }

    void commitNow();

private:
    QTimer m_settle;
};

/// A slider with a spin box, a check box, a list or a line, by the setting's kind.
SettingEditor*
makeSettingEditor(const Theme& theme, const engine::SettingInfo& setting, QWidget* parent);

} // namespace ui
