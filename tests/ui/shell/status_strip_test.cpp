// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/figures_run.h"
#include "tests/ui/support/shown_words.h"
#include "ui/shell/bars/status_strip.h"
#include "ui/shell/widgets/badge.h"

#include <QElapsedTimer>
#include <QSignalSpy>
#include <QTemporaryFile>
#include <QTest>
#include <QToolButton>

using namespace engine;
using namespace support;
using namespace ui;

namespace {

/// Costs more than a tick may.
class SlowPicture : public Picture {
public:
    explicit SlowPicture(EngineBridge& bridge)
        : m_bridge(bridge) {
        bridge.add(*this, Topic::Notes);
        connection = QObject::connect(
            &bridge, &EngineBridge::tickFinished, [&bridge] { bridge.markChanged(Topic::Notes); });
    }

    ~SlowPicture() override {
        QObject::disconnect(connection);
        m_bridge.remove(*this);
    }

    bool isShowing() const override { return true; }

    void refresh(Topics) override {
        QElapsedTimer clock;
        clock.start();
        while (clock.nsecsElapsed() < 20'000'000) {
        }
    }

    QMetaObject::Connection connection;

private:
    EngineBridge& m_bridge;
};

} // namespace

class StatusStripTest : public QObject {
    Q_OBJECT

    std::unique_ptr<ViewStage> m_stage;
    std::unique_ptr<StatusStrip> m_strip;

    LiveLabel* part(const char* name) const {
        for (LiveLabel* label : m_strip->findChildren<LiveLabel*>())
            if (label->accessibleName() == QLatin1String(name))
                return label;
        return nullptr;
    }

    QString text(const char* name) const { return part(name)->text(); }

private slots:

    void init() {
        m_strip.reset();
        m_stage = std::make_unique<ViewStage>();
        m_strip = std::make_unique<StatusStrip>(m_stage->theme, m_stage->store, m_stage->bridge);
        m_strip->resize(1200, 24);
        m_strip->show();
    }

    void cleanup() { m_strip.reset(); }

    void withoutAModelItSaysSo() {
        QCOMPARE(text("Model"), QStringLiteral("No model"));
        for (const char* name :
             {"Device", "Phase", "Tokens per second", "Speedup", "Update rate of the views"})
            QVERIFY2(!part(name)->isVisible(), name);
    }

    void theModelThatIsOpenedAndThenItsFacts() {
        m_stage->say(ModelLoadProgress{"/models/tiny & small.gguf", "weights", 0.5});
        m_stage->settle();
        QCOMPARE(text("Model"), QStringLiteral("Opening tiny & small.gguf"));
        ModelLoaded loaded = loadedModel();
        loaded.model.name = "Tiny <b>";
        m_stage->say(loaded);
        m_stage->settle();
        QCOMPARE(text("Model"), QStringLiteral("Tiny <b>"));
        QCOMPARE(text("Device"), QStringLiteral("plain, float64"));
        QCOMPARE(text("Phase"), QStringLiteral("ready"));
    }

    void thePhaseIsShownWhileAnAnswerRuns() {
        m_stage->say(loadedModel());
        m_stage->say(promptStarted(1));
        for (const auto& [phase, word] : {std::pair{DecoderPhase::Accumulate, "accumulate"},
                                          std::pair{DecoderPhase::Optimise, "optimise"},
                                          std::pair{DecoderPhase::Accelerate, "accelerate"},
                                          std::pair{DecoderPhase::Plain, "plain"}}) {
            m_stage->say(PhaseChanged{phase});
            m_stage->settle();
            QVERIFY2(text("Phase").endsWith(QLatin1String(word)), word);
        }
        m_stage->say(promptFinished(1));
        m_stage->settle();
        QCOMPARE(text("Phase"), QStringLiteral("ready"));
    }

    void ratesEqualTheEvents() {
        m_stage->say(loadedModel());
        m_stage->say(promptStarted(1));
        sayBaseline(*m_stage);
        sayAnswer(*m_stage);
        m_stage->settle();
        QCOMPARE(text("Tokens per second"), QStringLiteral("62.2 tok/s"));
        const double speedup = *m_stage->store.speed().answer().speedup();
        QCOMPARE(text("Speedup"),
                 QStringLiteral("%1\u00D7 vs vanilla").arg(QString::number(speedup, 'f', 2)));
    }

    void aNoteIsShownUntilWhatItIsAboutHasChanged_data() {
        QTest::addColumn<int>("change");
        QTest::newRow("decoder") << 0;
        QTest::newRow("settings") << 1;
        QTest::newRow("answer") << 2;
        QTest::newRow("model") << 3;
        QTest::newRow("chat") << 4;
    }

