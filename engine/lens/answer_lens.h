// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/lens/lens_text.h"
#include "engine/lens/lens_token.h"

#include <vector>

namespace engine {

/// Reads what the model predicts at each depth for some tokens of a text. A few tokens at a time go
/// through the network one sublayer at a time: each pass resumes from the residual stream that the
/// pass before has left with the backend, runs one sublayer, and final norm and head behind it. So
/// every backend can do it; the numbers are those of a pass that exits there, and the last ones
/// those of the model itself. Memory is bounded by kRowsAtOnce rows of logits; of each row only a
/// LensCell is kept. Thread: engine.
class AnswerLens : public LensWork {
public:
    /// Rows that go through the network together: few enough for a short pass.
    static constexpr int kRowsAtOnce = 16;

    /// For `count` tokens of the text from token `first` on. Errors: InvalidInput if those are not
    /// in the text, or if nothing stands before them; those of LensText.
    static Result<AnswerLens> begin(Transformer& transformer,
                                    std::vector<TokenId> text,
                                    int first,
                                    int count,
                                    int contextLength);

    Result<void> step() override;

    bool isDone() const override { return m_text.length() >= m_lastRow; }

    double part() const override;

    /// Tokens that were read since the last call, in order.
    std::vector<LensToken> takeTokens();

    /// Of the rows so far: how much each sublayer changes the stream:
    /// the mean of |f(x)| / |x|. Shapes: [2 * layers], attention first.
    std::vector<double> influence() const;

private:
    AnswerLens(LensText text, int first, int count);

    int rowsOfPiece() const;
    Result<void> readDepth();
    Result<void> keepCells();
    void endPiece();

    LensText m_text;
    int m_firstRow; // the row that predicts the first token
    int m_lastRow;  // behind the last one
    int m_depth = 0;
    HiddenRows m_before; // the stream that enters the next sublayer
    HiddenRows m_behind;
    ForwardResult m_result;
    std::vector<LensToken> m_piece; // tokens that are being read
    std::vector<LensToken> m_ready;
    std::vector<double> m_influence; // [2 * layers] sums over m_influenceRows rows
    int m_influenceRows = 0;
    int m_passes = 0;
};

} // namespace engine
