// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/controls/settings/setting_row.h"

#include <string>
#include <vector>

class QLabel;

namespace ui {

/// A setting that differs from the reference.
struct SettingDifference {
    engine::SettingInfo setting;
    engine::SettingValue before;
    engine::SettingValue now;
};

/// A form for the settings of any decoder; it knows no decoder by name. The paper's five settings
/// (r, gamma, epsilon, beta, S) come first if a decoder has them; the others stand under the
/// headings of their groups. Thread: UI.
class SettingsForm : public QWidget {
    Q_OBJECT

public:
    static constexpr int kSimpleRows = 5;

    explicit SettingsForm(const Theme& theme, QWidget* parent = nullptr);

    /// Creates the rows again, with the settings' initial values.
    void setSettings(const std::vector<engine::SettingInfo>& settings);

    /// Shows the current settings; rows that the user is changing keep their value.
    void setValues(const engine::SettingValues& values);

    /// The values of the resets, and the name of their source. Settings it lacks are compared with
    /// the initial value.
    void setReference(const engine::SettingValues& values, const QString& name);

    /// Simple: only the first five rows.
    void setSimple(bool isSimple);

    bool isSimple() const { return m_isSimple; }

    /// Opens or closes the help of all rows.
    void setHelpShown(bool isShown);

    /// Null when there is no such setting.
    SettingRow* row(const std::string& setting) const;

    const std::vector<SettingRow*>& rows() const { return m_rows; }

    /// The headings that are shown, from the top.
    QStringList headings() const;

    std::vector<SettingDifference> differences() const;

signals:
    /// The user wants this value; the row gives the setting and the visit.
    void edited(ui::SettingRow* row, const engine::SettingValue& value);

private:
    QLabel* makeHeading(const QString& group);
    void showRows();

    const Theme& m_theme;
    std::vector<SettingRow*> m_rows;
    std::vector<QLabel*> m_headings;
    engine::SettingValues m_values;
    engine::SettingValues m_reference;
    bool m_isSimple = true;
};

} // namespace ui
