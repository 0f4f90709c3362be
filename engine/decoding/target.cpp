// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/target.h"

#include "engine/base/forward_clock.h"

#include <algorithm>
#include <chrono>
#include <numeric>

namespace engine {

namespace {

constexpr int kMostChances = 5;

} // namespace

Result<Target> Target::make(Transformer& transformer,
                            const SamplingOptions& sampling,
                            int contextLength,
                            int scratchRows) {
    ENGINE_TRY_DO(sampling.validateFor(transformer.config().vocabSize));
    ENGINE_TRY(KvCache cache, transformer.makeCache(contextLength + scratchRows));
    return Target(transformer, sampling, contextLength, std::move(cache));
}

Target::Target(Transformer& transformer,
               const SamplingOptions& sampling,
               int contextLength,
               KvCache cache)
    : m_transformer(&transformer)
    , m_sampler(sampling)
    , m_processor(sampling, transformer.config().vocabSize)
    , m_sequence(std::move(cache))
    , m_fullPlan(LayerPlan::full(transformer.config().layerCount))
    , m_contextLength(contextLength) {}

double Target::nowMs() const {
    if (m_clock)
        return m_clock();
    const auto now = ForwardClock::now().time_since_epoch();
    return std::chrono::duration<double, std::milli>(now).count();
}

Result<void> Target::begin(const Prompt& prompt, const PromptWork& work, int unreadRows) {
    ENGINE_CHECK(unreadRows >= 0 && unreadRows <= kPrefillRows, "{} rows left unread", unreadRows);
    ENGINE_TRY_DO(checkPrompt(prompt.tokens, m_transformer->config().vocabSize, m_contextLength));
    ENGINE_TRY_DO(m_processor.begin(prompt));
    leaveAnswer();
    m_endIds.assign(prompt.endIds.begin(), prompt.endIds.end());
    m_maxTokens = prompt.maxTokens;
    m_preferredNodes = nodesWorth(m_costs,
                                  m_firstTaken.value(),
                                  m_transformer->preferredTreeNodes(),
                                  StepCosts::kMostRows - 1);
    m_promptLength = static_cast<Position>(prompt.tokens.size());
    m_begunTokens = static_cast<Position>(prompt.begunTokens);
    const auto before = prompt.tokens.first(prompt.tokens.size() - 1);
    const std::size_t known = m_sequence.sharedLength(before);
    const std::size_t left = std::min(before.size() - known, static_cast<std::size_t>(unreadRows));
    ENGINE_TRY_DO(read(before, before.size() - left, work));
    m_unread.assign(before.end() - static_cast<std::ptrdiff_t>(left), before.end());
    m_pending = prompt.tokens.back();
    return {};
}

/// As many tokens stay for begin() as it may have to leave unread. The pieces begin at the same
/// places as those that begin() reads.
Result<bool> Target::readAhead(const Prompt& prompt, const PromptWork& work) {
    ENGINE_TRY_DO(checkPrompt(prompt.tokens, m_transformer->config().vocabSize, m_contextLength));
    ENGINE_TRY_DO(m_processor.begin(prompt));
    const auto before = prompt.tokens.first(prompt.tokens.size() - 1);
    const std::size_t end = m_sequence.sharedLength(before) + kPrefillRows;
    if (end + kPrefillRows > before.size())
        return false;
    leaveAnswer();
    ENGINE_TRY_DO(read(before, end, work));
    return true;
}

/// Forgets the answer, but not what is cached.
void Target::leaveAnswer() {
    m_pending = kNoToken;
    m_pass.clear();
    m_unread.clear();
    m_output.clear();
    m_outputArgmax.clear();
}

/// Makes the cache hold the first `count` of these tokens, which are all that are to be read.
Result<void>
Target::read(std::span<const TokenId> tokens, std::size_t count, const PromptWork& work) {
    m_stop = work.stop;
    PromptWork watched = work;
    watched.influence = &m_influence;
    if (count < tokens.size())
        watched.lastRow = nullptr; // the last row is read later
    if (work.progress && count > 0) {
        const double part = static_cast<double>(count) / static_cast<double>(tokens.size());
        watched.progress = [&work, part](double done) { work.progress(part * done); };
    }
    return m_sequence.fill(*m_transformer, tokens.first(count), watched);
}

Result<void> Target::changeSampling(const SamplingOptions& sampling) {
    const int vocabSize = m_transformer->config().vocabSize;
    ENGINE_TRY_DO(sampling.validateFor(vocabSize));
    m_sampler = Sampler(sampling);
    m_processor.change(sampling);
    return {};
}

int Target::remainingTokens() const {
    return std::min(remainingContext(), m_maxTokens - static_cast<int>(m_output.size()));
}

Result<DecodeStep> Target::verify(Draft draft, const VerifyTerms& terms) {
    ENGINE_CHECK(m_pending != kNoToken && remainingTokens() > 0, "a step without room or prompt");
    if (m_stop.stop_requested())
        return Error{ErrorCode::Cancelled, "Decoding was cancelled.", ""};
    const double startMs = nowMs();
    ENGINE_TRY_DO(runPass(draft, terms));
    const AnswerRoom room{remainingTokens(), m_endIds};
    const Verifier verifier(m_sampler, terms.rule, terms.draws);
    ENGINE_TRY(Verdict verdict, verifier.verify(draft.tree, m_pass, outputPosition(), room));
    cutBehindStuckRow(verdict);
    DecodeStep step;
    step.draft = std::move(draft.tree);
    step.sides = std::move(draft.sides);
    step.planId = step.isPlain() ? 0 : draft.planId;
    step.draftLayers = draft.layerLoads;
    step.verifiedRows = static_cast<int>(m_headRows.size());
    step.verifyLayers = m_transformer->config().layerCount - draft.layersRun;
    ENGINE_TRY_DO(describe(step, verdict));
    const double rows = static_cast<double>(m_rowTokens.size());
    const double promptShare = static_cast<double>(m_unread.size()) / rows;
    keep(verdict);
    const double allMs = nowMs() - startMs;
    const double promptMs = allMs * promptShare;
    step.verifyMs = allMs - promptMs;
    step.promptMs = promptMs + draft.promptMs;
    // To find nothing to draft takes no time worth telling.
    step.draftMs = step.isPlain() && draft.layerLoads == 0.0 ? 0.0 : draft.ms;
    measure(step, promptShare == 0.0 && draft.layersRun == 0);
    return step;
}

/// Rows show their price beside a plain pass; before the first one it would be a guess.
void Target::measure(const DecodeStep& step, bool isOfRowsAlone) {
    if (isOfRowsAlone && (step.verifiedRows == 1 || m_costs.samples(1) > 0))
        m_costs.record(step.verifiedRows, std::max(step.verifyMs, 0.0));
    if (step.draft.size() > 0)
        m_firstTaken.add(!step.path.empty());
}

/// The rows of a pass: unread ones, the pending token, the draft, what is beside it.
void Target::gatherRows(const Draft& draft) {
    const int root = static_cast<int>(m_unread.size());
    const int nodes = draft.tree.size();
    m_rowTokens.assign(m_unread.begin(), m_unread.end());
    m_rowTokens.push_back(m_pending);
    m_rowParents.clear();
    for (int row = 0; row <= root; ++row)
        m_rowParents.push_back(row - 1);
    for (const DraftNode& node : draft.tree.nodes()) {
        m_rowTokens.push_back(node.token);
        m_rowParents.push_back(root + 1 + node.parent);
    }
    for (std::size_t i = 0; i < draft.sides.size(); ++i) {
        const SideRow& side = draft.sides[i];
        ENGINE_CHECK(side.parent >= -1 && side.parent < nodes + static_cast<int>(i),
                     "row {} beside a draft of {} hangs on {}",
                     i,
                     nodes,
                     side.parent);
        m_rowTokens.push_back(side.token);
        m_rowParents.push_back(root + 1 + side.parent);
    }
    m_headRows.resize(m_rowTokens.size() - m_unread.size());
    std::iota(m_headRows.begin(), m_headRows.end(), root);
    m_beforeRows = length() > 0 ? m_sequence.tokens().back() : kNoToken;
}

/// The full model over the pending token and the draft. Greedy decoding needs no logits, unless the
/// processor changes them.
Result<void> Target::runPass(const Draft& draft, const VerifyTerms& terms) {
    gatherRows(draft);
    const AttentionLayout layout = AttentionLayout::tree(length(), m_rowParents);
    const std::span<const int> rows = m_headRows;
    const std::size_t drawn = terms.drawsFromSides ? rows.size() : rows.size() - draft.sides.size();
    const bool needsLogits = !m_sampler.isGreedy() || !m_processor.isOff();
    const bool isWhole = draft.layersRun == 0;
    m_resumed.clear();
    if (draft.hidden != nullptr)
        m_resumed.emplace_back(*draft.hidden);
    const auto ran = m_transformer->forwardInto(
        {.plan = m_fullPlan,
         .layout = layout,
         .tokens = isWhole ? std::span<const TokenId>(m_rowTokens) : std::span<const TokenId>(),
         .hidden = m_resumed,
         .firstLayer = draft.layersRun,
         .logitRows = rows.first(needsLogits ? drawn : 0),
         .summaryRows = rows,
         .handOuts = terms.handOuts,
         .wantsInfluence = isWhole},
        m_sequence.cache(),
        m_pass);
    if (!ran) {
        m_pass.clear();
        return ran.error();
    }
    if (isWhole)
        m_influence.add(m_pass.influence, layout.rowCount());
    forbidMaskToken();
    if (m_processor.isOff())
        return {};
    auto applied = processLogits(draft.tree);
    if (!applied)
        m_pass.clear();
    return applied;
}

/// Every decoder emits by a pass of this class, vanilla too: what is forbidden here, none emits.
void Target::forbidMaskToken() {
    const TokenId mask = m_transformer->config().maskTokenId;
    if (mask == kNoToken)
        return;
    for (HeadSummary& summary : m_pass.summaries)
        summary.remove(mask);
    m_pass.logits.forbid(mask);
}

/// Rows beside the draft stay as the model has them: nothing that is emitted hangs on them.
Result<void> Target::processLogits(const DraftTree& draft) {
    std::vector<TokenId> sequence(m_sequence.tokens().begin(), m_sequence.tokens().end());
    sequence.insert(sequence.end(), m_unread.begin(), m_unread.end());
    sequence.push_back(m_pending);
    return m_processor.apply({sequence, draft}, m_pass);
}

/// The root is never stuck: apply() has told that.
void Target::cutBehindStuckRow(Verdict& verdict) const {
    if (m_processor.isOff())
        return;
    const auto stuck = std::find_if(verdict.rows.begin(), verdict.rows.end(), [this](int row) {
        return m_processor.isStuck(row);
    });
    const auto kept = static_cast<std::size_t>(stuck - verdict.rows.begin());
    verdict.rows.resize(kept);
    verdict.emitted.resize(kept);
    verdict.path.resize(std::min(verdict.path.size(), kept));
}

Result<std::span<const double>> Target::lastLogits(int row) {
    ENGINE_TRY(const std::span<double> logits, m_pass.logits.row(row));
    return std::span<const double>(logits);
}

SeenRow Target::seenRow(int row) const {
    const auto at = static_cast<std::size_t>(m_headRows[static_cast<std::size_t>(row)]);
    const int parent = m_rowParents[at];
    const TokenId previous =
        parent < 0 ? m_beforeRows : m_rowTokens[static_cast<std::size_t>(parent)];
    return {previous, m_rowTokens[at], m_pass.summaries[static_cast<std::size_t>(row)]};
}

Result<void> Target::describe(DecodeStep& step, const Verdict& verdict) {
    step.tokens = verdict.emitted;
    step.path = verdict.path;
    for (std::size_t i = 0; i < verdict.emitted.size(); ++i) {
        TokenFact fact;
        if (i < verdict.path.size()) {
            const DraftNode& node = step.draft.node(verdict.path[i]);
            fact.origin = node.rank == 0 ? TokenOrigin::Draft : TokenOrigin::Sibling;
            fact.rank = node.rank;
            fact.draftProbability = node.probability;
        } else {
            fact.origin = step.isPlain() ? TokenOrigin::Vanilla : TokenOrigin::Bonus;
        }
        ENGINE_TRY(fact.targetProbability, probabilityAt(verdict.rows[i], verdict.emitted[i]));
        step.facts.push_back(fact);
        step.chances.push_back(chancesAt(verdict.rows[i]));
    }
    if (step.draft.size() > 0)
        for (int row = 0; row <= step.draft.size(); ++row) {
            const HeadSummary& summary = m_pass.summaries[static_cast<std::size_t>(row)];
            step.rowChoices.push_back({summary.best(), summary.probability(0)});
        }
    return {};
}

std::vector<TokenChance> Target::chancesAt(int row) const {
    const HeadSummary& summary = m_pass.summaries[static_cast<std::size_t>(row)];
    std::vector<TokenChance> chances;
    for (int rank = 0; rank < std::min(summary.count, kMostChances); ++rank)
        chances.push_back({summary.ids[static_cast<std::size_t>(rank)], summary.probability(rank)});
    return chances;
}

/// What is drawn need not be among the best; greedy decoding, which has no logits, takes the best.
Result<double> Target::probabilityAt(int row, TokenId token) {
    const HeadSummary& summary = m_pass.summaries[static_cast<std::size_t>(row)];
    const int rank = summary.rankOf(token);
    if (rank >= 0)
        return summary.probability(rank);
    ENGINE_TRY(const std::span<double> logits, m_pass.logits.row(row));
    return summary.probabilityOf(logits[static_cast<std::size_t>(token)]);
}

/// Commits the rows of what was unread, of the old pending token and of all emitted ones but the
/// last.
void Target::keep(const Verdict& verdict) {
    std::vector<TokenId> kept = std::move(m_unread);
    kept.push_back(m_pending);
    const auto root = static_cast<Position>(kept.size()) - 1;
    std::vector<Position> slots(kept.size());
    std::iota(slots.begin(), slots.end(), length());
    for (std::size_t i = 0; i + 1 < verdict.emitted.size(); ++i) {
        kept.push_back(verdict.emitted[i]);
        slots.push_back(length() + root + 1 + verdict.path[i]);
    }
    m_sequence.commit(kept, slots);
    m_unread.clear();
    m_pending = verdict.emitted.back();
    m_output.insert(m_output.end(), verdict.emitted.begin(), verdict.emitted.end());
    m_processor.keep(verdict.emitted);
    for (const int row : verdict.rows)
        m_outputArgmax.push_back(m_pass.summaries[static_cast<std::size_t>(row)].best());
}

} // namespace engine
