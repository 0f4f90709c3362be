// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/tiles/quant_bodies_avx512.inl"
#include "engine/kernels/tiles/tile_registers.inl"

namespace engine {

namespace {

/// Fewer rows are faster with AVX-512, which gives the same bits.
constexpr int kLeastRows = 12;

/// Groups of columns whose weights lie widened in the first cache.
constexpr int kWideGroups = 32;

/// Groups whose products are made while those of others are added up.
constexpr int kAhead = 3;

/// Some groups of a tile as the tile registers read them. Shapes: weights [columns / 4][16][4] for
/// each group.
template <int GroupColumns> struct WideGroups {
    alignas(64) std::int8_t weights[kWideGroups][GroupColumns * kTileRows];
    alignas(64) float scales[kWideGroups][kTileRows];
    alignas(64) float minima[kWideGroups][kTileRows];
};

// The tile registers: products and activations of whole blocks of rows and of the last one, and
// weights.
enum Register : int { WholeDots, LastDots, WholeRows, LastRows, Weights };

void shapeFor(int lastRows, int groupColumns) {
    RegisterShapes shapes;
    shapes.set(WholeDots, kRegisterRows, 64);
    shapes.set(WholeRows, kRegisterRows, groupColumns);
    if (lastRows > 0) {
        shapes.set(LastDots, lastRows, 64);
        shapes.set(LastRows, lastRows, groupColumns);
    }
    shapes.set(Weights, groupColumns / 4, 64);
    shapeRegisters(shapes);
}

/// The same bits as the AVX-512 kernel's: sums within a group are exact, and groups are added in
/// the same order by the same instructions.
template <TileForm Form, int GroupColumns, ScaleForm Scale, bool HasMinima> struct AmxQuants {
    using Wide = WideGroups<GroupColumns>;
    using Lines = GroupLines<Form, GroupColumns>;
    using Scales = ChunkScales<Scale, GroupColumns, HasMinima>;
    static constexpr int kChunkGroups = Scales::kGroups;
    static constexpr int kStreamBytes =
        Scales::kHeaderBytes / kChunkGroups + Lines::kAll * 64; // a group
    static_assert(kWideGroups % kChunkGroups == 0);

    static void multiply(const TileMatrix& matrix,
                         const TileInput& input,
                         int firstTile,
                         int tileCount,
                         const TileOutput& out) {
        shapeFor(input.rows % kRegisterRows, GroupColumns);
        for (int i = 0; i < tileCount; ++i) {
            const std::size_t tile = static_cast<std::size_t>(firstTile + i);
            multiplyTile(matrix,
                         input,
                         matrix.data + tile * matrix.tileBytes,
                         {out.values + tile * kTileRows, out.stride});
        }
        releaseRegisters();
    }

    static void multiplyTile(const TileMatrix& matrix,
                             const TileInput& input,
                             const std::byte* tile,
                             const TileOutput& out) {
        Wide wide;
        const int groups = matrix.columns / GroupColumns;
        for (int first = 0; first < groups; first += kWideGroups) {
            const int count = groups - first < kWideGroups ? groups - first : kWideGroups;
            tile = widen(matrix, tile, count, wide);
            for (int row = 0; row < input.rows; row += kRegisterRows) {
                const std::byte* const next = row == 0 ? tile : nullptr;
                const Block block{input, wide, first, count, row, out, next};
                const int rows = input.rows - row;
                if (rows >= kRegisterRows)
                    addRows<kRegisterRows, true>(block, kRegisterRows);
                else if (rows > 8)
                    addRows<kRegisterRows, false>(block, rows);
                else if (rows > 4)
                    addRows<8, false>(block, rows);
                else
                    addRows<4, false>(block, rows);
            }
        }
    }

    /// Reads the tile's stream and returns the place behind what was read.
    static const std::byte*
    widen(const TileMatrix& matrix, const std::byte* at, int count, Wide& wide) {
        for (int group = 0; group < count; group += kChunkGroups) {
            const Scales scales(at);
            at += Scales::kHeaderBytes;
            for (int i = 0; i < kChunkGroups && group + i < count; ++i) {
                _mm512_store_ps(wide.scales[group + i], scales.scale(i));
                if constexpr (HasMinima)
                    _mm512_store_ps(wide.minima[group + i], scales.minimum(i));
                widenLines<0>(matrix, at, wide.weights[group + i]);
                at += Lines::kAll * 64;
            }
        }
        return at;
    }

    /// From line `Line` on, as far as lines hold low bits.
    template <int Line>
    static void
    widenLines(const TileMatrix& matrix, const std::byte* stored, std::int8_t* weights) {
        const __m512i shift = _mm512_set1_epi8(static_cast<char>(matrix.offset));
        if constexpr (Form == TileForm::Int8) {
            for (int line = 0; line < Lines::kAll * 64; line += 64)
                _mm512_store_si512(weights + line,
                                   _mm512_sub_epi8(_mm512_load_si512(stored + line), shift));
        } else if constexpr (Line < Lines::kHalves) {
            const auto [low, high] = widenHalves<Form, GroupColumns, Line>(matrix, stored);
            _mm512_store_si512(weights + Line * 64, _mm512_sub_epi8(low, shift));
            _mm512_store_si512(weights + (Lines::kHalves + Line) * 64,
                               _mm512_sub_epi8(high, shift));
            widenLines<Line + 1>(matrix, stored, weights);
        }
    }

    /// Rows of activations with some groups of a tile.
    struct Block {
        const TileInput& input;
        const Wide& wide;
        int firstGroup;
        int groups;
        int row;
        const TileOutput& out;
        const std::byte* next; ///< what is read behind these groups, or null
    };

    using Dots = std::int32_t[kRegisterRows][kTileRows];

    template <bool IsWhole> static void makeDots(const Block& block, int group, Dots& dots) {
        constexpr Register products = IsWhole ? WholeDots : LastDots;
        constexpr Register activations = IsWhole ? WholeRows : LastRows;
        const std::int8_t* quants =
            block.input.quants + static_cast<std::size_t>(block.row) * block.input.stride +
            static_cast<std::size_t>(block.firstGroup + group) * GroupColumns;
        if (block.next != nullptr)
            for (int at = 0; at < kStreamBytes; at += 64)
                __builtin_prefetch(block.next + group * kStreamBytes + at, 0, 2);
        loadTile<Weights>(block.wide.weights[group], 64);
        loadTile<activations>(quants, block.input.stride);
        clearTile<products>();
        addBytes<products, activations, Weights>();
        storeTile<products>(dots, 64);
    }

    /// Adds the products to those of the groups before, which lie in `out`. While some are added
    /// up, the next ones are made. `count`: at most Rows; what is made of others is not written.
    template <int Rows, bool IsWhole> static void addRows(const Block& block, int count) {
        alignas(64) Dots dots[kAhead + 1];
        const std::size_t stride = block.out.stride;
        float* const to = block.out.values + static_cast<std::size_t>(block.row) * stride;
        __m512 sums[Rows];
        for (int m = 0; m < Rows; ++m)
            sums[m] = block.firstGroup == 0 || (!IsWhole && m >= count)
                          ? _mm512_setzero_ps()
                          : _mm512_loadu_ps(to + static_cast<std::size_t>(m) * stride);
        for (int group = 0; group < block.groups + kAhead; ++group) {
            if (group < block.groups)
                makeDots<IsWhole>(block, group, dots[group % (kAhead + 1)]);
            const int made = group - kAhead;
            if (made >= 0)
                addGroup<Rows, IsWhole>(block, made, count, dots[made % (kAhead + 1)], sums);
        }
        for (int m = 0; m < Rows; ++m)
            if (IsWhole || m < count)
                _mm512_storeu_ps(to + static_cast<std::size_t>(m) * stride, sums[m]);
    }

    template <int Rows, bool IsWhole>
    static void
    addGroup(const Block& block, int group, int count, const Dots& dots, __m512 (&sums)[Rows]) {
        const TileInput& in = block.input;
        const __m512 scale = _mm512_load_ps(block.wide.scales[group]);
        const std::size_t at =
            static_cast<std::size_t>((block.firstGroup + group) * GroupColumns / kGroupColumns) *
                in.columnStride +
            static_cast<std::size_t>(block.row);
        for (int m = 0; m < Rows; ++m) {
            const int row = IsWhole || m < count ? m : 0;
            const __m512 dot = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_load_si512(dots[m])),
                                             _mm512_set1_ps(in.scaleColumns[at + row]));
            sums[m] = _mm512_fmadd_ps(scale, dot, sums[m]);
            if constexpr (HasMinima)
                sums[m] = _mm512_fmadd_ps(_mm512_load_ps(block.wide.minima[group]),
                                          _mm512_set1_ps(in.sumColumns[at + row]),
                                          sums[m]);
        }
    }
};

} // namespace

void multiplyQuantTilesAmx(const TileMatrix& matrix,
                           const TileInput& input,
                           int firstTile,
                           int tileCount,
                           const TileOutput& out) {
    if (input.rows < kLeastRows)
        return multiplyFewQuantRowsAmx(matrix, input, firstTile, tileCount, out);
    quantKernel<AmxQuants>(matrix)(matrix, input, firstTile, tileCount, out);
}

} // namespace engine
