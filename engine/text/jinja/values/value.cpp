// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/values/value.h"

#include <algorithm>
#include <cmath>

namespace engine::jinja {

namespace {

// One step pays for this many bytes, so that a million steps read 32 MB at most.
constexpr std::uint64_t kBytesPerStep = 32;
// What has to look up every character's properties is ten times slower.
constexpr std::uint64_t kBytesPerSlowStep = 8;

std::string textHashKey(std::string_view text) { return fmt::format("t{}", text); }

/// A text that is equal for exactly those keys that Python calls equal. Tuples are no keys here.
Result<std::string> hashKeyOf(const Value& key) {
    switch (key.kind()) {
    case Kind::Text:
        return textHashKey(key.asText());
    case Kind::Undefined:
        return std::string("u");
    case Kind::None:
        return std::string("n");
    case Kind::Boolean:
    case Kind::Integer:
        return fmt::format("i{}", key.asInteger());
    case Kind::Float: {
        const double number = key.asDouble();
        if (std::trunc(number) == number && std::fabs(number) < 0x1.0p62)
            return fmt::format("i{}", static_cast<std::int64_t>(number));
        return fmt::format("f{}", number);
    }
    default:
        return templateError(fmt::format("unhashable type: '{}'", key.typeName()));
    }
}

} // namespace

RenderContext::RenderContext(std::uint64_t maxSteps, std::uint64_t maxTextBytes)
    : m_maxSteps(maxSteps)
    , m_stepsLeft(maxSteps)
    , m_maxTextBytes(maxTextBytes) {}

RenderContext::~RenderContext() {
    for (const auto& object : m_kept)
        object->releaseValues();
}

void RenderContext::keep(std::shared_ptr<Object> object) { m_kept.push_back(std::move(object)); }

Result<void> RenderContext::spend(std::uint64_t steps) {
    if (steps > m_stepsLeft) {
        m_stepsLeft = 0;
        return templateLimit(fmt::format("it takes more than {} steps", m_maxSteps));
    }
    m_stepsLeft -= steps;
    return {};
}

Result<void> RenderContext::spendReading(std::uint64_t bytes) {
    return spend(bytes / kBytesPerStep);
}

Result<void> RenderContext::spendLookingUp(std::uint64_t bytes) {
    return spend(bytes / kBytesPerSlowStep);
}

Result<void> RenderContext::spendText(std::uint64_t bytes) {
    if (bytes > m_maxTextBytes)
        return templateLimit(fmt::format("a text grows beyond {} bytes", m_maxTextBytes));
    // Memory is dearer than reading: all texts ever made stay below 16 MB.
    return spend(2 * bytes / kBytesPerStep);
}

Error RenderContext::refuse(std::string message) {
    m_isRefused = true;
    return {ErrorCode::InvalidInput, std::move(message), {}};
}

Error templateError(std::string message) {
    return {ErrorCode::InvalidInput, std::move(message), {}};
}

Error templateLimit(std::string message) {
    return {ErrorCode::Unsupported, std::move(message), {}};
}

Value Value::undefined(std::string reason) {
    return of(UndefinedTag{std::make_shared<const std::string>(std::move(reason))});
}

Value Value::text(std::string value) {
    return of(std::make_shared<const std::string>(std::move(value)));
}

Result<Value> Value::list(std::vector<Value> items) {
    return sequence(SequenceKind::List, std::move(items));
}

Result<Value> Value::sequence(SequenceKind kind, std::vector<Value> items) {
    int depth = 1;
    for (const Value& item : items)
        depth = std::max(depth, item.depth() + 1);
    if (depth > kMaxValueDepth)
        return templateLimit(fmt::format("values are nested more than {} deep", kMaxValueDepth));
    return of(std::make_shared<Sequence>(Sequence{kind, std::move(items), depth, 0, {}}));
}

Result<Value> Value::dict(Dict entries) {
    if (entries.depth() > kMaxValueDepth)
        return templateLimit(fmt::format("values are nested more than {} deep", kMaxValueDepth));
    return of(std::make_shared<const Dict>(std::move(entries)));
}

Value Value::range(std::vector<Value> items, std::string description) {
    return of(std::make_shared<Sequence>(
        Sequence{SequenceKind::Range, std::move(items), 1, 0, std::move(description)}));
}

bool Value::isNumber() const { return isIntegral() || is(Kind::Float); }

bool Value::isIntegral() const { return is(Kind::Integer) || is(Kind::Boolean); }

bool Value::isSequence(SequenceKind kind_) const {
    return is(Kind::Sequence) && asSequence()->kind == kind_;
}

std::int64_t Value::asInteger() const {
    return is(Kind::Boolean) ? static_cast<std::int64_t>(asBoolean())
                             : std::get<std::int64_t>(m_data);
}

double Value::asDouble() const {
    return is(Kind::Float) ? std::get<double>(m_data) : static_cast<double>(asInteger());
}

const std::string& Value::asText() const { return *std::get<Shared>(m_data); }

const std::shared_ptr<Sequence>& Value::asSequence() const {
    return std::get<std::shared_ptr<Sequence>>(m_data);
}

const Dict& Value::asDict() const { return *std::get<std::shared_ptr<const Dict>>(m_data); }

const std::shared_ptr<Object>& Value::asObject() const {
    return std::get<std::shared_ptr<Object>>(m_data);
}

std::string Value::undefinedReason() const {
    const auto& reason = std::get<UndefinedTag>(m_data).reason;
    return reason ? *reason : "an undefined value is used";
}

bool Value::isTrue() const {
    switch (kind()) {
    case Kind::Undefined:
    case Kind::None:
        return false;
    case Kind::Boolean:
    case Kind::Integer:
        return asInteger() != 0;
    case Kind::Float:
        return asDouble() != 0.0;
    case Kind::Text:
        return !asText().empty();
    case Kind::Sequence:
        return isSequence(SequenceKind::Generator) || !asSequence()->items.empty();
    case Kind::Dict:
        return !asDict().entries().empty();
    case Kind::Object:
        return true;
    }
    return false;
}

int Value::depth() const {
    if (is(Kind::Sequence))
        return asSequence()->depth;
    if (is(Kind::Object))
        return asObject()->depth();
    return is(Kind::Dict) ? asDict().depth() : 0;
}

std::string_view Value::typeName() const {
    constexpr std::string_view kSequenceNames[] = {
        "list", "tuple", "range", "dict_keys", "dict_values", "dict_items", "generator"};
    constexpr std::string_view kNames[] = {
        "Undefined", "NoneType", "bool", "int", "float", "str", "list", "dict"};
    if (is(Kind::Sequence))
        return kSequenceNames[static_cast<std::size_t>(asSequence()->kind)];
    if (is(Kind::Object))
        return asObject()->typeName();
    return kNames[m_data.index()];
}

Result<void> Dict::set(const Value& key, Value value) {
    ENGINE_TRY(std::string hashKey, hashKeyOf(key));
    put(std::move(hashKey), key, std::move(value));
    return {};
}

void Dict::setText(std::string key, Value value) {
    std::string hashKey = textHashKey(key);
    put(std::move(hashKey), Value::text(std::move(key)), std::move(value));
}

void Dict::put(std::string hashKey, Value key, Value value) {
    m_depth = std::max({m_depth, value.depth() + 1, key.depth() + 1});
    const auto [place, isNew] = m_index.try_emplace(std::move(hashKey), m_entries.size());
    if (isNew)
        m_entries.push_back({std::move(key), std::move(value)});
    else
        m_entries[place->second].value = std::move(value);
}

Result<const Value*> Dict::find(const Value& key) const {
    ENGINE_TRY(const std::string hashKey, hashKeyOf(key));
    const auto place = m_index.find(hashKey);
    return place == m_index.end() ? nullptr : &m_entries[place->second].value;
}

const Value* Dict::findText(std::string_view key) const {
    const auto place = m_index.find(textHashKey(key));
    return place == m_index.end() ? nullptr : &m_entries[place->second].value;
}

const Value* Arguments::findNamed(std::string_view name) const {
    for (const auto& [given, value] : named)
        if (given == name)
            return &value;
    return nullptr;
}

std::optional<Value> Object::attribute(std::string_view) const { return std::nullopt; }

Result<Value> Object::call(RenderContext&, const Arguments&) {
    return templateError(fmt::format("'{}' object is not callable", typeName()));
}

} // namespace engine::jinja
