// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/json/member_json.h"

namespace engine {

// Files of JSON that begin with what they are: {"format": "...", "version": 1, members ...}.

/// A kind of such files.
struct JsonFileKind {
    const char* format;
    std::int64_t version;
    const char* what; ///< in messages: "recipe"
    const char* hint; ///< what to do with another file, or with one of another version
    JsonLimits limits;
    int indent = -1;                          ///< -1: one line
    bool isStrict = false;                    ///< an unknown member is a fault
    ErrorCode fault = ErrorCode::CorruptFile; ///< of another file, and of a wrong member
};

template <typename T> struct JsonFile {
    std::string format;
    std::int64_t version = 0;
    T content;
};

template <typename V, typename T> void visitMembers(V& visit, JsonFile<T>& file) {
    visit("format", file.format);
    visit("version", file.version);
    visitMembers(visit, file.content);
}

template <typename T> std::string jsonFile(const JsonFileKind& kind, const T& content) {
    return membersJson(JsonFile<T>{kind.format, kind.version, content}, kind.indent) + "\n";
}

/// Errors: CorruptFile for no JSON; the kind's for another file and a wrong member; Unsupported for
/// another version. `where` begins the messages.
template <typename T>
Result<T> parseJsonFile(const JsonFileKind& kind, std::string_view text, const std::string& where) {
    ENGINE_TRY(const JsonDocument document, JsonDocument::parse(text, where, kind.limits));
    const JsonValue root = document.root();
    if (root["format"].asString() != kind.format)
        return Error{
            kind.fault,
            fmt::format(
                "{} is no {}: its member \"format\" is not \"{}\".", where, kind.what, kind.format),
            kind.hint};
    if (root["version"].asInteger() != kind.version)
        return Error{
            ErrorCode::Unsupported,
            fmt::format(
                "{}: this program reads a {} of version {} alone.", where, kind.what, kind.version),
            kind.hint};
    auto file = readMembers<JsonFile<T>>(root, where, kind.isStrict);
    if (!file)
        return Error{kind.fault, file.error().message, file.error().hint};
    return std::move(file).value().content;
}

} // namespace engine
