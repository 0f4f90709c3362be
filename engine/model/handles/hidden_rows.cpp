// SPDX-License-Identifier: Apache-2.0
#include "engine/model/handles/hidden_rows.h"

#include <atomic>

namespace engine {

TransformerKey::TransformerKey() {
    static std::atomic<std::uint64_t> newest = 0;
    m_number = ++newest;
}

void HiddenRows::clear() {
    if (m_storage)
        m_storage->clear();
}

Result<void> HiddenRows::read(int first, std::span<double> out) const {
    const std::size_t rows = m_storage ? out.size() / m_storage->width() : 0;
    ENGINE_CHECK(first >= 0 &&
                     static_cast<std::size_t>(first) + rows <= static_cast<std::size_t>(count()) &&
                     m_storage && rows * m_storage->width() == out.size(),
                 "{} numbers of {} hidden states are read from {} on",
                 out.size(),
                 count(),
                 first);
    return m_storage->read(first, out);
}

Result<void> HiddenRows::append(std::span<const double> values) {
    ENGINE_CHECK(m_storage && values.size() % m_storage->width() == 0,
                 "{} numbers are no hidden states, or no pass has appended any before",
                 values.size());
    return m_storage->append(values);
}

void HiddenRows::checkOwner(TransformerKey owner) const {
    ENGINE_CHECK(m_storage && m_storage->owner() == owner,
                 "these hidden states are of another transformer, which alone can use them");
}

} // namespace engine
