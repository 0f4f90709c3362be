// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/tune/tune_options.h"
#include "app/streams/console.h"

#include <stop_token>

namespace app {

/// Measures a copy of a model that a training has made beside that model: both answer the prompts
/// with plain decoding, and the copy with the decoder that it was trained for, in turn. What the
/// training has measured of perplexity is told with it. Errors: InvalidInput for a folder that is
/// no such copy, or one of another model; those of reading prompts and of loading both; that of a
/// decoder that fails; Cancelled, with what was measured before told.
engine::Result<void>
compareCopy(const TuneOptions& options, const Console& console, const std::stop_token& stop);

} // namespace app
