// SPDX-License-Identifier: GPL-3.0-only
#include "ui/studio/workspaces/lesson_hand.h"

#include "ui/chat/session/chat_session.h"
#include "ui/views/controls/decoder_switch.h"
#include "ui/views/learn/lens/lens_view.h"
#include "ui/views/learn/sides/sides_view.h"
#include "ui/views/learn/slow_motion/slow_motion_view.h"
#include "ui/views/search_offer/skip_set_finder.h"

#include <algorithm>

namespace ui {

using namespace engine;

namespace {

/// One of kLessonRounds; of several the first one. Where there is none of the kind, the next best.
int roundOf(const Answer& answer, const std::string& kind) {
    const auto keptMost = [&](auto counts) {
        int best = -1;
        std::size_t most = 0;
        for (std::size_t i = 0; i < answer.steps.size(); ++i) {
            const StepFinished& step = answer.steps[i];
            // Where nothing was kept, one with guesses shows more than one without.
            const std::size_t worth = 2 * step.path.size() + (step.draft.empty() ? 0 : 1);
            if (counts(step) && (best < 0 || worth > most)) {
                best = static_cast<int>(i);
                most = worth;
            }
        }
        return best;
    };
    int found = 0;
    if (kind == "best")
        found = keptMost([](const StepFinished&) { return true; });
    if (kind == "partly") {
        // With two or more thrown away, "what was kept and one more" is another number than "all".
        for (const std::size_t gone : {2U, 1U}) {
            found = keptMost([gone](const StepFinished& step) {
                return !step.path.empty() && step.path.size() + gone <= step.confidences.size();
            });
            if (found >= 0)
                return found;
        }
        found = roundOf(answer, "best");
    }
    if (kind == "wrong") {
        std::size_t longest = 0;
        for (std::size_t i = 0; i < answer.steps.size(); ++i)
            if (answer.steps[i].path.empty() && answer.steps[i].draft.size() > longest) {
                longest = answer.steps[i].draft.size();
                found = static_cast<int>(i);
            }
        found = longest == 0 ? roundOf(answer, "partly") : found;
    }
    return found;
}

/// Null for a decoder or a setting that there is not.
const SettingInfo*
settingOf(const RunStore& run, const std::string& decoder, const std::string& setting) {
    const auto& decoders = run.model()->decoders;
    const auto found = std::ranges::find(decoders, decoder, &DecoderInfo::name);
    return found == decoders.end() ? nullptr : found->find(setting);
}

/// Takes the layer out of the list, or puts it in.
void toggle(std::vector<int>& layers, int layer) {
    const auto place = std::ranges::lower_bound(layers, layer);
    if (place != layers.end() && *place == layer)
        layers.erase(place);
    else
        layers.insert(place, layer);
}

} // namespace

StudioHand::StudioHand(LessonParts parts)
    : m_parts(std::move(parts))
    , m_manual(m_parts.context) {
    QObject::connect(&m_parts.context.bridge,
                     &EngineBridge::eventCame,
                     &m_manual,
                     [this](const EngineEvent& event) { follow(event); });
    QObject::connect(&m_parts.chat, &ChatSession::draftReturned, &m_manual, [this] {
        m_isDone = nullptr; // it was not sent
    });
    QObject::connect(&m_manual, &ManualSet::refused, &m_manual, [this] { m_isDone = nullptr; });
}

QString StudioHand::obstacle(const Lesson& lesson) const {
    return lessonObstacle(lesson, ground());
}

/// What an action waits for may never come: then the next one is done, and the window has said why.
void StudioHand::follow(const EngineEvent& event) {
    const auto* started = event.as<PromptStarted>();
    if (started != nullptr && started->promptId < kFirstHiddenPrompt && run().decoder() != nullptr)
        m_writer = run().decoder()->name;
    const bool isChoice = event.as<DecoderChosen>() != nullptr;
    m_choices += isChoice ? 1 : 0;
    if (event.as<ModelLoaded>() != nullptr || (isChoice && m_isDone == nullptr))
        m_before.reset(); // the user's own choice
    if (event.as<EngineFailed>() != nullptr)
        m_isDone = nullptr;
}

void StudioHand::begin() {
    m_isDone = nullptr; // what an earlier lesson waited for
    if (m_before && run().model() != nullptr)
        send(*std::exchange(m_before, std::nullopt));
}

bool StudioHand::isReady() const {
    const bool isIdle = run().model() != nullptr && run().loading() == nullptr &&
                        !run().answers().isRunning() && !m_parts.finder.isRunning() &&
                        !m_parts.sides.run().isRunning();
    if (!isIdle)
        return false;
    if (m_isDone && !m_isDone())
        return false;
    m_isDone = nullptr;
    return true;
}

void StudioHand::act(const Lesson& lesson, const LessonAction& action) {
    if (!action.model.empty()) {
        const bool isPlanted = action.model == "planted";
        const auto isLoaded = [this, isPlanted] { return hasLessonsModel(ground(), isPlanted); };
        if (!isLoaded())
            m_parts.loadModel(isPlanted);
        m_isDone = isLoaded;
    } else if (!action.decoder.empty()) {
        chooseDecoder(action);
    } else if (!action.ask.empty()) {
        ask(lesson, action);
    } else if (!action.stop.empty()) {
        goToStop(action);
    } else if (!action.flip.empty()) {
        flip(action.flip);
    } else if (action.skipsNothing) {
        useSet({}, QObject::tr("skip nothing"));
    } else if (action.skipsCopies) {
        useSet(copies(), QObject::tr("skip the copies"));
    } else if (action.searches) {
        m_parts.finder.start(m_parts.chat.newestQuestion());
    } else if (!action.compares.empty()) {
        m_parts.sides.setQuestion(m_parts.chat.asideOf(QString::fromStdString(action.compares)),
                                  true);
    } else if (action.maskRow >= 0) {
        m_parts.slowMotion.chooseRow(action.maskRow);
    } else if (!action.lens.empty()) {
        if (!m_parts.lens.isShowing())
            show("lens");
        m_parts.lens.readOn();
        m_isDone = [this] {
            m_parts.lens.chooseFinalCell(); // once more with each token that the lens has read
            const Answer* answer = run().answers().latest();
            const int end = answer == nullptr ? 0 : static_cast<int>(answer->tokens.size()) - 1;
            return m_parts.lens.isAtRest() ||
                   m_parts.lens.model().tokenCount() >= std::min(LensView::kFirstTokens, end);
        };
    }
}

void StudioHand::chooseDecoder(const LessonAction& action) {
    ChooseDecoder choice{action.decoder, {}};
    if (!action.settings.contains("profile")) // which is meant as it is
        choice.settings = startingSettings(run(), action.decoder);
    for (const auto& [name, text] : action.settings)
        if (const SettingInfo* setting = settingOf(run(), action.decoder, name))
            if (auto value = parseSettingValue(*setting, text))
                choice.settings[name] = std::move(value).value();
    keepChoice();
    send(std::move(choice));
}

void StudioHand::send(ChooseDecoder choice) {
    m_isDone = [this, before = m_choices] { return m_choices > before; };
    m_parts.context.bridge.send(std::move(choice));
}

void StudioHand::keepChoice() {
    if (!m_before && run().decoder() != nullptr)
        m_before = ChooseDecoder{run().decoder()->name, run().settings()};
}

/// In a chat of the lesson's own, so that none of the user's is touched.
void StudioHand::ask(const Lesson& lesson, const LessonAction& action) {
    if (m_lesson != lesson.name)
        m_parts.chat.newChat();
    m_lesson = lesson.name;
    AnswerSettings settings = m_parts.chat.settingsAt(SettingsPlace::Chat);
    settings.maxTokens = action.maxTokens;
    m_parts.chat.setSettingsAt(SettingsPlace::Chat, settings);
    const Answer* latest = run().answers().latest();
    m_isDone = [this, before = latest == nullptr ? 0 : latest->promptId] {
        const Answer* answer = run().answers().latest();
        return answer != nullptr && answer->promptId != before && !answer->isRunning();
    };
    // The likeliest token each time: the lesson tells of the model's choice, not of chance.
    m_parts.chat.send(QString::fromStdString(action.ask), {}, SamplingOptions());
}

void StudioHand::goToStop(const LessonAction& action) {
    const Answer* answer = run().answers().latest();
    if (answer == nullptr || answer->steps.empty())
        return;
    m_parts.slowMotion.showRound(answer->promptId, roundOf(*answer, action.round));
    const WalkScene* scene = m_parts.slowMotion.scene();
    if (scene == nullptr)
        return;
    const auto stop = std::ranges::find(scene->walk.stops, action.stop, &roundStopName);
    if (stop != scene->walk.stops.end())
        m_parts.slowMotion.goTo(static_cast<int>(stop - scene->walk.stops.begin()));
    m_parts.slowMotion.setFocus(); // Space and Backspace walk on
}

void StudioHand::flip(const std::string& name) {
    const NamedSublayer sublayer = namedSublayer(name);
    SkipSet set;
    if (m_manual.pending())
        set = *m_manual.pending();
    else if (const BestSet* used = run().search().used())
        set = used->change.plan.skipped;
    toggle(sublayer.isAttention ? set.attention : set.mlp, sublayer.layer);
    useSet(set, QObject::tr("flip a sublayer"));
}

/// Those that may be skipped.
SkipSet StudioHand::copies() const {
    const ModelFacts& model = run().model()->model;
    const std::vector<int> locked = run().lockedLayers(model.layerCount);
    SkipSet set;
    for (const int layer : model.silentCopies)
        if (std::ranges::find(locked, layer) == locked.end()) {
            set.attention.push_back(layer);
            set.mlp.push_back(layer);
        }
    return set;
}

/// Done once drafts use it, or before the first draft once it is among the settings.
void StudioHand::useSet(const SkipSet& set, const QString& what) {
    keepChoice();
    m_isDone = [this, set] {
        if (const BestSet* used = run().search().used())
            return used->change.plan.skipped == set;
        const auto known = run().settings().find("skip_set");
        return known != run().settings().end() && known->second == SettingValue(skipSetJson(set));
    };
    m_manual.use(set, what);
}

/// A lens that is frozen would show an earlier answer.
void StudioHand::show(const std::string& view) {
    if (view == "lens")
        m_parts.lens.setFrozen(false);
    m_parts.showView(QString::fromStdString(view));
}

LessonFacts StudioHand::facts() const {
    LessonFacts facts = factsOfRun(run());
    if (facts.contains("answer.passes") && !run().answers().isRunning() && !m_writer.empty())
        facts.insert_or_assign("answer.decoder", m_writer);
    for (const LessonFactSource* source : std::initializer_list<const LessonFactSource*>{
             &m_parts.slowMotion, &m_parts.lens, &m_parts.sides})
        source->tellFacts(facts);
    return facts;
}

} // namespace ui
