// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/controls/presets/changes_popup.h"
#include "ui/views/controls/presets/preset.h"

class QComboBox;
class QLabel;
class QPushButton;
class QToolButton;

namespace ui {

/// Chooses, saves, loads and deletes presets, and shows how much the settings differ from the
/// chosen one. Resets go back to the chosen preset. Thread: UI.
class PresetBar : public QWidget {
    Q_OBJECT

public:
    PresetBar(const Theme& theme, PresetShelf& shelf, QWidget* parent = nullptr);

    /// Lists the presets of this decoder; the one nearest to `settings` becomes the reference.
    void setDecoder(const engine::DecoderInfo& decoder, const engine::SettingValues& settings);

    /// Sets the current settings, for "Save as preset".
    void setSettings(const engine::SettingValues& settings) { m_settings = settings; }

    void setDifferences(std::vector<SettingDifference> differences);

    /// All settings of the chosen preset.
    const engine::SettingValues& reference() const { return m_choices[m_chosen].resolved; }

    /// As the window shows it.
    QString referenceName() const { return shownName(m_choices[m_chosen].preset); }

    /// Saves the current settings under a name and chooses that preset.
    void saveAs(const QString& name);

    /// Copies a preset file to the user's own and asks for it to be applied.
    void load(const QString& path);

    /// Deletes the chosen preset if it is the user's own.
    void removeChosen();

    /// The error, for the user; empty = none.
    QString problem() const;
    void setProblem(const QString& problem);

signals:
    void referenceChanged();

    /// One of the user's presets was saved or deleted.
    void shelfChanged();

    /// The user wants all settings of the chosen preset.
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
    Preset present() const;
    void save(Preset preset, const QString& name);
    void remove(const Preset& preset);
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
