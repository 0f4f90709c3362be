// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/controls/settings/setting_editor.h"

class QLabel;
class QToolButton;

namespace ui {

/// One setting of the form: symbol, title and badge; below them the control and its reset; notes,
/// help and problems below that. F1 shows and hides the help. Thread: UI.
class SettingRow : public QWidget {
    Q_OBJECT

public:
    SettingRow(const Theme& theme, engine::SettingInfo setting, QWidget* parent = nullptr);

    const engine::SettingInfo& setting() const { return m_setting; }

    engine::SettingValue value() const { return m_editor->value(); }

    /// Shows the current value, unless the user is changing it.
    void setValue(const engine::SettingValue& value);

    /// The value of the reset, and its source: "Paper 13B".
    void setReference(const engine::SettingValue& value, const QString& name);

    bool isChanged() const;

    /// One line below the control; empty = none. Plain text.
    void setNote(const QString& note);

    /// Why a change failed; stays until the next change. Plain text.
    void setProblem(const QString& problem);

    QString problem() const;

    void setHelpShown(bool isShown);

    /// The present value as people read it.
    QString valueText() const { return shownValue(m_setting, m_shown); }

    /// The keyboard's focus goes to its main control.
    void takeFocus() { m_editor->mainControl()->setFocus(Qt::ShortcutFocusReason); }

    bool isHelpShown() const { return m_isHelpShown; }

    /// Beside the reset, e.g. a dice.
    void addButton(QWidget* button);

    SettingEditor* editor() const { return m_editor; }

    /// Grows by one whenever the user returns to the row: changes of one visit are undone together.
    int visit() const { return m_visit; }

signals:
    /// The user wants this value.
    void edited(const engine::SettingValue& value);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    void build();
    QWidget* makeHead();
    void adoptTheme();
    void showReset();
    void commit();
    void take(const engine::SettingValue& wanted);
    void reset();
    bool isAskingForHelp(QEvent* event) const;

    const Theme& m_theme;
    engine::SettingInfo m_setting;
    engine::SettingValue m_shown;
    engine::SettingValue m_rounded; ///< m_shown as far as the control can show it
    engine::SettingValue m_reference;
    QString m_referenceName;
    QLabel* m_symbol = nullptr;
    QLabel* m_title = nullptr;
    SettingEditor* m_editor = nullptr;
    QToolButton* m_reset = nullptr;
    QLabel* m_note = nullptr;
    QLabel* m_help = nullptr;
    QLabel* m_problem = nullptr;
    bool m_isHelpShown = false;
    int m_visit = 0;
};

} // namespace ui
