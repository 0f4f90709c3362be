// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/base/settings.h"
#include "engine/loading/json/json_document.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// Plain values to JSON objects and back. visitMembers(visit, value) calls visit("name", member) for
// each member of a type; writing and reading are two kinds of `visit`.

namespace engine {

/// Writes members into a JSON object. Empty texts, lists, maps and optionals are left out. Numbers
/// keep all their digits; one that is not finite becomes null.
class MemberWriter {
public:
    using Json = nlohmann::ordered_json;

    explicit MemberWriter(Json& object)
        : m_object(object) {}

    template <typename T> void operator()(const char* name, const T& member) {
        Json value = toJson(member);
        const bool isLeftOut = isEmpty(value);
        if (!isLeftOut)
            m_object[name] = std::move(value);
    }

    template <typename T> static Json toJson(const T& value) {
        if constexpr (std::is_same_v<T, std::uint64_t>) {
            return static_cast<std::int64_t>(value); // by its bits: readers have signed numbers
        } else if constexpr (std::is_floating_point_v<T>) {
            return std::isfinite(value) ? Json(value) : Json();
        } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
            return value;
        } else {
            Json object = Json::object();
            MemberWriter writer(object);
            visitMembers(writer, const_cast<T&>(value)); // it only reads
            return object;
        }
    }

    template <typename T> static Json toJson(const std::optional<T>& value) {
        return value ? toJson(*value) : Json();
    }

    template <typename T> static Json toJson(const std::vector<T>& values) {
        Json list = Json::array();
        for (const T& value : values)
            list.push_back(toJson(value));
        return list;
    }

    template <typename T> static Json toJson(const std::map<std::string, T>& values) {
        Json object = Json::object();
        for (const auto& [name, value] : values)
            object[name] = toJson(value);
        return object;
    }

private:
    static bool isEmpty(const Json& value) {
        return value.is_null() ||
               (value.is_string() && value.get_ref<const std::string&>().empty()) ||
               (value.is_structured() && value.empty());
    }

    Json& m_object;
};

/// The first thing that was wrong while members were read.
struct MemberFault {
    std::string path; ///< "sizes.quick.max_tokens"
    std::string problem;
    std::string hint = {};
    std::uint64_t offset = 0;
};

/// Reads members from a JSON object; a missing one keeps its value. After the first fault nothing
/// more is read.
class MemberReader {
public:
    /// `isStrict`: an unknown member is a fault.
    MemberReader(JsonValue object, bool isStrict)
        : MemberReader(object, isStrict, {}, m_own) {}

    MemberReader(const MemberReader&) = delete;
    MemberReader& operator=(const MemberReader&) = delete;
    ~MemberReader() = default;

    template <typename T> void operator()(const char* name, T& member) {
        m_known.emplace_back(name);
        if (!m_fault && m_object.contains(name))
            read(m_object[name], pathOf(name), member);
    }

    /// Call it behind the last member.
    void finish() {
        if (m_fault || !m_isStrict)
            return;
        for (const auto& [name, value] : m_object.members()) {
            const std::string found(name);
            if (std::find(m_known.begin(), m_known.end(), found) != m_known.end())
                continue;
            const std::string near = nearestName(found, m_known);
            fail(value,
                 pathOf(found),
                 "is not known",
                 near.empty() ? "" : "Did you mean " + near + "?");
            return;
        }
    }

    const std::optional<MemberFault>& fault() const { return m_fault; }

private:
    MemberReader(JsonValue object,
                 bool isStrict,
                 std::string path,
                 std::optional<MemberFault>& fault)
        : m_object(object)
        , m_isStrict(isStrict)
        , m_path(std::move(path))
        , m_fault(fault) {}

    std::string pathOf(std::string_view name) const {
        return m_path.empty() ? std::string(name) : m_path + "." + std::string(name);
    }

    void fail(JsonValue value, std::string path, std::string problem, std::string hint = {}) {
        if (!m_fault)
            m_fault = {std::move(path), std::move(problem), std::move(hint), value.offset()};
    }

