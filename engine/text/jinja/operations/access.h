// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/jinja/values/containers.h"

namespace engine::jinja {

/// A sequence of values that is shared with the value it came from where possible.
using Items = std::shared_ptr<const std::vector<Value>>;

/// value.name: a method or attribute first, then the entry of a dict; undefined when there is
/// neither. Errors: the value itself is undefined.
Result<Value> attributeOf(RenderContext& context, const Value& value, std::string_view name);

/// A method, or an attribute of an object; nothing when there is none of this name.
std::optional<Value> ownAttributeOf(const Value& value, std::string_view name);

/// value[key]: an item first, then an attribute; undefined when there is neither.
/// Errors: the value itself is undefined.
Result<Value> itemOf(RenderContext& context, const Value& value, const Value& key);

/// value[start:stop:step]; None as a bound is open. Errors: no sequence, step 0.
Result<Value> sliceOf(RenderContext& context, const Value& value, const Value (&bounds)[3]);

/// What a loop goes through: items, keys, characters; a generator's items are used up.
/// Errors: nothing to go through ("'int' object is not iterable").
Result<Items> itemsOf(RenderContext& context, const Value& value);

/// len(value). Errors: no length.
Result<std::int64_t> lengthOf(RenderContext& context, const Value& value);

} // namespace engine::jinja
