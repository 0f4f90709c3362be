// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/run_store.h"

#include <QString>

namespace ui {

/// Whether the chosen decoder searches for a skip set beside its own drafts.
bool searchesBeside(const RunStore& store);

/// The speed at which SWIFT would run with the best set found beside the answers: "SWIFT would run
/// at about 0.62× here: ..."; empty before it is known.
QString forecastSentence(const RunStore& store);

/// The same on the button that chooses SWIFT: "Use SWIFT: about 0.62×".
QString forecastAction(const RunStore& store, const QString& action);

/// While SWIFT is chosen: the forecast beside what was measured. Empty without a forecast.
QString forecastCheck(const RunStore& store);

/// What a set is that was found beside the answers, and why it is not used.
QString besideSentence(const RunStore& store);

} // namespace ui
