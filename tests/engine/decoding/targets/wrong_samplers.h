// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/engine/decoding/targets/speculative_rounds.h"

#include <cmath>
#include <string>

namespace rounds {

/// A way to get speculative sampling wrong. Source: arXiv 2410.06916's released code and others'.
enum class Fault {
    None,               ///< right: shows that the rest of this file is
    AcceptIfLarger,     ///< accept if p >= q, reject otherwise
    ResampleFromTarget, ///< draw from p behind rejections, not from what is left of it
    AcceptArgmax,       ///< accept if the drafted token is the most probable one
    UnprocessedBonus,   ///< draw behind a fully accepted path at temperature 1, from all tokens
    RatioOnTopTokens,   ///< test p / q on the best tokens of q, which were not drawn from it
    DropUnsure,         ///< take a drawn token back for its low confidence
};

/// Not drawn at all: the most probable tokens, in order.
class TopDraws final : public engine::DraftDraws {
public:
    std::vector<engine::TokenId> drawSeveral(const engine::Distribution& q,
                                             int count,
                                             engine::Position /*outputPosition*/) override {
        std::vector<double> left = q.probabilities;
        std::vector<engine::TokenId> ids;
        while (static_cast<int>(ids.size()) < count && ids.size() < left.size()) {
            const auto best = std::max_element(left.begin(), left.end());
            ids.push_back(q.ids[static_cast<std::size_t>(best - left.begin())]);
            *best = -1.0;
        }
        return ids;
    }
};

/// The tree without the choices of its last draft pass, which are all leaves.
inline engine::DraftTree withoutLastLevel(const engine::DraftTree& tree) {
    const int lastParent = tree.draftSteps() - 2;
    engine::DraftTree shorter;
    for (int index = 0; index < tree.size(); ++index) {
        const engine::DraftNode& node = tree.node(index);
        if (node.parent == lastParent)
            continue;
        shorter.add(node.token, node.parent, node.probability);
        if (node.rank == 0)
            shorter.setDrawnFrom(node.parent, *tree.drawnFrom(node.parent));
    }
    return shorter;
}

/// Rejection sampling over a tree by its textbook definition, in dense vectors, with a fault.
class FaultyWalk {
public:
    FaultyWalk(const TabularTransformer& model, const Settings& settings, Fault fault)
        : m_model(model)
        , m_sampler(settings.sampling)
        , m_fault(fault) {}

    Tokens run(Tokens whole, const engine::DraftTree& tree, Decisions& decisions) const {
        Tokens emitted;
        int at = -1;
        while (true) {
            const auto logits = m_model.full().row(
                whole.size() > 1 ? whole[whole.size() - 2] : engine::kNoToken, whole.back());
            std::vector<double> left = dense(m_sampler.distribution(logits));
            const int child = acceptedChild(tree, at, left, decisions);
            if (child < 0) {
                emitted.push_back(bonus(logits, left, tree.children(at).empty(), decisions));
                return emitted;
            }
            emitted.push_back(tree.node(child).token);
            whole.push_back(emitted.back());
            at = child;
        }
    }

private:
    std::vector<double> dense(const engine::Distribution& sparse) const {
        std::vector<double> all(static_cast<std::size_t>(m_model.config().vocabSize), 0.0);
        for (std::size_t i = 0; i < sparse.ids.size(); ++i)
            all[static_cast<std::size_t>(sparse.ids[i])] = sparse.probabilities[i];
        return all;
    }

    static void normalise(std::vector<double>& weights) {
        const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
        for (double& weight : weights)
            weight /= total > 0.0 ? total : 1.0;
    }

    /// Tests a node's children in turn; `p` becomes what is left of the law. -1: none passes.
    int acceptedChild(const engine::DraftTree& tree,
                      int at,
                      std::vector<double>& p,
                      Decisions& decisions) const {
        const std::vector<int> children = tree.children(at);
        if (children.empty())
            return -1;
        std::vector<double> q = dense(*tree.drawnFrom(at));
        const auto best = std::max_element(p.begin(), p.end()) - p.begin();
        for (const int child : children) {
            const auto token = static_cast<std::size_t>(tree.node(child).token);
            if (q[token] <= 0.0)
                continue;
            double pass = std::min(1.0, p[token] / q[token]);
            if (m_fault == Fault::AcceptIfLarger)
                pass = std::floor(pass);
            if (m_fault == Fault::AcceptArgmax)
                pass = static_cast<std::ptrdiff_t>(token) == best ? 1.0 : 0.0;
            if (decisions.accepts(pass, 0, tree.node(child).token))
                return child;
            std::vector<double> rest = p;
            for (std::size_t i = 0; i < rest.size(); ++i)
                rest[i] = std::max(p[i] - q[i], 0.0);
            if (std::accumulate(rest.begin(), rest.end(), 0.0) > 0.0)
                p = rest;
            normalise(p);
            q[token] = 0.0;
            normalise(q);
        }
        return -1;
    }

    engine::TokenId bonus(std::span<const double> logits,
                          const std::vector<double>& left,
                          bool isPathExhausted,
                          Decisions& decisions) const {
        if (m_fault == Fault::UnprocessedBonus && isPathExhausted)
            return decisions.draw(engine::Sampler({.temperature = 1.0}).distribution(logits), 0);
        if (m_fault == Fault::ResampleFromTarget)
            return decisions.draw(m_sampler.distribution(logits), 0);
        return static_cast<engine::TokenId>(decisions.decide(left));
    }

    const TabularTransformer& m_model;
    engine::Sampler m_sampler;
    Fault m_fault;
};

/// Rounds of the engine's drafter and a faulty verification (or a faulty draft and a right one).
inline support::Round
faultyRounds(TabularTransformer& model, const Settings& settings, Fault fault) {
    const auto target = std::make_shared<engine::Target>(makeTarget(model, settings));
    return [target, settings, fault, &model](const Tokens& prompt, Decisions& decisions) {
        begin(*target, prompt);
        TopDraws topDraws;
        engine::DraftDraws& drawn = decisions;
        engine::SelfDrafter drafter(fault == Fault::RatioOnTopTokens ? &topDraws : &drawn);
        engine::DraftTree tree = draft(drafter, *target, settings).tree;
        if (fault == Fault::DropUnsure && tree.confidences().back() < settings.epsilon)
            tree = withoutLastLevel(tree);
        return FaultyWalk(model, settings, fault).run(prompt, tree, decisions);
    };
}

} // namespace rounds
