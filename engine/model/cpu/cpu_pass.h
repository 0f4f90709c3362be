// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/cpu/linear_group.h"
#include "engine/model/expert_choice.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace engine::cpu {

/// The operations of one layer, cut for the threads. Experts take the place of gateUp and down.
struct LayerOperations {
    LinearGroup queryKeyValue;
    LinearGroup output;
    LinearGroup gateUp;
    LinearGroup down;
    LinearGroup router;
    InputForms expertInput; // of every expert's gate and up
    InputForms expertInner; // of every expert's down

    bool hasExperts() const { return !router.pieces().empty(); }

    const LinearGroup& firstOfMlp() const { return hasExperts() ? router : gateUp; }
};

/// How layers of one kind turn the rows of a pass; the queries' numbers carry the scores' scale.
struct AngleTable {
    int half = 0;                                // pairs that are turned
    std::vector<float> cosines, sines;           // [rows, half]
    std::vector<float> queryCosines, querySines; // likewise
};

/// Rows that chose the same expert, one behind the other in the experts' memory.
struct ExpertRows {
    int expert;
    int first;
    int count;
};

/// Some tiles of an expert's matrices, for the rows of one entry of Workspace::expertRows.
struct ExpertPiece {
    int entry;
    int firstTile;
    int tileCount;
};

/// Tiles of the head that follow each other and are summarised together.
struct HeadPiece {
    int firstTile;
    int tileCount;
};

/// Memory of layers with experts; a row has `used` places in it.
struct ExpertSpace {
    OutputRows logits;                                    // [rows, experts]
    std::vector<std::vector<ChosenExpert<float>>> chosen; // [rows]
    std::vector<ExpertRows> rows;                         // by expert
    std::vector<int> places;                              // [rows, used], in the order of `chosen`
    std::vector<int> rowOfPlace;                          // [rows * used]
    std::vector<ExpertPiece> pieces;
    ActivationRows in;    // [rows * used, hidden]
    ActivationRows inner; // [rows * used, size]
    OutputRows gate, up, out;
};

/// Part of a plan: one sublayer that runs, or a place where the stream is handed out.
struct Operation {
    enum class Kind : std::uint8_t { Attention, Mlp, HandOut };

    Kind kind;
    int layer;
    HiddenRows* handOut = nullptr;
};

/// Rows that see the same keys, and a section of those; or rows over all of their keys.
struct AttendPart {
    int firstRow;
    int rowCount;
    int section; // -1: all
    int place;   // of the first row's sums
};

/// How attention is cut, the same for each kv head: sections that all rows see, then for each row
/// the others; or neighbouring rows of a prompt.
struct AttendCut {
    std::vector<AttendPart> parts;
    std::vector<int> sectionCounts; // [rows]
    std::vector<int> ownPlaces;     // [rows]: of the sums of the first section that is not shared
    int sharedSections = 0;
    int placeCount = 0;
    bool isByRows = false; // parts are neighbouring rows
};

/// Parts of a kv head's attention that are not done yet, on a cache line of their own.
struct alignas(64) PartsLeft {
    std::atomic<int> count = 0;
};

/// A thread's memory for the sections of one row and kv head.
struct SectionSpace {
    std::vector<float> values;       // [sections, group * headDim]
    std::vector<AttendTotal> totals; // [sections, group]
    std::vector<AttendSums> sums;    // [sections]
};

/// Memory that passes work in, used again by each. It grows with the widest pass seen.
struct Workspace {
    AlignedBuffer<float> stream; // [rows, streamStride], the residual stream
    std::size_t streamStride = 0;
    ActivationRows joined;  // [rows, 2 * hidden], what a network that drafts reads
    std::vector<float> row; // [hidden]
    ActivationRows normed;  // [rows, hidden]
    ActivationRows context; // [rows, heads * headDim]
    ActivationRows inner;   // [rows, mlp]
    OutputRows queries, keys, values, gate, up, added;
    std::array<AngleTable, 3> angles; // by LayerRope
    ExpertSpace experts;
    std::vector<KeyRun> runs;         // of all rows, one behind the other
    std::vector<std::size_t> runEnds; // [rows]
    AttendCut attendCut;
    AlignedBuffer<float> rowQueries;                     // [kv heads, rows, group * headDim]
    std::vector<PartsLeft> attendLeft;                   // [kv heads]
    std::vector<std::span<const std::byte>> attendReads; // as WorkerPool::NextReads
    std::vector<float> sectionValues;                    // [kv heads, places, group * headDim]
    std::vector<AttendTotal> sectionTotals;              // [kv heads, places, group]
    int runsWindow = -1;                                 // the window they were made for
    std::vector<std::vector<float>> attendScratch;       // [threads]
    std::vector<SectionSpace> sectionSpaces;             // [threads]
    std::vector<std::vector<float>> logitScratch;        // [threads]
    std::vector<HeadPartial> partials;                   // [rows, headPieces]
    std::vector<std::uint8_t> isRowFinite;               // [rows]
    std::vector<double> rowInfluence;                    // [rows]
    std::vector<Operation> operations;
    std::vector<int> headRows; // rows whose head is wanted, each once
    std::vector<HeadPiece> headPieces;
    std::vector<std::span<const std::byte>> headReads; // as WorkerPool::NextReads
};

} // namespace engine::cpu
