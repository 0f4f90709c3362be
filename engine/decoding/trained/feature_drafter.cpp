// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/trained/feature_drafter.h"

#include "engine/base/to_size.h"

#include <algorithm>
#include <limits>

namespace engine {

namespace {

/// Rows of the target's cache that it shares with a prompt whose last token is pending.
std::size_t sharedRows(std::span<const TokenId> cached, std::span<const TokenId> prompt) {
    const auto before = prompt.first(prompt.size() - 1);
    const auto differs =
        std::mismatch(cached.begin(), cached.end(), before.begin(), before.end()).first;
    return static_cast<std::size_t>(differs - cached.begin());
}

TokenId tokenAt(const Target& target, std::size_t position) {
    const auto cached = target.cachedTokens();
    return position < cached.size() ? cached[position] : target.pending();
}

} // namespace

Result<FeatureDrafter>
FeatureDrafter::make(DraftModel& model, int contextLength, int longestDraft) {
    ENGINE_TRY(KvCache cache, model.network->makeCache(contextLength + longestDraft));
    return FeatureDrafter(model, std::move(cache));
}

FeatureDrafter::FeatureDrafter(DraftModel& model, KvCache cache)
    : m_model(&model)
    , m_width(toSize(model.network->config().hiddenSize))
    , m_cache(std::move(cache))
    , m_plan(LayerPlan::full(model.network->config().layerCount))
    , m_logits(std::make_shared<HostLogits<double>>(model.network->config().vocabSize)) {}

PromptWork FeatureDrafter::watch(const Target& target,
                                 std::span<const TokenId> prompt,
                                 const PromptWork& work) {
    PromptWork watched = work;
    m_prompt.rows.clear();
    m_prompt.pieceRead = nullptr;
    if (prompt.empty()) // refused by the target
        return watched;
    const std::size_t shared = sharedRows(target.cachedTokens(), prompt);
    // The first draft goes on from what a pass makes of the last row, so this has no slot yet.
    const std::size_t rows = std::min(shared, std::max<std::size_t>(prompt.size(), 2) - 2);
    if (m_firstRow > 0 && (m_isBehind || toSize(m_firstRow) > rows)) {
        startAt(0);
        m_isBehind = true;
    }
    const std::size_t first = toSize(m_firstRow);
    const std::size_t most = std::min(m_following.size(), rows - first);
    std::size_t slots = 0;
    while (slots < most && m_following[slots] == prompt[first + slots + 1])
        ++slots;
    const std::size_t usable =
        slots < m_following.size() ? 0 : std::min(waitingRows(), shared - first - slots);
    m_following.resize(slots);
    m_cache.truncate(static_cast<Position>(slots));
    m_waiting.resize((m_firstWaiting + usable) * m_width);
    const std::size_t known = first + slots + usable;
    const bool missedMuch = m_isBehind && shared > known + toSize(kPrefillRows);
    if (isOff() || missedMuch) {
        m_failures = kMostFailures;
        dropWaiting();
        return watched;
    }
    m_isBehind = false;
    m_prompt.known = static_cast<Position>(known);
    m_prompt.pieceRead = [this, &target, stop = work.stop]() -> Result<void> {
        ENGINE_TRY_DO(take());
        return catchUpWithPrompt(target, stop);
    };
    watched.streams = &m_prompt;
    return watched;
}

Result<void> FeatureDrafter::take() {
    const int rows = m_prompt.rows.count();
    if (rows == 0)
        return {};
    if (rests()) {
        dropWaiting();
        return {};
    }
    const std::size_t known = toSize(m_firstRow) + knownRows();
    ENGINE_CHECK(toSize(m_prompt.first) == known,
                 "streams from row {} on, behind {}",
                 m_prompt.first,
                 known);
    const std::size_t before = m_waiting.size();
    m_waiting.resize(before + toSize(rows) * m_width);
    const auto read = m_prompt.rows.read(0, std::span(m_waiting).subspan(before));
    m_prompt.rows.clear();
    m_prompt.first += static_cast<Position>(rows);
    if (!read)
        m_waiting.resize(before);
    return read;
}

Result<void> FeatureDrafter::begin(const Target& target) {
    return catchUpWithPrompt(target, target.stop());
}

/// All waiting rows but the last become slots: the token behind that one need not be known yet.
Result<void> FeatureDrafter::catchUpWithPrompt(const Target& target, const std::stop_token& stop) {
    while (waitingRows() > 1 && !isOff()) {
        if (stop.stop_requested())
            return Error{ErrorCode::Cancelled, "Reading the prompt was cancelled.", ""};
        const std::size_t rows = std::min<std::size_t>(waitingRows() - 1, kPrefillRows);
        if (!catchUp(target, rows, false)) {
            ++m_failures;
            return {};
        }
    }
    return {};
}

/// Forgets streams that nothing will read. What is read now is missing until the next watch().
void FeatureDrafter::dropWaiting() {
    m_waiting = std::vector<double>(); // gives its memory back
    m_firstWaiting = 0;
    m_isBehind = true;
    m_prompt.rows.clear();
    m_streams.clear();
}

void FeatureDrafter::join(const Target& target) {
    forget();
    dropWaiting();
    startAt(target.length());
    m_isBehind = false;
}

/// Its cache begins anew with this row of the target.
void FeatureDrafter::startAt(Position row) {
    m_following.clear();
    m_cache.truncate(0);
    m_waiting.clear();
    m_firstWaiting = 0;
    m_firstRow = row;
}

std::span<const HandOut> FeatureDrafter::handOuts(const Target& target) {
    m_streams.clear();
    if (rests())
        return {};
    const int layers = target.transformer().config().layerCount;
    m_handOuts.assign(1, {layers - 1, &m_streams});
    return m_handOuts;
}

/// The rows of the pass are the old pending token's, then those of the draft's nodes.
Result<void> FeatureDrafter::observe(const DecodeStep& step) {
    if (rests()) {
        dropWaiting();
        return {};
    }
    m_read.resize(toSize(m_streams.count()) * m_width);
    ENGINE_TRY_DO(m_streams.read(0, m_read));
    for (std::size_t i = 0; i < step.tokens.size(); ++i) {
        const std::size_t row = i == 0 ? 0 : toSize(step.path[i - 1]) + 1;
        const auto from = m_read.begin() + static_cast<std::ptrdiff_t>(row * m_width);
        m_waiting.insert(m_waiting.end(), from, from + static_cast<std::ptrdiff_t>(m_width));
    }
    m_streams.clear();
    return {};
}

double FeatureDrafter::share(const Target& target) const {
    const auto& model = target.transformer();
    return static_cast<double>(m_model->network->weightBytes()) /
           static_cast<double>(model.weightBytes());
}

Result<Draft> FeatureDrafter::makeDraft(Target& target, const DraftTerms& terms) {
    const ChainLimit limit = chainLimit(target, terms);
    if (limit.tokens <= 0)
        return Draft::empty(limit.end);
    if (rests() || waitingRows() == 0)
        return Draft::empty({DraftEndReason::Nothing});
    DraftEnd end = limit.end;
    auto levels = draftLevels(target, terms, limit, end);
    if (!levels) {
        if (levels.error().code != ErrorCode::Numeric)
            return levels.error();
        ++m_failures;
        return Draft::empty({DraftEndReason::Nothing});
    }
    m_failures = 0;
    Draft made(makeCaterpillar(levels.value(), terms.maxNodes));
    made.tree.setEnd(end);
    made.layerLoads = share(target) * target.transformer().config().layerCount *
                      static_cast<double>(levels.value().size());
    return made;
}

Result<std::vector<DraftLevel>> FeatureDrafter::draftLevels(Target& target,
                                                            const DraftTerms& terms,
                                                            const ChainLimit& limit,
                                                            DraftEnd& end) {
    const DraftLevelMaker maker(target.sampler(), terms, nullptr, m_round++);
    m_needsLogits = maker.needsLogits();
    const Position firstOutput = target.outputPosition();
    std::vector<DraftLevel> levels;
    for (bool isOver = false; !isOver;) {
        if (target.stop().stop_requested())
            return Error{ErrorCode::Cancelled, "Drafting was cancelled.", ""};
        const auto steps = static_cast<Position>(levels.size());
        if (levels.empty()) {
            while (waitingRows() > toSize(kPrefillRows))
                ENGINE_TRY_DO(catchUp(target, toSize(kPrefillRows), false));
            ENGINE_TRY_DO(catchUp(target, waitingRows(), true));
        } else {
            const TokenId token = levels.back().choices.front().token;
            ENGINE_TRY_DO(runPass({.tokens = std::span(&token, 1),
                                   .streams = m_own,
                                   .firstSlot = m_cache.length() + steps - 1,
                                   .hasHead = true}));
        }
        ENGINE_TRY_DO(readHead());
        ENGINE_TRY(DraftLevel level, maker.make(m_found, firstOutput + steps));
        const DraftLevel::Choice first = level.choices.front();
        const int offered = static_cast<int>(level.choices.size());
        level.choices.resize(toSize(terms.choicesWorth(first.probability, offered)));
        levels.push_back(std::move(level));
        const auto stopped = terms.stopsAfter(first.probability, steps + 1);
        if (stopped)
            end = *stopped;
        const bool isAnswerOver = target.endsAnswer(first.token);
        if (isAnswerOver)
            end = {DraftEndReason::EndToken};
        isOver = stopped || isAnswerOver || static_cast<int>(levels.size()) >= limit.tokens;
    }
    return levels;
}

/// The first of the waiting rows become slots.
Result<void> FeatureDrafter::catchUp(const Target& target, std::size_t rows, bool hasHead) {
    const std::size_t first = m_following.size();
    m_tokens.clear();
    for (std::size_t i = 0; i < rows; ++i)
        m_tokens.push_back(tokenAt(target, toSize(m_firstRow) + first + i + 1));
    ENGINE_TRY_DO(runPass({.tokens = m_tokens,
                           .streams = waiting().first(rows * m_width),
                           .firstSlot = static_cast<Position>(first),
                           .hasHead = hasHead}));
    m_cache.commit(static_cast<int>(rows));
    m_following.insert(m_following.end(), m_tokens.begin(), m_tokens.end());
    m_firstWaiting += rows;
    if (m_firstWaiting >= waitingRows()) { // no more rows move up than have become slots
        m_waiting.erase(m_waiting.begin(),
                        m_waiting.begin() + static_cast<std::ptrdiff_t>(m_firstWaiting * m_width));
        m_firstWaiting = 0;
    }
    return {};
}

Result<void> FeatureDrafter::runPass(const Rows& rows) {
    const int count = static_cast<int>(rows.tokens.size());
    const AttentionLayout layout = AttentionLayout::chain(rows.firstSlot, count);
    const int lastRow = count - 1;
    const std::span<const int> headRow(&lastRow, rows.hasHead ? 1 : 0);
    const HandOut handOut{m_plan.layerCount() - 1, &m_ownRows};
    m_ownRows.clear();
    ENGINE_TRY_DO(m_model->network->forwardInto(
        {.plan = m_plan,
         .layout = layout,
         .tokens = rows.tokens,
         .streams = rows.streams,
         .logitRows = m_needsLogits ? headRow : std::span<const int>(),
         .summaryRows = headRow,
         .handOuts = std::span(&handOut, rows.hasHead ? 1 : 0)},
        m_cache,
        m_pass));
    if (!rows.hasHead)
        return {};
    m_own.resize(m_width);
    return m_ownRows.read(lastRow, m_own);
}

/// From rows of the draft model's head to tokens; a token that has no row is never drafted.
Result<void> FeatureDrafter::readHead() {
    m_found.clear();
    HeadSummary summary = m_pass.summaries.front();
    for (int rank = 0; rank < summary.count; ++rank)
        summary.ids[toSize(rank)] = m_model->ids[toSize(summary.ids[toSize(rank)])];
    m_found.summaries.push_back(summary);
    if (!m_needsLogits)
        return {};
    ENGINE_TRY(const std::span<double> logits, m_pass.logits.row(0));
    double* const wide = m_logits->begin(1);
    std::fill_n(wide, m_logits->vocabSize(), -std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < logits.size(); ++i)
        wide[m_model->ids[i]] = logits[i];
    m_found.logits.show(m_logits, 1);
    return {};
}

} // namespace engine
