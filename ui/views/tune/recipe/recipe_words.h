// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/tuning/tuning_session.h"
#include "ui/views/tune/tune_words.h"

namespace ui {

// What is said of the recipes.

/// "A draft layer", "LayerSkip", "SPACE".
QString recipeName(TuningRecipe recipe);

/// What the recipe trains, and which decoders draft with it.
QString recipeSentence(TuningRecipe recipe);

/// "Draft layer for Tiny", "LayerSkip copy of Tiny".
QString tuningTitle(const TuningChoice& choice);

/// The decoder that drafts with a copy of the model, as its module is called: "layerskip".
QString decoderOf(TuningRecipe recipe);

/// "perplexity 12.31 instead of 12.10 (+1.7 %)".
QString perplexityText(const TuningQuality& quality);

/// What has become of a copy of the model; the session has its result.
TuningFinding copyFinding(const TuningSession& session);

} // namespace ui
