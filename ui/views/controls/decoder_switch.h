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

/// The choice of this decoder as the user left it, to be requested, and what takes it back. `kept`
/// may be null; `users`: the settings in use, without those of a search.
RunChange decoderChange(const ViewContext& context,
                        const std::string& name,
                        KeptSettings* kept,
                        const engine::SettingValues& users);

/// Says that the decoder that is shown waits for the end of an answer; empty if it does not.
QString waitingSentence(const ViewContext& context);

/// "Vanilla | Auto | SWIFT" beside the chat's input. Any other decoder is shown as a fourth choice.
/// One that waits for the end of an answer is shown as chosen. Thread: UI.
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

    const ViewContext m_context;
    const RunStore& m_store;
    PendingChanges m_pending;
    KeptSettings* m_kept = nullptr;
    const SkipSetFinder* m_finder = nullptr;
};

} // namespace ui
