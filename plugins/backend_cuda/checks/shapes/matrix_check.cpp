// SPDX-License-Identifier: Apache-2.0
#include "engine/base/counter_random.h"
#include "engine/base/to_size.h"
#include "engine/kernels/aligned_buffer.h"
#include "engine/kernels/processor_share.h"
#include "engine/loading/gguf/quantized_blocks.h"
#include "plugins/backend_cuda/checks/shapes/bare_pass.h"
#include "plugins/backend_cuda/checks/shapes/shape_check.h"
#include "plugins/backend_cuda/checks/shapes/whole_number_weights.h"
#include "plugins/backend_cuda/transformer/cuda_weights.h"
#include "plugins/backend_cuda/transformer/weight_packing.h"
#include "plugins/backend_cuda/workspaces/pass_spaces.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace backend_cuda {

using namespace engine;

namespace {

struct MatrixShape {
    int outputs;
    int columns;
};

struct MatrixCase {
    MatrixShape shape;
    TensorType stored;
    int rows; // that are computed at once, besides one alone
    bool isHead;
};

constexpr MatrixShape kLayerShapes[] = {
    {960, 576},   {576, 576},    {3072, 576},   {576, 1536}, // SmolLM2 135M
    {1600, 960},  {5120, 960},   {960, 2560},                // SmolLM2 360M
    {3072, 2048}, {16384, 2048}, {2048, 8192},               // Llama 3.2 1B
    {2048, 1536}, {17920, 1536}, {1536, 8960},               // Qwen2.5 1.5B
    {6144, 4096}, {28672, 4096}, {4096, 14336},              // Llama 3.1 8B
    {4608, 3584}, {37888, 3584}, {3584, 18944},              // Qwen2.5 7B
    {8192, 8192}, {8192, 28672},                             // Llama 3.1 70B
};
/// In bfloat16 the last one has more bytes than 31 bits count.
constexpr MatrixShape kHeadShapes[] = {
    {49152, 576}, {32000, 4096}, {128256, 2048}, {151936, 1536}, {152064, 3584}, {152000, 8192}};
/// Besides bfloat16.
constexpr TensorType kLayerTypes[] = {TensorType::F32,
                                      TensorType::F16,
                                      TensorType::Q8_0,
                                      TensorType::Q5_1,
                                      TensorType::Q6_K,
                                      TensorType::Q4_0,
                                      TensorType::Q4_1,
                                      TensorType::Q4_K};
constexpr TensorType kHeadTypes[] = {TensorType::Q8_0, TensorType::Q6_K, TensorType::Q4_K};
constexpr int kTypesOfLayer = 3; // of these
constexpr int kHeadRowCount = 9;

/// Each form once, each kernel, and widths that fill neither strips, slabs nor records evenly.
constexpr MatrixCase kFewCases[] = {{{960, 576}, TensorType::F16, 17, false},
                                    {{576, 1536}, TensorType::F32, 3, false},
                                    {{1600, 960}, TensorType::Q5_1, 33, false},
                                    {{960, 2560}, TensorType::Q8_0, 9, false},
                                    {{2048, 8192}, TensorType::Q4_1, 2, false},
                                    {{3072, 2048}, TensorType::Q4_K, 1, false},
                                    {{1536, 8960}, TensorType::Q6_K, 1, false},
                                    {{4096, 14336}, TensorType::BF16, 1, false},
                                    {{32000, 576}, TensorType::Q4_0, 1, true},
                                    {{152000, 192}, TensorType::BF16, 2, true}};

/// Matrices repeat themselves behind so many outputs, so that few of them are made. The bytes of
/// these are no divisor of a power of two, so an address that is cut off leads to other numbers.
constexpr int kMadeOutputs = 5 * kStrip;

constexpr int kComparedOutputs = 48;

/// Logits are no whole numbers, so that exponentials differ; a power of two keeps them exact.
constexpr float kLogitFactor = 0x1.0p-12F;

std::vector<MatrixCase> matrixCasesOf(ShapeSample sample) {
    if (sample == ShapeSample::Few)
        return std::vector<MatrixCase>(std::begin(kFewCases), std::end(kFewCases));
    std::vector<MatrixCase> cases;
    const auto add = [&cases](const MatrixShape& shape, TensorType type, int rows, bool isHead) {
        if (toSize(shape.columns) % blockLayout(type).values == 0)
            cases.push_back({shape, type, rows, isHead});
    };
    std::size_t turn = 0; // every form of every shape would take a minute
    for (const MatrixShape& shape : kLayerShapes) {
        add(shape, TensorType::BF16, kMaxRows, false);
        for (int i = 0; i < kTypesOfLayer; ++i) {
            const TensorType type = kLayerTypes[turn++ % std::size(kLayerTypes)];
            add(shape, type, type == TensorType::F32 ? kMaxRowsF32 : kMaxRows, false);
        }
    }
    for (const MatrixShape& shape : kHeadShapes) {
        add(shape, TensorType::BF16, kHeadRowCount, true);
        add(shape, kHeadTypes[turn++ % std::size(kHeadTypes)], kHeadRowCount, true);
    }
    return cases;
}

/// A number of a row: small, but for one of 127 in each group. A row that is rounded to 8 bits is
/// then rounded to itself. No sum with the weights reaches 2^24.
int rowNumber(int row, int column) {
    const std::uint64_t group = mixBits(mixBits(toSize(row)) ^ toSize(column / kGroup));
    if (column % kGroup == static_cast<int>(group % kGroup))
        return (group >> 32U) % 2 == 0 ? 127 : -127;
    return static_cast<int>(mixBits(group + toSize(column)) % 7) - 3;
}

/// The first output, the last one, and some in between.
int comparedOutput(int index, int outputs) {
    if (index < 2)
        return index == 0 ? 0 : outputs - 1;
    return static_cast<int>(mixBits(toSize(index)) % toSize(outputs));
}

/// Packs the outputs that are made as a load packs them, and sends them to every place in which
/// they are repeated.
Result<void> sendRepeated(Device& device,
                          WorkerPool& pool,
                          const WholeNumberWeights& weights,
                          const TileFormat& format,
                          const DeviceMatrix& matrix,
                          std::byte* to) {
    const int outputs = static_cast<int>(weights.matrix().rows());
    TileMatrix tiles = engine::outlineMatrix(format, outputs, matrix.columns);
    AlignedBuffer<std::byte> memory;
    memory.reserve(engine::matrixBytes(tiles));
    tiles.data = memory.data();
    ENGINE_TRY_DO(engine::packMatrix(weights, weights.matrix(), format, memory.data()));
    const DeviceMatrix made = backend_cuda::outlineMatrix(outputs, matrix.columns, format);
    const std::vector<std::byte> packed = backend_cuda::packMatrix(
        made,
        [&tiles](int output) {
            return TileRow{&tiles, output};
        },
        pool);
    ENGINE_CHECK(!packed.empty(), "whole numbers that do not fit into their form");
    const std::size_t bytes = toSize(recordBytes(made)) * kWarps;
    const int slabRecords = kSlab / recordColumns(made.form);
    for (int first = 0; first < made.records; first += slabRecords) {
        const int records = std::min(slabRecords, made.records - first);
        const auto piece = std::span(packed).subspan(toSize(first) * toSize(made.strips) * bytes,
                                                     toSize(records) * toSize(made.strips) * bytes);
        std::byte* const slab = to + toSize(first) * toSize(matrix.strips) * bytes;
        for (int strip = 0; strip < matrix.strips; strip += made.strips) {
            const int strips = std::min(made.strips, matrix.strips - strip);
            ENGINE_TRY_DO(device.upload(slab + toSize(strip) * toSize(records) * bytes,
                                        piece.first(toSize(strips) * toSize(records) * bytes)));
        }
    }
    return {};
}

/// What a matrix gives for some rows.
struct MatrixNumbers {
    std::vector<float> outputs; // [rows, strips * kStrip]
    std::vector<HeadResult> heads;
};

Result<MatrixNumbers> multiply(BarePass& pass, const DeviceMatrix& matrix, int rows, bool isHead) {
    const int strips = (matrix.columns + kStrip - 1) / kStrip;
    std::vector<float> input(toSize(rows) * toSize(strips) * kStrip);
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < matrix.columns; ++column)
            input[toSize(row) * toSize(strips) * kStrip + toSize(column)] =
                static_cast<float>(rowNumber(row, column));
    ENGINE_TRY(float* const from, pass.upload(input));
    const Kernel kernel = kernelFor(rows);
    const std::size_t count = toSize(rows) * toSize(matrix.strips) * kStrip;
    ENGINE_TRY(float* const to, pass.reserve<float>(count));
    PassArguments arguments;
    arguments.rows = rows;
    arguments.rowStride = 8 * tilesOf(kernel);
    ENGINE_TRY(arguments.partials,
               pass.reserve<float>(toSize(matrix.strips) * toSize(matrix.slabs) *
                                   toSize(arguments.rowStride) * kStrip));
    std::vector<Operation> operations(1);
    operations[0].kind = Kind::Linear;
    operations[0].matrix = matrix;
    if (!isHead) {
        operations[0].input = Input::Inner;
        arguments.inner = from;
        arguments.innerStride = strips * kStrip;
        arguments.projected = to; // whose width is that of heads
        arguments.heads = matrix.strips;
        arguments.headWidth = kStrip;
        ENGINE_TRY_DO(pass.run(kernel, operations, arguments));
        ENGINE_TRY(std::vector<float> outputs, pass.download<float>(to, count));
        return MatrixNumbers{std::move(outputs), {}};
    }
    std::vector<int> headRows(toSize(rows));
    std::iota(headRows.begin(), headRows.end(), 0);
    operations[0].input = Input::HeadRows;
    operations[0].output = Output::Logits;
    operations.emplace_back().kind = Kind::HeadJoin;
    arguments.stream = from;
    arguments.hiddenStrips = strips;
    arguments.vocab = matrix.outputs;
    arguments.vocabStrips = matrix.strips;
    arguments.logitScale = kLogitFactor;
    arguments.logits = to;
    arguments.headCount = rows;
    arguments.logitCount = rows;
    ENGINE_TRY(arguments.headRows, pass.upload(headRows));
    ENGINE_TRY(arguments.headPartials,
               pass.reserve<HeadPartial>(toSize(rows) * toSize(matrix.strips)));
    ENGINE_TRY(arguments.headResults, pass.reserve<HeadResult>(toSize(rows)));
    ENGINE_TRY_DO(pass.run(kernel, operations, arguments));
    ENGINE_TRY(std::vector<float> logits, pass.download<float>(to, count));
    ENGINE_TRY(std::vector<HeadResult> heads,
               pass.download<HeadResult>(arguments.headResults, toSize(rows)));
    return MatrixNumbers{std::move(logits), std::move(heads)};
}