    template <typename T> void read(JsonValue value, const std::string& path, T& to) {
        if constexpr (std::is_same_v<T, bool>) {
            take(value, path, value.asBool(), to, "must be true or false");
        } else if constexpr (std::is_same_v<T, std::uint64_t>) {
            take(value, path, value.asInteger(), to, "must be a whole number");
        } else if constexpr (std::is_integral_v<T>) {
            auto number = value.asInteger();
            if (number && (*number < std::numeric_limits<T>::min() ||
                           *number > std::numeric_limits<T>::max()))
                number.reset();
            take(value, path, number, to, "must be a whole number");
        } else if constexpr (std::is_floating_point_v<T>) {
            auto number = value.asNumber();
            if (value.isNull() && !m_isStrict)
                number = std::numeric_limits<double>::quiet_NaN();
            take(value, path, number, to, "must be a number");
        } else if constexpr (std::is_same_v<T, std::string>) {
            take(value, path, value.asString(), to, "must be a text");
        } else {
            if (!value.isObject())
                return fail(value, path, "must be an object");
            MemberReader reader(value, m_isStrict, path, m_fault);
            visitMembers(reader, to);
            reader.finish();
        }
    }

    template <typename T>
    void read(JsonValue value, const std::string& path, std::optional<T>& to) {
        read(value, path, to.emplace());
    }

    template <typename T> void read(JsonValue value, const std::string& path, std::vector<T>& to) {
        if (!value.isArray())
            return fail(value, path, "must be a list");
        to.clear();
        for (const JsonValue item : value.items()) {
            T made{};
            read(item, fmt::format("{}[{}]", path, to.size()), made);
            to.push_back(std::move(made));
        }
    }

    template <typename T>
    void read(JsonValue value, const std::string& path, std::map<std::string, T>& to) {
        if constexpr (std::is_same_v<T, int>) {
            if (value.asInteger()) // one number for all: {"": number}
                return read(value, path, to[""]);
        }
        if (!value.isObject())
            return fail(value, path, "must be an object");
        to.clear();
        for (const auto& [name, member] : value.members())
            read(member, path + "." + std::string(name), to[std::string(name)]);
    }

    /// Typed values of a setting: one, or a list of several.
    void read(JsonValue value,
              const std::string& path,
              std::map<std::string, std::vector<std::string>>& to) {
        if (!value.isObject())
            return fail(value, path, "must be an object");
        to.clear();
        for (const auto& [name, member] : value.members()) {
            std::vector<std::string>& values = to[std::string(name)]; // also of an empty list
            for (const JsonValue item :
                 member.isArray() ? member.items() : std::vector<JsonValue>{member})
                values.push_back(typed(item, path + "." + std::string(name)));
        }
    }

    std::string typed(JsonValue value, const std::string& path) {
        if (const auto text = value.asString())
            return std::string(*text);
        if (const auto flag = value.asBool())
            return *flag ? "on" : "off";
        if (const auto whole = value.asInteger())
            return fmt::format("{}", *whole);
        if (const auto number = value.asNumber())
            return fmt::format("{}", *number);
        fail(value, path, "must be a number, a text, true or false, or a list of these");
        return {};
    }

    template <typename From, typename T>
    void take(JsonValue value,
              const std::string& path,
              const std::optional<From>& from,
              T& to,
              const char* rule) {
        if (from)
            to = static_cast<T>(*from);
        else
            fail(value, path, rule);
    }

    JsonValue m_object;
    bool m_isStrict;
    std::string m_path;
    std::optional<MemberFault> m_own; // of the outermost reader
    std::optional<MemberFault>& m_fault;
    std::vector<std::string> m_known;
};

/// One JSON object; `indent` -1 puts it into one line. ASCII only.
template <typename T> std::string membersJson(const T& value, int indent = -1) {
    return MemberWriter::toJson(value).dump(
        indent, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

/// Errors: CorruptFile for another thing than an object, and naming the first wrong member.
template <typename T>
Result<T> readMembers(JsonValue object, const std::string& where, bool isStrict = false) {
    if (!object.isObject())
        return Error{ErrorCode::CorruptFile, where + ": it is JSON, but not an object.", ""};
    T made{};
    MemberReader reader(object, isStrict);
    visitMembers(reader, made);
    reader.finish();
    if (const auto& fault = reader.fault())
        return Error{ErrorCode::CorruptFile,
                     fmt::format("{}: the member \"{}\" {} (byte {}).",
                                 where,
                                 fault->path,
                                 fault->problem,
                                 fault->offset),
                     fault->hint};
    return made;
}

} // namespace engine
