// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/sampling/grammar/grammar.h"
#include "engine/sampling/grammar/grammar_matcher.h"
#include "tests/support/value_of.h"

#include <string>
#include <string_view>

namespace support {

/// Follows a grammar byte by byte. A refused grammar throws.
class GrammarWalk {
public:
    explicit GrammarWalk(const engine::Grammar& grammar)
        : m_matcher(graphOf(grammar)) {}

    /// Whether the whole text fits.
    bool accepts(std::string_view text) { return m_matcher.canEnd(behind(text)); }

    /// Whether the text may continue, or end here.
    bool allows(std::string_view text) { return behind(text) != engine::GrammarMatcher::kDead; }

private:
    static std::shared_ptr<const engine::GrammarGraph> graphOf(const engine::Grammar& grammar) {
        return valueOf(engine::makeGrammarGraph(grammar));
    }

    engine::GrammarMatcher::State behind(std::string_view text) {
        auto state = m_matcher.start();
        for (const char byte : text)
            state = m_matcher.next(state, static_cast<std::uint8_t>(byte));
        return state;
    }

    engine::GrammarMatcher m_matcher;
};

} // namespace support
