// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/sampling/grammar/grammar_graph.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace engine {

/// Follows a GrammarGraph byte by byte. A state is the set of all places where the text may be,
/// each with its open calls. States are created when they are first reached and have numbers, so
/// that a byte seen before costs one table lookup. Thread: one at a time.
class GrammarMatcher {
public:
    using State = std::int32_t;

    static constexpr State kDead = -1; ///< no text continues like this

    /// Most places of a state; a grammar that needs more is refused as too ambiguous.
    static constexpr std::size_t kMostPlaces = 4096;

    explicit GrammarMatcher(std::shared_ptr<const GrammarGraph> graph);

    /// kDead if it has too many places.
    State start() const { return m_start; }

    /// `state` may be kDead. Also kDead if the next state has too many places.
    State next(State state, std::uint8_t byte) {
        if (state == kDead)
            return kDead;
        const std::size_t place = static_cast<std::size_t>(state) * m_classCount + m_classes[byte];
        const State known = m_next[place];
        return known >= kDead ? known : find(state, byte);
    }

    /// Whether next() returned kDead because the next state has too many places.
    bool isGivenUp(State state, std::uint8_t byte) const {
        return state != kDead &&
               m_next[static_cast<std::size_t>(state) * m_classCount + m_classes[byte]] == kGivenUp;
    }

    /// Whether the text may end here.
    bool canEnd(State state) const {
        return state != kDead && m_states[static_cast<std::size_t>(state)].canEnd;
    }

    std::size_t stateCount() const { return m_states.size(); }

    /// Number of places visited to find states: the cost of following new texts so far.
    std::size_t work() const { return m_work; }

    /// Forgets all states except this one; returns its new number. The start gets a new number,
    /// too.
    State forgetAllBut(State state);

private:
    static constexpr State kUnknown = -2;
    static constexpr State kGivenUp = -3;

    /// A node, and the call that continues at the end of its rule (a stack of calls).
    using Place = std::pair<int, int>;
    using Places = std::vector<Place>;

    /// An open call; 0 is the bottom, which belongs to the whole text.
    struct OpenCall {
        int behind = -1; ///< the node where it continues
        int outer = 0;   ///< the call around it
    };

    struct StateContent {
        const Places* places;
        bool canEnd;
    };

    void reset();
    State find(State state, std::uint8_t byte);
    State add(std::vector<Place> open);
    int openCall(int behind, int outer);

    std::shared_ptr<const GrammarGraph> m_graph;
    std::array<std::uint8_t, 256> m_classes{}; // bytes of a class are on the same edges
    std::size_t m_classCount = 0;
    std::vector<OpenCall> m_calls;
    std::unordered_map<std::uint64_t, int> m_callNumbers;
    std::map<std::pair<Places, bool>, State> m_numbers;
    std::vector<StateContent> m_states;
    std::vector<State> m_next; // [states, classes]
    State m_start = kDead;
    std::size_t m_work = 0;
};

} // namespace engine
