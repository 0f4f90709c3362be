// SPDX-License-Identifier: Apache-2.0
// What a pass is told: the list of operations, sizes, buffers and tables. Plain values that host
// and kernels read alike.
#pragma once

#include <cstdint>

namespace backend_cuda {

constexpr int kThreads = 256;    // of a block
constexpr int kWarps = 8;        // of a block
constexpr int kStrip = 128;      // outputs that a block finishes together
constexpr int kSlab = 512;       // columns over which a sum is cut
constexpr int kMaxRows = 64;     // of a launch
constexpr int kMaxRowsF32 = 16;  // of a launch with float32 weights
constexpr int kSectionKeys = 64; // keys over which attention is cut
constexpr int kTop = 10;         // best tokens of a summary
constexpr int kStepBytes = 512;  // of one step of a warp: 16 bytes a lane
constexpr int kSteps = 4;        // of a chunk at most
constexpr int kGroup = 32;       // columns that share a scale of the rows
constexpr unsigned kAllFinite = 0xffffffffU;

constexpr int kMostExperts = 256;
constexpr int kWidestHead = 256; // numbers

enum class Kind : int {
    Begin,
    Linear,
    Turn,
    Attend,
    Join,
    Choose,
    AddNormed,
    HandOut,
    HeadJoin,
    Read
};
/// Of numbers in memory: weights, and the first three of keys and values.
enum class Form : int { F32, Bf16, F16, Int8, Int4 };
enum class Input : int { Stream, HeadRows, Context, Inner };
enum class Output : int { Projected, AddToStream, Added, Gate, Router, AddedExpert, Logits };

constexpr bool isQuantised(Form form) { return form == Form::Int8 || form == Form::Int4; }

/// Columns of a record: what lies together of a warp's 16 outputs.
constexpr int recordColumns(Form form) {
    return isQuantised(form) ? 128 : form == Form::F32 ? 32 : 64;
}

/// Chunks of a record: what a warp reads at once.
constexpr int recordChunks(Form form) { return form == Form::Int8 ? 2 : 1; }

constexpr int chunkSteps(Form form) { return isQuantised(form) ? 2 : kSteps; }

/// A matrix in the order in which a pass reads it: [slab][strip][record][warp][bytes of a record].
/// A record is [32 lanes][scaleBytes] and [steps][32 lanes][16 B]. Outputs are filled up to whole
/// strips, columns to whole records, with zeros. stored_weights.h tells which number lies where.
struct DeviceMatrix {
    const void* weights = nullptr;
    int outputs = 0;
    int columns = 0;
    int records = 0; // of a strip
    int strips = 0;
    int slabs = 0;
    Form form = Form::Bf16;
    // Of quantised forms, in which a weight is scale * number + minimum:
    int scaleBytes = 0;    // of a lane and record; 0: not quantised
    int hasWideScales = 0; // float32; else float16
    int hasMinima = 0;     // for each group of 32 columns
    int bySixteens = 0;    // a scale for each 16 columns, and no minima; else for each group
};

constexpr int recordBytes(const DeviceMatrix& matrix) {
    return 32 * matrix.scaleBytes +
           recordChunks(matrix.form) * chunkSteps(matrix.form) * kStepBytes;
}

struct Operation {
    Kind kind = Kind::Begin;
    Input input = Input::Stream;
    Output output = Output::Projected;
    int layer = 0;       // of the cache
    int sublayer = 0;    // attentions, then MLPs
    int window = 0;      // keys that a row sees; 0: all
    int rope = 0;        // which angles
    int index = 0;       // of a hand-out, or of an expert; of Read pieces of 16 bytes
    int offset = 0;      // rotates the blocks' shares
    int firstOutput = 0; // where the outputs begin in `projected`
    float scale = 1.0F;
    DeviceMatrix matrix = {};
    const float* bias = nullptr;    // [strips * kStrip] or null
    const float* norm = nullptr;    // padded by zeros, or null
    const float* keyNorm = nullptr; // of Turn, whose `norm` is that of queries
};

/// Neighbouring rows that see in a section a beginning of the next one's keys there.
struct Part {
    int row = 0;
    int rows = 0;
    int section = 0;
};

struct Move {
    int from = 0;
    int to = 0;
};

/// The best of one strip of logits, and the sum of exp over the strip.
struct HeadPartial {
    float logits[kTop];
    int ids[kTop];
    float highest;
    float sum; // of exp(logit - highest)
};

/// The same of a row.
struct HeadResult {
    double sum;
    float highest;
    float logits[kTop];
    int ids[kTop];
};

struct PassArguments {
    // The list.
    const Operation* operations = nullptr;
    int first = 0;
    int end = 0;

