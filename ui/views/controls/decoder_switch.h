// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/docks/view.h"
#include "ui/shell/widgets/segmented_control.h"
#include "ui/views/controls/pending_changes.h"

#include <map>
#include <string>

namespace ui {

/// A decoder's initial settings in the window: its profile "guided" if it has one, which also suits
/// small models; otherwise its defaults.
engine::SettingValues startingSettings(const RunStore& store, const std::string& decoder);

/// "Vanilla | Auto | SWIFT" beside the chat's input. SWIFT starts with the profile "guided"; later
/// each decoder keeps the settings it had when it was left. Any other decoder is shown as a fourth
/// choice. Thread: UI.
class DecoderSwitch : public SegmentedControl {
    Q_OBJECT

public:
    explicit DecoderSwitch(const ViewContext& context, QWidget* parent = nullptr);

    /// Off while a search sets what the user did not choose: a decoder comes back as before.
    void keepSettings(bool isOn) { m_keepsSettings = isOn; }

signals:
    /// The choice failed; a sentence for the message bar.
    void failed(const QString& sentence);

private:
    void apply(const engine::EngineEvent& event);
    void showDecoder();
    void choose(int index);

    const RunStore& m_store;
    PendingChanges m_pending;
    std::map<std::string, engine::SettingValues> m_keptSettings; ///< by decoder, when it was left
    bool m_keepsSettings = true;
};

} // namespace ui
