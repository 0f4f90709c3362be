// SPDX-License-Identifier: GPL-3.0-only
#include "ui/studio/workspaces/lesson_hand.h"

#include "ui/chat/session/chat_session.h"
#include "ui/views/controls/decoder_switch.h"
#include "ui/views/learn/lens/lens_view.h"
#include "ui/views/learn/sides/sides_view.h"
#include "ui/views/learn/slow_motion/slow_motion_view.h"
#include "ui/views/search_offer/skip_set_finder.h"

#include <QFileInfo>

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

/// Whether this is what came of the choice. The window may choose the same decoder with other
/// settings, when a model was loaded.
bool isOf(const ChooseDecoder& choice, const DecoderChosen& chosen) {
    if (choice.name != chosen.info.name)
        return false;
    const auto settings = resolveSettings(chosen.info, choice.settings);
    return settings && settings.value() == chosen.settings;
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
    , m_steps(m_parts.context.undoStack)
    , m_manual(ViewContext{m_parts.context.theme,
                           m_parts.context.store,
                           m_parts.context.bridge,
                           m_parts.context.selection,
                           m_ownSteps}) {
    QObject::connect(&m_parts.context.bridge,
                     &EngineBridge::eventCame,
                     &m_manual,
                     [this](const EngineEvent& event) { follow(event); });
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
    if (const auto* chosen = event.as<DecoderChosen>())
        onChosen(*chosen);
    else if (const auto* failed = event.as<EngineFailed>())
        onFailed(failed->task);
    else if (event.as<ModelLoaded>() != nullptr)
        onLoaded();
}

/// Choices come in the order in which they were sent.
void StudioHand::onChosen(const DecoderChosen& chosen) {
    if (!m_awaited.empty() && isOf(m_awaited.front(), chosen))
        m_awaited.pop_front();
    else if (!m_awaited.empty() && !m_isTakingBack)
        m_before = ChooseDecoder{chosen.info.name, chosen.settings}; // just before the lesson's
    else if (!m_isTakingBack || (m_before && m_before->name == chosen.info.name))
        forgetBefore(); // the user's own choice
}

void StudioHand::onFailed(const std::string& task) {
    m_isDone = nullptr;
    if (task == "load_model")
        m_isLoading = false;
    if (task != "choose_decoder")
        return;
    if (!m_awaited.empty())
        m_awaited.pop_front();
    else if (m_isTakingBack)
        forgetBefore();
}

void StudioHand::onLoaded() {
    m_isLessonsModel = std::exchange(m_isLoading, false);
    if (!m_isLessonsModel)
        m_former.reset();
    m_awaited.clear();
    forgetBefore();
}

void StudioHand::forgetBefore() {
    m_before.reset();
    m_isTakingBack = false;
}

void StudioHand::begin() {
    m_chat = 0;
    end();
    m_steps.begin();
}

/// What the user had chosen counts as theirs again once the engine has it.
void StudioHand::end() {
    m_isDone = nullptr;
    m_ownSteps.clear();
    if (m_before && !m_isTakingBack && run().model() != nullptr)
        m_isTakingBack = m_parts.context.bridge.send(ChooseDecoder(*m_before));
    if (m_isTakingBack)
        m_steps.drop();
}

/// What was sent and has not begun yet is under way as well: nobody may wait for it.
bool StudioHand::isReady() const {
    const bool isIdle = run().model() != nullptr && run().loading() == nullptr &&
                        m_parts.context.bridge.pendingLoad() == nullptr && !m_isTakingBack &&
                        m_parts.chat.obstacle(QStringLiteral("x")) != SendObstacle::Answering &&
                        !m_parts.finder.isRunning() && !m_parts.sides.run().isRunning();
    if (!isIdle)
        return false;
    if (m_isDone && !m_isDone())
        return false;
    m_isDone = nullptr;
    return true;
}

void StudioHand::act(const Lesson&, const LessonAction& action) {
    if (!action.model.empty()) {
        loadModel(action.model == "planted");
    } else if (!action.decoder.empty()) {
        chooseDecoder(action);
    } else if (!action.ask.empty()) {
        ask(action);
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
        m_parts.sides.chooseChatsDecoder();
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
            const Answer* answer = run().answers().latestShown();
            const int end = answer == nullptr ? 0 : static_cast<int>(answer->tokens.size()) - 1;
            return m_parts.lens.isAtRest() ||
                   m_parts.lens.model().tokenCount() >= std::min(LensView::kFirstTokens, end);
        };
    }
}

void StudioHand::loadModel(bool isPlanted) {
    const auto isLoaded = [this, isPlanted] { return hasLessonsModel(ground(), isPlanted); };
    if (!isLoaded()) {
        const LoadModel* used = m_parts.context.bridge.loadInUse();
        if (used != nullptr && !m_former &&
            QFileInfo(QString::fromStdString(used->path)) != QFileInfo(m_parts.defaultModelPath))
            m_former = *used;
        m_parts.loadModel(isPlanted);
        m_isLoading = m_parts.context.bridge.pendingLoad() != nullptr;
    }
    m_isDone = isLoaded;
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
    if (m_parts.context.bridge.send(choice))
        m_awaited.push_back(std::move(choice));
    m_isDone = [this] { return m_awaited.empty(); };
}

void StudioHand::keepChoice() {
    if (!m_before && run().decoder() != nullptr)
        m_before = ChooseDecoder{run().decoder()->name, run().settings()};
}

/// In a chat of the lesson's own, so that none of the user's is touched. isReady() knows when the
/// answer has ended.
void StudioHand::ask(const LessonAction& action) {
    const QString text = QString::fromStdString(action.ask);
    if (m_parts.chat.obstacle(text) == SendObstacle::NoText)
        return; // nothing would be sent
    if (m_chat == 0 || m_parts.chat.chat().record.id != m_chat)
        m_parts.chat.beginOwnChat(text);
    AnswerSettings settings = m_parts.chat.settingsAt(SettingsPlace::Chat);
    settings.maxTokens = action.maxTokens;
    m_parts.chat.setSettingsAt(SettingsPlace::Chat, settings);
    // The likeliest token each time: the lesson tells of the model's choice, not of chance.
    m_parts.chat.send(text, {}, SamplingOptions());
    m_chat = m_parts.chat.chat().record.id;
}

void StudioHand::goToStop(const LessonAction& action) {
    const Answer* answer = run().answers().latestShown();
    if (answer == nullptr)
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