    void aNoteIsShownUntilWhatItIsAboutHasChanged() {
        QFETCH(int, change);
        m_stage->say(loadedModel());
        m_stage->say(promptStarted(1));
        m_stage->settle();
        m_stage->say(Note{"The search stays at 5 % skipped."});
        m_stage->settle();
        m_stage->say(plainStep(1, 0, "a", 20.0));
        m_stage->say(PhaseChanged{DecoderPhase::Accelerate});
        m_stage->say(promptFinished(1));
        m_stage->settle();
        QCOMPARE(text("Latest notice"), QStringLiteral("The search stays at 5 % skipped."));
        switch (change) {
        case 0:
            m_stage->say(DecoderChosen{});
            break;
        case 1:
            m_stage->say(SettingsChanged{});
            break;
        case 2:
            m_stage->say(promptStarted(2));
            break;
        case 3:
            m_stage->say(loadedModel());
            break;
        default:
            m_strip->forgetNote();
            break;
        }
        m_stage->settle();
        QCOMPARE(text("Latest notice"), QString());
        QVERIFY(part("Latest notice")->toolTip().contains(QStringLiteral("5 % skipped")));
        m_stage->say(Note{"Another one."});
        m_stage->settle();
        QCOMPARE(text("Latest notice"), QStringLiteral("Another one."));
    }

    void theTipOfANoticeIsItsTextAsItIs() {
        m_stage->say(Note{"\"R&D\" has <b> in it."});
        m_stage->settle();
        QCOMPARE(shownTip(part("Latest notice")->toolTip()), text("Latest notice"));
        m_stage->say(RecordingStarted{"/r/R&D \"<b>\".swiftrun"});
        m_stage->settle();
        QVERIFY(shownTip(part("Length and size of the recording")->toolTip())
                    .contains(QStringLiteral("/r/R&D \"<b>\".swiftrun")));
    }

    void memoryIsOfThisProcess() {
        const auto memory = memoryInUse();
        QVERIFY(memory.has_value());
        QVERIFY(memory->processBytes > 1e6);
        QVERIFY(memory->processBytes < memory->machineBytes);
        QVERIFY(text("Memory").contains(QStringLiteral("GiB")));
    }

    void aRecordingIsMarkedWithItsLengthAndSizeWhileItIsWritten() {
        QVERIFY(!part("Length and size of the recording")->isVisible());
        QTemporaryFile file;
        QVERIFY(file.open());
        file.write(QByteArray(3'100'000, 'x'));
        QVERIFY(file.flush());
        m_stage->say(RecordingStarted{file.fileName().toStdString()});
        m_stage->settle();
        QVERIFY(part("Length and size of the recording")->isVisible());
        QCOMPARE(text("Length and size of the recording"),
                 QStringLiteral("\u25CF Recording 00:00 3.1 MB"));
        QVERIFY(!part("Memory")->isVisible()); // there is no room for everything
        auto* stop = m_strip->findChild<QToolButton*>();
        QVERIFY(stop->isVisible());
        QTest::mouseClick(stop, Qt::LeftButton);
        QVERIFY(m_stage->engine->lastSent<StopRecording>() != nullptr);
        m_stage->say(RecordingStopped{file.fileName().toStdString(), {}});
        m_stage->settle();
        QVERIFY(!part("Length and size of the recording")->isVisible());
        QVERIFY(part("Memory")->isVisible());
    }

    void whatIsAtWorkIsALinkWhoseTitleGivesWay() {
        WorkLink& link = m_strip->workLink();
        QVERIFY(!link.isVisible());
        QCOMPARE(link.accessibleName(), QStringLiteral("Work beside the chat"));
        m_strip->setWork({QString(60, u'q'), QStringLiteral("prompt 3 of 40"), false});
        QVERIFY(link.isVisible());
        QCOMPARE(link.accessibleName(), QString(60, u'q') + QStringLiteral(", prompt 3 of 40"));
        QVERIFY(link.sizeHint().width() > link.minimumSizeHint().width());
        const QFontMetrics metrics(m_stage->theme.font(TextRole::Small));
        const int state = metrics.horizontalAdvance(link.note().state);
        QVERIFY(link.minimumSizeHint().width() > state); // the title is cut, never the state
        QVERIFY(link.shownTitle() != link.note().title);
        for (const char* title : {"mine", "a", "film", "why so?", "Paper 13B"}) {
            m_strip->setWork({QString::fromLatin1(title), QStringLiteral("prompt 3"), false});
            QCOMPARE(link.shownTitle(), link.note().title);
        }
        QSignalSpy clicked(&link, &QAbstractButton::clicked);
        link.setFocus();
        QTest::keyClick(&link, Qt::Key_Space);
        QCOMPARE(clicked.size(), 1);
        m_strip->setWork({});
        QVERIFY(!link.isVisible());
    }

    void withoutAReplayThereIsNoPosition() {
        QVERIFY(!part("Position in the recording")->isVisible());
        for (const Badge* badge : m_strip->findChildren<Badge*>())
            QVERIFY(!badge->isVisible());
    }

    void aSlowedRateIsTold() {
        SlowPicture slow(m_stage->bridge);
        while (m_stage->bridge.pictureInterval() == EngineBridge::kTickMs) {
            m_stage->bridge.tick();
            QCoreApplication::processEvents();
        }
        QVERIFY(part("Update rate of the views")->isVisible());
        QCOMPARE(text("Update rate of the views"),
                 QStringLiteral("Views update 10 times a second"));
    }
};

QTEST_MAIN(StatusStripTest)
#include "status_strip_test.moc"
