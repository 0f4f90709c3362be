// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/sampling/grammar/grammar_graph.h"

#include <string_view>

namespace engine {

/// Takes out of a graph what can never come to the end of its rule, so that whatever has been read
/// can be completed. Every rule must have a start and an end. `what`: see GrammarBuilder::finish.
/// Errors: InvalidInput when nothing is left, and when a rule calls itself before it reads a byte.
Result<GrammarGraph> checkGrammar(GrammarGraph graph, std::string_view what);

} // namespace engine
