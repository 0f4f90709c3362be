// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/huge_memory.h"
#include "engine/kernels/memory_roof.h"
#include "engine/kernels/nodes/node_threads.h"
#include "engine/kernels/nodes/number_list.h"
#include "engine/kernels/processor_share.h"
#include "engine/kernels/worker_pool.h"
#include "tests/support/file_content.h"
#include "tests/support/simulated_nodes.h"
#include "tests/support/value_of.h"

#include <QTemporaryDir>
#include <QTest>

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <linux/mempolicy.h>
#include <numeric>
#include <thread>

using namespace engine;
using support::equalNodes;
using support::SimulatedNodes;

namespace {

using Numbers = std::vector<int>;

/// The files of a machine with memory nodes, below a folder.
class Machine {
public:
    explicit Machine(const QByteArray& online) { writeNodeFile("online", online); }

    void writeNodeFile(const QString& name, const QByteArray& text) {
        write("sys/devices/system/node/" + name, text);
    }

    void writeNode(int number, const QByteArray& processors, const QByteArray& distances = {}) {
        writeNodeFile(QString("node%1/cpulist").arg(number), processors);
        writeNodeFile(QString("node%1/distance").arg(number), distances);
    }

    void writeCore(int processor, const QByteArray& processorsOfCore) {
        write(QString("sys/devices/system/cpu/cpu%1/topology/core_cpus_list").arg(processor),
              processorsOfCore);
    }

    void allowMemory(const QByteArray& nodes) {
        write("proc/self/status", "Name:\tswift-run\nMems_allowed_list:\t" + nodes + "\n");
    }

    std::vector<MemoryNode> nodes(const Numbers& allowed) const {
        return readMemoryNodes(allowed, m_folder.path().toStdString());
    }

    bool isOne(const Numbers& allowed) const { return nodes(allowed).empty(); }

private:
    void write(const QString& name, const QByteArray& text) {
        support::writeFile(m_folder.filePath(name), text);
    }

    QTemporaryDir m_folder;
};

/// Two sockets of four processors, two of each core.
class TwoSockets : public Machine {
public:
    TwoSockets()
        : Machine("0-1\n") {
        writeNode(0, "0-1,4-5\n", "10 21\n");
        writeNode(1, "2-3,6-7\n", "21 10\n");
        for (int processor = 0; processor < 8; ++processor) {
            const int core = processor % 4;
            writeCore(processor, QByteArray::number(core) + "," + QByteArray::number(core + 4));
        }
    }
};

} // namespace

class MemoryNodesTest : public QObject {
    Q_OBJECT

private slots:

    void listsOfNumbersAreReadAndNonsenseIsNot() {
        QCOMPARE(numberList("0-2,5"), Numbers({0, 1, 2, 5}));
        QCOMPARE(numberList("\t3 \n"), Numbers({3}));
        for (const char* text :
             {"", "\n", "-1", "2-", "3-1", "0 1", "a", "1-b", "0-9999999", "1;2", "3,1", "0-2,2"})
            QVERIFY2(numberList(text).empty(), text);
        QVERIFY(numberListIn("/no/such/file").empty());
    }

    void aMachineWithoutFilesOrWithOneNodeHasNoneToSpreadOver() {
        QVERIFY(Machine("").isOne({0, 1}));
        Machine machine("0\n");
        machine.writeNode(0, "0-1\n", "10\n");
        QVERIFY(machine.isOne({0, 1}));
    }

    void nodesHaveTheirProcessorsAndCores() {
        const auto nodes = TwoSockets().nodes({0, 1, 2, 3, 4, 5, 6, 7});
        QCOMPARE(nodes.size(), std::size_t{2});
        QCOMPARE(nodes[0].number, 0);
        QCOMPARE(nodes[0].processors, Numbers({0, 1, 4, 5}));
        QCOMPARE(nodes[0].cores, 2);
        QCOMPARE(nodes[1].number, 1);
        QCOMPARE(nodes[1].processors, Numbers({2, 3, 6, 7}));
        QCOMPARE(nodes[1].cores, 2);
    }

    void onlyAllowedProcessorsCount() {
        const auto nodes = TwoSockets().nodes({1, 2, 6});
        QCOMPARE(nodes.size(), std::size_t{2});
        QCOMPARE(nodes[0].processors, Numbers({1}));
        QCOMPARE(nodes[1].processors, Numbers({2, 6}));
        QCOMPARE(nodes[1].cores, 1);
    }

    void aMaskThatCoversOneNodeLeavesOne() {
        QVERIFY(TwoSockets().isOne({2, 3, 6, 7}));
        QVERIFY(TwoSockets().isOne({0}));
    }

