// SPDX-License-Identifier: Apache-2.0
#include "engine/base/counter_random.h"
#include "engine/base/to_size.h"
#include "engine/loading/gguf/quantized_blocks.h"
#include "plugins/backend_cuda/checks/shapes/bare_pass.h"
#include "plugins/backend_cuda/checks/shapes/shape_check.h"
#include "plugins/backend_cuda/transformer/cuda_weights.h"
#include "plugins/backend_cuda/transformer/pass_tables.h"
#include "plugins/backend_cuda/workspaces/pass_spaces.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace backend_cuda {

using namespace engine;

namespace {

struct AttentionCase {
    int headDim;
    int group; // queries to a key
    Form form; // of queries, keys and values
    int keys;
    int rows; // the last ones
};

constexpr int kHeadDims[] = {64, 96, 128, 256};
constexpr int kGroups[] = {1, 3, 4, 7, 8};
constexpr Form kKvForms[] = {Form::F32, Form::F16, Form::Bf16};
constexpr int kKeyHeads = 2;
constexpr int kUnusedSlots = 5; // of the cache, behind the keys
constexpr int kTestedKeys = 700;
constexpr int kTestedRows = 9;

/// Each width and each group once.
constexpr AttentionCase kFewAttentions[] = {{64, 3, Form::F16, 130, 9},
                                            {96, 1, Form::Bf16, 70, 3},
                                            {128, 7, Form::F16, 100, 3},
                                            {256, 4, Form::Bf16, 66, 2},
                                            {96, 8, Form::F32, 130, 2}};

std::vector<AttentionCase> attentionCasesOf(ShapeSample sample) {
    if (sample == ShapeSample::Few)
        return std::vector<AttentionCase>(std::begin(kFewAttentions), std::end(kFewAttentions));
    std::vector<AttentionCase> cases;
    for (const int headDim : kHeadDims)
        for (const int group : kGroups)
            for (const Form form : kKvForms)
                cases.push_back({headDim, group, form, kTestedKeys, kTestedRows});
    return cases;
}

/// What weights that are rounded to the form lose, several times over.
double toleranceOf(Form form) { return form == Form::F32 ? 1e-5 : form == Form::F16 ? 2e-3 : 1e-2; }

std::string_view nameOfForm(Form form) {
    return form == Form::F32 ? "float32" : form == Form::F16 ? "float16" : "bfloat16";
}

/// Numbers as the cache has them, and what they are worth.
class RoundedNumbers {
public:
    explicit RoundedNumbers(Form form)
        : m_form(form) {}

    void add(float value) {
        if (m_form == Form::F32) {
            append(value);
            numbers.push_back(value);
            return;
        }
        const std::uint16_t bits =
            m_form == Form::F16 ? halfFromFloat(value) : bfloat16FromFloat(value);
        append(bits);
        numbers.push_back(m_form == Form::F16 ? floatFromHalf(bits) : floatFromBfloat16(bits));
    }

    std::vector<std::byte> bytes;
    std::vector<float> numbers;

private:
    template <typename Stored> void append(Stored stored) {
        bytes.resize(bytes.size() + sizeof stored);
        std::memcpy(bytes.data() + bytes.size() - sizeof stored, &stored, sizeof stored);
    }

    Form m_form;
};

/// A number between -1 and 1.
float madeUpNumber(std::uint64_t place) {
    return static_cast<float>(mixBits(place) >> 40U) * 0x1.0p-23F - 1.0F;
}

/// Queries, keys and values of a case. Heads are filled up by zeros; slots that no row sees hold no
/// numbers.
struct MadeUpHeads {
    explicit MadeUpHeads(const AttentionCase& tested)
        : queries(tested.form)
        , cache(tested.form) {
        ModelConfig config;
        config.headDim = tested.headDim;
        width = headWidthOf(config);
        heads = kKeyHeads * tested.group;
        capacity = tested.keys + kUnusedSlots;
        // Scores of a size that makes some keys weigh much more than others.
        const float size = 6.0F / std::sqrt(static_cast<float>(tested.headDim));
        std::uint64_t place = 0;
        for (int head = 0; head < tested.rows * heads; ++head)
            for (int at = 0; at < width; ++at)
                queries.add(at < tested.headDim ? size * madeUpNumber(place++) : 0.0F);
        for (int plane = 0; plane < 2 * kKeyHeads; ++plane)
            for (int slot = 0; slot < capacity; ++slot)
                for (int at = 0; at < width; ++at)
                    cache.add(slot >= tested.keys   ? std::numeric_limits<float>::quiet_NaN()
                              : at < tested.headDim ? madeUpNumber(place++)
                                                    : 0.0F);
    }

    const float* query(int row, int head) const {
        return queries.numbers.data() +
               (toSize(row) * toSize(heads) + toSize(head)) * toSize(width);
    }

    /// `isValue` 0: the key.
    const float* stored(int isValue, int keyHead, int slot) const {
        const std::size_t plane = toSize(isValue) * kKeyHeads + toSize(keyHead);
        return cache.numbers.data() + (plane * toSize(capacity) + toSize(slot)) * toSize(width);
    }

