// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/rows/pack_tensors.h"

#include "engine/base/to_size.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainer_torch {

using namespace engine;

namespace {

/// Rows [first, last] of the pack, which a row sees; none where `last` is the lower one.
struct SeenRows {
    int first;
    int last;
};

at::Tensor maskOf(std::span<const SeenRows> rows, std::int64_t slots) {
    at::Tensor mask = at::full({static_cast<std::int64_t>(rows.size()), slots},
                               -std::numeric_limits<float>::infinity(),
                               at::kFloat);
    float* row = mask.mutable_data_ptr<float>();
    for (const SeenRows& seen : rows) {
        if (seen.first <= seen.last)
            std::fill(row + seen.first, row + seen.last + 1, 0.0F);
        row += slots;
    }
    return mask;
}

/// The part of the teacher's distribution that the head of the draft can say.
void readTeacher(const TeacherRow& teacher,
                 const FrozenModel& frozen,
                 std::int64_t* rows,
                 float* parts) {
    for (std::size_t i = 0; i < teacher.ids.size(); ++i) {
        const int row = frozen.headRowOf(teacher.ids[i]);
        if (row >= 0) {
            rows[i] = row;
            parts[i] = static_cast<float>(teacherPart(teacher.logProbabilities[i]));
        }
    }
}

} // namespace

at::Tensor wholeNumbers(std::span<const std::int64_t> values) {
    at::Tensor made = at::empty({static_cast<std::int64_t>(values.size())}, at::kLong);
    std::copy(values.begin(), values.end(), made.mutable_data_ptr<std::int64_t>());
    return made;
}

Angles rotaryAngles(std::span<const double> frequencies,
                    std::span<const int> positions,
                    at::ScalarType type) {
    const auto rows = static_cast<std::int64_t>(positions.size());
    const auto half = static_cast<std::int64_t>(frequencies.size());
    at::Tensor cosines = at::empty({rows, 1, half}, at::kDouble);
    at::Tensor sines = at::empty({rows, 1, half}, at::kDouble);
    auto* cosine = cosines.mutable_data_ptr<double>();
    auto* sine = sines.mutable_data_ptr<double>();
    for (const int position : positions)
        for (const double frequency : frequencies) {
            *cosine++ = std::cos(frequency * position);
            *sine++ = std::sin(frequency * position);
        }
    return {cosines.to(type), sines.to(type)};
}

at::Tensor PackReader::inType(const at::Tensor& values) const {
    return values.to(m_frozen.embedding.scalar_type());
}

at::Tensor PackReader::embeddingOf(std::span<const std::int64_t> tokens) const {
    return m_frozen.embedding.index_select(0, wholeNumbers(tokens));
}

Angles PackReader::anglesOf(std::span<const int> positions) const {
    std::vector<double> frequencies;
    for (int pair = 0; pair < m_sizes.headDim / 2; ++pair)
        frequencies.push_back(std::pow(m_sizes.ropeTheta, -2.0 * pair / m_sizes.headDim));
    return rotaryAngles(frequencies, positions, m_frozen.embedding.scalar_type());
}

DepthTensors
PackReader::readDepth(const Pack& pack, std::span<const TrainingText> texts, int depth) const {
    const std::int64_t count = pack.chainCount(depth);
    const std::size_t width = toSize(m_sizes.hiddenSize);
    DepthTensors made;
    std::vector<int> positions;
    std::vector<std::int64_t> tokens;
    std::vector<SeenRows> seen;
    at::Tensor streams = at::empty({count, m_sizes.hiddenSize}, at::kFloat);
    at::Tensor parts = at::zeros({count, kTeacherTokens}, at::kFloat);
    made.teacherRows = at::zeros({count, kTeacherTokens}, at::kLong);
    auto* stream = streams.mutable_data_ptr<float>();
    auto* part = parts.mutable_data_ptr<float>();
    auto* teacherRow = made.teacherRows.mutable_data_ptr<std::int64_t>();
    for (const PackedChain& chain : std::span(pack.chains).first(toSize(count))) {
        const PackedSlot& slot = pack.slotOf(chain);
        const TrainingText& text = texts[toSize(slot.text)];
        const std::size_t next = toSize(slot.slot + depth);
        positions.push_back(slot.slot + depth - 1);
        tokens.push_back(text.tokens[next]);
        made.following.push_back(text.tokens[next + 1]);
        const int lowest = m_sizes.window > 0 ? chain.row + depth - m_sizes.window : slot.firstRow;
        seen.push_back({std::max(slot.firstRow, lowest), chain.row});
        stream = std::copy_n(text.streams.data() + next * width, width, stream);
        readTeacher(text.teacher[next], m_frozen, teacherRow, part);
        teacherRow += kTeacherTokens;
        part += kTeacherTokens;
    }
    if (depth > 1)
        made.embedding = embeddingOf(tokens);
    made.angles = anglesOf(positions);
    made.mask = inType(maskOf(seen, static_cast<std::int64_t>(pack.rows.size())));
    made.teacherParts = inType(parts);
    made.streams = inType(streams);
    return made;
}

PackTensors
PackReader::read(const Pack& pack, std::span<const TrainingText> texts, int depths) const {
    const auto count = static_cast<std::int64_t>(pack.rows.size());
    const std::size_t width = toSize(m_sizes.hiddenSize);
    PackTensors made;
    std::vector<int> positions;
    std::vector<std::int64_t> tokens;
    std::vector<SeenRows> seen;
    at::Tensor streams = at::empty({count, m_sizes.hiddenSize}, at::kFloat);
    auto* stream = streams.mutable_data_ptr<float>();
    for (const PackedSlot& slot : pack.rows) {
        const TrainingText& text = texts[toSize(slot.text)];
        const int row = static_cast<int>(positions.size());
        const int lowest = m_sizes.window > 0 ? row + 1 - m_sizes.window : slot.firstRow;
        seen.push_back({std::max(slot.firstRow, lowest), row});
        positions.push_back(slot.slot);
        tokens.push_back(text.tokens[toSize(slot.slot + 1)]);
        stream = std::copy_n(text.streams.data() + toSize(slot.slot) * width, width, stream);
    }
    made.streams = inType(streams);
    made.embedding = embeddingOf(tokens);
    made.angles = anglesOf(positions);
    if (m_sizes.layerCount > 1)
        made.mask = inType(maskOf(seen, count));
    std::vector<std::int64_t> rows;
    for (const PackedChain& chain : pack.chains)
        rows.push_back(chain.row);
    made.chainRows = wholeNumbers(rows);
    for (int depth = 1; depth <= depths && pack.chainCount(depth) > 0; ++depth)
        made.depths.push_back(readDepth(pack, texts, depth));
    return made;
}

} // namespace trainer_torch
