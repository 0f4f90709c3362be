// SPDX-License-Identifier: Apache-2.0
#include "engine/session/recording/event_json.h"

#include "engine/loading/config/model_limits.h"
#include "engine/loading/json/json_document.h"
#include "engine/session/recording/event_fields.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <limits>

namespace engine {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kMostSteps = 1'000'000'000; // the sum of two of them is an int

constexpr JsonLimits kLimits{.maxBytes = 1U << 24U, .maxDepth = 16, .maxNodes = 4'000'000};

template <typename E> using Names = std::array<std::pair<std::string_view, E>, 16>;

/// All values of an enumeration by their names in JSON; unused entries have an empty name.
template <typename E> const Names<E>& namesOf();

template <> const Names<TokenOrigin>& namesOf() {
    static constexpr Names<TokenOrigin> kNames{{{"vanilla", TokenOrigin::Vanilla},
                                                {"draft", TokenOrigin::Draft},
                                                {"sibling", TokenOrigin::Sibling},
                                                {"bonus", TokenOrigin::Bonus}}};
    return kNames;
}

template <> const Names<DecoderPhase>& namesOf() {
    static constexpr Names<DecoderPhase> kNames{{{"plain", DecoderPhase::Plain},
                                                 {"accumulate", DecoderPhase::Accumulate},
                                                 {"optimise", DecoderPhase::Optimise},
                                                 {"accelerate", DecoderPhase::Accelerate}}};
    return kNames;
}

template <> const Names<DraftEndReason>& namesOf() {
    static constexpr Names<DraftEndReason> kNames{{{"not_told", DraftEndReason::NotReported},
                                                   {"unsure", DraftEndReason::Unsure},
                                                   {"length", DraftEndReason::Length},
                                                   {"nodes", DraftEndReason::Nodes},
                                                   {"room", DraftEndReason::Room},
                                                   {"end_token", DraftEndReason::EndToken},
                                                   {"budget", DraftEndReason::Budget},
                                                   {"nothing", DraftEndReason::Nothing},
                                                   {"unlikely", DraftEndReason::Unlikely},
                                                   {"price", DraftEndReason::Price},
                                                   {"measuring", DraftEndReason::Measuring}}};
    return kNames;
}

template <> const Names<SpanCause>& namesOf() {
    static constexpr Names<SpanCause> kNames{{{"model", SpanCause::Model},
                                              {"decoder", SpanCause::Decoder},
                                              {"settings", SpanCause::Settings},
                                              {"sampling", SpanCause::Sampling},
                                              {"chat", SpanCause::Chat}}};
    return kNames;
}

template <> const Names<FinishReason>& namesOf() {
    static constexpr Names<FinishReason> kNames{{{"end_token", FinishReason::EndToken},
                                                 {"stop_string", FinishReason::StopString},
                                                 {"max_tokens", FinishReason::MaxTokens},
                                                 {"context_full", FinishReason::ContextFull},
                                                 {"cancelled", FinishReason::Cancelled}}};
    return kNames;
}

template <> const Names<GrammarKind>& namesOf() {
    static constexpr Names<GrammarKind> kNames{{{"none", GrammarKind::None},
                                                {"json", GrammarKind::Json},
                                                {"schema", GrammarKind::Schema},
                                                {"regex", GrammarKind::Regex}}};
    return kNames;
}

template <> const Names<SettingKind>& namesOf() {
    static constexpr Names<SettingKind> kNames{{{"number", SettingKind::Number},
                                                {"integer", SettingKind::Integer},
                                                {"flag", SettingKind::Flag},
                                                {"choice", SettingKind::Choice},
                                                {"text", SettingKind::Text}}};
    return kNames;
}

template <> const Names<SettingEffect>& namesOf() {
    static constexpr Names<SettingEffect> kNames{{{"next step", SettingEffect::NextStep},
                                                  {"next trial", SettingEffect::NextTrial},
                                                  {"next answer", SettingEffect::NextAnswer},
                                                  {"new search", SettingEffect::NewSearch}}};
    return kNames;
}

template <> const Names<ErrorCode>& namesOf() {
    static constexpr Names<ErrorCode> kNames{{{"InvalidInput", ErrorCode::InvalidInput},
                                              {"NotFound", ErrorCode::NotFound},
                                              {"Unsupported", ErrorCode::Unsupported},
                                              {"CorruptFile", ErrorCode::CorruptFile},
                                              {"NoMemory", ErrorCode::NoMemory},
                                              {"Io", ErrorCode::Io},
                                              {"Numeric", ErrorCode::Numeric},
                                              {"Device", ErrorCode::Device},
                                              {"Cancelled", ErrorCode::Cancelled},
                                              {"Internal", ErrorCode::Internal}}};
    return kNames;
}

/// Writes the members of a record into a JSON object.
class FieldWriter {
public:
    explicit FieldWriter(Json& object)
        : m_object(object) {}

