// SPDX-License-Identifier: Apache-2.0
#include "engine/text/splitting/pre_tokenizer.h"

#include "engine/text/bpe/byte_map.h"
#include "engine/text/vocabulary/utf8.h"

#include <algorithm>

namespace engine {

namespace {

/// A stretch of a piece that is one match, or lies between two.
struct Stretch {
    TextRange range;
    bool isMatch = false;
};

/// Matches and what lies between them, in order, covering all `byteCount` bytes.
std::vector<Stretch>
coverPiece(const std::vector<TextRange>& matches, std::size_t byteCount, bool isInverted) {
    std::vector<Stretch> stretches;
    std::size_t end = 0;
    for (const TextRange& match : matches) {
        if (end != match.begin)
            stretches.push_back({{end, match.begin}, isInverted});
        stretches.push_back({match, !isInverted});
        end = match.end;
    }
    if (end != byteCount)
        stretches.push_back({{end, byteCount}, isInverted});
    return stretches;
}

/// Joins neighbours: `joins(stretch, previousWasMatch)` says whether one belongs to the one before.
template <typename Joins>
std::vector<TextRange> joinNeighbours(const std::vector<Stretch>& stretches, Joins joins) {
    std::vector<TextRange> joined;
    bool previousWasMatch = false;
    for (const Stretch& stretch : stretches) {
        if (!joined.empty() && joins(stretch.isMatch, previousWasMatch)) {
            joined.back().begin = std::min(joined.back().begin, stretch.range.begin);
            joined.back().end = std::max(joined.back().end, stretch.range.end);
        } else {
            joined.push_back(stretch.range);
        }
        previousWasMatch = stretch.isMatch;
    }
    return joined;
}

std::vector<TextRange> applyBehavior(std::vector<Stretch> stretches, SplitBehavior behavior) {
    const auto joinsMatch = [](bool isMatch, bool previousWasMatch) {
        return isMatch && !previousWasMatch;
    };
    std::vector<TextRange> ranges;
    switch (behavior) {
    case SplitBehavior::Contiguous:
        return joinNeighbours(stretches, [](bool isMatch, bool previousWasMatch) {
            return isMatch == previousWasMatch;
        });
    case SplitBehavior::MergedWithPrevious:
        return joinNeighbours(stretches, joinsMatch);
    case SplitBehavior::MergedWithNext:
        std::reverse(stretches.begin(), stretches.end());
        ranges = joinNeighbours(stretches, joinsMatch);
        std::reverse(ranges.begin(), ranges.end());
        return ranges;
    case SplitBehavior::Isolated:
    case SplitBehavior::Removed:
        for (const Stretch& stretch : stretches) {
            if (behavior == SplitBehavior::Isolated || !stretch.isMatch)
                ranges.push_back(stretch.range);
        }
        return ranges;
    }
    return ranges;
}

Result<void> split(PieceList& list, const SplitStep& step, StepBudget& budget) {
    std::vector<std::string_view> cut;
    std::vector<TextRange> matches;
    bool beginsText = list.beginsText;
    for (std::size_t i = 0; i < list.pieces.size(); ++i) {
        const std::string_view piece = list.pieces[i];
        ENGINE_TRY_DO(step.pattern.findAll(piece, budget, matches));
        for (const TextRange& range :
             applyBehavior(coverPiece(matches, piece.size(), step.isInverted), step.behavior)) {
            if (range.begin == range.end)
                continue;
            if (cut.empty() && (i > 0 || range.begin > 0))
                beginsText = false;
            cut.push_back(piece.substr(range.begin, range.end - range.begin));
        }
    }
    list.pieces = std::move(cut);
    list.beginsText = beginsText;
    return {};
}

/// Rewrites all pieces into one new text: `rewrite(piece, index, out)` appends the new one.
template <typename Rewrite> void rewritePieces(PieceList& list, Rewrite rewrite) {
    std::string text;
    std::vector<std::size_t> ends;
    ends.reserve(list.pieces.size());
    for (std::size_t i = 0; i < list.pieces.size(); ++i) {
        rewrite(list.pieces[i], i, text);
        ends.push_back(text.size());
    }
    const std::string_view stored = list.storage.emplace_back(std::move(text));
    std::size_t begin = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
        list.pieces[i] = stored.substr(begin, ends[i] - begin);
        begin = ends[i];
    }
}

Result<void> toByteLevel(PieceList& list, const ByteLevelStep& step, StepBudget& budget) {
    if (step.addsPrefixSpace)
        rewritePieces(list, [](std::string_view piece, std::size_t, std::string& out) {
            if (!piece.starts_with(' '))
                out.push_back(' ');
            out.append(piece);
        });
    if (step.pattern) {
        std::vector<std::string_view> cut;
        std::vector<TextRange> matches;
        for (const std::string_view piece : list.pieces) {
            ENGINE_TRY_DO(step.pattern->findAll(piece, budget, matches));
            for (const Stretch& stretch : coverPiece(matches, piece.size(), false))
                cut.push_back(
                    piece.substr(stretch.range.begin, stretch.range.end - stretch.range.begin));
        }
        std::erase_if(cut, [](std::string_view piece) { return piece.empty(); });
        list.pieces = std::move(cut);
    }
    rewritePieces(list, [](std::string_view piece, std::size_t, std::string& out) {
        byte_map::appendCharacters(piece, out);
    });
    return {};
}

/// Cuts before every symbol, as Split with MergedWithNext on that character does.
std::vector<std::string_view> cutBefore(const std::vector<std::string_view>& pieces,
                                        std::string_view symbol) {
    std::vector<std::string_view> cut;
    for (std::string_view piece : pieces) {
        std::size_t begin = 0;
        for (std::size_t at = piece.find(symbol); at != std::string_view::npos;
             at = piece.find(symbol, at + symbol.size())) {
            if (at > begin)
                cut.push_back(piece.substr(begin, at - begin));
            begin = at;
        }
        if (begin < piece.size())
            cut.push_back(piece.substr(begin));
    }
    return cut;
}

void toMetaspace(PieceList& list, const MetaspaceStep& step) {
    rewritePieces(list, [&](std::string_view piece, std::size_t index, std::string& out) {
        const bool isFirst = index == 0 && list.beginsText;
        const bool wantsSymbol = step.prepend == MetaspaceStep::Prepend::Always ||
                                 (step.prepend == MetaspaceStep::Prepend::First && isFirst);
        if (wantsSymbol && !piece.starts_with(' ') && !piece.starts_with(step.symbol))
            out.append(step.symbol);
        for (const char c : piece) {
            if (c == ' ')
                out.append(step.symbol);
            else
                out.push_back(c);
        }
    });
    if (step.cutsBeforeSymbol)
        list.pieces = cutBefore(list.pieces, step.symbol);
}

} // namespace

Result<void> PreTokenizer::apply(PieceList& list, StepBudget& budget) const {
    for (const Step& step : m_steps) {
        if (const auto* splitStep = std::get_if<SplitStep>(&step))
            ENGINE_TRY_DO(split(list, *splitStep, budget));
        else if (const auto* byteLevel = std::get_if<ByteLevelStep>(&step))
            ENGINE_TRY_DO(toByteLevel(list, *byteLevel, budget));
        else
            toMetaspace(list, std::get<MetaspaceStep>(step));
    }
    return {};
}

} // namespace engine
