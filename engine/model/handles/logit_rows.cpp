// SPDX-License-Identifier: Apache-2.0
#include "engine/model/handles/logit_rows.h"

#include <limits>

namespace engine {

namespace {

constexpr double kForbidden = -std::numeric_limits<double>::infinity();

} // namespace

Result<std::span<double>> LogitRows::row(int index) {
    ENGINE_CHECK(index >= 0 && index < m_count, "row {} of the last pass has no logits", index);
    ENGINE_CHECK(m_storage->pass() == m_pass,
                 "these logits are of an earlier pass: they are gone with the transformer's next");
    const auto place = static_cast<std::size_t>(index);
    std::vector<double>& values = m_rows[place];
    if (!m_isHere[place]) {
        values.resize(static_cast<std::size_t>(m_storage->vocabSize()));
        ENGINE_TRY_DO(m_storage->read(index, values));
        m_isHere[place] = true;
        if (m_forbidden != kNoToken)
            values[static_cast<std::size_t>(m_forbidden)] = kForbidden;
    }
    return std::span(values);
}

void LogitRows::forbid(TokenId token) {
    m_forbidden = token;
    for (std::size_t place = 0; place < m_isHere.size(); ++place)
        if (m_isHere[place])
            m_rows[place][static_cast<std::size_t>(token)] = kForbidden;
}

void LogitRows::show(std::shared_ptr<const LogitStorage> storage, int count) {
    clear();
    m_storage = std::move(storage);
    m_pass = m_storage->pass();
    m_count = count;
    m_isHere.assign(static_cast<std::size_t>(count), false);
    if (m_rows.size() < m_isHere.size())
        m_rows.resize(m_isHere.size());
}

void LogitRows::clear() {
    m_isHere.clear();
    m_forbidden = kNoToken;
    m_count = 0;
}

} // namespace engine
