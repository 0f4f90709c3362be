// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/session/recording/event_fields.h"

#include <fmt/format.h>

#include <vector>

namespace test_support {

/// Gives every member of a record a value of its own, unlike its default.
class FieldFiller {
public:
    template <typename T> void operator()(const char*, T& member) { fill(member); }

private:
    void fill(bool& value) { value = !value; }

    void fill(int& value) { value = ++m_count; }

    void fill(std::int64_t& value) { value = (std::int64_t{1} << 53) + ++m_count; }

    void fill(std::uint64_t& value) {
        value = ~std::uint64_t{0} - static_cast<unsigned>(++m_count);
    }

    void fill(double& value) { value = 1.0 / (3.0 + ++m_count); }

    void fill(std::string& value) { value = fmt::format("é\n\"{}\"", ++m_count); }

    void fill(engine::SettingValue& value) {
        if (++m_count % 2 == 0)
            value = 0.1 * m_count;
        else
            value = fmt::format("text {}", m_count);
    }

    void fill(engine::ShownCell& cell) {
        switch (++m_count % 3) {
        case 0:
            return fill(cell.emplace<engine::ShownToken>());
        case 1:
            return fill(cell.emplace<double>());
        default:
            return fill(cell.emplace<std::string>());
        }
    }

    void fill(engine::SettingValues& values) {
        fill(values["first"]);
        fill(values["second"]);
    }

    template <typename T> void fill(std::vector<T>& values) {
        values.resize(2);
        for (T& value : values)
            fill(value);
    }

    template <typename T> void fill(std::optional<T>& value) { fill(value.emplace()); }

    template <typename T> void fill(T& value) {
        if constexpr (std::is_enum_v<T>)
            value = static_cast<T>(2);
        else
            visitFields(*this, value);
    }

    int m_count = 0;
};

/// One event of every kind, all members filled.
template <std::size_t index = 0> std::vector<engine::EngineEvent> sampleEvents() {
    if constexpr (index == std::variant_size_v<engine::EventContent>) {
        return {};
    } else {
        std::variant_alternative_t<index, engine::EventContent> content;
        FieldFiller filler;
        visitFields(filler, content);
        std::vector<engine::EngineEvent> events = sampleEvents<index + 1>();
        events.insert(events.begin(), {0.1 * (index + 1), std::move(content)});
        return events;
    }
}

} // namespace test_support
