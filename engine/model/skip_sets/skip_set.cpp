// SPDX-License-Identifier: Apache-2.0
#include "engine/model/skip_sets/skip_set.h"

#include "engine/base/typed_text.h"
#include "engine/loading/files/readable_text.h"
#include "engine/loading/json/json_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace engine {

namespace {

constexpr std::uint64_t kMaxFileBytes = 16'000'000;
constexpr const char* kShape =
    "A skip set looks like {\"attention\":[1,2],\"mlp\":[3]}, with 0-based layers.";

Error badSet(std::string_view where, std::string_view problem, const JsonValue& at) {
    return {ErrorCode::CorruptFile,
            fmt::format("{}: {} (byte {})", where, problem, at.offset()),
            kShape};
}

std::vector<int> skippedLayers(const std::vector<SublayerAction>& actions) {
    std::vector<int> layers;
    for (std::size_t layer = 0; layer < actions.size(); ++layer) {
        switch (actions[layer]) {
        case SublayerAction::Run:
            break;
        case SublayerAction::Skip:
            layers.push_back(static_cast<int>(layer));
            break;
        }
    }
    return layers;
}

Result<void> skipLayers(const std::vector<int>& layers,
                        std::string_view kind,
                        std::vector<SublayerAction>& actions) {
    for (const int layer : layers) {
        if (layer < 0 || static_cast<std::size_t>(layer) >= actions.size())
            return Error{
                ErrorCode::InvalidInput,
                fmt::format("the skip set names {} layer {}, but the model has layers 0 to {}",
                            kind,
                            layer,
                            actions.size() - 1),
                "It was made for another model: choose a skip set that was found with this one."};
        actions[static_cast<std::size_t>(layer)] = SublayerAction::Skip;
    }
    return {};
}

Result<std::vector<int>>
readLayers(const JsonValue& list, std::string_view name, std::string_view where) {
    std::vector<int> layers;
    if (list.isNull())
        return layers;
    if (!list.isArray())
        return badSet(where, fmt::format("{} is not a list of layers", name), list);
    const std::vector<JsonValue> items = list.items();
    std::vector<std::pair<int, std::size_t>> found; // layer, and where it stands in the list
    for (const JsonValue& item : items) {
        const auto layer = item.asInteger();
        if (!layer || *layer < 0 || *layer > std::numeric_limits<int>::max())
            return badSet(where, fmt::format("{} lists what is no layer number", name), item);
        found.emplace_back(static_cast<int>(*layer), found.size());
    }
    std::sort(found.begin(), found.end());
    const auto twice =
        std::adjacent_find(found.begin(), found.end(), [](const auto& a, const auto& b) {
            return a.first == b.first;
        });
    if (twice != found.end())
        return badSet(where,
                      fmt::format("{} lists layer {} twice", name, twice->first),
                      items[std::next(twice)->second]);
    for (const auto& [layer, place] : found)
        layers.push_back(layer);
    return layers;
}

bool looksLikeSet(const JsonValue& value) {
    return value.contains("attention") || value.contains("mlp");
}

std::string namesOf(const std::map<std::string, SkipSet>& sets) {
    constexpr std::size_t kMaxListed = 50;
    std::vector<std::string> names;
    for (const auto& [name, set] : sets) {
        if (names.size() == kMaxListed)
            return fmt::format("{} and {} more", fmt::join(names, ", "), sets.size() - kMaxListed);
        names.push_back(readable(name));
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

Result<SkipSet> chooseEntry(const std::map<std::string, SkipSet>& sets,
                            const std::optional<std::string>& entry,
                            const std::string& path) {
    if (entry) {
        if (const auto found = sets.find(*entry); found != sets.end())
            return found->second;
        return Error{ErrorCode::InvalidInput,
                     fmt::format("{} has no skip set named \"{}\"", path, readable(*entry)),
                     "It holds: " + namesOf(sets) + "."};
    }
    if (sets.size() == 1)
        return sets.begin()->second;
    return Error{ErrorCode::InvalidInput,
                 fmt::format("{} holds {} skip sets", path, sets.size()),
                 "Name one of them: " + namesOf(sets) + "."};
}

Result<SkipSet> readEitherShape(const JsonValue& root,
                                const std::optional<std::string>& entry,
                                const std::string& path) {
    if (looksLikeSet(root) && !entry)
        return readSkipSet(root, path);
    const auto members = root.members();
    const bool isCollection = std::any_of(members.begin(), members.end(), [](const auto& member) {
        return member.second.isObject();
    });
    if (!isCollection && !looksLikeSet(root))
        return badSet(path, "it names neither attention nor mlp layers", root);
    if (!isCollection)
        return Error{
            ErrorCode::InvalidInput,
            fmt::format("{} holds one skip set without a name, not \"{}\"", path, readable(*entry)),
            "Leave the name out."};
    ENGINE_TRY(const auto sets, readSkipSetCollection(root, path));
    return chooseEntry(sets, entry, path);
}

} // namespace

double SkipSetComparison::jaccard() const {
    const int united = both + onlyFirst + onlySecond;
    return united == 0 ? 1.0 : static_cast<double>(both) / united;
}

SkipSetComparison compareSkipSets(const SkipSet& first, const SkipSet& second) {
    std::vector<int> common;
    std::set_intersection(first.attention.begin(),
                          first.attention.end(),
                          second.attention.begin(),
                          second.attention.end(),
                          std::back_inserter(common));
    std::set_intersection(first.mlp.begin(),
                          first.mlp.end(),
                          second.mlp.begin(),
                          second.mlp.end(),
                          std::back_inserter(common));
    const auto sizeOf = [](const SkipSet& set) {
        return static_cast<int>(set.attention.size() + set.mlp.size());
    };
    const int both = static_cast<int>(common.size());
    return {both, sizeOf(first) - both, sizeOf(second) - both};
}

SkipSet skipSetOf(const LayerPlan& plan) {
    return {skippedLayers(plan.attention), skippedLayers(plan.mlp)};
}

Result<LayerPlan> planOf(const SkipSet& set, int layerCount) {
    ENGINE_CHECK(layerCount > 0, "a plan needs layers, not {}", layerCount);
    LayerPlan plan = LayerPlan::full(layerCount);
    ENGINE_TRY_DO(skipLayers(set.attention, "attention", plan.attention));
    ENGINE_TRY_DO(skipLayers(set.mlp, "mlp", plan.mlp));
    return plan;
}

Result<SkipSet> readSkipSet(const JsonValue& value, std::string_view where) {
    if (!looksLikeSet(value))
        return badSet(where, "it names neither attention nor mlp layers", value);
    SkipSet set;
    ENGINE_TRY(set.attention, readLayers(value["attention"], "attention", where));
    ENGINE_TRY(set.mlp, readLayers(value["mlp"], "mlp", where));
    return set;
}

Result<SkipSet> typedSkipSet(std::string_view text, std::string_view where) {
    constexpr const char* kHint =
        R"(Write 0-based layers, each once: {"attention":[1,2],"mlp":[3]}.)";
    const auto document = JsonDocument::parse(text, std::string(where));
    if (!document)
        return asTyped(document.error(), kHint);
    auto set = readSkipSet(document.value().root(), where);
    if (!set)
        return asTyped(set.error(), kHint);
    return set;
}

std::string skipSetJson(const SkipSet& set) {
    return fmt::format("{{\"attention\":[{}],\"mlp\":[{}]}}",
                       fmt::join(set.attention, ","),
                       fmt::join(set.mlp, ","));
}

Result<std::map<std::string, SkipSet>> readSkipSetCollection(const JsonValue& collection,
                                                             std::string_view where) {
    if (!collection.isObject())
        return badSet(where, "it is no collection of skip sets by name", collection);
    std::map<std::string, SkipSet> sets;
    for (const auto& [name, value] : collection.members()) {
        ENGINE_TRY(SkipSet set,
                   readSkipSet(value, fmt::format("{}, set \"{}\"", where, readable(name))));
        sets.emplace(name, std::move(set));
    }
    return sets;
}

std::string skipSetCollectionJson(const std::map<std::string, SkipSet>& sets) {
    std::string text;
    for (const auto& [name, set] : sets)
        text += fmt::format(
            "{} {}: {}", text.empty() ? "\n" : ",\n", jsonString(name), skipSetJson(set));
    return "{" + text + "\n}\n";
}

Result<LayerPlan> readSkipSetFile(const std::filesystem::path& path,
                                  int layerCount,
                                  const std::optional<std::string>& entry) {
    const std::string name = path.string();
    ENGINE_TRY(const JsonDocument document, readJsonFile(name, {.maxBytes = kMaxFileBytes}));
    ENGINE_TRY(const SkipSet set, readEitherShape(document.root(), entry, name));
    Result<LayerPlan> plan = planOf(set, layerCount);
    if (plan)
        return plan;
    Error error = std::move(plan).error();
    error.message = name + ": " + error.message;
    return error;
}

} // namespace engine
