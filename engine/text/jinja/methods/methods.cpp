// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja/methods/methods.h"

#include <algorithm>
#include <array>

namespace engine::jinja {

namespace {

class BoundMethod : public Object {
public:
    BoundMethod(Value receiver, MethodFunction function)
        : m_receiver(std::move(receiver))
        , m_function(function) {}

    std::string_view typeName() const override { return "builtin_function_or_method"; }

    bool isCallable() const override { return true; }

    int depth() const override { return m_receiver.depth() + 1; }

    Result<Value> call(RenderContext& context, const Arguments& arguments) override {
        return m_function(context, m_receiver, arguments);
    }

private:
    Value m_receiver;
    MethodFunction m_function;
};

constexpr std::array kChangingListMethods{
    std::string_view("append"),
    std::string_view("clear"),
    std::string_view("extend"),
    std::string_view("insert"),
    std::string_view("pop"),
    std::string_view("remove"),
    std::string_view("reverse"),
    std::string_view("sort"),
};

constexpr std::array kChangingDictMethods{
    std::string_view("clear"),
    std::string_view("pop"),
    std::string_view("popitem"),
    std::string_view("setdefault"),
    std::string_view("update"),
};

template <std::size_t Count>
bool contains(const std::array<std::string_view, Count>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool changesReceiver(const Value& receiver, std::string_view name) {
    if (receiver.isSequence(SequenceKind::List))
        return contains(kChangingListMethods, name);
    return receiver.is(Kind::Dict) && contains(kChangingDictMethods, name);
}

MethodFunction findMethod(const Value& receiver, std::string_view name) {
    switch (receiver.kind()) {
    case Kind::Text:
        return findTextMethod(name);
    case Kind::Sequence:
        return findSequenceMethod(name);
    case Kind::Dict:
        return findDictMethod(name);
    default:
        return nullptr;
    }
}

} // namespace

std::optional<Value> boundMethod(const Value& receiver, std::string_view name) {
    if (changesReceiver(receiver, name))
        return Value::undefined(fmt::format(
            "access to attribute '{}' of '{}' object is unsafe.", name, receiver.typeName()));
    const MethodFunction function = findMethod(receiver, name);
    if (function == nullptr)
        return std::nullopt;
    return Value::object(std::make_shared<BoundMethod>(receiver, function));
}

} // namespace engine::jinja
