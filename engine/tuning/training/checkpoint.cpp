// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/training/checkpoint.h"

#include "engine/base/to_size.h"
#include "engine/loading/json/json_document.h"
#include "engine/tuning/files/hashed_file.h"

#include <nlohmann/json.hpp>

namespace engine {

namespace {

constexpr std::string_view kCheckpointMagic = "SWTSTAT1";
constexpr std::int64_t kMostNumbers = std::int64_t{1} << 36U;

using StateJson = nlohmann::ordered_json;

StateJson jsonOf(const DraftHits& hits) {
    StateJson json = {{"tried", hits.tried}, {"hits", hits.hits}};
    if (!hits.exits.empty())
        json["exits"] = hits.exits;
    return json;
}

StateJson jsonOf(const TrainingPlace& place) {
    StateJson json = {{"serial", place.serial},
                      {"step", place.step},
                      {"epoch", place.order.epoch},
                      {"text", place.order.text},
                      {"planned", place.schedule.planned},
                      {"steps", place.schedule.steps},
                      {"decay_start", place.schedule.decayStart},
                      {"rate", place.schedule.rate},
                      {"stream_loss", place.schedule.streamLoss},
                      {"fixed", place.isFixed},
                      {"minutes", place.minutes},
                      {"rate_factor", place.rateFactor},
                      {"failures", place.failures},
                      {"evaluated", place.evaluated},
                      {"worse", place.worse},
                      {"good_step", place.goodStep},
                      {"seconds", place.seconds}};
    if (place.best) {
        StateJson tasks = StateJson::object();
        for (const auto& [task, hits] : place.best->byTask)
            tasks[task] = jsonOf(hits);
        json["best"] = {{"step", place.best->step},
                        {"rows", place.best->rows},
                        {"all", jsonOf(place.best->all)},
                        {"tasks", std::move(tasks)}};
    }
    return json;
}

/// Reads members and notes whether one was missing.
class StateReader {
public:
    bool isGood() const { return m_isGood; }

    std::int64_t whole(const JsonValue& object, const char* name) {
        return need(object[name].asInteger(), std::int64_t{0});
    }

    double number(const JsonValue& object, const char* name) {
        return need(object[name].asNumber(), 0.0);
    }

    bool flag(const JsonValue& object, const char* name) {
        return need(object[name].asBool(), false);
    }

    DraftHits hits(const JsonValue& object) {
        DraftHits read;
        const auto fill = [&](const char* name, std::array<std::int64_t, kDepths>& to) {
            const std::vector<JsonValue> items = object[name].items();
            m_isGood = m_isGood && items.size() == to.size();
            for (std::size_t i = 0; i < std::min(items.size(), to.size()); ++i)
                to[i] = need(items[i].asInteger(), std::int64_t{0});
        };
        fill("tried", read.tried);
        fill("hits", read.hits);
        for (const JsonValue& right : object["exits"].items())
            read.exits.push_back(need(right.asInteger(), std::int64_t{0}));
        return read;
    }

private:
    template <typename T> T need(const std::optional<T>& value, T otherwise) {
        m_isGood = m_isGood && value.has_value();
        return value.value_or(otherwise);
    }

