// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/search/layer_search.h"
#include "engine/search/numerics/search_random.h"

namespace engine {

/// Options whose shapes do not match are a bug.
void checkSearchOptions(const LayerSearchOptions& options);

/// A random trial, which both searches propose before they have data.
Trial drawTrial(const LayerSearchOptions& options, SearchRandom& random);

} // namespace engine