    // The network.
    int hidden = 0;
    int hiddenStrips = 0;
    int innerStride = 0;
    int heads = 0;
    int kvHeads = 0;
    int headDim = 0;
    int headWidth = 0; // headDim filled up to 64, 128 or 256
    int vocab = 0;
    int vocabStrips = 0;
    int isSilu = 1;
    int fullWidthNorm = 0; // of queries and keys
    int experts = 0;
    int usedExperts = 0;
    int renormalises = 0;
    int half[3] = {}; // pairs that are turned, by rope
    float epsilon = 0.0F;
    float scoreScale = 0.0F;
    float scoreCap = 0.0F;
    float logitScale = 1.0F;
    float logitCap = 0.0F;
    float embeddingScale = 1.0F;
    DeviceMatrix embedding = {};

    // The rows of this launch.
    int rows = 0;
    const int* tokens = nullptr;     // [rows], or null
    const float* given = nullptr;    // [rows, hidden], the stream of a resumed pass, or null
    const int* counts = nullptr;     // [rows] keys seen: position + 1
    const int* prefixes = nullptr;   // [rows]
    const int* pathStarts = nullptr; // [rows]
    const int* pathSlots = nullptr;  // behind the prefix, by position
    const float* cosines[3] = {};    // [rows, half] by rope
    const float* sines[3] = {};      // the same
    const Part* parts = nullptr;     // [partCount]
    const int* headRows = nullptr;   // [headCount]
    const Move* moves = nullptr;     // [moveCount]
    int partCount = 0;
    int mostSections = 0;
    int headCount = 0;
    int logitCount = 0; // the first ones of headRows
    int moveCount = 0;

    // The cache: [layer][keys, values][kvHeads][capacity][headWidth].
    char* cache = nullptr;
    int capacity = 0;
    int firstSlot = 0;
    int layers = 0;
    Form kvForm = Form::F16;

    // Workspaces.
    int rowStride = 8;        // rows that a unit's partial sums have room for
    float* stream = nullptr;  // [rows, hiddenStrips * kStrip]
    float* squares = nullptr; // [rows, hiddenStrips]
    float* added = nullptr;   // as stream
    float* addedSquares = nullptr;
    float* projected = nullptr; // [rows, projectedStride()]
    float* inner = nullptr;     // [rows, innerStride]
    float* routed = nullptr;    // [rows, kMostExperts] logits, then weights, -1: not chosen
    float* context = nullptr;   // [rows, contextStride()]
    char* queries = nullptr;    // [rows, heads, headWidth] in kvForm
    float* sums = nullptr;      // [rows, heads, mostSections, headWidth]
    float* totals = nullptr;    // [rows, heads, mostSections, 2]: highest, sum of exp
    float* partials = nullptr;  // [units, rowStride, kStrip]
    float* logits = nullptr;    // [logitCount, vocabStrips * kStrip]
    float* handOuts = nullptr;  // [handOuts, rows, hidden]
    float* influence = nullptr; // [2 layers, rows, hiddenStrips, 2], or null
    HeadPartial* headPartials = nullptr; // [headCount, vocabStrips]
    HeadResult* headResults = nullptr;   // [headCount]
    unsigned* arrivals = nullptr;        // [strips], zero between launches
    unsigned* barrier = nullptr;
    unsigned barrierStart = 0;
    /// First place that is not finite: (operation * 4 + tensor) * 64 + row; else kAllFinite.
    unsigned* flag = nullptr;
};

/// Numbers of a row of `projected`.
constexpr int projectedStride(const PassArguments& pass) {
    return ((pass.heads + 2 * pass.kvHeads) * pass.headWidth + kStrip - 1) / kStrip * kStrip;
}

/// Numbers of a row of `context`.
constexpr int contextStride(const PassArguments& pass) {
    return (pass.heads * pass.headDim + 3) / 4 * 4;
}

constexpr int kPlaceRows = 64;
constexpr int kPlaceTensors = 4;

/// Chunks that a thread asks for ahead, by compute capability times ten.
constexpr int ringSlots(int capability) {
    if (capability == 90 || capability == 100 || capability == 103)
        return 8;
    return capability == 80 || capability == 87 ? 4 : 2;
}

/// Dynamic shared memory of a block: the ring, the staged rows (quantised ones take less than
/// these) or what attention hands over, and one number a thread.
constexpr int sharedBytes(int tiles, int ringSlots) {
    const int ring = ringSlots * kSteps * kThreads * 16;
    const int staged = 8 * tiles * (kSlab + 8) * (tiles <= 2 ? 4 : 2);
    const int handedOver = 2 * (kStrip / 2 + 4) * 32 * 4;
    return ring + (staged > handedOver ? staged : handedOver) + kThreads * 4 + 16;
}

} // namespace backend_cuda
