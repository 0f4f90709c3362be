// SPDX-License-Identifier: Apache-2.0
#include "plugins/lookahead/lookahead_settings.h"

#include "engine/base/setting_makers.h"

#include <algorithm>

namespace lookahead {

using namespace engine;

namespace {

/// The paper's own 5 where many rows are free, as on its processors; on a CPU every row costs.
int automaticSize(int preferredTreeNodes) {
    if (preferredTreeNodes < 16)
        return 3;
    return preferredTreeNodes < 64 ? 4 : 5;
}

SettingInfo with(SettingInfo info, const char* unit, const char* meaning) {
    return answerSetting(std::move(info), unit, meaning);
}

} // namespace

Result<LookaheadSettings> LookaheadSettings::make(const SettingValues& values,
                                                  int preferredTreeNodes) {
    LookaheadSettings made;
    const int columns = integerOf(values, "w");
    const int size = integerOf(values, "n");
    const int ngrams = integerOf(values, "g");
    if (size == 1)
        return Error{ErrorCode::InvalidInput,
                     "The setting n is 1, but an n-gram of one token foretells nothing.",
                     "Give 2 to 8, or 0 for what suits the backend."};
    made.shape.size = size == 0 ? automaticSize(preferredTreeNodes) : size;
    const int suiting = std::max(2, preferredTreeNodes / (made.shape.size - 1));
    made.shape.columns = columns == 0 ? std::min(suiting, kMostColumns) : columns;
    made.ngrams = ngrams == 0 ? std::min(made.shape.columns, kMostNgrams) : ngrams;
    made.readsPrompt = flagOf(values, "pool_from_prompt");
    made.keepsPool = flagOf(values, "keep_pool");
    return made;
}

DecoderInfo lookaheadInfo() {
    DecoderInfo info;
    info.name = "lookahead";
    info.title = "Lookahead";
    info.summary = "Guesses many places ahead in the same pass that verifies, and drafts the "
                   "n-grams that the guesses grow into.";
    info.source = "arXiv 2402.02057";
    info.explanation =
        "Every pass does two things. It moves a window of guesses for the next W places one step "
        "on: the model's predictions after the guesses become the newest row, and the rows, read "
        "down a column, are an n-gram that the model itself has made. These n-grams go into a "
        "pool. Those of the pool that begin with the newest token are the draft, which the same "
        "pass verifies; in a full match, the last of the N tokens is the model's own. Nothing is "
        "trained, and no second model runs. It helps where a pass over 50 or 100 rows takes hardly "
        "longer than one over a single row, as on large graphics processors, and where text "
        "repeats its own phrases, as code does. On a CPU each row costs time, so the automatic "
        "window is small; expect little gain there, or a loss. Sampling gives vanilla's own "
        "tokens, because guesses are only drafts.";
    info.settings = {
        with(integerSetting("w", "Window W", 0, {0, kMostColumns}),
             "columns",
             "Places ahead that are guessed in each pass; 0 = what suits the backend."),
        with(integerSetting("n", "N-gram size N", 0, {0, kMostSize}),
             "tokens",
             "Tokens of an n-gram, its first included, and of a full match; 2 or more; 0 = what "
             "suits the backend."),
        with(integerSetting("g", "Pool per token G", 0, {0, kMostNgrams}),
             "n-grams",
             "N-grams kept for each first token, and verified at once; 0 = as many as columns."),
        with(flagSetting("pool_from_prompt", "Pool from the text", false),
             "",
             "The n-grams of prompt and answer go into the pool, too."),
        with(flagSetting("keep_pool", "Keep the pool", false),
             "",
             "The pool outlives the answer; off: each prompt begins with an empty one.")};
    return info;
}

} // namespace lookahead
