// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/run_events.h"
#include "ui/bridge/recording_link.h"

#include <QTemporaryDir>
#include <QtTest>

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

private slots:

    void eventsComeInTheirOwnTime() {
        const auto path =
            record(m_folder, {{10.0, Remark{"a"}}, {10.5, Remark{"b"}}, {12.0, Remark{"c"}}});
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
        const auto path = record(m_folder, {{0.0, Remark{"a"}}, {2.0, Remark{"b"}}});
        const auto link = open(path, 2.0);
        QCOMPARE(link->takeEvents().size(), std::size_t(1));
        m_now += std::chrono::milliseconds(1001);
        QCOMPARE(link->takeEvents().size(), std::size_t(1));
    }

    void speedZeroGivesEverythingAtOnce() {
        std::vector<EngineEvent> events;
        for (int i = 0; i < 2000; ++i)
            events.push_back({static_cast<double>(i), Remark{std::to_string(i)}});
        const auto link = open(record(m_folder, events), 0.0);
        std::size_t count = 0;
        while (!link->isOver())
            count += link->takeEvents().size();
        QCOMPARE(count, std::size_t(2000));
    }

    void aCutRecordingGivesWhatItHasAndSaysThatItIsCut() {
        const auto path = record(m_folder, {{0.0, Remark{"a"}}, {0.1, Remark{"b"}}});
        std::filesystem::resize_file(path, std::filesystem::file_size(path) - 3);
        const auto link = open(path, 0.0);
        const auto events = link->takeEvents();
        QCOMPARE(events.size(), std::size_t(2));
        QVERIFY(events[0].as<Remark>() != nullptr);
        QVERIFY(events[1].as<EngineFailed>() != nullptr);
        QVERIFY(events[1].as<EngineFailed>()->error.message.find("run.swiftrun") !=
                std::string::npos);
        QVERIFY(link->isOver());
    }

    void commandsAreRefused() {
        const auto link = open(record(m_folder, {{0.0, Remark{"a"}}}), 1.0);
        QVERIFY(!link->send(StopGeneration{}));
    }
};

QTEST_APPLESS_MAIN(RecordingLinkTest)
#include "recording_link_test.moc"
