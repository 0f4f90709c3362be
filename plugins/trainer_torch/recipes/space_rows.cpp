// SPDX-License-Identifier: Apache-2.0
#include "plugins/trainer_torch/recipes/space_rows.h"

#include "engine/base/counter_random.h"
#include "engine/base/to_size.h"

#include <algorithm>
#include <set>

namespace trainer_torch {

using namespace engine;

namespace {

/// Answer rows behind which so many masks have a token of the answer each.
std::vector<int> maskablePlaces(const TrainingText& text, int masks) {
    std::vector<int> places = answerRows(text);
    std::erase_if(places, [&](int row) {
        const int last = row + 1 + masks;
        if (last >= static_cast<int>(text.tokens.size()))
            return true;
        for (int token = row + 1; token <= last; ++token)
            if (text.answers[toSize(token)] == 0)
                return true;
        return false;
    });
    return places;
}

void addMasks(SpaceRows& made, const TrainingText& text, int row, TokenId mask, int masks) {
    const int first = made.plan.addGroup(row, mask, masks);
    for (int j = 1; j <= masks; ++j)
        made.labels.push_back({first + j - 1, text.tokens[toSize(row + 1 + j)], true});
}

} // namespace

std::vector<int> answerRows(const TrainingText& text) {
    std::vector<int> rows;
    for (std::size_t row = 0; row + 1 < text.tokens.size(); ++row)
        if (text.answers[row + 1] != 0)
            rows.push_back(static_cast<int>(row));
    return rows;
}

SpaceRows spaceRows(const TrainingText& text, const ModelTrainerPlan& plan, std::uint64_t key) {
    const std::vector<int> places = maskablePlaces(text, plan.masks);
    if (places.empty() || uniformOf(counterBits(key, 0)) < plan.plainShare) {
        SpaceRows made{RowPlan(text.tokens), {}};
        for (const int row : answerRows(text))
            made.labels.push_back({row, text.tokens[toSize(row + 1)], false});
        return made;
    }
    std::set<int> drawn;
    for (int i = 1; i <= plan.places; ++i) {
        const double share = uniformOf(counterBits(key, i));
        drawn.insert(places[static_cast<std::size_t>(share * static_cast<double>(places.size()))]);
    }
    SpaceRows made{RowPlan(text.tokens.first(toSize(*drawn.rbegin() + 1))), {}};
    for (const int row : drawn) {
        made.labels.push_back({row, text.tokens[toSize(row + 1)], false});
        addMasks(made, text, row, plan.maskToken, plan.masks);
    }
    return made;
}

SpaceRows
judgedRows(const TrainingText& text, const ModelTrainerPlan& plan, int mostMasks, int mostPlaces) {
    const int masks = std::min(plan.masks, mostMasks);
    const std::vector<int> places = maskablePlaces(text, masks);
    SpaceRows made{RowPlan(text.tokens), {}};
    const std::size_t stride = places.size() / toSize(mostPlaces) + 1;
    for (std::size_t i = 0; i < places.size(); i += stride)
        addMasks(made, text, places[i], plan.maskToken, masks);
    return made;
}

} // namespace trainer_torch
