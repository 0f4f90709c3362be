// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/loop_state.h"

#include "engine/text/jinja/operations/value_compare.h"

#include <algorithm>

namespace engine::jinja {

namespace {

class LoopMethod : public Object {
public:
    LoopMethod(std::shared_ptr<LoopState> loop, bool isCycle)
        : m_loop(std::move(loop))
        , m_isCycle(isCycle) {}

    std::string_view typeName() const override { return "method"; }

    bool isCallable() const override { return true; }

    int depth() const override { return m_loop->depth() + 1; }

    Result<Value> call(RenderContext& context, const Arguments& arguments) override {
        return m_isCycle ? m_loop->cycle(arguments) : m_loop->changed(context, arguments);
    }

private:
    std::shared_ptr<LoopState> m_loop; // the loop may end before its method
    bool m_isCycle;
};

} // namespace

LoopState::LoopState(Items items)
    : m_items(std::move(items)) {
    for (const Value& item : *m_items)
        m_valueDepth = std::max(m_valueDepth, item.depth() + 2);
}

Value LoopState::itemAt(std::size_t index, std::string_view missing) const {
    return index < m_items->size() ? (*m_items)[index] : Value::undefined(std::string(missing));
}

std::optional<Value> LoopState::attribute(std::string_view name) const {
    const auto index = static_cast<std::int64_t>(m_index);
    const auto length = static_cast<std::int64_t>(m_items->size());
    if (name == "index")
        return Value::integer(index + 1);
    if (name == "index0")
        return Value::integer(index);
    if (name == "revindex")
        return Value::integer(length - index);
    if (name == "revindex0")
        return Value::integer(length - index - 1);
    if (name == "first")
        return Value::boolean(index == 0);
    if (name == "last")
        return Value::boolean(index + 1 == length);
    if (name == "length")
        return Value::integer(length);
    if (name == "depth")
        return Value::integer(1);
    if (name == "depth0")
        return Value::integer(0);
    if (name == "previtem") // index - 1 wraps to a place behind the end
        return itemAt(m_index - 1, "there is no previous item");
    if (name == "nextitem")
        return itemAt(m_index + 1, "there is no next item");
    if (name == "cycle" || name == "changed") {
        // attribute() is const for all objects, but a method may change the loop it belongs to.
        auto self = std::const_pointer_cast<LoopState>(shared_from_this());
        return Value::object(std::make_shared<LoopMethod>(std::move(self), name == "cycle"));
    }
    return std::nullopt;
}

Result<Value> LoopState::cycle(const Arguments& arguments) const {
    if (arguments.positional.empty())
        return templateError("no items for cycling given");
    return arguments.positional[m_index % arguments.positional.size()];
}

Result<Value> LoopState::changed(RenderContext& context, const Arguments& arguments) {
    bool isSame = m_hasChangedBefore && m_lastChanged.size() == arguments.positional.size();
    for (std::size_t i = 0; isSame && i < m_lastChanged.size(); ++i) {
        ENGINE_TRY(isSame, areEqual(context, m_lastChanged[i], arguments.positional[i]));
    }
    m_hasChangedBefore = true;
    m_lastChanged = arguments.positional;
    return Value::boolean(!isSame);
}

} // namespace engine::jinja
