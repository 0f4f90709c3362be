// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/sampling/grammar/grammar_graph.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// A part of a rule under construction: it is entered at `first` and left at `last`, which has no
/// outgoing edges yet. Each part is used in only one place.
struct GrammarPart {
    int first;
    int last;
};

/// Characters from `low` to `high`, as code points.
struct CharacterRange {
    std::uint32_t low;
    std::uint32_t high;
};

/// Builds a GrammarGraph. finish() refuses a graph that grew beyond kMostNodes; until then all
/// functions can be called, but the graph no longer grows.
class GrammarBuilder {
public:
    static constexpr int kMostNodes = 100'000;
    static constexpr int kUnbounded = -1;

    bool isFull() const { return m_isFull; }

    GrammarPart nothing(); ///< the empty text
    GrammarPart byteRange(std::uint8_t low, std::uint8_t high);
    GrammarPart text(std::string_view bytes);

    /// One character of the ranges in UTF-8, without surrogates (D800 to DFFF).
    GrammarPart character(std::span<const CharacterRange> ranges);

    GrammarPart sequence(std::span<const GrammarPart> parts);
    GrammarPart choice(std::span<const GrammarPart> parts); ///< of none: no text at all
    /// At most `most` times, kUnbounded = any number; 0 <= least <= most.
    GrammarPart repeat(GrammarPart part, int least, int most);

    /// One of these texts; common prefixes are shared.
    GrammarPart anyOfTexts(std::vector<std::string> texts);

    /// A rule that can be called before it is defined. The first rule is the whole text.
    int addRule(std::string name);
    void define(int rule, GrammarPart part);
    GrammarPart call(int rule);

    /// The graph without dead ends. Every rule must be defined. `what` names the grammar in
    /// messages ("The JSON schema"). Errors: InvalidInput when it is too large, when no text fits
    /// it, and when a rule calls itself before it reads a byte.
    Result<GrammarGraph> finish(std::string_view what) &&;

    /// Adds an edge without a byte from a node of one part to a node of another.
    void connect(int from, int to);

private:
    int addNode();
    void addUtf8(const CharacterRange& range, GrammarPart between);
    GrammarPart maybe(GrammarPart part);
    GrammarPart star(GrammarPart part);

    GrammarGraph m_graph;
    bool m_isFull = false;
};

} // namespace engine
