// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/controls/settings/settings_form.h"

#include <QFrame>

namespace ui {

/// The popup of "3 changed": each setting, its value in the preset and its current value. Esc or a
/// click elsewhere closes and deletes it. Thread: UI.
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
