// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/data/reading/json_record.h"

#include "engine/experiments/data/reading/bad_line.h"
#include "engine/experiments/data/reading/record_reader.h"
#include "engine/loading/files/readable_text.h"

namespace engine {

namespace {

constexpr JsonLimits kLineLimits = {.maxBytes = 16'000'000, .maxDepth = 64, .maxNodes = 1'000'000};

/// The record's own id, if it has a readable one.
std::string idOf(const JsonValue& value, std::int64_t line) {
    if (const auto text = value.asString())
        return std::string(*text);
    return fmt::format("{}", value.asInteger().value_or(line));
}

std::vector<JsonValue> itemsOf(const JsonValue& value) {
    return value.isArray() ? value.items() : std::vector<JsonValue>{value};
}

Result<std::vector<std::string>>
readTurns(const JsonValue& value, const std::string& name, std::int64_t line) {
    const auto wrong = [&](std::string_view problem, const JsonValue& where) {
        return badLineError(
            line,
            fmt::format("the field \"{}\" {} (byte {})", readable(name), problem, where.offset()));
    };
    if (value.isNull())
        return badLineError(line, fmt::format("the field \"{}\" is missing", readable(name)));
    if (!value.isString() && !value.isArray())
        return wrong("is neither a text nor a list of texts", value);
    std::vector<std::string> turns;
    for (const JsonValue& item : itemsOf(value)) {
        const auto text = item.asString();
        if (!text)
            return wrong("holds an item that is not a text", item);
        if (isBlankText(*text))
            return wrong("holds an empty text", item);
        turns.emplace_back(*text);
    }
    if (turns.empty())
        return wrong("is an empty list", value);
    return turns;
}

} // namespace

std::vector<std::string> textsIn(const JsonValue& value) {
    std::vector<std::string> texts;
    for (const JsonValue& item : itemsOf(value)) {
        const auto text = item.asString();
        if (!text)
            return {};
        texts.emplace_back(*text);
    }
    return texts;
}

Result<JsonDocument> readJsonLine(const TextLine& line) {
    ENGINE_TRY(JsonDocument document,
               JsonDocument::parse(line.text, fmt::format("line {}", line.number), kLineLimits));
    if (!document.root().isObject())
        return badLineError(line.number, "it is JSON, but not an object");
    return document;
}

Result<DataRecord> readJsonRecord(const TextLine& line,
                                  const DataLayout& layout,
                                  const std::string& fileTask,
                                  FieldSet& missing) {
    ENGINE_TRY(const JsonDocument document, readJsonLine(line));
    const JsonValue root = document.root();
    std::erase_if(missing, [&root](const std::string& name) { return root.contains(name); });
    DataRecord record;
    record.line = line.number;
    record.id = idOf(root[layout.id], line.number);
    const JsonValue task = root[layout.task];
    if (layout.taskSource == TaskSource::Field && !task.isNull() && !task.isString())
        return badLineError(line.number,
                            fmt::format("the field \"{}\" is not a text (byte {})",
                                        readable(layout.task),
                                        task.offset()));
    record.task = taskOfRecord(layout, fileTask, task.asString().value_or(std::string_view()));
    ENGINE_TRY(record.turns, readTurns(root[layout.prompt], layout.prompt, line.number));
    record.references = textsIn(root[layout.reference]);
    record.test = root[layout.test].asString().value_or(std::string_view());
    record.entryPoint = root[layout.entryPoint].asString().value_or(std::string_view());
    return record;
}

} // namespace engine
