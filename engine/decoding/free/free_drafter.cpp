// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/free/free_drafter.h"

#include <algorithm>

namespace engine {

namespace {

/// A node that is or could be in the tree.
struct Branch {
    FreeCandidate candidate;
    int parent = -1;   // among the chosen ones
    int depth = 1;     // 1 = hangs on the root
    double path = 1.0; // product of the probabilities from the root on
    int order = 0;     // of discovery: the first of equals goes first
};

bool isWorse(const Branch& a, const Branch& b) {
    return a.path != b.path ? a.path < b.path : a.order > b.order;
}

/// Chooses the likeliest nodes: always the best one whose parent is chosen.
class BestFirst {
public:
    BestFirst(const FreeCandidateFinder& finder,
              const FreeDraftOptions& options,
              Position outputPosition)
        : m_finder(finder)
        , m_options(options)
        , m_outputPosition(outputPosition) {}

    std::vector<Branch> choose() {
        if (m_options.maxNodes > 0)
            addChildren(-1);
        while (!m_open.empty() && static_cast<int>(m_chosen.size()) < m_options.maxNodes) {
            std::pop_heap(m_open.begin(), m_open.end(), isWorse);
            m_chosen.push_back(m_open.back());
            m_open.pop_back();
            addChildren(static_cast<int>(m_chosen.size()) - 1);
        }
        return std::move(m_chosen);
    }

    /// What kept the likeliest token that is not in the tree out of it.
    DraftEnd end() const {
        if (!m_open.empty() || m_options.maxNodes <= 0)
            return {DraftEndReason::Nodes, 0.0, static_cast<double>(m_options.maxNodes)};
        if (m_endedPath > std::max(m_deepestPath, m_leftOutPath))
            return {DraftEndReason::EndToken};
        if (m_deepestPath > m_leftOutPath)
            return {DraftEndReason::Room};
        if (m_leftOutPath > 0.0)
            return {DraftEndReason::Unlikely, m_leftOutPath, m_options.leastGain};
        return {DraftEndReason::Nothing};
    }

private:
    void addChildren(int parent) {
        Branch root;
        root.depth = 0;
        const Branch& from = parent < 0 ? root : m_chosen[static_cast<std::size_t>(parent)];
        const std::span<const TokenId> ends = m_options.endIds;
        if (std::find(ends.begin(), ends.end(), from.candidate.token) != ends.end()) {
            m_endedPath = std::max(m_endedPath, from.path);
            return;
        }
        if (from.depth >= m_options.maxDepth) {
            m_deepestPath = std::max(m_deepestPath, from.path);
            return;
        }
        m_path.assign(static_cast<std::size_t>(from.depth), kNoToken);
        for (int at = parent; at >= 0; at = m_chosen[static_cast<std::size_t>(at)].parent) {
            const Branch& above = m_chosen[static_cast<std::size_t>(at)];
            m_path[static_cast<std::size_t>(above.depth) - 1] = above.candidate.token;
        }
        const FreePlace place{m_path, m_outputPosition + static_cast<Position>(from.depth)};
        for (const FreeCandidate& candidate : m_finder.find(place)) {
            const double path = from.path * candidate.probability;
            if (path <= 0.0 || path < m_options.leastGain) {
                m_leftOutPath = std::max(m_leftOutPath, path);
                continue;
            }
            m_open.push_back({candidate, parent, from.depth + 1, path, m_order++});
            std::push_heap(m_open.begin(), m_open.end(), isWorse);
        }
    }

