// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/pending_changes.h"
#include "ui/shell/docks/view.h"
#include "ui/views/controls/presets/preset_bar.h"
#include "ui/views/controls/settings/settings_form.h"

#include <functional>
#include <optional>

class QComboBox;
class QLabel;
class QPushButton;
class QToolButton;

namespace ui {

class ColumnScroll;
class KeptSettings;
class SegmentedControl;
class SkipSetFinder;

/// Where presets lie.
struct PresetFolders {
    QString bundled; ///< share/swift-studio/presets
    QString own;     ///< the user's
};

/// The dock "Parameters": decoder, presets, the decoder's settings and sampling. It shows the
/// decoder of the next answer and the values that its settings have then: while an answer is
/// generated, a decoder that is chosen waits for its end, and a line says so. A change is sent when
/// the user lets go of the control, can be undone once the engine has accepted it, and is reverted
/// if it was refused; a refused text stays to be corrected. Thread: UI.
class ParametersView : public View {
    Q_OBJECT

public:
    ParametersView(const ViewContext& context,
                   const PresetFolders& folders,
                   QWidget* parent = nullptr);

    /// Setting, preset's value, current value, when a change takes effect.
    FigureTable table() const override;

    SettingsForm& form() const { return *m_form; }

    SettingsForm& sampling() const { return *m_sampling; }

    PresetBar& presets() const { return *m_presets; }

    /// Its searches change settings, which the user's presets and undos do not take over. It must
    /// live longer.
    void setFinder(const SkipSetFinder& finder) { m_finder = &finder; }

    /// A decoder comes back as the user left it; without `kept` as startingSettings() says. It must
    /// live longer.
    void setKept(KeptSettings& kept) { m_kept = &kept; }

    /// Where the user's sampling comes from while the run's is that of one answer alone.
    void setUsersSampling(std::function<engine::SamplingOptions()> source) {
        m_usersSampling = std::move(source);
    }

    void setSimple(bool isSimple);

    /// Shows the setting of the decoder or of sampling, with the keyboard's focus on it.
    void showSetting(const std::string& name);

    /// Takes effect from the next answer on; can be undone.
    void chooseDecoder(const std::string& name);

    /// The sampling of the next answer: a change waits for the end of the present one.
    engine::SamplingOptions comingSampling();

    /// Shows or hides how the decoder works, when it helps and when it does not.
    void setExplained(bool isExplained);

    /// The text shown; empty while hidden.
    QString explanation() const;

signals:
    /// The user wants to see only some of the settings, or all.
    void simpleChosen(bool isSimple);

    /// One of the user's presets was saved or deleted.
    void presetsChanged();

protected:
    void refreshView(Topics changed) override;
    void showEvent(QShowEvent* event) override;

private:
    void build();
    QWidget* makeDecoderPart();
    QWidget* makeExplanation();
    QWidget* makeLevels();
    QWidget* makeSamplingPart();
    void adoptTheme();
    void showDecoders();
    void showDecoder();
    void showExplanation();
    void showValues();

    const NextDecoder& next() const { return context().bridge.nextDecoder(); }

    engine::SettingValues usersSettings() const;
    engine::SamplingOptions usersSampling() const;
    void showNotes();
    void showSwift();
    void changeSetting(SettingRow* row, const engine::SettingValue& value);
    void changeSampling(SettingRow* row, const engine::SettingValue& value);
    void applyPreset(const engine::SettingValues& values, const QString& name);
    void request(RunChange change);
    void showRefused(const RunChange& change, const engine::Error& error);

    PresetShelf m_shelf;
    PendingChanges m_pending;
    const SkipSetFinder* m_finder = nullptr;
    KeptSettings* m_kept = nullptr;
    std::function<engine::SamplingOptions()> m_usersSampling;
    std::optional<engine::SamplingOptions> m_askedSampling; ///< by the changes that wait
    std::string m_decoderName;
    bool m_hasDecoder = false;
    ColumnScroll* m_scroll = nullptr;
    QComboBox* m_decoderBox = nullptr;
    SegmentedControl* m_levels = nullptr;
    QLabel* m_waiting = nullptr; ///< that the decoder waits
    QLabel* m_summary = nullptr;
    QToolButton* m_howItWorks = nullptr;
    QLabel* m_explanation = nullptr;
    PresetBar* m_presets = nullptr;
    SettingsForm* m_form = nullptr;
    QLabel* m_empty = nullptr;
    QLabel* m_swiftNote; ///< what SWIFT would gain or cost, or has
    QPushButton* m_useSwift = nullptr;
    QLabel* m_samplingTitle = nullptr;
    SettingsForm* m_sampling = nullptr;
};

} // namespace ui
