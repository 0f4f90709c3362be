// SPDX-License-Identifier: Apache-2.0
// The memory that is left, as the system and the control groups of both versions report it.
#include "engine/base/system_memory.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <limits>

using namespace engine;
using test_support::TemporaryFolder;

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::max();

/// A system with 4096 bytes and a process in the group /outer/inner of the second version.
class System {
public:
    explicit System(std::string_view groups = "0::/outer/inner\n") {
        m_folder.write("meminfo", "MemTotal: 8 kB\nHugePages: 7\nMemAvailable: 4 kB\n");
        m_folder.write("groups", groups);
    }

    void write(const std::string& file, std::string_view text) const {
        std::filesystem::create_directories((m_folder.path() / file).parent_path());
        m_folder.write(file, text);
    }

    double left() const {
        return availableMemoryIn({.memory = m_folder.path() / "meminfo",
                                  .ownGroups = m_folder.path() / "groups",
                                  .groups = m_folder.path() / "cgroup"});
    }

private:
    TemporaryFolder m_folder;
};

} // namespace

class SystemMemoryTest : public QObject {
    Q_OBJECT

private slots:
    void withoutGroupsItIsWhatTheSystemReports();
    void theTightestGroupOfTheSecondVersionCounts();
    void theCacheOfFilesGivesWay();
    void groupsOfTheFirstVersionCount();
    void aContainersOwnGroupIsItsOutermost();
    void aLimitThatIsUsedUpLeavesNothing();
    void whatIsNotReportedHasNoLimit();
};

void SystemMemoryTest::withoutGroupsItIsWhatTheSystemReports() {
    QCOMPARE(System().left(), 4096.0);
    QCOMPARE(System("").left(), 4096.0);
    QVERIFY(availableMemoryBytes() > 0.0);
}

void SystemMemoryTest::theTightestGroupOfTheSecondVersionCounts() {
    const System system;
    system.write("cgroup/outer/memory.max", "3000\n");
    system.write("cgroup/outer/memory.current", "1000\n");
    system.write("cgroup/outer/inner/memory.max", "max\n");
    system.write("cgroup/outer/inner/memory.current", "900\n");
    QCOMPARE(system.left(), 2000.0);
    system.write("cgroup/outer/inner/memory.max", "1500\n");
    QCOMPARE(system.left(), 600.0);
    system.write("cgroup/outer/inner/memory.max", "9000\n");
    QCOMPARE(system.left(), 2000.0);
}

void SystemMemoryTest::theCacheOfFilesGivesWay() {
    const System system;
    system.write("cgroup/outer/memory.max", "3000\n");
    system.write("cgroup/outer/memory.current", "2900\n");
    system.write("cgroup/outer/memory.stat", "anon 800\ninactive_file 1500\nactive_file 600\n");
    QCOMPARE(system.left(), 2200.0);
}

void SystemMemoryTest::groupsOfTheFirstVersionCount() {
    const System system("5:cpu:/\n4:memory:/job\n0::/\n");
    system.write("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    system.write("cgroup/memory/memory.usage_in_bytes", "7000\n");
    QCOMPARE(system.left(), 4096.0);
    system.write("cgroup/memory/job/memory.limit_in_bytes", "3000\n");
    system.write("cgroup/memory/job/memory.usage_in_bytes", "2500\n");
    system.write("cgroup/memory/job/memory.stat",
                 "inactive_file 9\ntotal_inactive_file 200\ntotal_active_file 100\n");
    QCOMPARE(system.left(), 800.0);
}

void SystemMemoryTest::aContainersOwnGroupIsItsOutermost() {
    const System system("4:memory:/docker/0123456789ab\n");
    system.write("cgroup/memory/memory.limit_in_bytes", "2000\n");
    system.write("cgroup/memory/memory.usage_in_bytes", "500\n");
    QCOMPARE(system.left(), 1500.0);
}

void SystemMemoryTest::aLimitThatIsUsedUpLeavesNothing() {
    const System system;
    system.write("cgroup/outer/inner/memory.max", "1000\n");
    system.write("cgroup/outer/inner/memory.current", "1200\n");
    QCOMPARE(system.left(), 0.0);
}

void SystemMemoryTest::whatIsNotReportedHasNoLimit() {
    const System system("no group\n");
    system.write("meminfo", "MemTotal: 8 kB\n");
    QCOMPARE(system.left(), kUnlimited);
}

QTEST_GUILESS_MAIN(SystemMemoryTest)
#include "system_memory_test.moc"
