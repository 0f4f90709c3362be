// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/drafts/draft_adapter.h"

#include <string>

namespace engine {

/// The bytes of an adapter file as readDraftAdapter() reads it: matrices whose rows are whole
/// groups of 32 as I8 with a scale of F16 for each group, everything else as F32. `description` is
/// the JSON text of its metadata; it must say what the adapter says (sizes, fingerprints, head).
/// The same adapter gives the same bytes. Errors: Numeric naming the tensor for numbers that are
/// not finite, or too large for such a scale.
Result<std::string> draftAdapterBytes(const DraftAdapter& adapter, const std::string& description);

/// Whether an adapter of these sizes makes a file that readDraftAdapter() reads. Errors:
/// Unsupported for a larger one.
Result<void> checkAdapterBytes(const DraftSizes& sizes);

} // namespace engine
