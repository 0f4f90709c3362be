// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/tuning/tuning_choice.h"

namespace ui {

/// How the decoders of a comparison are called. With a copy of the model, that one has the first
/// two, and the model itself answers plainly in place of the third.
inline constexpr const char* kPlainVariant = "vanilla";
inline constexpr const char* kWithVariant = "with";
inline constexpr const char* kWithoutVariant = "without";
inline constexpr const char* kOriginalVariant = "original";

/// Prompts of a comparison, at most, and tokens of an answer.
inline constexpr int kComparedPrompts = 18;
inline constexpr int kComparedTokens = 96;

/// Whether the choice has prompts of the user, of which some were held out.
bool hasPromptsToCompare(const TuningChoice& choice);

/// On prompts that were not trained on: of `swift-run compare`, Auto with the adapter and without;
/// of `swift-run tune`, the copy in this folder beside the model. `adapter` as in argumentsOf().
QStringList
argumentsOfComparison(const TuningChoice& choice, const QString& adapter, const QString& copy = {});

} // namespace ui
