// SPDX-License-Identifier: Apache-2.0
#include "plugins/lookahead/lookahead_decoder.h"

#include "plugins/lookahead/lookahead_tables.h"

#include <algorithm>

namespace lookahead {

using namespace engine;

namespace {

/// Rows of a pass beside the pending token's at most: all of the window and of a draft without a
/// shared prefix. A window that warms up is smaller than the largest warm one.
constexpr int kScratchRows = (kMostSize - 1) * (kMostColumns + kMostNgrams);

} // namespace

Result<std::unique_ptr<Decoder>> LookaheadDecoder::make(const DecoderContext& context) {
    ENGINE_TRY(const LookaheadSettings settings,
               LookaheadSettings::make(context.settings, context.transformer.preferredTreeNodes()));
    ENGINE_TRY(
        Target target,
        Target::make(context.transformer, context.sampling, context.contextLength, kScratchRows));
    return std::unique_ptr<Decoder>(new LookaheadDecoder(std::move(target), settings));
}

/// Nothing of the last prompt is left, unless its pool shall be.
Result<void> LookaheadDecoder::begin(const Prompt& prompt, const PromptWork& work) {
    ENGINE_TRY_DO(m_target.begin(prompt, work));
    m_used = m_settings;
    m_filler.begin(prompt.tokens, prompt.endIds, m_target.sampler().options().seed);
    m_window.begin(m_used.shape, m_filler);
    if (!m_used.keepsPool)
        m_pool.clear();
    m_pool.limitTo(m_used.ngrams);
    m_newest.clear();
    remember(prompt.tokens);
    return {};
}

/// One round: the draft from the pool with the window beside it, one pass for both, the window's
/// next row and n-grams from what it says.
Result<DecodeStep> LookaheadDecoder::round() {
    const TokenId pending = m_target.pending();
    ENGINE_TRY(Draft drafted, draft(m_target, {}));
    ENGINE_TRY(DecodeStep step, m_target.verify(std::move(drafted)));
    const int nodes = step.draft.size();
    Ngram next = newestRow(nodes);
    if (m_window.columns() > 0)
        step.tables.push_back(windowTable(m_window, pending, next));
    if (nodes > 0)
        step.tables.push_back(poolTable(pending, m_pool.candidates(pending), step));
    carryOn(pending, std::move(next));
    observe(step);
    return step;
}

Result<SearchReport> LookaheadDecoder::configure(const SettingValues& values,
                                                 const SettingValues& /*given*/) {
    ENGINE_TRY(m_settings,
               LookaheadSettings::make(values, m_target.transformer().preferredTreeNodes()));
    return SearchReport();
}

/// No cell stands beyond the context, and what no step is left for is not guessed.
void LookaheadDecoder::fitWindow() {
    const int room = m_target.remainingTokens() > 1 ? m_target.remainingContext() : 0;
    m_window.cutTo(m_window.columns() - std::max(m_window.depth() - room, 0));
    if (room == 0)
        m_window.cutTo(0);
}

/// The pool's n-grams behind the pending token, the window beside them; the model's own token
/// behind the n-grams needs room, too.
Result<Draft> LookaheadDecoder::makeDraft(Target& target, const DraftTerms& /*terms*/) {
    fitWindow();
    Draft made;
    const std::span<const Ngram> known = m_pool.candidates(target.pending());
    const int room = target.remainingTokens() - 1;
    mergeNgrams(
        made.tree,
        known,
        {.nodes = m_used.ngrams * (kMostSize - 1), .depth = room, .endIds = target.endIds()});
    made.tree.setEnd(endOf(made.tree, known, room));
    made.sides = m_window.sides(made.tree.size());
    return made;
}

/// Why the first n-gram, the spine, goes no further.
DraftEnd
LookaheadDecoder::endOf(const DraftTree& tree, std::span<const Ngram> known, int room) const {
    if (known.empty())
        return {DraftEndReason::Nothing};
    const auto length = static_cast<int>(known.front().size());
    const auto end = std::find_if(known.front().begin(), known.front().end(), [&](TokenId token) {
        return m_target.endsAnswer(token);
    });
    if (end - known.front().begin() < std::min(length, room))
        return {DraftEndReason::EndToken};
    if (room < length)
        return {DraftEndReason::Room};
    return {DraftEndReason::Length, 0.0, static_cast<double>(tree.draftSteps())};
}

/// What the model predicts after the newest row of the window.
Ngram LookaheadDecoder::newestRow(int draftNodes) const {
    Ngram next;
    for (int column = 0; column < m_window.columns(); ++column) {
        const auto row = static_cast<std::size_t>(m_window.newestRow(column, draftNodes));
        next.push_back(m_target.lastSummaries()[row].best());
    }
    return next;
}

/// N-grams that end with an end id may come true; a guess behind one never does, so the window goes
/// on with another token in its place.
void LookaheadDecoder::carryOn(TokenId pending, Ngram next) {
    if (m_window.isWarm())
        for (const WindowNgram& ngram : m_window.ngrams(pending, next))
            m_pool.insert(ngram.key, ngram.behind);
    for (TokenId& token : next)
        if (m_target.endsAnswer(token))
            token = m_filler.next();
    m_window.advance(std::move(next));
}

/// The n-grams of the text itself, where they are wanted.
void LookaheadDecoder::remember(std::span<const TokenId> tokens) {
    if (!m_used.readsPrompt)
        return;
    const int behind = m_used.shape.size - 1;
    m_newest.insert(m_newest.end(), tokens.begin(), tokens.end());
    m_pool.insertText(m_newest, behind);
    const std::size_t left = std::min(m_newest.size(), static_cast<std::size_t>(behind));
    m_newest.erase(m_newest.begin(), m_newest.end() - static_cast<std::ptrdiff_t>(left));
}

} // namespace lookahead
