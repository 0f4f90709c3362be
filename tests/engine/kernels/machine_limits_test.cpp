// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/huge_memory.h"
#include "engine/kernels/processor_share.h"
#include "tests/support/file_content.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

using namespace engine;

/// Files of a system as they lie below a folder.
class System {
public:
    void write(const QString& name, const QByteArray& text) {
        support::writeFile(m_folder.filePath(name), text);
    }

    void writeCore(int processor, const QByteArray& processorsOfCore) {
        write(QString("sys/devices/system/cpu/cpu%1/topology/core_cpus_list").arg(processor),
              processorsOfCore + "\n");
    }

    ProcessorShare share(const std::vector<int>& allowed) const {
        return readProcessorShare(allowed, m_folder.path().toStdString());
    }

    std::string memory() const { return memoryNote(m_folder.path().toStdString()); }

private:
    QTemporaryDir m_folder;
};

class MachineLimitsTest : public QObject {
    Q_OBJECT

private slots:

    void aSystemWithoutFilesHasAsManyCoresAsProcessors() {
        const ProcessorShare share = System().share({0, 1, 2});
        QCOMPARE(share.processors, 3);
        QCOMPARE(share.cores, 3);
        QCOMPARE(share.mostThreads(), 3);
        QCOMPARE(share.bestThreads(), 3);
    }

    void processorsOfOneCoreCountOnce() {
        System system;
        for (int processor = 0; processor < 4; ++processor)
            system.writeCore(processor, processor % 2 == 0 ? "0,2" : "1,3");
        const ProcessorShare share = system.share({0, 1, 2, 3});
        QCOMPARE(share.processors, 4);
        QCOMPARE(share.cores, 2);
        QCOMPARE(share.bestThreads(), 2);
        QCOMPARE(share.mostThreads(), 4);
        QCOMPARE(usefulThreads(4, share), 4);
        QCOMPARE(usefulThreads(5, share), 4);
        QCOMPARE(usefulThreads(0, share), 2);
    }

    void onlyProcessorsThatMayBeUsedCount() {
        System system;
        for (int processor = 0; processor < 4; ++processor)
            system.writeCore(processor, processor < 2 ? "0-1" : "2-3");
        QCOMPARE(system.share({2, 3}).cores, 1);
        QCOMPARE(system.share({1, 2}).cores, 2);
    }

