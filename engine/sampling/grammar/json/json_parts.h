// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/sampling/grammar/grammar_builder.h"

#include <cstdint>
#include <string>
#include <vector>

namespace engine {

/// The parts of all JSON texts. Between parts there may be one space, or a line break and up to 20
/// spaces. Numbers have up to 16 digits before and after the point and an exponent of two digits,
/// so that neither can go on forever. Strings are UTF-8, and their escapes are whole characters.
class JsonParts {
public:
    /// The largest number of 16 digits; integers lie between it and its negative.
    static constexpr std::int64_t kMostInteger = 9'999'999'999'999'999;

    explicit JsonParts(GrammarBuilder& builder)
        : m_builder(builder) {}

    GrammarPart space();
    GrammarPart anyValue();
    GrammarPart anyObject();
    GrammarPart anyArray();
    GrammarPart string(int least, int most);                    ///< with this many characters, see
                                                                ///< GrammarBuilder::repeat
    GrammarPart number(bool isNegative);                        ///< whether it may be negative
    GrammarPart integer(std::int64_t least, std::int64_t most); ///< from `least` to `most`

    /// A member name other than these and without escapes, with its quotes.
    GrammarPart nameBut(const std::vector<std::string>& names);

    /// A rule for `name : value` with any name except these.
    int memberRule(const std::vector<std::string>& names, GrammarPart value);

    /// { and } around members: `rest` is a rule for any number of further members, -1 for none.
    struct Member {
        int rule;
        bool isRequired;
    };

    GrammarPart object(const std::vector<Member>& members, int rest);

    /// [ and ] around items: `first` are rules for the first items, `rest` for those after them, -1
    /// for none; `most` as in GrammarBuilder::repeat.
    GrammarPart array(const std::vector<int>& first, int rest, int least, int most);

private:
    GrammarPart separator();
    GrammarPart unsignedInteger(std::int64_t least, std::int64_t most);
    GrammarPart digits(const std::string& low, const std::string& high);
    GrammarPart regex(const char* pattern);

    GrammarBuilder& m_builder;
    int m_space = -1;     // rules, created on first use
    int m_character = -1; // of a string
    int m_value = -1;
    int m_object = -1;
    int m_array = -1;
};

/// Characters that a JSON string contains unescaped.
const std::vector<CharacterRange>& plainJsonCharacters();

} // namespace engine
