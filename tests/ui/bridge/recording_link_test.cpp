// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/run_events.h"
#include "ui/bridge/links/recording_link.h"
#include "ui/bridge/logs/answer_log.h"
#include "ui/language/catalogue.h"

#include <QCoreApplication>
#include <QTemporaryDir>
#include <QTest>

#include <filesystem>

using namespace engine;
using namespace ui;

namespace {

std::filesystem::path record(const QTemporaryDir& folder, const std::vector<EngineEvent>& events) {
    const std::filesystem::path path = folder.filePath("run.swiftrun").toStdString();
    auto recorder = RunRecorder::start(path);
    for (const EngineEvent& event : events)
        if (!recorder.value().write(event))
            qFatal("cannot write");
    if (!recorder.value().finish())
        qFatal("cannot finish");
    return path;
}

} // namespace

class RecordingLinkTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    std::chrono::steady_clock::time_point m_now;

    std::unique_ptr<RecordingLink> open(const std::filesystem::path& path, double speed) {
        auto link = RecordingLink::open(path, speed, [this] { return m_now; });
        return link ? std::move(link).value() : nullptr;
    }

    /// Steps 0 to 2 at 1, 2 and 3 s; the answer ends at 4 s.
    std::filesystem::path threeRounds() const {
        PromptStarted asked = support::promptStarted(1);
        asked.question = "What?";
        return record(m_folder,
                      {{10.0, RecordingStarted{"run.swiftrun"}},
                       {10.5, asked},
                       {11.0, support::plainStep(1, 0, "a", 20.0)},
                       {12.0, support::plainStep(1, 1, "b", 20.0)},
                       {13.0, support::plainStep(1, 2, "c", 20.0)},
                       {14.0, support::promptFinished(1)}});
    }