    template <typename T> void operator()(const char* name, T& member) {
        m_object[name] = toJson(member);
    }

private:
    static Json toJson(bool value) { return value; }

    static Json toJson(int value) { return value; }

    static Json toJson(std::int64_t value) { return value; }

    /// Stored by its bits, because the reader has signed 64-bit integers.
    static Json toJson(std::uint64_t value) { return static_cast<std::int64_t>(value); }

    static Json toJson(double value) { return std::isfinite(value) ? Json(value) : Json(); }

    static Json toJson(std::string& value) { return value; }

    static Json toJson(SettingValue& value) {
        return std::visit([](const auto& held) { return Json(held); }, value);
    }

    static Json toJson(ShownCell& cell) {
        return std::visit([](auto& held) { return toJson(held); }, cell);
    }

    static Json toJson(SettingValues& values) {
        Json object = Json::object();
        for (auto& [name, value] : values)
            object[name] = toJson(value);
        return object;
    }

    template <typename T> static Json toJson(std::vector<T>& values) {
        Json array = Json::array();
        for (T& value : values)
            array.push_back(toJson(value));
        return array;
    }

    template <typename T> static Json toJson(std::optional<T>& value) {
        return value ? toJson(*value) : Json();
    }

    template <typename T> static Json toJson(T& value) {
        if constexpr (std::is_enum_v<T>) {
            for (const auto& [name, other] : namesOf<T>())
                if (other == value && !name.empty())
                    return name;
            return "unknown";
        } else {
            Json object = Json::object();
            FieldWriter writer(object);
            visitFields(writer, value);
            return object;
        }
    }

    Json& m_object;
};

/// Reads the members of a record from a JSON object; stops at the first one of the wrong type.
class FieldReader {
public:
    explicit FieldReader(JsonValue object)
        : m_object(object) {}

    template <typename T> void operator()(const char* name, T& member) {
        if (m_wrong || !m_object.contains(name))
            return;
        const JsonValue value = m_object[name];
        if (!read(value, member) || !isPossible(name, member))
            m_wrong = Wrong{m_deeper ? m_deeper->name : name,
                            m_deeper ? m_deeper->offset : value.offset()};
    }

    struct Wrong {
        std::string name;
        std::uint64_t offset;
    };

    const std::optional<Wrong>& wrong() const { return m_wrong; }

private:
    /// Views have a column for each layer and count steps on from others; a damaged recording may
    /// name any number of them.
    static bool isPossible(std::string_view name, int value) {
        if (name == "step" || name == "first_step")
            return value >= 0 && value <= kMostSteps;
        return name != "layers" || (value >= 0 && value <= model_limits::kLayers);
    }

    template <typename T> static bool isPossible(std::string_view, const T&) { return true; }

    template <typename T> static bool assign(const std::optional<T>& from, T& to) {
        if (from)
            to = *from;
        return from.has_value();
    }

    bool read(JsonValue value, bool& to) { return assign(value.asBool(), to); }

    bool read(JsonValue value, std::int64_t& to) { return assign(value.asInteger(), to); }

    bool read(JsonValue value, int& to) {
        const auto number = value.asInteger();
        if (!number || *number < std::numeric_limits<int>::min() ||
            *number > std::numeric_limits<int>::max())
            return false;
        to = static_cast<int>(*number);
        return true;
    }

    bool read(JsonValue value, std::uint64_t& to) {
        const auto number = value.asInteger();
        to = static_cast<std::uint64_t>(number.value_or(0));
        return number.has_value();
    }

