// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/controls/settings_form.h"

#include <QFrame>

namespace ui {

/// The list behind "3 changed": each setting, what the preset has, what is set now. Closes with
/// Esc or a click elsewhere, and dies then. Thread: UI.
class ChangesPopup : public QFrame {
    Q_OBJECT

public:
    ChangesPopup(const Theme& theme,
                 const std::vector<SettingDifference>& differences,
                 const QString& presetName,
                 QWidget* parent);

signals:
    void resetAllWanted();
};

} // namespace ui