    void aContainerThatMayTakeMemoryOfOneNodeHasOne() {
        TwoSockets machine;
        machine.allowMemory("1");
        QVERIFY(machine.isOne({0, 1, 2, 3}));
        machine.allowMemory("0-1");
        QCOMPARE(machine.nodes({0, 1, 2, 3}).size(), std::size_t{2});
    }

    void processorsOfANodeWithoutMemoryBelongToTheNearest() {
        Machine machine("0-3\n");
        machine.writeNodeFile("has_memory", "0,3\n");
        machine.writeNode(0, "0-1\n", "10 20 30 40\n");
        machine.writeNode(1, "2-3\n", "30 10 40 20\n");
        machine.writeNode(2, "4-5\n", "20 40 10 30\n");
        machine.writeNode(3, "6-7\n", "40 20 30 10\n");
        const auto nodes = machine.nodes({0, 1, 2, 3, 4, 5, 6, 7});
        QCOMPARE(nodes.size(), std::size_t{2});
        QCOMPARE(nodes[0].processors, Numbers({0, 1, 4, 5}));
        QCOMPARE(nodes[1].number, 3);
        QCOMPARE(nodes[1].processors, Numbers({2, 3, 6, 7}));
        machine.writeNode(1, "2-3\n", "near and far\n"); // then it is the first
        QCOMPARE(machine.nodes({0, 2, 6})[0].processors, Numbers({0, 2}));
    }

    void memoryWithoutProcessorsIsLeftOut() {
        Machine machine("0-2\n");
        machine.writeNode(0, "0\n");
        machine.writeNode(1, "1\n");
        machine.writeNode(2, "\n");
        QCOMPARE(machine.nodes({0, 1}).size(), std::size_t{2});
    }

    void nodesAndProcessorsThatAreOffAreLeftOut() {
        Machine machine("0,2\n");
        machine.writeNode(0, "0-3\n"); // 3 may be switched off, and so is node 1
        machine.writeNode(1, "4-7\n");
        machine.writeNode(2, "8-9\n");
        const auto nodes = machine.nodes({0, 1, 2, 8, 9});
        QCOMPARE(nodes.size(), std::size_t{2});
        QCOMPARE(nodes[0].processors, Numbers({0, 1, 2}));
        QCOMPARE(nodes[1].number, 2);
        QCOMPARE(nodes[1].processors, Numbers({8, 9}));
    }

    void damagedFilesMeanOneNode() {
        for (const char* online : {"0-x\n", "1-0\n", "0-99999\n", "nodes\n"}) {
            TwoSockets machine;
            machine.writeNodeFile("online", online);
            QVERIFY2(machine.isOne({0, 1, 2, 3}), online);
        }
        for (const char* processors : {"", "2-\n", "2-3;6-7\n", "0-1\n", "2\n"}) {
            TwoSockets machine;
            machine.writeNode(1, processors);
            QVERIFY2(machine.isOne({0, 1, 2, 3}), processors);
        }
    }

    void threadsAreSpreadByCoresAndThenByProcessors() {
        const auto two = equalNodes(2, 4);
        QCOMPARE(spreadThreads(two, 1), Numbers({1, 0}));
        QCOMPARE(spreadThreads(two, 2), Numbers({1, 1}));
        QCOMPARE(spreadThreads(two, 5), Numbers({3, 2}));
        QCOMPARE(spreadThreads(two, 8), Numbers({4, 4}));
        QCOMPARE(spreadThreads(two, 11), Numbers({6, 5})); // more than there are processors
        QCOMPARE(spreadThreads(equalNodes(4, 4), 6), Numbers({2, 2, 1, 1}));
        const std::vector<MemoryNode> uneven = {{0, {0, 1, 2, 3}, 2}, {1, {4, 5, 6, 7}, 4}};
        QCOMPARE(spreadThreads(uneven, 5), Numbers({2, 3}));
        QCOMPARE(spreadThreads(uneven, 6), Numbers({2, 4}));
        QCOMPARE(spreadThreads(uneven, 7), Numbers({3, 4})); // the second one of a core
        QCOMPARE(spreadThreads({}, 3), Numbers());
    }

    void partsOfTheNodesFollowOneAnotherAndAreThoseOfTheirThreads() {
        SimulatedNodes machine(equalNodes(4, 2));
        for (int count = 2; count <= 8; ++count) {
            const NodeThreads threads(machine, count);
            QCOMPARE(threads.nodeCount(), std::min(count, 4));
            for (const int parts : {0, 1, 7, 100}) {
                std::size_t next = 0;
                for (int node = 0; node < threads.nodeCount(); ++node) {
                    const auto [first, end] = threads.partOf(node, static_cast<std::size_t>(parts));
                    QCOMPARE(first, next);
                    next = end;
                }
                QCOMPARE(next, static_cast<std::size_t>(parts));
                for (int thread = 0; thread < count; ++thread) {
                    const auto [first, end] = WorkerPool::shareOf(thread, parts, count);
                    const auto own =
                        threads.partOf(threads.nodeOf(thread), static_cast<std::size_t>(parts));
                    QVERIFY(static_cast<std::size_t>(first) >= own.first);
                    QVERIFY(static_cast<std::size_t>(end) <= own.second);
                }
            }
        }
    }