/// Whether the outputs that are compared are those of whole numbers.
Result<bool> areOutputsRight(const WholeNumberWeights& weights,
                             const MatrixCase& tested,
                             int rows,
                             const std::vector<float>& found) {
    const auto [outputs, columns] = tested.shape;
    const std::size_t stride = found.size() / toSize(rows);
    std::vector<std::vector<int>> inputs(toSize(rows));
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column)
            inputs[toSize(row)].push_back(rowNumber(row, column));
    std::vector<float> stored(toSize(columns));
    std::vector<int> numbers(toSize(columns));
    for (int index = 0; index < kComparedOutputs; ++index) {
        const int output = comparedOutput(index, outputs);
        ENGINE_TRY_DO(weights.readRows(weights.matrix(), toSize(output % kMadeOutputs), 1, stored));
        std::transform(stored.begin(), stored.end(), numbers.begin(), [](float number) {
            return static_cast<int>(number);
        });
        for (std::size_t row = 0; row < inputs.size(); ++row) {
            int sum = 0;
            for (std::size_t column = 0; column < numbers.size(); ++column)
                sum += numbers[column] * inputs[row][column];
            const float expected = static_cast<float>(sum) * (tested.isHead ? kLogitFactor : 1.0F);
            if (found[row * stride + toSize(output)] != expected)
                return false;
        }
    }
    return true;
}

