// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/controls/changes_popup.h"
#include "ui/views/controls/preset.h"

class QComboBox;
class QLabel;
class QPushButton;
class QToolButton;

namespace ui {

/// Chooses, keeps, loads and deletes presets, and says how far the settings are from the chosen
/// one. The chosen preset is what resets go back to. Thread: UI.
class PresetBar : public QWidget {
    Q_OBJECT

public:
    PresetBar(const Theme& theme, PresetShelf& shelf, QWidget* parent = nullptr);

    /// Lists the presets of this decoder; the one nearest to `settings` becomes the reference.
    void setDecoder(const engine::DecoderInfo& decoder, const engine::SettingValues& settings);

    /// What is set now, for "Save as preset".
    void setSettings(const engine::SettingValues& settings) { m_settings = settings; }

    void setDifferences(std::vector<SettingDifference> differences);

    /// All settings of the chosen preset.
    const engine::SettingValues& reference() const { return m_choices[m_chosen].resolved; }

    QString referenceName() const { return m_choices[m_chosen].preset.name; }

    /// Keeps what is set now under a name and chooses it.
    void saveAs(const QString& name);

    /// Keeps a preset file among the user's own and asks for it to be applied.
    void load(const QString& path);

    /// Deletes the chosen preset if it is the user's own.
    void removeChosen();

    /// What went wrong, for the user; empty = nothing.
    QString problem() const;
    void setProblem(const QString& problem);

signals:
    void referenceChanged();
    /// All settings of the chosen preset are wanted.
    void applyWanted(const engine::SettingValues& values, const QString& name);

protected:
    void showEvent(QShowEvent* event) override;

private:
    struct Choice {
        Preset preset;
        engine::SettingValues resolved;
    };

    void build();
    void adoptTheme();
    void makeMenu();
    void fill();
    std::size_t nearest() const;
    void choose(std::size_t index);
    void chooseByName(const QString& name);
    void applyChosen();
    void askForName();
    void askForFile();
    void askBeforeRemoving();
    void showDifferences();

    const Theme& m_theme;
    PresetShelf& m_shelf;
    engine::DecoderInfo m_decoder;
    engine::SettingValues m_settings;
    std::vector<Choice> m_choices; ///< the first one is the decoder's own defaults
    std::size_t m_chosen = 0;
    std::vector<SettingDifference> m_differences;
    QComboBox* m_box = nullptr;
    QPushButton* m_chip = nullptr;
    QToolButton* m_more = nullptr;
    QAction* m_removeAction = nullptr;
    QLabel* m_problem = nullptr;
};

} // namespace ui
