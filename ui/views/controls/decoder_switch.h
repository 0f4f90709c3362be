// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/pending_changes.h"
#include "ui/shell/docks/view.h"
#include "ui/shell/widgets/segmented_control.h"

#include <string>

namespace ui {

class KeptSettings;
class SkipSetFinder;

/// A decoder's initial settings in the window: its profile "guided" if it has one, which also suits
/// small models; otherwise its defaults.
engine::SettingValues startingSettings(const RunStore& store, const std::string& decoder);

/// "Vanilla | Auto | SWIFT" beside the chat's input. Any other decoder is shown as a fourth choice.
/// Thread: UI.
class DecoderSwitch : public SegmentedControl {
    Q_OBJECT

public:
    explicit DecoderSwitch(const ViewContext& context, QWidget* parent = nullptr);

    /// A decoder comes back as the user left it; without `kept` as startingSettings() says. It must
    /// live longer.
    void setKept(KeptSettings& kept) { m_kept = &kept; }

    /// Its searches change settings, which an undo does not take over. It must live longer.
    void setFinder(const SkipSetFinder& finder) { m_finder = &finder; }

signals:
    /// The choice failed; a sentence for the message bar.
    void failed(const QString& sentence);

private:
    void apply(const engine::EngineEvent& event);
    void showDecoder();
    void choose(int index);

    const RunStore& m_store;
    PendingChanges m_pending;
    KeptSettings* m_kept = nullptr;
    const SkipSetFinder* m_finder = nullptr;
};

} // namespace ui
