// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/studio/engine_stage.h"
#include "ui/bridge/links/playback.h"
#include "ui/bridge/links/recording_link.h"
#include "ui/views/speed/speed_figures.h"

#include <QFileDialog>
#include <QLabel>
#include <QPushButton>
#include <QTemporaryDir>

#include <algorithm>
#include <map>

using namespace engine;
using namespace support;
using namespace ui;

/// A run of the window on the real engine is recorded; played in another window it shows what was
/// asked, what was answered and the run's own figures to the last digit.
class StudioReplayTest : public EngineStageTest {
    Q_OBJECT

    /// The table of every view that has one, by "workspace/view".
    static std::map<QString, FigureTable> tables(Studio& studio) {
        std::map<QString, FigureTable> found;
        for (int workspace : {0, 1}) {
            studio.window().showWorkspace(workspace);
            studio.bridge().refreshPictures();
            for (View* view : studio.views())
                if (view->isVisible())
                    found[QString::number(workspace) + QLatin1Char('/') + view->info().id] =
                        view->table();
        }
        return found;
    }

private slots:

    void init() { begin(); }

    void cleanup() { m_stage.reset(); }

    void aRecordingShowsTheSameNumbers() {
        const QString path = m_folder->filePath(QStringLiteral("run.swiftrun"));
        trigger("run.record");
        auto* dialog = studio().window().findChild<QFileDialog*>();
        QVERIFY(dialog != nullptr);
        dialog->selectFile(path);
        QVERIFY(QMetaObject::invokeMethod(dialog, "accept"));
        QTRY_VERIFY(!studio().run().recordingPath().empty());
        answer(QStringLiteral("abc ab"));
        trigger("run.record");
        QTRY_COMPARE(m_stage->count<RecordingStopped>(), std::size_t{1});
        QVERIFY(!m_stage->all<RecordingStopped>().back().error);
        auto link = RecordingLink::open(path.toStdString(), 0.0);
        QVERIFY(link.hasValue());
        QTemporaryDir scratch;
        StudioOptions options;
        options.chatsPath = scratch.filePath(QStringLiteral("chats.sqlite"));
        options.settingsPath = m_folder->filePath(QStringLiteral("swift-studio.ini"));
        options.presetsFolder = QStringLiteral("resources/presets");
        options.replayName = QStringLiteral("run.swiftrun");
        auto window = std::make_unique<Studio>(std::move(link).value(), options);
        Studio& replay = *window;
        replay.window().resize(studio().window().size());
        replay.window().show();
        replay.start();
        QTRY_VERIFY(replay.bridge().isOver());
        QCOMPARE(replay.session().branch().first().text, QStringLiteral("abc ab"));
        QCOMPARE(replay.session().branch().last().text, lastAnswer().text);
        const auto says = [&](const QString& sentence) {
            return std::ranges::count(
                replay.window().findChildren<QLabel*>(), sentence, &QLabel::text);
        };
        QVERIFY(says(QStringLiteral("A replay has no chats beside the recorded one.")) == 1);
        QCOMPARE(replay.run().speed().chat().sums, studio().run().speed().chat().sums);
        const auto expected = tables(studio());
        const auto found = tables(replay);
        QVERIFY(expected.size() >= 9);
        QCOMPARE(found.size(), expected.size());
        for (const auto& [name, table] : expected) {
            QVERIFY2(found.contains(name), qPrintable(name));
            const FigureTable& replayed = found.at(name);
            QCOMPARE(replayed.header, table.header);
            QCOMPARE(replayed.rows.size(), table.rows.size());
            for (std::size_t row = 0; row < table.rows.size(); ++row)
                if (replayed.rows[row] != table.rows[row])
                    QFAIL(qPrintable(
                        name + QLatin1String(": ") + replayed.rows[row].join(QLatin1Char('|')) +
                        QLatin1String(" is not ") + table.rows[row].join(QLatin1Char('|'))));
        }
        // The first window is still open, and would be missed.
        window.reset();
        QVERIFY(QSettings(options.settingsPath, QSettings::IniFormat)
                    .value(QStringLiteral("session/open"))
                    .toBool());
    }

    /// The run is older than its recording: other answers, another decoder, other settings.
    void aRecordingBegunLaterShowsTheRunsOwnFigures() {
        answer(QStringLiteral("abc ab"));
        studio().bridge().send(ChangeSettings{{{"epsilon", 0.5}}});
        trigger("chat.new"); // an answer fills the whole context
        answer(QStringLiteral("ab ab"));
        const std::string path = m_folder->filePath(QStringLiteral("run.swiftrun")).toStdString();
        studio().bridge().send(StartRecording{path});
        trigger("chat.new");
        answer(QStringLiteral("cab"));
        studio().bridge().send(StopRecording{});
        QTRY_COMPARE(m_stage->count<RecordingStopped>(), std::size_t{1});
        std::chrono::steady_clock::time_point now;
        auto link = RecordingLink::open(path, 1.0, [&now] { return now; });
        QVERIFY(link.hasValue());
        QTemporaryDir scratch;
        StudioOptions options;
        options.chatsPath = scratch.filePath(QStringLiteral("chats.sqlite"));
        options.settingsPath = scratch.filePath(QStringLiteral("swift-studio.ini"));
        options.presetsFolder = QStringLiteral("resources/presets");
        options.replayName = QStringLiteral("run.swiftrun");
        Studio replay(std::move(link).value(), options);
        replay.window().show();
        const auto playTo = [&](double seconds) {
            replay.bridge().playback()->seek(seconds);
            // One answer has far fewer events than so many ticks take.
            for (int i = 0; i < 40 || !replay.bridge().playback()->isLengthKnown(); ++i)
                replay.bridge().tick();
        };
        const auto compare = [&] {
            const SpeedLog& run = studio().run().speed();
            const SpeedLog& played = replay.run().speed();
            QCOMPARE(played.chat().sums, run.chat().sums);
            QCOMPARE(played.answer().sums, run.answer().sums);
            QCOMPARE(played.now().sums, run.now().sums);
            QVERIFY(run.baselineMs().has_value());
            QCOMPARE(*played.baselineMs(), *run.baselineMs());
            const auto expected = expectedSpeeds(studio().run());
            const auto found = expectedSpeeds(replay.run());
            QCOMPARE(found.size(), expected.size());
            for (std::size_t i = 0; i < found.size(); ++i)
                QCOMPARE(found[i].label, expected[i].label);
            const QList<StoredMessage> messages = replay.session().branch();
            QCOMPARE(messages.size(), qsizetype{2});
            QCOMPARE(messages.first().text, QStringLiteral("cab"));
            QCOMPARE(messages.last().text, lastAnswer().text);
            QCOMPARE(*messages.last().figures.speedup, *lastAnswer().figures.speedup);
        };
        playTo(0.0); // the length becomes known
        playTo(replay.bridge().playback()->length());
        compare();
        // Nothing that a recording answers can be stopped.
        playTo(replay.bridge().playback()->rounds().at(3));
        QVERIFY(replay.session().isAnswering());
        for (const QPushButton* button : replay.chatView().input().findChildren<QPushButton*>())
            if (button->text() == QLatin1String("Stop"))
                QVERIFY(!button->isVisible());
        // Back to the beginning: what was known before the recording, and nothing of it.
        playTo(0.0);
        QVERIFY(replay.session().branch().isEmpty());
        QVERIFY(replay.run().answers().answers().empty());
        QVERIFY(replay.run().decoder() != nullptr);
        playTo(replay.bridge().playback()->length());
        compare();
    }
};

QTEST_MAIN(StudioReplayTest)
#include "studio_replay_test.moc"
