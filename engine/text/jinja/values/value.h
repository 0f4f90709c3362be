// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace engine::jinja {

class Dict;
class Object;
struct Sequence;

/// What one rendering may still use. Every builtin pays here for the work it is about to do, so no
/// template can hang the program or fill its memory. Thread: the one that renders.
class RenderContext {
public:
    RenderContext(std::uint64_t maxSteps, std::uint64_t maxTextBytes);
    RenderContext(const RenderContext&) = delete;
    RenderContext& operator=(const RenderContext&) = delete;
    ~RenderContext();

    /// Errors: the limit of steps is passed.
    Result<void> spend(std::uint64_t steps);

    /// Pays for reading through this many bytes.
    Result<void> spendReading(std::uint64_t bytes);

    /// Pays for asking Unicode about every character of this many bytes.
    Result<void> spendLookingUp(std::uint64_t bytes);

    /// Pays for a text of this size before it is made. Errors: longer than a text may become.
    Result<void> spendText(std::uint64_t bytes);

    std::uint64_t maxTextBytes() const { return m_maxTextBytes; }

    /// What raise_exception returns: its message goes to the user word for word.
    Error refuse(std::string message);

    bool isRefused() const { return m_isRefused; }

    /// Keeps an object until the end, when all of them let go of their values: objects that can
    /// change may form rings and chains of any length.
    void keep(std::shared_ptr<Object> object);

private:
    std::uint64_t m_maxSteps;
    std::uint64_t m_stepsLeft;
    std::uint64_t m_maxTextBytes;
    bool m_isRefused = false;
    std::vector<std::shared_ptr<Object>> m_kept;
};

/// The error of a template that does what the language does not allow ("'x' is undefined").
/// The interpreter adds the name of the template and the line.
Error templateError(std::string message);

/// The error of a template that passes a limit or uses what is not there.
Error templateLimit(std::string message);

enum class Kind : std::uint8_t {
    Undefined,
    None,
    Boolean,
    Integer,
    Float,
    Text,
    Sequence,
    Dict,
    Object
};

/// Which of Python's sequences a Sequence stands for: they print and behave differently.
enum class SequenceKind : std::uint8_t { List, Tuple, Range, Keys, Values, Items, Generator };

/// A value of the template language, with Python's meaning. Cheap to copy: containers and texts
/// are shared and never change once made. Thread: one.
class Value {
public:
    /// An undefined value that gives no reason.
    Value() = default;

    /// `reason` is the message of the error when the value is used ("'x' is undefined").
    static Value undefined(std::string reason);
    static Value text(std::string value);

    static Value none() { return of(NoneTag{}); }

    static Value boolean(bool value) { return of(value); }

    static Value integer(std::int64_t value) { return of(value); }

    static Value number(double value) { return of(value); }

    static Value object(std::shared_ptr<Object> value) { return of(std::move(value)); }

    /// Errors: containers inside one another beyond kMaxValueDepth.
    static Result<Value> list(std::vector<Value> items);
    static Result<Value> sequence(SequenceKind kind, std::vector<Value> items);
    static Result<Value> dict(Dict entries);
    static Value range(std::vector<Value> items, std::string description);

    Kind kind() const { return static_cast<Kind>(m_data.index()); }

    bool is(Kind kind_) const { return kind() == kind_; }

    bool isUndefined() const { return is(Kind::Undefined); }

    bool isText() const { return is(Kind::Text); }

    /// A number in Python's sense: integer, float or boolean.
    bool isNumber() const;
    /// An integer or a boolean.
    bool isIntegral() const;
    bool isSequence(SequenceKind kind_) const;

    // Each of these is a bug when the kind is another one.
    bool asBoolean() const { return std::get<bool>(m_data); }

    std::int64_t asInteger() const; ///< booleans count as 0 and 1
    double asDouble() const;        ///< any number
    const std::string& asText() const;
    const std::shared_ptr<Sequence>& asSequence() const;
    const Dict& asDict() const;
    const std::shared_ptr<Object>& asObject() const;

    /// Why the value is undefined.
    std::string undefinedReason() const;

    /// Python's truth value; a generator is always true.
    bool isTrue() const;

    /// Containers inside one another: 0 for a scalar.
    int depth() const;

    /// Python's name of the type, for messages: "str", "dict", "NoneType".
    std::string_view typeName() const;

private:
    template <typename Content> static Value of(Content content) {
        Value made;
        made.m_data = std::move(content);
        return made;
    }

    struct NoneTag {};

    using Shared = std::shared_ptr<const std::string>;

    struct UndefinedTag {
        Shared reason;
    };

    std::variant<UndefinedTag,
                 NoneTag,
                 bool,
                 std::int64_t,
                 double,
                 Shared,
                 std::shared_ptr<Sequence>,
                 std::shared_ptr<const Dict>,
                 std::shared_ptr<Object>>
        m_data;
};

/// Deeper containers are refused, so that walking through a value cannot overflow the stack.
inline constexpr int kMaxValueDepth = 100;

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

    /// Errors: not callable, or what the call itself meets.
    virtual Result<Value> call(RenderContext& context, const Arguments& arguments);

    /// Containers inside one another, this one included; 0 for objects that the context keeps.
    virtual int depth() const { return 0; }

    /// Lets go of all values, so that objects that hold one another can end.
    virtual void releaseValues() {}
};

} // namespace engine::jinja
