// SPDX-License-Identifier: GPL-3.0-only
#include "ui/bridge/engine_bridge.h"

#include "engine/session/asides.h"

#include <QCoreApplication>
#include <QEvent>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

QEvent::Type tickEnd() {
    static const auto type = static_cast<QEvent::Type>(QEvent::registerEventType());
    return type;
}

} // namespace

EngineBridge::EngineBridge(std::unique_ptr<EngineLink> link, RunStore& store, QObject* parent)
    : QObject(parent)
    , m_link(std::move(link))
    , m_store(store)
    , m_nextDecoder(store) {
    m_timer.setInterval(kTickMs);
    m_timer.setTimerType(Qt::PreciseTimer);
    m_clock.start();
    connect(&m_timer, &QTimer::timeout, this, &EngineBridge::tick);
}

EngineBridge::~EngineBridge() = default;

bool EngineBridge::send(engine::EngineCommand command) {
    if (comesBehindWaiting(command) && !sendWaiting())
        return false;
    if (!pass(command))
        return false;
    noteAsked(command);
    return true;
}

ChoiceState EngineBridge::choose(engine::EngineCommand command) {
    const auto unsent = std::ranges::count_if(m_waiting, [](const engine::EngineCommand& waiting) {
        return std::holds_alternative<engine::ChooseDecoder>(waiting);
    });
    if (m_nextDecoder.takeBack(command, static_cast<std::size_t>(unsent))) {
        m_waiting.clear();
        emit choicesTakenBack();
        tellNextDecoder();
        return ChoiceState::TakenBack;
    }
    if (!waitsHere(command))
        return send(std::move(command)) ? ChoiceState::Sent : ChoiceState::Refused;
    m_waiting.push_back(command);
    noteAsked(command);
    return ChoiceState::Waiting;
}

/// Gives it to the engine.
bool EngineBridge::pass(const engine::EngineCommand& command) {
    if (!m_link->send(command))
        return false;
    if (const auto* load = std::get_if<engine::LoadModel>(&command)) {
        m_load = *load;
        m_loads.push_back(*load);
    } else if (std::holds_alternative<engine::StopLoading>(command) ||
               std::holds_alternative<engine::UnloadModel>(command)) {
        m_load.reset();
    } else if (const auto* change = std::get_if<engine::ChangeSettings>(&command)) {
        emit settingsAsked(*change);
    }
    return true;
}

void EngineBridge::noteAsked(const engine::EngineCommand& command) {
    if (m_nextDecoder.ask(command))
        tellNextDecoder();
}

/// A choice during an answer, and changes of the decoder that was chosen last.
bool EngineBridge::waitsHere(const engine::EngineCommand& command) const {
    if (const auto* choice = std::get_if<engine::ChooseDecoder>(&command))
        return choice->conversation == 0 && m_store.answers().isRunning() && !isReplay();
    const auto* change = std::get_if<engine::ChangeSettings>(&command);
    return change != nullptr && change->conversation == 0 && !m_waiting.empty() &&
           (change->decoder.empty() || change->decoder == m_nextDecoder.name());
}

/// Whether it would mean something else before what waits than behind it.
bool EngineBridge::comesBehindWaiting(const engine::EngineCommand& command) const {
    if (m_waiting.empty())
        return false;
    if (const auto* choice = std::get_if<engine::ChooseDecoder>(&command))
        return choice->conversation == 0;
    if (const auto* prompt = std::get_if<engine::SubmitPrompt>(&command))
        return prompt->conversation == 0;
    if (const auto* change = std::get_if<engine::ChangeSettings>(&command))
        return change->conversation == 0 &&
               (m_store.decoder() == nullptr || change->decoder != m_store.decoder()->name);
    return std::holds_alternative<engine::LoadModel>(command) ||
           std::holds_alternative<engine::UnloadModel>(command);
}

/// False when the engine does not take all of it: the rest goes on waiting.
bool EngineBridge::sendWaiting() {
    while (!m_waiting.empty()) {
        if (!pass(m_waiting.front()))
            return false;
        m_waiting.pop_front();
    }
    return true;
}

void EngineBridge::sendWaitingAfterAnswer() {
    if (!m_store.answers().isRunning())
        sendWaiting();
}

