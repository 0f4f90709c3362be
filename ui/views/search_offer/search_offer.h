// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/pending_changes.h"
#include "ui/shell/docks/view.h"

#include <QString>

namespace ui {

/// What views of the search show while there is no search. A plain value.
struct SearchOffer {
    QString reason; ///< why there is no search; empty: the next answer starts one
    QString action; ///< "Use SWIFT: about 0.62×", without the speed before it is known; empty: no
                    ///< decoder would search, or none can be chosen
};

/// The decoder that takes a skip set and searches for one; null when there is none.
const engine::DecoderInfo* searchingDecoder(const RunStore& store);

/// For the chosen decoder; empty before a model is loaded, and while a search runs beside its
/// drafts. A replay has no decoder to choose.
SearchOffer searchOffer(const RunStore& store, bool isReplay = false);

/// Its initial settings in the window: on a lesson model the share of its copies, else the profile
/// "guided", if it has one; and the set that was found beside the answers to begin with, if there
/// is one.
engine::SettingValues searchingSettings(const RunStore& store, const engine::DecoderInfo& decoder);

/// From the decoder that is chosen to this one with searchingSettings(); it can be undone.
RunChange searchingChange(const RunStore& store, const engine::DecoderInfo& decoder);

/// Requests that change for the searching decoder. Returns the error for the user; empty = none.
QString useSearchingDecoder(const RunStore& store, PendingChanges& changes);

} // namespace ui
