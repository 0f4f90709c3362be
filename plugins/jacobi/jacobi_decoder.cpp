// SPDX-License-Identifier: Apache-2.0
#include "plugins/jacobi/jacobi_decoder.h"

#include <algorithm>
#include <string>

namespace jacobi {

using namespace engine;

namespace {

constexpr int kTokensBehind = 3; // of an n-gram of the text
constexpr int kMostTableRows = 40;

/// What each place was guessed with and what the model said: guesses that come out as they went in
/// are final up to the first that does not.
StepTable guessTable(const DecodeStep& step, std::span<const Guess> said) {
    StepTable table{.name = "guesses",
                    .title = "Guesses",
                    .columns = {"Place", "Before", "After"},
                    .rows = {},
                    .chosenRow = static_cast<int>(step.path.size()) - 1};
    for (int place = 0; place < std::min(step.draft.size(), kMostTableRows); ++place)
        table.rows.push_back({static_cast<double>(place + 1),
                              TokenCell{step.draft.node(place).token},
                              TokenCell{said[static_cast<std::size_t>(place)].token}});
    if (table.chosenRow >= kMostTableRows)
        table.chosenRow = -1;
    return table;
}

} // namespace

Result<std::unique_ptr<Decoder>> JacobiDecoder::make(const DecoderContext& context) {
    ENGINE_TRY(
        Target target,
        Target::make(context.transformer, context.sampling, context.contextLength, kMostBlock));
    target.useClock(context.clock);
    return std::unique_ptr<Decoder>(
        new JacobiDecoder(std::move(target), JacobiSettings::make(context.settings)));
}

JacobiDecoder::JacobiDecoder(Target target, const JacobiSettings& settings)
    : TargetDecoder(std::move(target))
    , m_settings(settings)
    , m_pool(1) {}

Result<void> JacobiDecoder::begin(const Prompt& prompt, const PromptWork& work) {
    ENGINE_TRY_DO(m_target.begin(prompt, work));
    m_filler.begin(prompt.tokens, prompt.endIds, m_target.sampler().options().seed);
    m_block.clear();
    m_pool.clear();
    m_newest.clear();
    remember(prompt.tokens);
    return {};
}

/// One round: the guesses as a chain, one pass, what it said as the next guesses.
Result<DecodeStep> JacobiDecoder::round() {
    if (static_cast<int>(m_target.output().size()) >= m_settings.budget)
        return roundBeyondBudget();
    ENGINE_TRY(Draft guesses, draft(m_target, {.maxDepth = blockLength()}));
    ENGINE_TRY(DecodeStep step, m_target.verify(std::move(guesses)));
    ENGINE_TRY(const std::vector<Guess> said, predictions(step));
    m_block.shift(static_cast<int>(step.tokens.size()), said);
    learn(step);
    if (!step.isPlain())
        step.tables.push_back(guessTable(step, said));
    return step;
}

Result<DecodeStep> JacobiDecoder::roundBeyondBudget() {
    ENGINE_TRY(DecodeStep step, plainRound());
    step.draft.setEnd({DraftEndReason::Budget, 0.0, static_cast<double>(m_settings.budget)});
    return step;
}

/// The guesses go one place on with the text, uncorrected.
Result<DecodeStep> JacobiDecoder::plainRound() {
    ENGINE_TRY(DecodeStep step, m_target.plainStep());
    m_block.shift(1, {});
    remember(step.tokens);
    return step;
}

Result<SearchReport> JacobiDecoder::configure(const SettingValues& values,
                                              const SettingValues& /*given*/) {
    const JacobiSettings wanted = JacobiSettings::make(values);
    if (wanted != m_settings)
        m_block.clear();
    m_settings = wanted;
    return SearchReport();
}

/// Few guesses come true, and each costs a row.
int JacobiDecoder::blockLength() const {
    return m_settings.block > 0 ? m_settings.block
                                : std::clamp(m_target.preferredNodes() / 2, 1, kMostBlock);
}

/// The model's own token behind the guesses takes a place, too.
Result<Draft> JacobiDecoder::makeDraft(Target& target, const DraftTerms& terms) {
    const ChainLimit limit = chainLimit(target, terms);
    m_filling.clear();
    m_block.refill(limit.tokens, m_settings.slides, [&](TokenId before) {
        return fill(before == kNoToken ? target.pending() : before);
    });
    Draft made(m_block.chain(limit.tokens, target.endIds()));
    if (limit.tokens < terms.maxDepth && made.tree.size() == limit.tokens)
        made.tree.setEnd(limit.end);
    return made;
}

/// The next place from the pool, n-gram behind n-gram, where it knows one; else any token.
Guess JacobiDecoder::fill(TokenId before) {
    if (m_settings.usesPool && m_filling.empty())
        if (const auto known = m_pool.candidates(before); !known.empty())
            m_filling = known.front();
    if (m_filling.empty())
        return {m_filler.next(), m_filler.probability()};
    const Guess guess{m_filling.front(), 1.0};
    m_filling.erase(m_filling.begin());
    return guess;
}

/// What the pass of this step said at each place from the first emitted one on. Draws use vanilla's
/// noise of their place: where the tokens before it are right, they are right.
Result<std::vector<Guess>> JacobiDecoder::predictions(const DecodeStep& step) {
    const Position firstPlace =
        m_target.outputPosition() - static_cast<Position>(step.tokens.size());
    std::vector<Guess> said;
    for (int row = 0; row <= step.draft.size(); ++row) {
        const HeadSummary& summary = m_target.lastSummaries()[static_cast<std::size_t>(row)];
        Guess guess{summary.best(), summary.probability(0)};
        if (!m_target.sampler().isGreedy()) {
            ENGINE_TRY(const auto logits, m_target.lastLogits(row));
            guess.token = m_target.sampler().choose(logits, firstPlace + row);
            guess.probability =
                summary.probabilityOf(logits[static_cast<std::size_t>(guess.token)]);
        }
        said.push_back(guess);
    }
    return said;
}

/// What the model predicts after each guess, right or wrong, fills places where the text knows
/// nothing.
void JacobiDecoder::learn(const DecodeStep& step) {
    const int rows = m_settings.usesPool ? static_cast<int>(m_target.lastSummaries().size()) : 0;
    for (int row = 0; row < rows; ++row) {
        const SeenRow seen = m_target.seenRow(row);
        const TokenId next = seen.summary.best();
        if (m_pool.candidates(seen.token).empty())
            m_pool.insert(seen.token, std::span(&next, 1));
    }
    remember(step.tokens);
}

void JacobiDecoder::remember(std::span<const TokenId> tokens) {
    m_newest.insert(m_newest.end(), tokens.begin(), tokens.end());
    m_pool.insertText(m_newest, kTokensBehind);
    const std::size_t left = std::min<std::size_t>(m_newest.size(), kTokensBehind);
    m_newest.erase(m_newest.begin(), m_newest.end() - static_cast<std::ptrdiff_t>(left));
}

} // namespace jacobi