    int width = 0;
    int heads = 0;
    int capacity = 0;
    RoundedNumbers queries; // [rows, heads, width]
    RoundedNumbers cache;   // [keys, values][kKeyHeads][capacity][width]
};

/// One head of a row that sees so many keys, in float64.
std::vector<double>
attentionOf(const AttentionCase& tested, const MadeUpHeads& made, int row, int head, int seen) {
    const int keyHead = head / tested.group;
    std::vector<double> weights;
    for (int slot = 0; slot < seen; ++slot) {
        double score = 0.0;
        for (int at = 0; at < tested.headDim; ++at)
            score += static_cast<double>(made.query(row, head)[at]) *
                     static_cast<double>(made.stored(0, keyHead, slot)[at]);
        weights.push_back(score);
    }
    const double highest = *std::max_element(weights.begin(), weights.end());
    double total = 0.0;
    for (double& weight : weights)
        total += weight = std::exp(weight - highest);
    std::vector<double> out(toSize(tested.headDim));
    for (int slot = 0; slot < seen; ++slot)
        for (int at = 0; at < tested.headDim; ++at)
            out[toSize(at)] += weights[toSize(slot)] / total *
                               static_cast<double>(made.stored(1, keyHead, slot)[at]);
    return out;
}

Result<void> testHeads(const std::shared_ptr<Device>& device, const AttentionCase& tested) {
    const MadeUpHeads made(tested);
    const int rows = tested.rows;
    const LayoutTables tables = tablesOf(AttentionLayout::chain(tested.keys - rows, rows), 0, rows);
    ENGINE_TRY(BarePass pass, BarePass::make(device, 0));
    PassArguments arguments;
    arguments.rows = rows;
    arguments.heads = made.heads;
    arguments.kvHeads = kKeyHeads;
    arguments.headDim = tested.headDim;
    arguments.headWidth = made.width;
    arguments.layers = 1;
    arguments.capacity = made.capacity;
    arguments.kvForm = tested.form;
    arguments.partCount = static_cast<int>(tables.parts.size());
    arguments.mostSections = tables.mostSections;
    const std::size_t places = toSize(rows) * toSize(made.heads) * toSize(tables.mostSections);
    const std::size_t stride = toSize(contextStride(arguments));
    ENGINE_TRY(std::byte* const queries, pass.upload(made.queries.bytes));
    ENGINE_TRY(std::byte* const cache, pass.upload(made.cache.bytes));
    arguments.queries = reinterpret_cast<char*>(queries);
    arguments.cache = reinterpret_cast<char*>(cache);
    ENGINE_TRY(arguments.counts, pass.upload(tables.counts));
    ENGINE_TRY(arguments.prefixes, pass.upload(tables.prefixes));
    ENGINE_TRY(arguments.pathStarts, pass.upload(tables.pathStarts));
    ENGINE_TRY(arguments.pathSlots, pass.upload(tables.pathSlots));
    ENGINE_TRY(arguments.parts, pass.upload(tables.parts));
    ENGINE_TRY(arguments.sums, pass.reserve<float>(places * toSize(made.width)));
    ENGINE_TRY(arguments.totals, pass.reserve<float>(places * 2));
    ENGINE_TRY(arguments.context, pass.reserve<float>(toSize(rows) * stride));
    std::vector<Operation> operations(2);
    operations[0].kind = Kind::Attend;
    operations[1].kind = Kind::Join;
    ENGINE_TRY_DO(pass.run(kernelFor(rows), operations, arguments));
    ENGINE_TRY(const std::vector<float> found,
               pass.download<float>(arguments.context, toSize(rows) * stride));
    double difference = 0.0;
    double size = 0.0;
    for (int row = 0; row < rows; ++row)
        for (int head = 0; head < made.heads; ++head) {
            const std::vector<double> right =
                attentionOf(tested, made, row, head, tables.counts[toSize(row)]);
            const float* const own =
                found.data() + toSize(row) * stride + toSize(head) * right.size();
            for (std::size_t at = 0; at < right.size(); ++at) {
                const double off = static_cast<double>(own[at]) - right[at];
                difference += off * off;
                size += right[at] * right[at];
            }
        }
    if (std::sqrt(difference / size) <= toleranceOf(tested.form)) // nothing is near no number
        return {};
    return Error{ErrorCode::Device,
                 fmt::format("The GPU {} computes attention wrongly (heads of {} numbers, {} "
                             "queries to a key, {}), so its answers cannot be trusted.",
                             device->facts().name,
                             tested.headDim,
                             tested.group,
                             nameOfForm(tested.form)),
                 "Try another driver of NVIDIA, or compute with --backend cpu."};
}

} // namespace

Result<void> testAttention(const std::shared_ptr<Device>& device, ShapeSample sample) {
    for (const AttentionCase& tested : attentionCasesOf(sample))
        ENGINE_TRY_DO(testHeads(device, tested));
    return {};
}

} // namespace backend_cuda
