// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/training/text_order.h"

#include "engine/base/counter_random.h"
#include "engine/base/result.h"
#include "engine/base/to_size.h"

#include <algorithm>
#include <numeric>

namespace engine {

TextOrder::TextOrder(std::vector<int> rows, int rowsPerStep, std::uint64_t seed)
    : m_rows(std::move(rows))
    , m_rowsPerStep(rowsPerStep)
    , m_seed(seed) {
    ENGINE_CHECK(!m_rows.empty(), "an order of {} texts", m_rows.size());
    sortEpoch();
}

void TextOrder::sortEpoch() {
    m_order.resize(m_rows.size());
    std::iota(m_order.begin(), m_order.end(), 0);
    const auto epoch = static_cast<std::uint64_t>(m_place.epoch);
    std::vector<double> keys(m_rows.size());
    for (std::size_t i = 0; i < keys.size(); ++i)
        keys[i] = counterUniform(m_seed, epoch, static_cast<TokenId>(i));
    std::stable_sort(m_order.begin(), m_order.end(), [&keys](int a, int b) {
        return keys[toSize(a)] < keys[toSize(b)];
    });
}

std::vector<int> TextOrder::next() {
    std::vector<int> taken;
    int rows = 0;
    const auto count = static_cast<std::int64_t>(m_order.size());
    while (m_place.text < count) {
        const int text = m_order[toSize(m_place.text)];
        if (!taken.empty() && rows + m_rows[toSize(text)] > m_rowsPerStep)
            break;
        taken.push_back(text);
        rows += m_rows[toSize(text)];
        ++m_place.text;
    }
    if (m_place.text == count) {
        m_place = {m_place.epoch + 1, 0};
        sortEpoch();
    }
    return taken;
}

void TextOrder::moveTo(TextOrderPlace place) {
    m_place = place;
    sortEpoch();
}

std::int64_t TextOrder::stepsOf(int epochs) const {
    TextOrder order(m_rows, m_rowsPerStep, m_seed);
    std::int64_t steps = 0;
    for (; order.place().epoch < epochs; ++steps)
        order.next();
    return steps;
}

} // namespace engine
