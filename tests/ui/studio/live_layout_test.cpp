// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/held_timers.h"
#include "tests/ui/support/live_run.h"
#include "ui/shell/bars/status_strip.h"
#include "ui/shell/widgets/live_label.h"

#include <QTest>

using namespace support;
using namespace ui;

namespace {

/// Which widgets laid out their children, in the whole program.
class LayoutLog : public QObject {
public:
    QStringList receivers;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override {
        const auto* widget = qobject_cast<QWidget*>(watched);
        if (event->type() == QEvent::LayoutRequest && widget && widget->layout() != nullptr)
            receivers << QStringLiteral("%1 %2").arg(
                QString::fromLatin1(watched->metaObject()->className()), watched->objectName());
        return false;
    }
};

} // namespace

/// While the model generates, pictures are painted and nothing is laid out.
class LiveLayoutTest : public QObject {
    Q_OBJECT

    std::unique_ptr<StudioStage> m_stage;
    std::unique_ptr<LiveRun> m_live;

    /// Some steps come, and all that shows them is refreshed, however slow the machine is.
    void showPicture() {
        m_live->sayPicture(3);
        m_live->tick();
        for (View* view : m_stage->studio->views())
            if (view->isShowing())
                view->refresh(view->info().topics);
        auto* strip = m_stage->studio->window().findChild<StatusStrip*>();
        strip->refresh(Topic::Answers | Topic::Speed);
        for (int turn = 0; turn < 4; ++turn)
            QCoreApplication::processEvents();
    }

    /// Who is laid out while so many pictures are shown. Told anew when the rate of pictures
    /// changes meanwhile, as the strip has a word about it.
    QStringList laidOutDuring(int pictures) {
        const HeldTimers unusedLines(LiveLabel::kKeptMs);
        LayoutLog log;
        qApp->installEventFilter(&log);
        const ui::EngineBridge& bridge = m_stage->studio->bridge();
        // Until each label has had its widest figure, and each sentence its most lines.
        for (int i = 0; i < 40; ++i)
            showPicture();
        int interval = 0;
        do {
            interval = bridge.pictureInterval();
            log.receivers.clear();
            for (int i = 0; i < pictures; ++i)
                showPicture();
        } while (bridge.pictureInterval() != interval);
        return log.receivers;
    }

private slots:

    void init() {
        m_stage = std::make_unique<StudioStage>();
        m_stage->open();
        m_live = std::make_unique<LiveRun>(*m_stage);
    }

    void cleanup() {
        m_live.reset();
        m_stage.reset();
    }

    void figuresThatChangeLayNothingOut_data() {
        QTest::addColumn<bool>("hasTables");
        QTest::newRow("a search") << false;
        QTest::newRow("tables of rounds") << true;
    }

    void figuresThatChangeLayNothingOut() {
        QFETCH(bool, hasTables);
        if (hasTables)
            m_live->showTables();
        const QStringList laidOut = laidOutDuring(30);
        QVERIFY2(laidOut.isEmpty(), qPrintable(laidOut.join(QStringLiteral(", ")).left(2000)));
    }
};

QTEST_MAIN(LiveLayoutTest)
#include "live_layout_test.moc"
