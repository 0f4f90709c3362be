// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/view.h"

#include <QString>

namespace ui {

/// What views of the search say while there is none. A plain value.
struct SearchOffer {
    QString reason; ///< why nothing is searched; empty: the next answer is searched on
    QString action; ///< "Use SWIFT"; empty: there is no decoder that would search
};

/// The decoder that takes a skip set and searches for one; null when there is none.
const engine::DecoderInfo* searchingDecoder(const RunStore& store);

/// Of the decoder that is chosen; empty before a model is loaded.
SearchOffer searchOffer(const RunStore& store);

/// What it starts with in the window: its profile "guided", where it has one.
engine::SettingValues guidedSettings(const engine::DecoderInfo& decoder);

/// Chooses the searching decoder with what it starts with in the window. What went wrong, for
/// people; empty = nothing.
QString useSearchingDecoder(const ViewContext& context);

} // namespace ui