    void aThreadTakesFromItsOwnNodeFirstAndFromEverybodyOnce() {
        SimulatedNodes machine(equalNodes(3, 3));
        const NodeThreads threads(machine, 8);
        for (int thread = 0; thread < 8; ++thread) {
            QCOMPARE(threads.ownerAt(thread, 0), thread);
            Numbers owners;
            bool hasLeft = false;
            for (int step = 0; step < 8; ++step) {
                owners.push_back(threads.ownerAt(thread, step));
                const bool isOwn = threads.nodeOf(owners.back()) == threads.nodeOf(thread);
                QVERIFY(!(isOwn && hasLeft));
                hasLeft = hasLeft || !isOwn;
            }
            std::sort(owners.begin(), owners.end());
            Numbers all(8);
            std::iota(all.begin(), all.end(), 0);
            QCOMPARE(owners, all);
        }
    }

    void wholePagesLieWhereTheyAreRead() {
        const NodeBytes reads[] = {{0, 350, 0}, {350, 790, 1}};
        const auto pages = pagesByNode(reads, 790, 100, 2);
        // Of the page from 300 each node reads half: node 1 has nothing yet.
        QCOMPARE(pages, std::vector<NodeBytes>({{0, 300, 0}, {300, 790, 1}}));
        const NodeBytes turned[] = {{350, 790, 1}, {0, 350, 0}};
        QCOMPARE(pagesByNode(turned, 790, 100, 2), pages);
    }

    void smallMatricesAreSpreadEvenly() {
        std::vector<NodeBytes> reads;
        for (std::size_t matrix = 0; matrix < 100; ++matrix) {
            reads.push_back({matrix * 20, matrix * 20 + 9, 0});
            reads.push_back({matrix * 20 + 9, matrix * 20 + 20, 1});
        }
        std::size_t bytes[] = {0, 0};
        for (const NodeBytes& each : pagesByNode(reads, 2000, 100, 2))
            bytes[each.node] += each.end - each.first;
        QCOMPARE(bytes[0] + bytes[1], std::size_t{2000});
        QVERIFY(bytes[0] >= 800 && bytes[0] <= 1000);
    }

    void pagesThatNobodyReadsAreNotPlaced() {
        const NodeBytes reads[] = {{0, 50, 1}, {420, 430, 0}};
        QCOMPARE(pagesByNode(reads, 1000, 100, 2),
                 std::vector<NodeBytes>({{0, 100, 1}, {400, 500, 0}}));
        QVERIFY(pagesByNode({}, 1000, 100, 2).empty());
    }