    bool m_isGood = true;
};

TrainingPlace placeFrom(const JsonValue& json, StateReader& reader) {
    TrainingPlace place;
    place.serial = reader.whole(json, "serial");
    place.step = reader.whole(json, "step");
    place.order = {reader.whole(json, "epoch"), reader.whole(json, "text")};
    place.schedule = {.planned = reader.whole(json, "planned"),
                      .steps = reader.whole(json, "steps"),
                      .decayStart = reader.whole(json, "decay_start"),
                      .rate = reader.number(json, "rate"),
                      .streamLoss = reader.number(json, "stream_loss")};
    place.isFixed = reader.flag(json, "fixed");
    place.minutes = json["minutes"].asNumber().value_or(0.0); // not told by earlier versions
    place.rateFactor = reader.number(json, "rate_factor");
    place.failures = static_cast<int>(reader.whole(json, "failures"));
    place.evaluated = reader.whole(json, "evaluated");
    place.worse = static_cast<int>(reader.whole(json, "worse"));
    place.goodStep = reader.whole(json, "good_step");
    place.seconds = reader.number(json, "seconds");
    if (const JsonValue best = json["best"]; best.isObject()) {
        Evaluation& evaluation = place.best.emplace();
        evaluation.step = reader.whole(best, "step");
        evaluation.rows = reader.whole(best, "rows");
        evaluation.all = reader.hits(best["all"]);
        for (const auto& [task, hits] : best["tasks"].members())
            evaluation.byTask[std::string(task)] = reader.hits(hits);
    }
    return place;
}

StateJson arrayList(const NamedArrays& arrays) {
    StateJson list = StateJson::array();
    for (const auto& [name, values] : arrays)
        list.push_back({name, values.size()});
    return list;
}

Result<void> writeArrays(HashedFileWriter& file, const NamedArrays& arrays) {
    for (const auto& [name, values] : arrays)
        ENGINE_TRY_DO(file.writeAll(std::span<const float>(values)));
    return {};
}

Result<NamedArrays>
readArrays(const HashedFile& file, const JsonValue& list, std::uint64_t& offset) {
    NamedArrays arrays;
    for (const JsonValue& entry : list.items()) {
        const std::vector<JsonValue> parts = entry.items();
        const auto name = parts.size() == 2 ? parts[0].asString() : std::nullopt;
        const auto count = parts.size() == 2 ? parts[1].asInteger() : std::nullopt;
        if (!name || !count || *count < 0 || *count > kMostNumbers)
            return file.corrupt("its list of arrays is damaged");
        std::vector<float>& values = arrays[std::string(*name)];
        values.resize(toSize(*count));
        ENGINE_TRY_DO(file.readAll(offset, std::span(values), "an array"));
        offset += values.size() * sizeof(float);
    }
    return arrays;
}

} // namespace

Result<void> writeCheckpoint(const std::filesystem::path& path,
                             const CheckpointOwner& owner,
                             const Checkpoint& checkpoint) {
    ENGINE_TRY(HashedFileWriter file, HashedFileWriter::begin(path, kCheckpointMagic));
    ENGINE_TRY_DO(writeArrays(file, checkpoint.trainer));
    ENGINE_TRY_DO(writeArrays(file, checkpoint.best));
    const StateJson description = {{"run", owner.run},
                                   {"rows", owner.rows},
                                   {"place", jsonOf(checkpoint.place)},
                                   {"trainer", arrayList(checkpoint.trainer)},
                                   {"best", arrayList(checkpoint.best)}};
    const auto hash =
        file.finish(description.dump(-1, ' ', true, StateJson::error_handler_t::replace));
    return hash ? Result<void>() : hash.error();
}

Result<Checkpoint> readCheckpoint(const std::filesystem::path& path, const CheckpointOwner& owner) {
    ENGINE_TRY(const HashedFile file, HashedFile::open(path, kCheckpointMagic));
    ENGINE_TRY(const JsonDocument document, JsonDocument::parse(file.description(), path.string()));
    const JsonValue root = document.root();
    if (root["run"].asString() != owner.run)
        return file.corrupt("it belongs to another run");
    if (root["rows"].asString() != owner.rows)
        return file.corrupt("it was trained on other rows");
    Checkpoint checkpoint;
    StateReader reader;
    checkpoint.place = placeFrom(root["place"], reader);
    if (!reader.isGood())
        return file.corrupt("its description does not say where the training stands");
    std::uint64_t offset = kCheckpointMagic.size();
    ENGINE_TRY(checkpoint.trainer, readArrays(file, root["trainer"], offset));
    ENGINE_TRY(checkpoint.best, readArrays(file, root["best"], offset));
    return checkpoint;
}

} // namespace engine
