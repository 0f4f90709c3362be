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
        const State known = m_next[transitionOf(state, byte)];
        return known >= kDead ? known : find(state, byte);
    }

    /// Whether next() returned kDead because the next state has too many places.
    bool isGivenUp(State state, std::uint8_t byte) const {
        return state != kDead && m_next[transitionOf(state, byte)] == kGivenUp;
    }

    /// Whether the text may end here.
    bool canEnd(State state) const {
        return state != kDead && m_states[static_cast<std::size_t>(state)].canEnd;
    }

    std::size_t stateCount() const { return m_states.size(); }

    /// Number of places that had to be visited to find what next() has returned. It depends on the
    /// state and the byte alone, not on whether the table knew them.
    std::size_t workOf(State state, std::uint8_t byte) const {
        return m_work[transitionOf(state, byte)];
    }

    /// A number for the transitions of a state that bytes of one class share, below
    /// transitionCount().
    std::size_t transitionOf(State state, std::uint8_t byte) const {
        return static_cast<std::size_t>(state) * m_classCount + m_classes[byte];
    }

    std::size_t transitionCount() const { return m_next.size(); }

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
    State numberOf(Places places, bool canEnd);
    int openCall(int behind, int outer);

    std::shared_ptr<const GrammarGraph> m_graph;
    std::array<std::uint8_t, 256> m_classes{}; // bytes of a class are on the same edges
    std::size_t m_classCount = 0;
    std::vector<OpenCall> m_calls;
    std::unordered_map<std::uint64_t, int> m_callNumbers;
    std::map<std::pair<Places, bool>, State> m_numbers;
    std::vector<StateContent> m_states;
    std::vector<State> m_next;         // [states, classes]
    std::vector<std::uint32_t> m_work; // [states, classes] places visited to find the next state
    std::uint32_t m_newestWork = 0;    // of the newest add()
    State m_start = kDead;
};

} // namespace engine
