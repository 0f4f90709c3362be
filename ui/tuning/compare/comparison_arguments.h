// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/tuning/tuning_choice.h"

namespace ui {

/// How the decoders of a comparison are called.
inline constexpr const char* kPlainVariant = "vanilla";
inline constexpr const char* kWithVariant = "with";
inline constexpr const char* kWithoutVariant = "without";

/// Prompts of a comparison, at most, and tokens of an answer.
inline constexpr int kComparedPrompts = 18;
inline constexpr int kComparedTokens = 96;

/// Whether the choice has prompts of the user, of which some were held out.
bool hasPromptsToCompare(const TuningChoice& choice);

/// Of `swift-run compare`: Auto with the adapter and without on prompts that were not trained on.
QStringList argumentsOfComparison(const TuningChoice& choice, const QString& adapter);

} // namespace ui