    const FreeCandidateFinder& m_finder;
    const FreeDraftOptions& m_options;
    Position m_outputPosition;
    std::vector<Branch> m_chosen;
    std::vector<Branch> m_open; // a heap
    std::vector<TokenId> m_path;
    int m_order = 0;
    double m_endedPath = 0.0;   // of the likeliest branch that ends the answer
    double m_deepestPath = 0.0; // of the likeliest branch that has no room to go on
    double m_leftOutPath = 0.0; // of the likeliest token that was too unlikely
};

/// The likeliest chain first: its slots need no copying when it is accepted.
std::vector<std::size_t> spineFirst(const std::vector<Branch>& chosen) {
    std::vector<std::size_t> order;
    std::vector<bool> isSpine(chosen.size(), false);
    int end = -1;
    for (std::size_t index = 0; index < chosen.size(); ++index)
        if (chosen[index].parent == end) { // the first child of the spine's end is its likeliest
            end = static_cast<int>(index);
            isSpine[index] = true;
            order.push_back(index);
        }
    for (std::size_t index = 0; index < chosen.size(); ++index)
        if (!isSpine[index])
            order.push_back(index);
    return order;
}

Draft toDraft(const std::vector<Branch>& chosen) {
    Draft draft;
    std::vector<int> places(chosen.size(), -1);
    for (const std::size_t index : spineFirst(chosen)) {
        const Branch& branch = chosen[index];
        const int parent = branch.parent < 0 ? -1 : places[static_cast<std::size_t>(branch.parent)];
        places[index] =
            draft.tree.add(branch.candidate.token, parent, branch.candidate.probability);
    }
    for (const Branch& branch : chosen)
        draft.gains.push_back(branch.path);
    // One draft step for each level, so that acceptance is accepted over drafted levels.
    for (const Branch& branch : chosen)
        if (branch.depth > draft.tree.draftSteps())
            draft.tree.addConfidence(branch.candidate.probability);
    return draft;
}

} // namespace

FreeDrafter::~FreeDrafter() {
    if (m_memory && m_memory->isBehind(m_successors))
        (void)m_memory->store(m_successors).hasValue();
}

std::string FreeDrafter::remember(const SkipSetMemory* memory) {
    m_memory.reset();
    m_isRemembering = memory != nullptr;
    if (memory == nullptr)
        return {};
    m_memory.emplace(memory->folder(), memory->fingerprint());
    const auto note = m_memory->load(m_successors);
    if (memory->isReadOnly())
        m_memory.reset();
    if (!note)
        return "The successors of earlier runs were not read: " + note.error().message;
    return note.value();
}

std::string FreeDrafter::keep() {
    return m_memory ? failureOf(m_memory->keep(m_successors)) : std::string();
}

std::vector<std::string> FreeDrafter::storeAll() {
    if (!m_memory || !m_memory->isBehind(m_successors))
        return {};
    const std::string failure = failureOf(m_memory->store(m_successors));
    return failure.empty() ? std::vector<std::string>() : std::vector{failure};
}

std::string FreeDrafter::failureOf(const Result<void>& stored) {
    const std::string failure =
        stored ? std::string() : notStored("The table of successors", stored.error());
    return std::exchange(m_reportedFailure, failure) == failure ? std::string() : failure;
}

void FreeDrafter::begin(const Prompt& prompt, const SamplingOptions& sampling) {
    m_statistics.beginText();
    m_lookup.begin(prompt.tokens);
    m_answerStart = prompt.tokens.size() - static_cast<std::size_t>(prompt.begunTokens);
    m_sampling = sampling;
}

Result<Draft> FreeDrafter::makeDraft(Target& target, const DraftTerms& terms) {
    const int room = target.remainingTokens() - 1; // one is the bonus
    return propose({.maxNodes = terms.maxNodes,
                    .maxDepth = std::min(terms.maxDepth, room),
                    .leastGain = m_leastGain,
                    .sources = m_sources,
                    .endIds = target.endIds()});
}

Draft FreeDrafter::propose(const FreeDraftOptions& options) const {
    const FreeCandidateFinder found = finder(options.sources);
    const auto outputPosition = static_cast<Position>(m_lookup.tokens().size() - m_answerStart);
    BestFirst search(found, options, outputPosition);
    Draft draft = toDraft(search.choose());
    draft.tree.setEnd(search.end());
    return draft;
}

void FreeDrafter::observe(std::span<const TokenId> emitted, std::span<const SeenRow> rows) {
    const FreeCandidateFinder found = finder({});
    auto outputPosition = static_cast<Position>(m_lookup.tokens().size() - m_answerStart);
    for (std::size_t place = 0; place < emitted.size(); ++place, ++outputPosition) {
        const auto candidates = found.find({emitted.first(place), outputPosition});
        for (const FreeCandidate& candidate : candidates)
            for (const int rate : candidate.rates)
                if (rate >= 0)
                    m_statistics.add(rate, candidate.token == emitted[place]);
        if (!candidates.empty())
            m_statistics.judge(candidates.front().probability,
                               candidates.front().token == emitted[place]);
    }
    for (const TokenId token : emitted)
        m_lookup.append(token);
    for (const SeenRow& row : rows)
        m_successors.record(row.previous, row.token, row.summary);
}

void FreeDrafter::observe(const Target& target, const DecodeStep& step) {
    std::vector<SeenRow> rows;
    for (int row = 0; row < static_cast<int>(target.lastSummaries().size()); ++row)
        rows.push_back(target.seenRow(row));
    observe(step.tokens, rows);
}

} // namespace engine
