// SPDX-License-Identifier: Apache-2.0
#include "engine/lens/answer_lens.h"

#include "engine/base/to_size.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace engine {

Result<AnswerLens> AnswerLens::begin(
    Transformer& transformer, std::vector<TokenId> text, int first, int count, int contextLength) {
    const int length = static_cast<int>(text.size());
    if (first < 1 || count < 1 || first > length || count > length - first)
        return Error{
            ErrorCode::InvalidInput,
            fmt::format("The lens was asked for {} tokens from token {} on, in a text of {}.",
                        count,
                        first,
                        length),
            "Ask for tokens of the text; something must stand before the first one."};
    ENGINE_TRY(LensText read, LensText::make(transformer, std::move(text), contextLength));
    return AnswerLens(std::move(read), first, count);
}

AnswerLens::AnswerLens(LensText text, int first, int count)
    : m_text(std::move(text))
    , m_firstRow(first - 1)
    , m_lastRow(first - 1 + count)
    , m_influence(2 * toSize(m_text.layerCount()), 0.0) {}

double AnswerLens::part() const {
    const int rows = m_lastRow - m_firstRow;
    const int pieces = (rows + kRowsAtOnce - 1) / kRowsAtOnce;
    const int passes = LensText::pieces(m_firstRow) + pieces * lensDepths(m_text.layerCount());
    return static_cast<double>(m_passes) / passes;
}

Result<void> AnswerLens::step() {
    ++m_passes;
    if (m_text.length() < m_firstRow)
        return m_text.readPiece(m_firstRow, -1);
    ENGINE_TRY_DO(readDepth());
    ENGINE_TRY_DO(keepCells());
    if (++m_depth == lensDepths(m_text.layerCount()))
        endPiece();
    return {};
}

int AnswerLens::rowsOfPiece() const { return std::min(kRowsAtOnce, m_lastRow - m_text.length()); }

/// One sublayer behind the stream before it. Tokens can enter at layer 0 alone, so there the MLP
/// runs together with the attention once more.
Result<void> AnswerLens::readDepth() {
    const int rows = rowsOfPiece();
    const int layer = std::max(layerOfDepth(m_depth), 0);
    const bool isAtStart = layer == 0;
    LayerPlan plan = LayerPlan::full(m_text.layerCount());
    if (!isBehindMlp(m_depth))
        plan.mlp[toSize(layer)] = SublayerAction::Skip;
    else if (!isAtStart)
        plan.attention[toSize(layer)] = SublayerAction::Skip;
    std::vector<int> all(toSize(rows));
    std::iota(all.begin(), all.end(), 0);
    m_behind.clear();
    const HandOut handOut{layer, &m_behind};
    const HiddenPiece before(m_before);
    const bool handsOut = m_depth > 0;
    const AttentionLayout layout = AttentionLayout::chain(m_text.length(), rows);
    ForwardRequest request{.plan = plan,
                           .layout = layout,
                           .firstLayer = layer,
                           .endLayer = m_depth == 0 ? 0 : layer + 1,
                           .logitRows = all,
                           .summaryRows = all,
                           .wantsInfluence = handsOut};
    if (isAtStart)
        request.tokens = m_text.next(rows);
    else
        request.hidden = {&before, 1};
    if (handsOut)
        request.handOuts = {&handOut, 1};
    ENGINE_TRY_DO(m_text.transformer().forwardInto(request, m_text.cache(), m_result));
    std::swap(m_before, m_behind);
    return {};
}

/// Of each row what is wanted of its logits, and what the sublayer did.
Result<void> AnswerLens::keepCells() {
    const int rows = rowsOfPiece();
    if (m_depth == 0)
        for (int row = 0; row < rows; ++row)
            m_piece.push_back({m_text.tokens()[toSize(m_text.length() + row + 1)], {}});
    for (int row = 0; row < rows; ++row) {
        LensToken& token = m_piece[toSize(row)];
        const HeadSummary& summary = m_result.summaries[toSize(row)];
        std::span<const double> logits;
        if (summary.rankOf(token.token) < 0) {
            ENGINE_TRY(logits, m_result.logits.row(row));
        }
        token.cells.push_back(lensCell(summary, token.token, logits));
    }
    if (m_depth == 0)
        return {};
    const int sublayer = layerOfDepth(m_depth) + (isBehindMlp(m_depth) ? m_text.layerCount() : 0);
    m_influence[toSize(sublayer)] += m_result.influence[toSize(sublayer)];
    return {};
}

void AnswerLens::endPiece() {
    const int rows = rowsOfPiece();
    std::move(m_piece.begin(), m_piece.end(), std::back_inserter(m_ready));
    m_piece.clear();
    m_depth = 0;
    m_influenceRows += rows;
    m_text.cache().commit(rows);
}

std::vector<LensToken> AnswerLens::takeTokens() { return std::exchange(m_ready, {}); }

std::vector<double> AnswerLens::influence() const {
    std::vector<double> means = m_influence;
    for (double& mean : means)
        mean /= std::max(m_influenceRows, 1);
    return means;
}

} // namespace engine
