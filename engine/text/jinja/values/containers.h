// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/jinja/values/value.h"

#include <optional>
#include <unordered_map>

namespace engine::jinja {

/// The items of a list, tuple, range, dict view or generator.
struct Sequence {
    SequenceKind kind = SequenceKind::List;
    std::vector<Value> items;
    int depth = 1;
    std::size_t consumed = 0; ///< generators only: items that were already handed out
    std::string description;  ///< ranges only: what str() says
};

/// Keys and values in the order they came, found by hash. Keys that are equal in Python (1, 1.0
/// and true) are one key.
class Dict {
public:
    struct Entry {
        Value key;
        Value value;
    };

    /// Adds or replaces. Errors: a key that cannot be one (a list, a dict).
    Result<void> set(const Value& key, Value value);

    /// For keys that are texts.
    void setText(std::string key, Value value);

    /// Null when there is no such key. Errors: as set.
    Result<const Value*> find(const Value& key) const;
    const Value* findText(std::string_view key) const;

    const std::vector<Entry>& entries() const { return m_entries; }

    int depth() const { return m_depth; }

private:
    void put(std::string hashKey, Value key, Value value);

    std::vector<Entry> m_entries;
    std::unordered_map<std::string, std::size_t> m_index;
    int m_depth = 1;
};

/// What a call is given: f(a, b, name=c).
struct Arguments {
    std::vector<Value> positional;
    std::vector<std::pair<std::string, Value>> named;

    /// Null when there is none of this name.
    const Value* findNamed(std::string_view name) const;
};

/// A value with its own behaviour: namespace, macro, function, loop.
class Object {
public:
    Object() = default;
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;
    virtual ~Object() = default;

    /// Python's name of the type, for messages.
    virtual std::string_view typeName() const = 0;

    /// Nothing when there is no such attribute.
    virtual std::optional<Value> attribute(std::string_view name) const;

    virtual bool isCallable() const { return false; }

    /// Errors: not callable, or what the call itself meets.
    virtual Result<Value> call(RenderContext& context, const Arguments& arguments);

    /// What namespaces print; null for all others.
    virtual const Dict* printedEntries() const { return nullptr; }

    /// Containers inside one another, this one included; 0 for objects that the context keeps.
    virtual int depth() const { return 0; }

    /// Lets go of all values, so that objects that hold one another can end.
    virtual void releaseValues() {}
};

} // namespace engine::jinja
