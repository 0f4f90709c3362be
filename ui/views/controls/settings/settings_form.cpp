// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/controls/settings/settings_form.h"

#include "ui/views/controls/settings/setting_text.h"

#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

namespace ui {

using namespace engine;

namespace {

constexpr std::array kFirstNames = {"r", "gamma", "epsilon", "beta", "S"};

std::size_t placeOf(const SettingInfo& setting) {
    const auto* found = std::find(kFirstNames.begin(), kFirstNames.end(), setting.name);
    return static_cast<std::size_t>(found - kFirstNames.begin());
}

} // namespace

SettingsForm::SettingsForm(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
}

void SettingsForm::setSettings(const std::vector<SettingInfo>& settings) {
    for (SettingRow* row : m_rows)
        delete row;
    for (QLabel* heading : m_headings)
        delete heading;
    m_rows.clear();
    m_headings.clear();
    m_values.clear();
    m_reference.clear();
    std::vector<SettingInfo> ordered = settings;
    std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
        return placeOf(a) < placeOf(b);
    });
    std::string group;
    for (const SettingInfo& setting : ordered) {
        if (placeOf(setting) == kFirstNames.size() && setting.group != group) {
            group = setting.group;
            layout()->addWidget(makeHeading(QString::fromStdString(group)));
        }
        auto* row = new SettingRow(m_theme, setting, this);
        connect(row, &SettingRow::edited, this, [this, row](const SettingValue& value) {
            emit edited(row, value);
        });
        layout()->addWidget(row);
        m_rows.push_back(row);
    }
    showRows();
}

QLabel* SettingsForm::makeHeading(const QString& group) {
    auto* heading = new QLabel(group, this);
    heading->setTextFormat(Qt::PlainText);
    heading->setWordWrap(true);
    const auto adoptTheme = [this, heading] {
        heading->setFont(m_theme.font(TextRole::DockTitle));
        const int side = m_theme.scaled(12);
        heading->setContentsMargins(side, side, side, m_theme.scaled(2));
    };
    adoptTheme();
    connect(&m_theme, &Theme::changed, heading, adoptTheme);
    m_headings.push_back(heading);
    return heading;
}

QStringList SettingsForm::headings() const {
    QStringList shown;
    for (const QLabel* heading : m_headings)
        if (!heading->isHidden())
            shown << heading->text();
    return shown;
}

void SettingsForm::setValues(const SettingValues& values) {
    m_values = values;
    for (SettingRow* row : m_rows)
        row->setValue(valueIn(values, row->setting()));
}

void SettingsForm::setReference(const SettingValues& values, const QString& name) {
    m_reference = values;
    for (SettingRow* row : m_rows)
        row->setReference(valueIn(values, row->setting()), name);
}

void SettingsForm::setSimple(bool isSimple) {
    m_isSimple = isSimple;
    showRows();
}

void SettingsForm::setHelpShown(bool isShown) {
    for (SettingRow* row : m_rows)
        row->setHelpShown(isShown);
}

SettingRow* SettingsForm::row(const std::string& setting) const {
    for (SettingRow* row : m_rows)
        if (row->setting().name == setting)
            return row;
    return nullptr;
}

std::vector<SettingDifference> SettingsForm::differences() const {
    std::vector<SettingDifference> found;
    for (const SettingRow* row : m_rows) {
        const SettingInfo& setting = row->setting();
        const SettingValue before = valueIn(m_reference, setting);
        const SettingValue now = valueIn(m_values, setting);
        if (before != now)
            found.push_back({setting, before, now});
    }
    return found;
}

void SettingsForm::showRows() {
    for (std::size_t i = 0; i < m_rows.size(); ++i)
        m_rows[i]->setVisible(!m_isSimple || i < kSimpleRows);
    for (QLabel* heading : m_headings)
        heading->setVisible(!m_isSimple);
}

} // namespace ui
