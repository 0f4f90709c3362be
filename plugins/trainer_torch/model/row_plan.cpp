// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/model/row_plan.h"

#include "engine/base/to_size.h"

namespace trainer_torch {

using namespace engine;

RowPlan::RowPlan(std::span<const TokenId> text)
    : m_tokens(text.begin(), text.end()) {
    for (int row = 0; row < count(); ++row) {
        m_positions.push_back(row);
        m_textEnd.push_back(row);
        m_ownFirst.push_back(row);
    }
}

int RowPlan::addGroup(int behind, TokenId token, int count) {
    const int first = this->count();
    for (int i = 1; i <= count; ++i) {
        m_tokens.push_back(token);
        m_positions.push_back(behind + i);
        m_textEnd.push_back(behind);
        m_ownFirst.push_back(first);
    }
    return first;
}

bool RowPlan::sees(int row, int other, int window) const {
    const bool isText = other <= m_textEnd[toSize(row)];
    const bool isOwn = other >= m_ownFirst[toSize(row)] && other <= row;
    return (isText || isOwn) &&
           (window == 0 || m_positions[toSize(row)] - m_positions[toSize(other)] < window);
}

} // namespace trainer_torch
