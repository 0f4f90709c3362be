// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/loading/json/json_document.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Reads the members of JSON objects that nobody has reason to trust, and keeps the first
/// complaint, so that the code that reads stays a plain list of members. Thread: one.
class JsonFields {
public:
    /// `where` begins the messages (a path). Both `value`'s document and `problem` must live on.
    JsonFields(const JsonValue& value, std::string_view where, std::optional<Error>& problem)
        : m_value(value)
        , m_where(where)
        , m_problem(problem) {
        if (!value.isObject())
            complain(value, "is no object");
    }

    void read(const char* name, std::string& field) {
        if (const auto found = member(name)) {
            if (const auto text = found->asString())
                field = *text;
            else
                complain(*found, "is no text", name);
        }
    }

    void read(const char* name, double& field) {
        if (const auto found = member(name)) {
            if (const auto number = found->asNumber())
                field = *number;
            else
                complain(*found, "is no number", name);
        }
    }

    void read(const char* name, std::optional<double>& field) {
        if (const auto found = member(name); found && !found->isNull()) {
            double number = 0.0;
            read(name, number);
            field = number;
        }
    }

    void read(const char* name, bool& field) {
        if (const auto found = member(name)) {
            if (const auto flag = found->asBool())
                field = *flag;
            else
                complain(*found, "is neither true nor false", name);
        }
    }

    void read(const char* name, int& field) {
        if (const auto found = member(name)) {
            const auto number = found->asInteger();
            if (number && *number >= 0 && *number <= 1'000'000'000)
                field = static_cast<int>(*number);
            else
                complain(*found, "is no whole number from 0 on", name);
        }
    }

    void read(const char* name, std::vector<std::string>& field) {
        if (!contains(name))
            return;
        field.clear();
        for (const JsonValue& item : items(name)) {
            if (const auto text = item.asString())
                field.emplace_back(*text);
            else
                complain(item, "holds something that is no text", name);
        }
    }

    /// A member that is one of `names`; the index becomes the enumerator.
    template <typename Enum, typename Names>
    void read(const char* name, Enum& field, const Names& names) {
        const auto found = member(name);
        if (!found)
            return;
        for (std::size_t i = 0; i < std::size(names); ++i) {
            if (found->asString() == names[i]) {
                field = static_cast<Enum>(i);
                return;
            }
        }
        complain(*found, fmt::format("is none of {}", fmt::join(names, ", ")), name);
    }

    bool contains(const char* name) {
        m_known.insert(name);
        return m_value.contains(name);
    }

    /// The items of an array; none if the member is absent.
    std::vector<JsonValue> items(const char* name) {
        const auto found = member(name);
        if (found && !found->isArray())
            complain(*found, "is no list", name);
        return found ? found->items() : std::vector<JsonValue>();
    }

    void need(const char* name) {
        if (!contains(name))
            complain(m_value, "is missing", name);
    }

    /// To be called at the end: complains about a member that nobody asked for.
    void finish() {
        for (const auto& [name, value] : m_value.members()) {
            if (!m_known.contains(std::string(name)))
                complain(value, "is unknown", name);
        }
    }

    void complain(const JsonValue& at, std::string_view what, std::string_view name = {}) {
        if (m_problem)
            return;
        const std::string thing = name.empty() ? "a value" : fmt::format("\"{}\"", name);
        m_problem = Error{ErrorCode::CorruptFile,
                          fmt::format("{}: {} {} (byte {})", m_where, thing, what, at.offset()),
                          "Correct the file, or make it anew."};
    }

private:
    std::optional<JsonValue> member(const char* name) {
        return contains(name) ? std::optional(m_value[name]) : std::nullopt;
    }

    JsonValue m_value;
    std::string m_where;
    std::optional<Error>& m_problem;
    std::set<std::string> m_known;
};

} // namespace engine