    void thereAreNeverMoreRangesThanTheSystemKeeps() {
        std::vector<NodeBytes> reads;
        for (int page = 0; page < 1000; ++page) {
            const std::size_t first = static_cast<std::size_t>(page) * 100;
            reads.push_back({first, first + 100, page % 2});
        }
        QCOMPARE(pagesByNode(reads, 100'000, 100, 2).size(), std::size_t{1000});
        const auto few = pagesByNode(reads, 100'000, 100, 2, 64);
        QVERIFY(few.size() > 1 && few.size() <= 64);
        QCOMPARE(few.front().first, std::size_t{0});
        QCOMPARE(few.back().end, std::size_t{100'000});
    }

    void workersAndTheCallerStayOnTheirNodes() {
        SimulatedNodes machine(equalNodes(2, 2));
        {
            WorkerPool pool(4, machine);
            QCOMPARE(pool.nodes().nodeCount(), 2);
        } // now each worker has begun
        auto bound = machine.bound();
        std::sort(bound.begin(), bound.end());
        QCOMPARE(bound, std::vector<Numbers>({{0, 1}, {2, 3}, {2, 3}}));
        const NodeThreads threads(machine, 4);
        { const CallerOnNode caller(threads); }
        bound = machine.bound();
        QCOMPARE(bound.size(), std::size_t{5});
        QCOMPARE(bound[3], Numbers({0, 1}));
        QCOMPARE(bound[4], allowedProcessors()); // where it could run before
    }

    void everyPartIsDoneOnceOnSeveralNodes() {
        SimulatedNodes machine(equalNodes(3, 1));
        WorkerPool pool(5, machine);
        for (int task = 0; task < 500; ++task) {
            const int parts = task % 37;
            std::vector<std::atomic<int>> done(static_cast<std::size_t>(parts));
            pool.run(parts, [&](int part, int) { ++done[static_cast<std::size_t>(part)]; });
            for (const std::atomic<int>& count : done)
                QCOMPARE(count.load(), 1);
        }
    }

    void withOneNodeOrOneThreadTheSystemIsAskedForNothing() {
        SimulatedNodes one({});
        SimulatedNodes two(equalNodes(2, 2));
        std::vector<std::byte> memory(1000);
        const NodeBytes reads[] = {{0, 1000, 0}};
        for (auto [machine, count] : {std::pair(&one, 4), std::pair(&two, 1)}) {
            { const WorkerPool pool(count, *machine); }
            const NodeThreads threads(*machine, count);
            QVERIFY(!threads.areSpread());
            QCOMPARE(threads.nodeCount(), 1);
            QCOMPARE(threads.partOf(0, 7), std::pair(std::size_t{0}, std::size_t{7}));
            threads.place(memory, reads, 100);
            { const CallerOnNode caller(threads); }
            QVERIFY(machine->bound().empty());
            QVERIFY(machine->placed().empty());
        }
    }

    void aRefusalIsToldInOneNoteAndNothingElseHappens() {
        const QTemporaryDir empty;
        const std::filesystem::path root = empty.path().toStdString();
        SimulatedNodes machine(equalNodes(2, 2), EPERM);
        QCOMPARE(memoryNote(root, machine), std::string());
        std::vector<std::byte> memory(1000);
        const NodeBytes reads[] = {{0, 500, 0}, {500, 1000, 1}};
        NodeThreads(machine, 2).place(memory, reads, 100);
        const QString note = QString::fromStdString(memoryNote(root, machine));
        QVERIFY2(note.startsWith("This machine has 2 memory nodes, but the system does not let"),
                 qPrintable(note));
        QVERIFY(note.contains("SYS_NICE"));
    }

    void theRoofIsReadOnAllNodes() {
        SimulatedNodes machine(equalNodes(2, 2));
        const std::size_t bytes = std::size_t{8} << 20U;
        auto roof = MemoryRoof::make(bytes, 3, machine);
        QVERIFY(roof.hasValue());
        QVERIFY(machine.bytesOn(0) > 0 && machine.bytesOn(1) > 0);
        QCOMPARE(machine.bytesOn(0) + machine.bytesOn(1), bytes);
        for (int reading = 0; reading < 5; ++reading) {
            QVERIFY(roof.value()->readGbps().value() > 0.0);
            QCOMPARE(roof.value()->lastSum(), std::uint64_t{bytes / 8} * (bytes / 8 - 1) / 2);
        }
    }

    void thisMachineCanBeReadAndUsed() {
        NodeMachine& machine = systemMachine();
        QVERIFY(machine.nodes().empty() || machine.nodes().size() > 1);
        QVERIFY(&systemMachine() == &machine);
        WorkerPool pool(2);
        std::atomic<int> done = 0;
        pool.run(16, [&](int, int) { ++done; });
        QCOMPARE(done.load(), 16);
    }

    /// The last one: a refusal is kept.
    void theSystemDoesWhatItIsAskedForOrSaysSo() {
        NodeMachine& machine = systemMachine();
        const Numbers allowed = allowedProcessors();
        const Numbers last = {allowed.back()};
        Numbers found;
        std::thread([&] {
            machine.bindThread(last);
            found = allowedProcessors();
        }).join();
        QVERIFY(found == last || !machine.note().empty());
        QCOMPARE(allowedProcessors(), allowed); // of this thread
        const auto memory = support::valueOf(HugeMemory::make(100'000, "a test"));
        const int node = machine.nodes().empty() ? 0 : machine.nodes().back().number;
        machine.placePages({memory.data(), memory.size()}, node);
        memory.data()[0] = std::byte{1};
        constexpr int kMostNodes = 1024;
        int policy = -1;
        std::array<unsigned long, kMostNodes / (8 * sizeof(unsigned long))> nodes{};
        if (::syscall(SYS_get_mempolicy,
                      &policy,
                      nodes.data(),
                      static_cast<unsigned long>(kMostNodes),
                      memory.data(),
                      static_cast<unsigned long>(MPOL_F_ADDR)) != 0)
            QSKIP("this system does not tell where memory is placed");
        const std::size_t bits = 8 * sizeof(unsigned long);
        const auto number = static_cast<std::size_t>(node);
        const bool isPlaced =
            policy == MPOL_PREFERRED && nodes[number / bits] == 1UL << (number % bits);
        QVERIFY(isPlaced || !machine.note().empty());
    }
};

QTEST_GUILESS_MAIN(MemoryNodesTest)
#include "memory_nodes_test.moc"
