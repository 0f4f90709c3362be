// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/rows/packed_rows.h"

#include "engine/base/to_size.h"

#include <algorithm>

namespace trainer_torch {

using namespace engine;

namespace {

struct ChainStart {
    int slot; // of the text
    int length;
};

/// Slots [first, end) of a text and the chains that begin there.
struct Piece {
    int text;
    int first;
    int room; // slots at most
    int end;
    std::vector<ChainStart> chains;

    int slotCount() const { return end - first; }
};

/// Tokens of the draft behind a slot: those of the answer that follow it.
int chainLength(const TrainingText& text, int slot, int depths) {
    const int rows = static_cast<int>(text.tokens.size());
    int length = 0;
    while (length < depths && slot + 2 + length < rows &&
           text.answers[toSize(slot + 2 + length)] != 0)
        ++length;
    return length;
}

/// A piece begins with all slots that its first chain can see. It ends where it is full, or where
/// so much of a prompt follows that the next chain sees nothing of the piece.
void cut(const TrainingText& text, int index, const PackTerms& terms, std::vector<Piece>& pieces) {
    const int slotCount = static_cast<int>(text.tokens.size()) - 1;
    const int reach = terms.window > 0 ? terms.layers * (terms.window - 1) : slotCount;
    bool isOpen = false;
    for (int slot = 0; slot < slotCount; ++slot) {
        const int length = chainLength(text, slot, terms.depths);
        if (length == 0)
            continue;
        const int first = std::max(0, slot - reach);
        if (isOpen)
            isOpen = first <= pieces.back().end && slot - pieces.back().first < pieces.back().room;
        if (!isOpen) {
            const int room = std::max(terms.rows, slot - first + std::max(1, terms.rows / 4));
            pieces.push_back({index, first, room, slot, {}});
            isOpen = true;
        }
        pieces.back().end = slot + 1;
        pieces.back().chains.push_back({slot, length});
    }
}

void append(Pack& pack, const Piece& piece) {
    const int firstRow = static_cast<int>(pack.rows.size());
    for (int slot = piece.first; slot < piece.end; ++slot)
        pack.rows.push_back({piece.text, slot, firstRow});
    for (const ChainStart& chain : piece.chains)
        pack.chains.push_back({firstRow + chain.slot - piece.first, chain.length});
}

} // namespace

int Pack::chainCount(int depth) const {
    const auto end = std::find_if(chains.begin(), chains.end(), [depth](const PackedChain& chain) {
        return chain.length < depth;
    });
    return static_cast<int>(end - chains.begin());
}

std::vector<Pack> packRows(std::span<const TrainingText> texts, const PackTerms& terms) {
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < texts.size(); ++i)
        cut(texts[i], static_cast<int>(i), terms, pieces);
    std::vector<Pack> packs;
    for (const Piece& piece : pieces) {
        auto pack = std::find_if(packs.begin(), packs.end(), [&](const Pack& each) {
            return static_cast<int>(each.rows.size()) + piece.slotCount() <= terms.rows;
        });
        if (pack == packs.end())
            pack = packs.insert(pack, Pack());
        append(*pack, piece);
    }
    for (Pack& pack : packs)
        std::stable_sort(
            pack.chains.begin(), pack.chains.end(), [](const PackedChain& a, const PackedChain& b) {
                return a.length > b.length;
            });
    return packs;
}

std::vector<std::int64_t> chainTotals(std::span<const Pack> packs, int depths) {
    std::vector<std::int64_t> totals(toSize(depths));
    for (const Pack& pack : packs)
        for (int depth = 1; depth <= depths; ++depth)
            totals[toSize(depth - 1)] += pack.chainCount(depth);
    return totals;
}

} // namespace trainer_torch