/// Whether the best tokens and the normaliser are those of these logits.
bool isHeadRight(std::span<const float> logits, const HeadResult& head) {
    std::vector<int> ids(logits.size());
    std::iota(ids.begin(), ids.end(), 0);
    const auto logitOf = [logits](int id) { return logits[toSize(id)]; };
    std::partial_sort(ids.begin(), ids.begin() + kTop, ids.end(), [&logitOf](int a, int b) {
        return logitOf(a) != logitOf(b) ? logitOf(a) > logitOf(b) : a < b;
    });
    for (std::size_t rank = 0; rank < kTop; ++rank)
        if (head.ids[rank] != ids[rank] || head.logits[rank] != logitOf(ids[rank]))
            return false;
    const float highest = logitOf(ids.front());
    double sum = 0.0;
    for (const float logit : logits)
        sum += std::exp(static_cast<double>(logit) - static_cast<double>(highest));
    constexpr double kNear = 1e-5; // of float32 exponentials
    return head.highest == highest && std::abs(head.sum - sum) <= kNear * sum;
}

Result<void>
testMatrix(const std::shared_ptr<Device>& device, WorkerPool& pool, const MatrixCase& tested) {
    const auto [outputs, columns] = tested.shape;
    const TileFormat format = formatOf(tested.stored, std::nullopt);
    DeviceMatrix matrix = backend_cuda::outlineMatrix(outputs, columns, format);
    const std::size_t numbers = // of partial sums, of outputs, and of rows
        8 * toSize(tilesOf(kernelFor(tested.rows))) *
        (toSize(matrix.strips) * (toSize(matrix.slabs) + 1) * kStrip + toSize(columns) + kStrip);
    ENGINE_TRY(const std::uint64_t isFree, device->freeBytes());
    if (matrixBytes(matrix) + numbers * sizeof(float) > isFree / 2)
        return {};
    const WholeNumberWeights weights(tested.stored, std::min(outputs, kMadeOutputs), columns);
    ENGINE_TRY(BarePass pass, BarePass::make(device, matrix.strips));
    ENGINE_TRY(std::byte* const memory, pass.reserve<std::byte>(matrixBytes(matrix)));
    ENGINE_TRY_DO(sendRepeated(*device, pool, weights, format, matrix, memory));
    matrix.weights = memory;
    for (const int rows : std::set<int>{1, tested.rows}) {
        ENGINE_TRY(const MatrixNumbers found, multiply(pass, matrix, rows, tested.isHead));
        ENGINE_TRY(bool isRight, areOutputsRight(weights, tested, rows, found.outputs));
        const std::size_t stride = found.outputs.size() / toSize(rows);
        for (std::size_t row = 0; row < found.heads.size(); ++row)
            isRight = isRight &&
                      isHeadRight(std::span(found.outputs).subspan(row * stride, toSize(outputs)),
                                  found.heads[row]);
        if (!isRight)
            return Error{ErrorCode::Device,
                         fmt::format("The GPU {} computes a matrix of {} x {} numbers ({}; rows at "
                                     "once: {}) wrongly, so its answers cannot be trusted.",
                                     device->facts().name,
                                     outputs,
                                     columns,
                                     tileFormatName(format),
                                     rows),
                         "Try another driver of NVIDIA, or compute with --backend cpu."};
    }
    return {};
}

} // namespace

Result<void> testMatrices(const std::shared_ptr<Device>& device, ShapeSample sample) {
    WorkerPool pool(usefulThreads(0));
    for (const MatrixCase& tested : matrixCasesOf(sample)) {
        Result<void> done = testMatrix(device, pool, tested);
        // Other programs may have taken the memory meanwhile; that says nothing of the numbers.
        if (!done && done.error().code != ErrorCode::NoMemory)
            return done;
    }
    return {};
}

Result<void> testShapes(const std::shared_ptr<Device>& device, ShapeSample sample) {
    ENGINE_TRY_DO(testMatrices(device, sample));
    return testAttention(device, sample);
}

} // namespace backend_cuda
