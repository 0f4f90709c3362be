// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/sampling/grammar/grammar_graph.h"

#include <string_view>

namespace engine {

/// Removes everything from a graph that can never reach the end of its rule, so that every prefix
/// can be completed. Every rule must have a start and an end. `what`: see GrammarBuilder::finish.
/// Errors: InvalidInput if nothing is left, and if a rule calls itself before it reads a byte.
Result<GrammarGraph> checkGrammar(GrammarGraph graph, std::string_view what);

} // namespace engine
