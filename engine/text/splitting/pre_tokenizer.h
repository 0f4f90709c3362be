// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/text/splitting/split_pattern.h"

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace engine {

/// Parts of a text on their way to the merges. Views point into the text or into `storage`.
struct PieceList {
    std::vector<std::string_view> pieces;
    std::deque<std::string> storage; ///< texts that steps made; a deque, so that views stay valid
    bool beginsText = false;         ///< the first piece stands at the very start of the input
};

/// What becomes of the matches of a Split (the names are those of tokenizer.json).
enum class SplitBehavior { Isolated, Removed, MergedWithPrevious, MergedWithNext, Contiguous };

/// Cuts pieces where a pattern matches; `isInverted` swaps matches and the rest.
struct SplitStep {
    SplitPattern pattern;
    SplitBehavior behavior = SplitBehavior::Isolated;
    bool isInverted = false;
};

/// Writes every byte as its character of the byte-level alphabet.
struct ByteLevelStep {
    bool addsPrefixSpace = false;
    std::optional<SplitPattern> pattern; ///< cuts first, where asked
};

/// Writes spaces as a symbol, puts one in front, and cuts before each symbol.
struct MetaspaceStep {
    enum class Prepend { Always, First, Never };
    std::string symbol;
    Prepend prepend = Prepend::Always;
    bool cutsBeforeSymbol = true;
};

/// The pre_tokenizer of a tokenizer.json: steps in order. Its behaviour is
/// checked against Hugging Face tokenizers. Thread: one at a time.
class PreTokenizer {
public:
    using Step = std::variant<SplitStep, ByteLevelStep, MetaspaceStep>;

    void add(Step step) { m_steps.push_back(std::move(step)); }

    std::size_t stepCount() const { return m_steps.size(); }

    /// Cuts and rewrites; pieces that become empty disappear.
    /// Errors: Unsupported when a pattern uses up the budget.
    Result<void> apply(PieceList& list, StepBudget& budget) const;

private:
    std::vector<Step> m_steps;
};

} // namespace engine
