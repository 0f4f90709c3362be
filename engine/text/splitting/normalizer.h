// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/text/splitting/split_pattern.h"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace engine {

/// One of the four Unicode normalisation forms.
struct UnicodeFormStep {
    bool isCompatibility = false; ///< NFKC, NFKD
    bool composes = true;         ///< NFC, NFKC
};

struct LowercaseStep {};

struct StripAccentsStep {};

struct ByteLevelNormalizerStep {};

/// Takes white space off the ends.
struct StripStep {
    bool left = true;
    bool right = true;
};

struct ReplaceStep {
    SplitPattern pattern;
    std::string content;
};

struct PrependStep {
    std::string text;
};

/// The rules of a SentencePiece model, checked by findCharsmapFault().
struct CharsmapStep {
    std::string charsmap;
};

/// The normalizer of a tokenizer.json: steps in order. Unicode data by utf8proc.
/// Thread: one at a time.
class Normalizer {
public:
    using Step = std::variant<UnicodeFormStep,
                              LowercaseStep,
                              StripAccentsStep,
                              ByteLevelNormalizerStep,
                              StripStep,
                              ReplaceStep,
                              PrependStep,
                              CharsmapStep>;

    void add(Step step) { m_steps.push_back(std::move(step)); }

    std::size_t stepCount() const { return m_steps.size(); }

    /// The normalised text of valid UTF-8.
    /// Errors: Unsupported when a pattern uses up the budget, or the text would grow beyond any
    /// honest measure (64 times, plus 64 KiB).
    Result<std::string> apply(std::string_view text, StepBudget& budget) const;

private:
    std::vector<Step> m_steps;
};

/// A text in a Unicode normalisation form, in time that grows with its length only.
std::string toUnicodeForm(std::string_view text, const UnicodeFormStep& form);

} // namespace engine
