// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/jinja/values/value.h"

/// What Python does with values: attributes and items, arithmetic, comparison.
namespace engine::jinja {

/// A sequence of values that is shared with the value it came from where possible.
using Items = std::shared_ptr<const std::vector<Value>>;

/// value[key]: an item first, then a method or an attribute of an object; as an attribute
/// (value.key) the other way round. Undefined when there is neither.
/// Errors: the value itself is undefined.
Result<Value>
itemOf(RenderContext& context, const Value& value, const Value& key, bool isAttribute = false);

/// value[start:stop:step]; None as a bound is open. Errors: no sequence, step 0.
Result<Value> sliceOf(RenderContext& context, const Value& value, const Value (&bounds)[3]);

/// What a loop goes through: items, keys, characters; a generator's items are used up.
/// Errors: nothing to go through ("'int' object is not iterable").
Result<Items> itemsOf(RenderContext& context, const Value& value);

/// len(value). Errors: no length.
Result<std::int64_t> lengthOf(RenderContext& context, const Value& value);

enum class ArithmeticOperator : std::uint8_t {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Modulo,
    Power
};

/// Python's arithmetic on numbers, texts and lists; integers are 64 bits wide.
/// Errors: types that do not fit, division by zero, an integer or a text that gets too large.
Result<Value>
calculate(RenderContext& context, ArithmeticOperator op, const Value& left, const Value& right);

/// -value. Errors: no number.
Result<Value> negated(const Value& value);

/// Python's a == b. Errors: the limit of steps.
Result<bool> areEqual(RenderContext& context, const Value& a, const Value& b);

/// Python's a < b. Errors: types that have no order.
Result<bool> isLess(RenderContext& context, const Value& a, const Value& b);

/// The same of two texts or two numbers.
bool comesBefore(const Value& a, const Value& b);

/// Every second one is the opposite of the one before it.
enum class Relation : std::uint8_t {
    Equal,
    NotEqual,
    Less,
    GreaterOrEqual,
    Greater,
    LessOrEqual,
    In,
    NotIn
};

/// Python's comparison. Errors: as above; a container that has no items.
Result<bool>
holds(RenderContext& context, Relation relation, const Value& left, const Value& right);

} // namespace engine::jinja
