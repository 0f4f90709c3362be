// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/run_store.h"

#include <QString>

#include <optional>

namespace ui {

/// The skip ratio of the set that drafts use, beside the one that was asked for. A plain value.
struct RatioInUse {
    double asked = 0.0;
    double used = 0.0; ///< the one that the set was made for
    int skipped = 0;   ///< sublayers
    int sublayers = 0; ///< that may be skipped
    QString reason;    ///< sentence: why they differ; empty if they do not

    bool isAsAsked() const { return reason.isEmpty(); }

    /// Whether the set leaves out that share of the sublayers; else the ratio is one of bytes, see
    /// the setting "budget" of SWIFT.
    bool isOfSublayers() const;

    /// "r asked for .45, in use .05: 3 of 56 sublayers. r grows ..."; one figure if they are the
    /// same.
    QString text() const;
};

/// None while nothing is skipped, and for decoders and recordings that name no ratio.
std::optional<RatioInUse> ratioInUse(const RunStore& store);

/// Its text if the set does not have the ratio that was asked for, else empty.
QString otherRatioText(const RunStore& store);

/// A subtitle of a view that shows one task's search, with its name if there are several.
QString ofTask(const SearchLog& search, const QString& subtitle);

} // namespace ui