/// Views that show the decoder show the next one.
void EngineBridge::tellNextDecoder() {
    markChanged(Topic::Decoder);
    emit nextDecoderChanged();
}

/// Loads end in the order in which they were asked for.
void EngineBridge::noteLoadEnd(const engine::EngineEvent& event) {
    const bool isLoaded = event.as<engine::ModelLoaded>() != nullptr;
    const auto* failed = event.as<engine::EngineFailed>();
    if (isLoaded || event.as<engine::ModelUnloaded>() != nullptr)
        m_loadInUse.reset();
    if (!isLoaded && (failed == nullptr || failed->task != "load_model"))
        return;
    if (isLoaded && !m_loads.empty())
        m_loadInUse = m_loads.front();
    if (!m_loads.empty())
        m_loads.pop_front();
    if (m_loads.empty())
        m_load.reset();
}

void EngineBridge::start() { m_timer.start(); }

void EngineBridge::add(Picture& picture, Topics topics) {
    m_entries.push_back({&picture, topics, topics});
}

void EngineBridge::remove(Picture& picture) {
    std::erase_if(m_entries, [&](const Entry& entry) { return entry.picture == &picture; });
}

void EngineBridge::markChanged(Topics topics) {
    for (Entry& entry : m_entries)
        entry.stale |= topics & entry.topics;
}

void EngineBridge::tick() {
    if (m_timer.isActive()) // else nothing returns it
        m_link->borrowProcessor();
    m_tickClock.start();
    m_tickMs = m_clock.elapsed();
    m_isDelivering = true;
    if (m_link->takeRewind()) {
        m_store.rewind();
        m_nextDecoder.forget();
        for (Entry& entry : m_entries)
            entry.stale |= entry.topics;
        emit rewound();
    }
    sendWaitingAfterAnswer(); // what the engine did not take before
    for (const engine::EngineEvent& event : m_link->takeEvents()) {
        if (engine::isAside(event.conversation) && !isReplay()) {
            emit asideCame(event);
            continue;
        }
        noteLoadEnd(event);
        markChanged(m_store.apply(event));
        sendWaitingAfterAnswer();
        if (m_nextDecoder.apply(event))
            tellNextDecoder();
        emit eventCame(event);
    }
    m_isDelivering = false;
    if (pictureInterval() <= kTickMs || !m_pictureClock.isValid() ||
        m_pictureClock.elapsed() >= pictureInterval()) {
        m_pictureClock.start();
        // The loop goes by index, because a refresh may add or remove pictures.
        for (std::size_t i = 0; i < m_entries.size(); ++i)
            if (isDue(m_entries[i]))
                refresh(m_entries[i]);
    }
    emit tickFinished();
    // Paint events are handled after all others, so this event arrives once the tick is on the
    // screen.
    QCoreApplication::postEvent(this, new QEvent(tickEnd()), Qt::LowEventPriority - 1);
}

/// A picture's own interval applies only while an answer is generated. Finished answers, manual
/// ticks, the user's selection and what the user chose of the decoder are shown at once.
bool EngineBridge::isDue(const Entry& entry) const {
    if (!m_timer.isActive() || !m_store.answers().isRunning() ||
        (entry.stale & (Topic::Selection | Topic::Decoder)))
        return true;
    const int interval = entry.picture->leastIntervalMs();
    return interval == 0 || !entry.refreshedAtMs ||
           m_tickMs / interval != *entry.refreshedAtMs / interval;
}

void EngineBridge::refresh(Entry& entry) {
    if (!entry.stale || !entry.picture->isShowing())
        return;
    entry.refreshedAtMs = m_tickMs;
    const Topics changed = std::exchange(entry.stale, {});
    entry.picture->refresh(changed);
}

void EngineBridge::refreshPictures() {
    for (std::size_t i = 0; i < m_entries.size(); ++i)
        refresh(m_entries[i]);
}

bool EngineBridge::event(QEvent* event) {
    if (event->type() != tickEnd())
        return QObject::event(event);
    m_link->returnProcessor();
    if (!m_tickClock.isValid())
        return true;
    const double costMs = static_cast<double>(m_tickClock.nsecsElapsed()) * 1e-6;
    m_tickClock.invalidate();
    if (m_pace.note(costMs, static_cast<double>(m_clock.elapsed())))
        emit pictureIntervalChanged(pictureInterval());
    return true;
}

} // namespace ui
