// SPDX-License-Identifier: Apache-2.0
#include "engine/sampling/grammar/grammar_check.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace engine {

namespace {

using Node = GrammarGraph::Node;

/// The analysis of one graph: which rules can end, which may be empty, which loop.
class GrammarCheck {
public:
    GrammarCheck(GrammarGraph graph, std::string_view what)
        : m_graph(std::move(graph))
        , m_what(what)
        , m_seenIn(m_graph.nodes.size()) {}

    Result<GrammarGraph> run() {
        const std::vector<bool> ends = rulesThatEnd(true);
        if (!ends.front())
            return Error{ErrorCode::InvalidInput,
                         fmt::format("{} allows no text at all.", m_what),
                         "Look for parts that contradict each other, or that refer to themselves "
                         "endlessly."};
        prune(ends);
        const int looping = findLoop(rulesThatEnd(false));
        if (looping >= 0)
            return Error{ErrorCode::InvalidInput,
                         fmt::format("{} loops: {} refers to itself before anything is read.",
                                     m_what,
                                     m_graph.rules[static_cast<std::size_t>(looping)].name),
                         "Put something before the reference, such as a bracket or a property."};
        return std::move(m_graph);
    }

private:
    /// Rules whose end can be reached, with bytes or without: computed from the rules that they
    /// call, repeatedly until nothing changes.
    std::vector<bool> rulesThatEnd(bool takesBytes) {
        std::vector<bool> ends(m_graph.rules.size(), false);
        for (bool hasGrown = true; hasGrown;) {
            hasGrown = false;
            for (std::size_t i = m_graph.rules.size(); i-- > 0;) {
                const auto& rule = m_graph.rules[i];
                if (ends[i])
                    continue;
                const auto nodes = reached(rule.start, takesBytes, ends);
                ends[i] = std::find(nodes.begin(), nodes.end(), rule.end) != nodes.end();
                hasGrown |= ends[i];
            }
        }
        return ends;
    }

    /// Keeps only edges from which the end of the rule can be reached.
    void prune(const std::vector<bool>& ends) {
        std::vector<std::vector<int>> before(m_graph.nodes.size());
        for (std::size_t i = 0; i < m_graph.nodes.size(); ++i) {
            const int from = static_cast<int>(i);
            const auto lead = [&](int to) { before[static_cast<std::size_t>(to)].push_back(from); };
            for (const auto& edge : m_graph.nodes[i].bytes)
                lead(edge.to);
            for (const int to : m_graph.nodes[i].free)
                lead(to);
            for (const auto& call : m_graph.nodes[i].calls)
                if (ends[static_cast<std::size_t>(call.rule)])
                    lead(call.behind);
        }
        std::vector<bool> isAlive(m_graph.nodes.size());
        std::vector<int> open;
        const auto visit = [&](int node) {
            if (!isAlive[static_cast<std::size_t>(node)]) {
                isAlive[static_cast<std::size_t>(node)] = true;
                open.push_back(node);
            }
        };
        for (const auto& rule : m_graph.rules)
            visit(rule.end);
        while (!open.empty()) {
            const int node = open.back();
            open.pop_back();
            for (const int from : before[static_cast<std::size_t>(node)])
                visit(from);
        }
        const auto isDead = [&](int node) { return !isAlive[static_cast<std::size_t>(node)]; };
        for (Node& node : m_graph.nodes) {
            std::erase_if(node.bytes, [&](const auto& edge) { return isDead(edge.to); });
            std::erase_if(node.free, isDead);
            std::erase_if(node.calls, [&](const auto& call) {
                return isDead(call.behind) || !ends[static_cast<std::size_t>(call.rule)];
            });
        }
    }

    /// A rule that returns to itself by calls alone, before any byte; -1 if there is none.
    int findLoop(const std::vector<bool>& mayBeEmpty) {
        enum class Mark { New, Open, Done };

        std::vector<Mark> marks(m_graph.rules.size(), Mark::New);
        std::vector<std::pair<int, std::vector<int>>> open; // a rule and the rules that it has
                                                            // still to enter
        const auto enter = [&](int rule) {
            marks[static_cast<std::size_t>(rule)] = Mark::Open;
            open.emplace_back(rule, calledFirst(rule, mayBeEmpty));
        };
        for (std::size_t first = 0; first < marks.size(); ++first) {
            if (marks[first] == Mark::New)
                enter(static_cast<int>(first));
            while (!open.empty()) {
                auto& [rule, called] = open.back();
                if (called.empty()) {
                    marks[static_cast<std::size_t>(rule)] = Mark::Done;
                    open.pop_back();
                    continue;
                }
                const int next = called.back();
                called.pop_back();
                if (marks[static_cast<std::size_t>(next)] == Mark::Open)
                    return next;
                if (marks[static_cast<std::size_t>(next)] == Mark::New)
                    enter(next);
            }
        }
        return -1;
    }

    std::vector<int> calledFirst(int rule, const std::vector<bool>& mayBeEmpty) {
        std::vector<int> called;
        const int start = m_graph.rules[static_cast<std::size_t>(rule)].start;
        for (const int node : reached(start, false, mayBeEmpty))
            for (const auto& call : m_graph.nodes[static_cast<std::size_t>(node)].calls)
                called.push_back(call.rule);
        return called;
    }

    /// The nodes that can be reached from `start` by free edges, by bytes if `bytes` are allowed,
    /// and past calls of these rules.
    std::vector<int> reached(int start, bool takesBytes, const std::vector<bool>& passes) {
        ++m_walk;
        std::vector<int> found;
        const auto visit = [&](int node) {
            int& seen = m_seenIn[static_cast<std::size_t>(node)];
            if (seen != m_walk)
                found.push_back(node);
            seen = m_walk;
        };
        visit(start);
        for (std::size_t i = 0; i < found.size(); ++i) {
            const Node& node = m_graph.nodes[static_cast<std::size_t>(found[i])];
            if (takesBytes)
                for (const auto& edge : node.bytes)
                    visit(edge.to);
            for (const int to : node.free)
                visit(to);
            for (const auto& call : node.calls)
                if (passes[static_cast<std::size_t>(call.rule)])
                    visit(call.behind);
        }
        return found;
    }

    GrammarGraph m_graph;
    std::string_view m_what;
    std::vector<int> m_seenIn; // [nodes] the last walk that visited it
    int m_walk = 0;
};

} // namespace

Result<GrammarGraph> checkGrammar(GrammarGraph graph, std::string_view what) {
    return GrammarCheck(std::move(graph), what).run();
}

} // namespace engine
