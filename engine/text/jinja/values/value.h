// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/jinja/values/render_context.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace engine::jinja {

class Dict;
class Object;
struct Sequence;

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
    static Value none();
    static Value boolean(bool value);
    static Value integer(std::int64_t value);
    static Value number(double value);
    static Value text(std::string value);
    static Value object(std::shared_ptr<Object> value);

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

    /// Whether both are one and the same container (or equal scalars of the same kind).
    bool isSameAs(const Value& other) const;

    /// Python's name of the type, for messages: "str", "dict", "NoneType".
    std::string_view typeName() const;

private:
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

} // namespace engine::jinja