    void olderSystemsNameTheProcessorsOfACoreOtherwise() {
        System system;
        system.write("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,1\n");
        system.write("sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "0,1\n");
        QCOMPARE(system.share({0, 1}).cores, 1);
    }

    void aContainersLimitBoundsTheThreads_data() {
        QTest::addColumn<QByteArray>("groups");
        QTest::addColumn<QString>("name");
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("otherName");
        QTest::addColumn<QByteArray>("otherText");
        QTest::addColumn<double>("quota");
        QTest::addColumn<int>("threads");
        const double none = std::numeric_limits<double>::infinity();
        const QString top = "sys/fs/cgroup/cpu.max";
        const QString own = "sys/fs/cgroup/a/b/cpu.max";
        const QString around = "sys/fs/cgroup/a/cpu.max";
        const QString time = "sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us";
        const QString period = "sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us";
        const QByteArray older = "4:memory:/box\n3:cpu,cpuacct:/box\n";
        const QByteArray newer = "0::/a/b\n";
        const auto row = [](const char* name) -> QTestData& { return QTest::newRow(name); };
        row("none") << newer << own << QByteArray("max 100000\n") << around
                    << QByteArray("max 100000\n") << none << 8;
        row("its own") << newer << own << QByteArray("150000 100000\n") << around
                       << QByteArray("max 100000\n") << 1.5 << 2;
        row("of the group around it") << newer << own << QByteArray("400000 100000\n") << around
                                      << QByteArray("300000 100000\n") << 3.0 << 3;
        row("of the mount") << QByteArray("0::/\n") << top << QByteArray("50000 100000\n") << around
                            << QByteArray("1000 100000\n") << 0.5 << 1;
        row("version 1") << older << time << QByteArray("250000\n") << period
                         << QByteArray("100000\n") << 2.5 << 3;
        row("version 1, none") << older << time << QByteArray("-1\n") << period
                               << QByteArray("100000\n") << none << 8;
        row("more than there is") << newer << own << QByteArray("1600000 100000\n") << around
                                  << QByteArray("max 100000\n") << 16.0 << 8;
        row("nonsense") << newer << own << QByteArray("much of it\n") << around
                        << QByteArray("0 0\n") << none << 8;
        row("groups that cannot be understood")
            << QByteArray("no colons here\n\n:\n") << own << QByteArray("100000 100000\n") << around
            << QByteArray("100000 100000\n") << none << 8;
    }

    void aContainersLimitBoundsTheThreads() {
        QFETCH(QByteArray, groups);
        QFETCH(QString, name);
        QFETCH(QByteArray, text);
        QFETCH(QString, otherName);
        QFETCH(QByteArray, otherText);
        QFETCH(double, quota);
        QFETCH(int, threads);
        System system;
        system.write("proc/self/cgroup", groups);
        system.write(name, text);
        system.write(otherName, otherText);
        const ProcessorShare share = system.share({0, 1, 2, 3, 4, 5, 6, 7});
        QCOMPARE(share.quota, quota);
        QCOMPARE(share.mostThreads(), threads);
        QCOMPARE(share.bestThreads(), threads);
    }

    void aUserIsToldWhyThereAreFewerThreads() {
        const ProcessorShare plenty{.processors = 8, .cores = 4};
        QCOMPARE(threadsNote(0, plenty), std::string());
        QCOMPARE(threadsNote(8, plenty), std::string());
        QCOMPARE(threadsNote(9, plenty),
                 std::string("9 threads were asked for, but this process may use only 8 "
                             "processors, so no more threads are started."));
        const ProcessorShare limited{.processors = 8, .cores = 4, .quota = 1.5};
        QCOMPARE(threadsNote(0, limited),
                 std::string("This process computes with 2 threads because of the limit of its "
                             "container: the time of 1.5 of 8 processors."));
        QCOMPARE(threadsNote(2, limited), std::string());
        QCOMPARE(threadsNote(4, limited),
                 std::string("4 threads were asked for, but this process may use only 2 processors "
                             "(the limit of its container: the time of 1.5 of 8 processors), so no "
                             "more threads are started."));
    }

    void aUserIsToldOfCoresThatMayNotBeUsed() {
        System system;
        for (int processor = 0; processor < 8; ++processor) {
            const int core = processor % 4;
            system.writeCore(processor,
                             QByteArray::number(core) + "," + QByteArray::number(core + 4));
        }
        const QString online = "sys/devices/system/cpu/online";
        system.write(online, "0-6,7\n");
        const std::string note = "This process computes with 1 thread because it may run on only 2 "
                                 "of the system's 8 processors.";
        QCOMPARE(threadsNote(0, system.share({1, 5})), note);
        QCOMPARE(threadsNote(1, system.share({1, 5})), std::string());
        QCOMPARE(threadsNote(0, system.share({0, 1, 2, 3})), std::string()); // of every core one
        QCOMPARE(threadsNote(0, system.share({0, 1, 2, 3, 4, 5, 6, 7})), std::string());
        for (const char* list : {"", "0-x\n", "7-0\n", "-1\n", "0-9999999\n", "nan\n"}) {
            system.write(online, list);
            QCOMPARE(system.share({1, 5}).systemProcessors, 0);
            QCOMPARE(threadsNote(0, system.share({1, 5})), std::string());
        }
        system.write(online, "0-7\n");
        system.write("proc/self/cgroup", "0::/\n");
        system.write("sys/fs/cgroup/cpu.max", "50000 100000\n");
        QCOMPARE(threadsNote(0, system.share({1, 2})),
                 std::string("This process computes with 1 thread because of the limit of its "
                             "container: the time of 0.5 of 2 processors."));
    }

    void aUserIsToldWhyMemoryIsSlow() {
        System system;
        QCOMPARE(system.memory(), std::string());
        const QString pages = "sys/kernel/mm/transparent_hugepage/enabled";
        system.write(pages, "always [madvise] never\n");
        QCOMPARE(system.memory(), std::string());
        system.write(pages, "always madvise [never]\n");
        QVERIFY(system.memory().starts_with("This system gives no huge pages"));
        const QString status = "proc/self/status";
        system.write(status, "Name:\tswift-run\nVmRSS:\t  950000 kB\nVmSwap:\t   50000 kB\n");
        QVERIFY(system.memory().starts_with("This system gives no huge pages"));
        system.write(pages, "always [madvise] never\n");
        QCOMPARE(system.memory(), std::string());
        system.write(status, "Name:\tswift-run\nTHP_enabled:\t1\n");
        QCOMPARE(system.memory(), std::string());
        system.write(status, "Name:\tswift-run\nTHP_enabled:\t0\n");
        QVERIFY(system.memory().starts_with("This process was started without huge pages"));
        system.write(status, "Name:\tswift-run\nVmRSS:\t  900000 kB\nVmSwap:\t  125000 kB\n");
        QCOMPARE(system.memory(),
                 std::string("128 MB of this program lie in swap on the disk, so answers are slow: "
                             "close other programs, or choose a smaller model."));
    }

    void thisProcessHasAShare() {
        const ProcessorShare& share = processorShare();
        QVERIFY(share.processors >= 1);
        QVERIFY(share.cores >= 1 && share.cores <= share.processors);
        QVERIFY(share.bestThreads() >= 1 && share.bestThreads() <= share.mostThreads());
    }
};

QTEST_APPLESS_MAIN(MachineLimitsTest)

#include "machine_limits_test.moc"
