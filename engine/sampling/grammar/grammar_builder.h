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

/// A part of a rule while it is built: it is entered at `first` and left at `last`, from where
/// nothing leads on yet. Each part goes into one place only.
struct GrammarPart {
    int first;
    int last;
};

/// Characters from `low` to `high`, as code points.
struct CharacterRange {
    std::uint32_t low;
    std::uint32_t high;
};

/// Puts a GrammarGraph together. A graph that grows beyond kMostNodes is refused by finish();
/// until then everything can be called, but nothing grows any further.
class GrammarBuilder {
public:
    static constexpr int kMostNodes = 100'000;
    static constexpr int kUnbounded = -1;

    bool isFull() const { return m_isFull; }

    GrammarPart nothing(); ///< the empty text
    GrammarPart byteRange(std::uint8_t low, std::uint8_t high);
    GrammarPart text(std::string_view bytes);

    /// One character out of the ranges in UTF-8; surrogates (D800 to DFFF) are left out.
    GrammarPart character(std::span<const CharacterRange> ranges);

    GrammarPart sequence(std::span<const GrammarPart> parts);
    GrammarPart choice(std::span<const GrammarPart> parts); ///< of none: no text at all
    /// `most` times at most, kUnbounded = as often as one likes; 0 <= least <= most.
    GrammarPart repeat(GrammarPart part, int least, int most);

    /// One of these texts; common beginnings are read once.
    GrammarPart anyOfTexts(std::vector<std::string> texts);

    /// A rule that can be called before it is defined. The first one made is the whole text.
    int addRule(std::string name);
    void define(int rule, GrammarPart part);
    GrammarPart call(int rule);

    /// The graph without what leads nowhere. Every rule must be defined. `what` names the grammar
    /// in messages ("The JSON schema"). Errors: InvalidInput when it is too large, when no text
    /// fits it, and when a rule calls itself before it reads a byte.
    Result<GrammarGraph> finish(std::string_view what) &&;

    /// Leads from a node of one part to a node of another without a byte.
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
