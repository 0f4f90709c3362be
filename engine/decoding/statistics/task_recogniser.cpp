// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/statistics/task_recogniser.h"

#include "engine/base/counter_random.h"
#include "engine/loading/files/readable_text.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace engine {

namespace {

/// Changing it makes all stored vectors meaningless.
constexpr std::uint64_t kSignsSeed = 18;

constexpr std::size_t kNeighbours = 3;

/// Cosine from which on a neighbour counts. With the default model and nine tasks, ten prompts each
/// to learn from and ten to recognise, 74 of 90 are recognised, 13 are taken for none and 3 for
/// another task; of the prompts of a task that is not known, 64 of 90 are taken for none
/// (task_set_study).
constexpr double kNear = 0.7;

/// Cosine from which on two prompts are the same one. Nothing is taken off them: of prompts that
/// are all the same nothing would be left.
constexpr double kSame = 0.9999;

constexpr std::size_t kWordsOfName = 5;
constexpr std::size_t kBytesOfName = 40;

void addTo(PromptVector& sum, const PromptVector& vector, double factor) {
    for (std::size_t i = 0; i < sum.size(); ++i)
        sum[i] += factor * vector[i];
}

/// A vector of no length stays as it is: it is like nothing.
PromptVector unit(PromptVector vector) {
    const double length =
        std::sqrt(std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.0));
    for (double& value : vector)
        value /= length > 0.0 ? length : 1.0;
    return vector;
}

/// Each task counts once, however often its prompts are met.
PromptVector centreOf(const KnownTasks& known) {
    PromptVector centre{};
    for (const auto& [name, task] : known)
        for (const PromptVector& vector : task.vectors)
            addTo(centre, vector, 1.0 / static_cast<double>(task.vectors.size() * known.size()));
    return centre;
}

} // namespace

void KnownTask::learn(const PromptVector& vector, std::int64_t now) {
    if (vectors.size() >= kVectorsKept)
        vectors.erase(vectors.begin());
    vectors.push_back(vector);
    ++prompts;
    metAt = now;
}

PromptVector promptVector(std::span<const double> row) {
    static_assert(kPromptVectorSize % 64 == 0);
    PromptVector vector{};
    for (std::size_t i = 0; i < row.size(); ++i)
        for (std::size_t first = 0; first < vector.size(); first += 64) {
            std::uint64_t signs = mixBits(counterKey(kSignsSeed, i) + first);
            for (std::size_t place = first; place < first + 64; ++place, signs >>= 1U)
                vector[place] += (signs & 1U) != 0 ? row[i] : -row[i];
        }
    return unit(vector);
}

Recognition recogniseTask(const KnownTasks& known, const PromptVector& prompt) {
    struct Neighbour {
        double likeness;
        const std::string* task;
    };

    const PromptVector centre = centreOf(known);
    const auto cosine = [](const PromptVector& a, const PromptVector& b) {
        return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    };
    const auto direction = [&centre](PromptVector vector) {
        addTo(vector, centre, -1.0);
        return unit(vector);
    };
    const PromptVector asked = direction(prompt);
    std::vector<Neighbour> neighbours;
    for (const auto& [name, task] : known)
        for (const PromptVector& vector : task.vectors) {
            const double plain = cosine(prompt, vector);
            neighbours.push_back(
                {plain >= kSame ? plain : cosine(asked, direction(vector)), &name});
        }
    std::ranges::stable_sort(neighbours, std::ranges::greater(), &Neighbour::likeness);
    std::map<std::string_view, double> votes;
    for (std::size_t i = 0; i < std::min(kNeighbours, neighbours.size()); ++i)
        if (neighbours[i].likeness >= kNear)
            votes[*neighbours[i].task] += neighbours[i].likeness;
    const auto most = std::ranges::max_element(
        votes, {}, [](const auto& vote) { return vote.second; }); // of equals the first name
    Recognition found;
    for (const auto& [likeness, task] : neighbours) {
        const bool isChosen = most != votes.end() && *task == most->first;
        std::optional<TaskLikeness>& place = isChosen ? found.task : found.other;
        if (!place)
            place = TaskLikeness{*task, likeness};
    }
    return found;
}

std::string nameOfNewTask(std::string_view question, const KnownTasks& known) {
    std::string name;
    std::size_t words = 0;
    while (words < kWordsOfName) {
        const std::size_t begin = question.find_first_not_of(" \t\r\n");
        if (begin == std::string_view::npos)
            break;
        question.remove_prefix(begin);
        const std::string_view word = question.substr(0, question.find_first_of(" \t\r\n"));
        question.remove_prefix(word.size());
        const std::string shown = readable(word, kBytesOfName);
        if (!name.empty() && name.size() + 1 + shown.size() > kBytesOfName)
            break;
        name += (name.empty() ? "" : " ") + shown;
        ++words;
    }
    if (name.empty())
        name = "chat";
    std::string unused = name;
    for (int number = 2; known.contains(unused); ++number)
        unused = fmt::format("{} {}", name, number);
    return unused;
}

} // namespace engine