    bool read(JsonValue value, double& to) {
        if (value.isNull())
            to = std::numeric_limits<double>::quiet_NaN();
        return value.isNull() || assign(value.asNumber(), to);
    }

    bool read(JsonValue value, std::string& to) {
        const auto text = value.asString();
        if (text)
            to = *text;
        return text.has_value();
    }

    bool read(JsonValue value, SettingValue& to) {
        if (const auto text = value.asString())
            to = std::string(*text);
        else if (const auto number = value.asNumber())
            to = *number;
        else
            return false;
        return true;
    }

    /// A token is an object, a text is a string, an unknown number is null.
    bool read(JsonValue value, ShownCell& to) {
        if (value.isObject())
            return read(value, to.emplace<ShownToken>());
        if (value.isString())
            return read(value, to.emplace<std::string>());
        return read(value, to.emplace<double>());
    }

    bool read(JsonValue value, SettingValues& to) {
        for (const auto& [name, member] : value.members())
            if (!read(member, to[std::string(name)]))
                return false;
        return value.isObject();
    }

    template <typename T> bool read(JsonValue value, std::vector<T>& to) {
        to.clear();
        for (const JsonValue item : value.items())
            if (!read(item, to.emplace_back()))
                return false;
        return value.isArray();
    }

    template <typename T> bool read(JsonValue value, std::optional<T>& to) {
        if (value.isNull()) {
            to.reset();
            return true;
        }
        return read(value, to.emplace());
    }

    template <typename T> bool read(JsonValue value, T& to) {
        if constexpr (std::is_enum_v<T>) {
            const auto text = value.asString();
            for (const auto& [name, held] : namesOf<T>())
                if (text && !name.empty() && *text == name) {
                    to = held;
                    return true;
                }
            return false;
        } else {
            FieldReader reader(value);
            visitFields(reader, to);
            m_deeper = reader.wrong();
            return value.isObject() && !m_deeper;
        }
    }

    JsonValue m_object;
    std::optional<Wrong> m_wrong;
    std::optional<Wrong> m_deeper; ///< the member of a member that was wrong
};

/// Default content of the kind with this name.
template <std::size_t index = 0> std::optional<EventContent> contentOfKind(std::string_view kind) {
    if constexpr (index == std::variant_size_v<EventContent>) {
        return std::nullopt;
    } else {
        using Content = std::variant_alternative_t<index, EventContent>;
        if (kind == Content::kKind)
            return Content();
        return contentOfKind<index + 1>(kind);
    }
}

Error wrongMember(const std::string& where, std::string_view name, std::uint64_t offset) {
    return {
        ErrorCode::CorruptFile,
        fmt::format("{}: the member \"{}\" has an invalid value (byte {}).", where, name, offset),
        "The recording is damaged or was changed; what comes before is intact."};
}

} // namespace

std::string eventJson(EngineEvent event) {
    Json object = {{"event", eventKind(event)}};
    FieldWriter writer(object);
    writer("time", event.time);
    if (event.conversation != 0)
        writer("conversation", event.conversation);
    std::visit([&writer](auto& content) { visitFields(writer, content); }, event.content);
    return object.dump(-1, ' ', true, Json::error_handler_t::replace);
}

Result<std::optional<EngineEvent>>
readEventJson(std::string_view text, const std::string& where, std::uint64_t firstByte) {
    ENGINE_TRY(const JsonDocument document, JsonDocument::parse(text, where, kLimits));
    const JsonValue root = document.root();
    const auto kind = root["event"].asString();
    if (!kind)
        return wrongMember(where, "event", firstByte + root.offset());
    std::optional<EventContent> content = contentOfKind(*kind);
    if (!content)
        return std::optional<EngineEvent>();
    EngineEvent event{.content = std::move(*content)};
    FieldReader reader(root);
    reader("time", event.time);
    reader("conversation", event.conversation);
    std::visit([&reader](auto& held) { visitFields(reader, held); }, event.content);
    if (reader.wrong())
        return wrongMember(where, reader.wrong()->name, firstByte + reader.wrong()->offset);
    return std::optional<EngineEvent>(std::move(event));
}

} // namespace engine
