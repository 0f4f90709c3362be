// SPDX-License-Identifier: Apache-2.0
#include "plugins/backend_cuda/emulation/fibers.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

// Saves what a called function must preserve, and goes on where another fiber did the same.
extern "C" void swiftStudioSwitchFiber(void** from, void* to);
asm(R"(
.text
.globl swiftStudioSwitchFiber
.hidden swiftStudioSwitchFiber
.type swiftStudioSwitchFiber, @function
swiftStudioSwitchFiber:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size swiftStudioSwitchFiber, . - swiftStudioSwitchFiber
)");

namespace backend_cuda::emulation {

Fiber* current = nullptr;
int gridSize = 0;
Fault plantedFault = Fault::None;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kStackBytes = 256 * 1024;
#else
constexpr std::size_t kStackBytes = 64 * 1024;
#endif

/// Stacks begin at different distances from a page, or all of them would share a few lines of the
/// processor's caches.
constexpr int kStackColours = 64;
constexpr int kColourBytes = 192;

/// All launches use the same stacks, which are made as they are needed.
struct Stack {
    Stack()
        : memory(static_cast<char*>(std::aligned_alloc(4096, kStackBytes)), &std::free) {}

    std::unique_ptr<char, void (*)(void*)> memory;
};

std::vector<Stack> stacks;
std::vector<Fiber> fibers;

/// A fiber's place in the round, and what it waits for.
struct Place {
    int before = 0;
    int next = 0;
    const unsigned* turn = nullptr; // it waits while this is `old`
    unsigned old = 0;

    bool isWaiting() const { return turn != nullptr && *turn == old; }
};

std::vector<Place> round; // [fibers]
int foremost = 0;         // that has not ended
bool isEager = false;
int running = 0;
int alive = 0;
long turnsWithoutProgress = 0;
bool isStuck = false;
const std::function<void()>* work = nullptr;
Fiber home;
[[maybe_unused]] const void* homeBottom = nullptr;
[[maybe_unused]] std::size_t homeBytes = 0;

/// What the sanitizer must know of a switch; `isLast`: this fiber never goes on.
void switchTo(Fiber& from, Fiber& to, [[maybe_unused]] bool isLast) {
    current = &to;
#if defined(__SANITIZE_ADDRESS__)
    const bool isHome = &to == &home;
    const auto place = static_cast<std::size_t>(&to - fibers.data());
    __sanitizer_start_switch_fiber(isLast ? nullptr : &from.fakeStack,
                                   isHome ? homeBottom : stacks[place].memory.get(),
                                   isHome ? homeBytes : kStackBytes);
#endif
    swiftStudioSwitchFiber(&from.stackPointer, to.stackPointer);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(from.fakeStack, nullptr, nullptr);
#endif
}

/// The first fiber from this one on that need not wait; -1: all wait.
int readyFrom(int first) {
    int at = first;
    do {
        const Place& place = round[static_cast<std::size_t>(at)];
        if (!place.isWaiting())
            return at;
        at = place.next;
    } while (at != first);
    return -1;
}

/// The next fiber from `first` on goes on instead of this one.
void handOver(int first, bool isLast) {
    const int me = running;
    running = readyFrom(first);
    if (running == me)
        return;
    isStuck = isStuck || running < 0;
    switchTo(fibers[static_cast<std::size_t>(me)],
             running < 0 ? home : fibers[static_cast<std::size_t>(running)],
             isLast);
}

[[noreturn]] void runFiber() {
#if defined(__SANITIZE_ADDRESS__)
    const void* bottom = nullptr;
    std::size_t bytes = 0;
    __sanitizer_finish_switch_fiber(nullptr, &bottom, &bytes);
    if (homeBottom == nullptr) { // the first fiber of all comes from there
        homeBottom = bottom;
        homeBytes = bytes;
    }
#endif
    (*work)();
    noteProgress();
    const Place me = round[static_cast<std::size_t>(running)];
    round[static_cast<std::size_t>(me.before)].next = me.next;
    round[static_cast<std::size_t>(me.next)].before = me.before;
    if (running == foremost)
        foremost = me.next;
    if (--alive == 0)
        switchTo(*current, home, true);
    handOver(me.next, true);
    std::abort(); // nobody goes on with a fiber that ended
}

std::vector<int> orderOf(int count, ThreadOrder order) {
    std::vector<int> places(static_cast<std::size_t>(count));
    std::iota(places.begin(), places.end(), 0);
    if (order.isDescending)
        std::reverse(places.begin(), places.end());
    if (order.seed != 0) {
        std::mt19937 random(order.seed);
        for (std::size_t i = places.size() - 1; i > 0; --i)
            std::swap(places[i], places[random() % (i + 1)]);
    }
    return places;
}

} // namespace

void noteProgress() { turnsWithoutProgress = 0; }

void yield() {
    // A thread that waits for memory to change looks at it once a round of all.
    if (++turnsWithoutProgress > 64L * alive + 1024) {
        isStuck = true;
        switchTo(*current, home, false);
    }
    handOver(round[static_cast<std::size_t>(running)].next, false);
}

void waitWhile(const unsigned& turn, unsigned old) {
    Place& place = round[static_cast<std::size_t>(running)];
    place.turn = &turn;
    place.old = old;
    handOver(isEager ? foremost : place.next, false);
    place.turn = nullptr;
}

bool launch(int blocks,
            int threads,
            std::size_t sharedBytes,
            ThreadOrder order,
            const std::function<void()>& kernel) {
    const int count = blocks * threads;
    std::vector<Block> grid(static_cast<std::size_t>(blocks));
    for (Block& block : grid) {
        block.index = static_cast<int>(&block - grid.data());
        block.warps.resize(static_cast<std::size_t>(threads) / 32);
        block.shared.assign(sharedBytes, std::byte{0xff});
    }
    while (stacks.size() < static_cast<std::size_t>(count))
        stacks.emplace_back();
    fibers.assign(static_cast<std::size_t>(count), {});
    round.assign(static_cast<std::size_t>(count), {});
    const std::vector<int> places = orderOf(count, order);
    for (std::size_t i = 0; i < places.size(); ++i) {
        const int next = places[(i + 1) % places.size()];
        round[static_cast<std::size_t>(places[i])].next = next;
        round[static_cast<std::size_t>(next)].before = places[i];
    }
    for (int i = 0; i < count; ++i) {
        Fiber& fiber = fibers[static_cast<std::size_t>(i)];
        fiber.block = &grid[static_cast<std::size_t>(i / threads)];
        fiber.thread = i % threads;
        fiber.warp = &fiber.block->warps[static_cast<std::size_t>(fiber.thread) / 32];
        // As swiftStudioSwitchFiber left it: six registers, and where it returns to.
        auto* top = reinterpret_cast<void**>(stacks[static_cast<std::size_t>(i)].memory.get() +
                                             kStackBytes - i % kStackColours * kColourBytes);
        top[-2] = reinterpret_cast<void*>(&runFiber);
        fiber.stackPointer = top - 8;
    }
    work = &kernel;
    alive = count;
    running = foremost = places.front();
    isEager = order.isEager;
    gridSize = blocks;
    isStuck = false;
    noteProgress();
    switchTo(home, fibers[static_cast<std::size_t>(running)], false);
    current = nullptr;
    return !isStuck;
}

} // namespace backend_cuda::emulation
