// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/segmented_control.h"
#include "ui/shell/view.h"
#include "ui/views/controls/pending_changes.h"

namespace ui {

/// What a decoder starts with in the window: the profile "guided" where it has one, which suits
/// small models too; else its defaults.
engine::SettingValues startingSettings(const RunStore& store, const std::string& decoder);

/// "SWIFT | Vanilla" beside the chat's input. SWIFT starts with the profile "guided", and later
/// with what it had when it was left. Another decoder is shown as a third choice. Thread: UI.
class DecoderSwitch : public SegmentedControl {
    Q_OBJECT

public:
    explicit DecoderSwitch(const ViewContext& context, QWidget* parent = nullptr);

signals:
    /// The choice came to nothing; a sentence for the message bar.
    void failed(const QString& sentence);

private:
    void apply(const engine::EngineEvent& event);
    void showDecoder();
    void choose(int index);

    const RunStore& m_store;
    PendingChanges m_pending;
    engine::SettingValues m_swiftSettings; ///< when SWIFT was left
};

} // namespace ui
