// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/controls/setting_text.h"

#include <QTimer>
#include <QWidget>

namespace ui {

/// The control for one value of a kind. Thread: UI.
class SettingEditor : public QWidget {
    Q_OBJECT

public:
    explicit SettingEditor(QWidget* parent = nullptr);

    /// What the control shows now, told or not.
    virtual engine::SettingValue value() const = 0;

    /// Shows it; tells nothing.
    virtual void setValue(const engine::SettingValue& value) = 0;

    /// Whether the user is in the middle of it: dragging, typing, stepping.
    virtual bool isBusy() const { return m_settle.isActive(); }

    /// Where the keyboard goes.
    virtual QWidget* mainControl() const = 0;

signals:
    /// The user is done with this change: let go, left the field, paused while stepping.
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