private slots:

    void eventsComeInTheirOwnTime() {
        const auto path =
            record(m_folder, {{10.0, Note{"a"}}, {10.5, Note{"b"}}, {12.0, Note{"c"}}});
        const auto link = open(path, 1.0);
        QCOMPARE(link->takeEvents().size(), std::size_t(1));
        m_now += std::chrono::milliseconds(600);
        QCOMPARE(link->takeEvents().size(), std::size_t(1));
        QVERIFY(!link->isOver());
        m_now += std::chrono::seconds(2);
        QCOMPARE(link->takeEvents().size(), std::size_t(1));
        QCOMPARE(link->takeEvents().size(), std::size_t(0));
        QVERIFY(link->isOver());
    }

    void twiceTheSpeedHalvesTheTime() {
        const auto path = record(m_folder, {{0.0, Note{"a"}}, {2.0, Note{"b"}}});
        const auto link = open(path, 2.0);
        QCOMPARE(link->takeEvents().size(), std::size_t(1));
        m_now += std::chrono::milliseconds(1001);
        QCOMPARE(link->takeEvents().size(), std::size_t(1));
    }

    void speedZeroGivesEverythingAtOnce() {
        std::vector<EngineEvent> events;
        for (int i = 0; i < 2000; ++i)
            events.push_back({static_cast<double>(i), Note{std::to_string(i)}});
        const auto link = open(record(m_folder, events), 0.0);
        std::size_t count = 0;
        while (!link->isOver())
            count += link->takeEvents().size();
        QCOMPARE(count, std::size_t(2000));
    }

    void ofSeveralConversationsTheFirstIsShown() {
        const std::uint64_t first = 7;
        const auto path = record(m_folder,
                                 {{0.5, support::loadedModel()},
                                  {1.0, RecordingStarted{"run.swiftrun"}},
                                  {2.0, support::promptStarted(1), first},
                                  {2.5, support::promptStarted(2), 8},
                                  {3.0, support::plainStep(1, 0, "a", 20.0), first},
                                  {3.5, support::plainStep(2, 0, "b", 20.0), 8},
                                  {4.0, support::plainStep(1, 1, "c", 20.0), first},
                                  {4.5, support::promptFinished(2), 8},
                                  {5.0, support::promptFinished(1), first}});
        const auto link = open(path, 1.0);
        m_now += std::chrono::seconds(10);
        for (int time = 0; time < 2; ++time) {
            std::vector<EngineEvent> events;
            while (!link->isOver())
                for (EngineEvent& event : link->takeEvents())
                    events.push_back(std::move(event));
            std::string text;
            int notes = 0;
            for (const EngineEvent& event : events) {
                if (const auto* step = event.as<StepFinished>())
                    text += step->text;
                notes += event.as<Note>() != nullptr ? 1 : 0;
                QVERIFY(event.conversation != 8);
            }
            QCOMPARE(text, std::string("ac"));
            QCOMPARE(notes, 1);
            QCOMPARE(events.size(), std::size_t(7));
            QVERIFY(events.front().as<ModelLoaded>() != nullptr);
            link->playback()->seek(0.0);
            QCOMPARE(link->takeRewind(), true);
            link->playback()->seek(10.0);
        }
    }

    void whatTheWindowSaysOfARecordingIsInItsLanguage() {
        const auto german = Catalogue::read(QStringLiteral("resources/translations/de"));
        QVERIFY(german);
        QVERIFY(QCoreApplication::installTranslator(german.value().get()));
        const auto link =
            open(record(m_folder,
                        {{1.0, support::promptStarted(1), 7}, {2.0, support::promptStarted(2), 8}}),
                 0.0);
        QStringList notes;
        for (const EngineEvent& event : link->takeEvents())
            if (const auto* note = event.as<Note>())
                notes << QString::fromStdString(note->text);
        QCOMPARE(notes.size(), 1);
        QVERIFY2(notes.front().startsWith(QStringLiteral("Diese Aufzeichnung ")),
                 qPrintable(notes.front()));
    }

    void aCutRecordingGivesWhatItHasAndSaysThatItIsCut() {
        const auto path = record(m_folder, {{0.0, Note{"a"}}, {0.1, Note{"b"}}});
        std::filesystem::resize_file(path, std::filesystem::file_size(path) - 3);
        const auto link = open(path, 0.0);
        const auto events = link->takeEvents();
        QCOMPARE(events.size(), std::size_t(2));
        QVERIFY(events[0].as<Note>() != nullptr);
        QVERIFY(events[1].as<EngineFailed>() != nullptr);
        QVERIFY(events[1].as<EngineFailed>()->error.message.find("run.swiftrun") !=
                std::string::npos);
        QVERIFY(link->isOver());
    }

    /// What was known before the recording began carries the time at which it was told.
    void whatWasCarriedIntoTheRecordingComesAtOnce() {
        const auto link = open(record(m_folder,
                                      {{0.45, support::loadedModel()},
                                       {435.0, DecoderChosen{}},
                                       {400.0, ForecastMade{}},
                                       {430.0, support::promptStarted(1)},
                                       {430.1, TaskRecognised{}},
                                       {434.0, support::plainStep(1, 0, "a", 20.0)},
                                       {436.0, RecordingStarted{"run.swiftrun"}},
                                       {436.5, support::plainStep(1, 1, "b", 20.0)}}),
                               1.0);
        QCOMPARE(link->takeEvents().size(), std::size_t(7));
        m_now += std::chrono::milliseconds(499);
        QVERIFY(link->takeEvents().empty());
        m_now += std::chrono::milliseconds(2);
        QCOMPARE(link->takeEvents().size(), std::size_t(1));
    }

    /// Somebody who records first chooses settings and writes; nothing is seen of it.
    void playingBeginsShortlyBeforeTheFirstQuestion() {
        const auto link = open(record(m_folder,
                                      {{0.5, support::loadedModel()},
                                       {10.0, RecordingStarted{"run.swiftrun"}},
                                       {40.0, support::promptStarted(1)},
                                       {41.0, support::plainStep(1, 0, "a", 20.0)},
                                       {60.0, support::promptStarted(2)}}),
                               1.0);
        QCOMPARE(link->takeEvents().size(), std::size_t(2));
        QCOMPARE(link->playback()->position(), 29.0);
        m_now += std::chrono::milliseconds(1001);
        QCOMPARE(link->takeEvents().size(), std::size_t(1));
        link->playback()->seek(0.0);
        QVERIFY(link->takeRewind());
        QCOMPARE(link->playback()->position(), 0.0);
    }

    void thePlaybackKnowsLengthAnswersAndRounds() {
        const auto link = open(threeRounds(), 1.0);
        link->takeEvents();
        const Playback& playback = *link->playback();
        QVERIFY(playback.isLengthKnown());
        QCOMPARE(playback.length(), 4.0);
        QCOMPARE(playback.rounds(), (std::vector<double>{1.0, 2.0, 3.0}));
        QCOMPARE(playback.answers().size(), std::size_t(1));
        QCOMPARE(playback.answers()[0].question, std::string("What?"));
        QCOMPARE(playback.answers()[0].begin, 0.5);
        QCOMPARE(playback.answers()[0].end, 4.0);
    }

    /// The chat shows none of it either.
    void whatASearchAsksIsNoAnswerOfTheRecording() {
        PromptStarted hidden = support::promptStarted(kFirstHiddenPrompt + 1);
        hidden.question = "What?";
        const auto link = open(record(m_folder,
                                      {{10.0, RecordingStarted{"run.swiftrun"}},
                                       {10.5, support::promptStarted(1)},
                                       {11.0, support::plainStep(1, 0, "a", 20.0)},
                                       {11.5, hidden},
                                       {12.0, support::plainStep(hidden.promptId, 0, "b", 20.0)},
                                       {13.0, support::promptFinished(hidden.promptId)}}),
                               1.0);
        link->takeEvents();
        QCOMPARE(link->playback()->answers().size(), std::size_t(1));
        QCOMPARE(link->playback()->answers()[0].end, 1.0);
    }

    void aPauseHoldsTheTime() {
        const auto link = open(threeRounds(), 1.0);
        m_now += std::chrono::milliseconds(1500);
        QCOMPARE(link->takeEvents().size(), std::size_t(3));
        link->playback()->pause();
        m_now += std::chrono::seconds(9);
        QVERIFY(link->takeEvents().empty());
        QCOMPARE(link->playback()->position(), 1.5);
        link->playback()->play();
        m_now += std::chrono::milliseconds(600);
        QCOMPARE(link->takeEvents().size(), std::size_t(1));
    }

    void anotherSpeedHoldsFromWhereItStands() {
        const auto link = open(threeRounds(), 1.0);
        link->takeEvents();
        m_now += std::chrono::seconds(1);
        link->playback()->setSpeed(4.0);
        QCOMPARE(link->playback()->position(), 1.0);
        m_now += std::chrono::milliseconds(500);
        QCOMPARE(link->playback()->position(), 3.0);
    }

    void goingBackMeansAllOfItComesAgain() {
        const auto link = open(threeRounds(), 1.0);
        m_now += std::chrono::seconds(3);
        QVERIFY(!link->takeRewind());
        QCOMPARE(link->takeEvents().size(), std::size_t(5));
        link->playback()->pause();
        link->playback()->seek(2.0);
        QVERIFY(link->takeRewind());
        QVERIFY(!link->takeRewind()); // once
        const auto again = link->takeEvents();
        QCOMPARE(again.size(), std::size_t(4));
        QCOMPARE(again.back().as<StepFinished>()->step, 1);
    }

    void goingOnGivesWhatLiesBetween() {
        const auto link = open(threeRounds(), 1.0);
        QCOMPARE(link->takeEvents().size(), std::size_t(1));
        link->playback()->seek(3.5);
        QVERIFY(!link->takeRewind());
        QCOMPARE(link->takeEvents().size(), std::size_t(4));
    }

    void aRoundOnOrBackEndsWithItsStep() {
        const auto link = open(threeRounds(), 1.0);
        link->takeEvents();
        Playback& playback = *link->playback();
        const auto stepAfter = [&](int direction) {
            playback.seekRound(direction);
            link->takeRewind();
            int step = -1;
            for (const EngineEvent& event : link->takeEvents())
                if (const auto* finished = event.as<StepFinished>())
                    step = finished->step;
            return step;
        };
        QCOMPARE(stepAfter(1), 0);
        QCOMPARE(stepAfter(1), 1);
        QCOMPARE(stepAfter(1), 2);
        QCOMPARE(stepAfter(-1), 1);
        QCOMPARE(stepAfter(-1), 0);
        QVERIFY(!playback.isPlaying());
        playback.seekRound(-1);
        QCOMPARE(playback.position(), 0.0);
    }

    void atTheEndPlayBeginsAgain() {
        const auto link = open(threeRounds(), 1.0);
        link->takeEvents();
        m_now += std::chrono::seconds(60);
        link->takeEvents();
        Playback& playback = *link->playback();
        QCOMPARE(playback.position(), 4.0);
        QVERIFY(!playback.isPlaying());
        playback.play();
        QVERIFY(playback.isPlaying());
        QCOMPARE(playback.position(), 0.0);
    }

    void commandsAreRefused() {
        const auto link = open(record(m_folder, {{0.0, Note{"a"}}}), 1.0);
        QVERIFY(!link->send(StopGeneration{}));
    }
};

QTEST_GUILESS_MAIN(RecordingLinkTest)
#include "recording_link_test.moc"
