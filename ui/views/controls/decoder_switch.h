// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/segmented_control.h"
#include "ui/shell/view.h"
#include "ui/views/controls/pending_changes.h"

#include <map>
#include <string>

namespace ui {

/// What a decoder starts with in the window: the profile "guided" where it has one, which suits
/// small models too; else its defaults.
engine::SettingValues startingSettings(const RunStore& store, const std::string& decoder);

/// "Vanilla | Auto | SWIFT" beside the chat's input. SWIFT starts with the profile "guided"; later
/// each decoder goes on with what it had when it was left. Another one is shown as a fourth choice.
/// Thread: UI.
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
    std::map<std::string, engine::SettingValues> m_keptSettings; ///< by decoder, when it was left
};

} // namespace ui
