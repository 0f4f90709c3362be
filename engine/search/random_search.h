// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/search/layer_search.h"
#include "engine/search/numerics/search_random.h"

namespace engine {

/// Refuses, as a bug, options whose shapes do not fit each other.
void checkSearchOptions(const LayerSearchOptions& options);

/// A random trial: what both searches propose while they know nothing.
Trial drawTrial(const LayerSearchOptions& options, SearchRandom& random);

} // namespace engine
