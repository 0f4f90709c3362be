// SPDX-License-Identifier: Apache-2.0
#include "engine/sampling/grammar/grammar_matcher.h"

#include <algorithm>
#include <set>

namespace engine {

namespace {

std::uint64_t keyOf(int high, int low) {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32U) |
           static_cast<std::uint32_t>(low);
}

} // namespace

GrammarMatcher::GrammarMatcher(std::shared_ptr<const GrammarGraph> graph)
    : m_graph(std::move(graph)) {
    std::array<bool, 257> begins{}; // a class begins with this byte
    for (const auto& node : m_graph->nodes)
        for (const auto& edge : node.bytes) {
            begins[edge.low] = true;
            begins[static_cast<std::size_t>(edge.high) + 1] = true;
        }
    std::uint8_t current = 0;
    for (std::size_t byte = 0; byte < m_classes.size(); ++byte) {
        if (begins[byte] && byte > 0)
            ++current;
        m_classes[byte] = current;
    }
    m_classCount = static_cast<std::size_t>(current) + 1;
    reset();
}

void GrammarMatcher::reset() {
    m_calls.assign(1, {});
    m_callNumbers.clear();
    m_numbers.clear();
    m_states.clear();
    m_next.clear();
    m_work.clear();
    m_start = std::max(add({{m_graph->rules.front().start, 0}}), kDead);
}

GrammarMatcher::State GrammarMatcher::find(State state, std::uint8_t byte) {
    if (isGivenUp(state, byte))
        return kDead;
    std::vector<Place> open;
    for (const auto& [node, call] : *m_states[static_cast<std::size_t>(state)].places)
        for (const auto& edge : m_graph->nodes[static_cast<std::size_t>(node)].bytes)
            if (edge.low <= byte && byte <= edge.high)
                open.emplace_back(edge.to, call);
    m_newestWork = 0;
    const State made = open.empty() ? kDead : add(std::move(open)); // may move the table
    m_next[transitionOf(state, byte)] = made;
    m_work[transitionOf(state, byte)] = m_newestWork;
    return std::max(made, kDead);
}

/// The state of these places and of all places reachable without a byte, of which only those with
/// byte edges are kept. kGivenUp if there are too many.
GrammarMatcher::State GrammarMatcher::add(std::vector<Place> open) {
    std::set<Place> seen(open.begin(), open.end());
    open.assign(seen.begin(), seen.end());
    Places places;
    bool canEnd = false;
    const auto visit = [&](int node, int call) {
        if (seen.insert({node, call}).second)
            open.emplace_back(node, call);
    };
    while (!open.empty()) {
        const auto [at, call] = open.back();
        open.pop_back();
        const GrammarGraph::Node& node = m_graph->nodes[static_cast<std::size_t>(at)];
        if (!node.bytes.empty())
            places.emplace_back(at, call);
        if (node.isEnd && call == 0)
            canEnd = true;
        if (node.isEnd && call != 0) {
            const OpenCall over = m_calls[static_cast<std::size_t>(call)];
            visit(over.behind, over.outer);
        }
        for (const int to : node.free)
            visit(to, call);
        for (const auto& called : node.calls)
            visit(m_graph->rules[static_cast<std::size_t>(called.rule)].start,
                  openCall(called.behind, call));
        if (seen.size() > kMostPlaces)
            return kGivenUp;
    }
    m_newestWork = static_cast<std::uint32_t>(seen.size());
    return numberOf(std::move(places), canEnd);
}

/// Of a state, which is new or known.
GrammarMatcher::State GrammarMatcher::numberOf(Places places, bool canEnd) {
    std::sort(places.begin(), places.end());
    const auto [entry, isNew] =
        m_numbers.try_emplace({std::move(places), canEnd}, static_cast<State>(m_states.size()));
    if (isNew) {
        m_states.push_back({&entry->first.first, canEnd});
        m_next.resize(m_states.size() * m_classCount, kUnknown);
        m_work.resize(m_next.size(), 0);
    }
    return entry->second;
}

/// If a rule ends directly after a call, the call is not put on the stack, and the surrounding call
/// continues. So lists described by a rule that calls itself at its end need no stack.
int GrammarMatcher::openCall(int behind, int outer) {
    const GrammarGraph::Node* node = &m_graph->nodes[static_cast<std::size_t>(behind)];
    while (node->bytes.empty() && node->calls.empty() && node->free.size() == 1 && !node->isEnd)
        node = &m_graph->nodes[static_cast<std::size_t>(node->free.front())];
    if (node->isEnd)
        return outer;
    const auto [entry, isNew] =
        m_callNumbers.try_emplace(keyOf(behind, outer), static_cast<int>(m_calls.size()));
    if (isNew)
        m_calls.push_back({behind, outer});
    return entry->second;
}

GrammarMatcher::State GrammarMatcher::forgetAllBut(State state) {
    if (state == kDead) {
        reset();
        return kDead;
    }
    const StateContent& kept = m_states[static_cast<std::size_t>(state)];
    const Places places = *kept.places;
    const bool canEnd = kept.canEnd;
    const std::vector<OpenCall> calls = std::move(m_calls);
    reset();
    Places renumbered;
    for (const auto& [node, call] : places) {
        std::vector<int> behind; // from the innermost call on
        for (int at = call; at != 0; at = calls[static_cast<std::size_t>(at)].outer)
            behind.push_back(calls[static_cast<std::size_t>(at)].behind);
        int outer = 0;
        for (auto at = behind.rbegin(); at != behind.rend(); ++at)
            outer = openCall(*at, outer);
        renumbered.emplace_back(node, outer);
    }
    return numberOf(std::move(renumbered), canEnd);
}

} // namespace engine
