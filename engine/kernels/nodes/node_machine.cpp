// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/nodes/node_machine.h"

#include "engine/base/to_size.h"
#include "engine/kernels/processor_share.h"

#include <fmt/format.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <linux/mempolicy.h>
#include <sched.h>
#include <system_error>

namespace engine {

namespace {

class SystemMachine final : public NodeMachine {
public:
    SystemMachine()
        : NodeMachine(readMemoryNodes(allowedProcessors())) {
        static_cast<void>(processorShare()); // before any thread is bound
    }

protected:
    int bind(const std::vector<int>& processors) override {
        const std::size_t count =
            toSize(*std::max_element(processors.begin(), processors.end())) + 1;
        cpu_set_t* set = CPU_ALLOC(count);
        if (set == nullptr)
            return ENOMEM;
        const std::size_t bytes = CPU_ALLOC_SIZE(count);
        CPU_ZERO_S(bytes, set);
        for (const int processor : processors)
            CPU_SET_S(toSize(processor), bytes, set);
        const int error = ::sched_setaffinity(0, bytes, set) == 0 ? 0 : errno;
        CPU_FREE(set);
        return error;
    }

    /// A policy of the memory, so the system moves none of these pages on its own later. It only
    /// prefers the node: where it must not leave it, a full node would end the program.
    int place(std::span<std::byte> pages, int node) override {
        constexpr std::size_t kBits = 8 * sizeof(unsigned long);
        std::vector<unsigned long> nodes(toSize(node) / kBits + 1);
        nodes.back() = 1UL << (toSize(node) % kBits);
        const long mode = MPOL_PREFERRED;
        const std::size_t bits = nodes.size() * kBits + 1; // the system takes one fewer
        const long done =
            ::syscall(SYS_mbind, pages.data(), pages.size(), mode, nodes.data(), bits, 0UL);
        return done == 0 ? 0 : errno;
    }
};

} // namespace

std::string NodeMachine::note() const {
    const int error = m_error;
    if (error == 0)
        return {};
    return fmt::format("This machine has {} memory nodes, but the system does not let threads and "
                       "weights be placed on them ({}), so answers are slower; a container needs "
                       "the capability SYS_NICE for it.",
                       m_nodes.size(),
                       std::generic_category().message(error));
}

NodeMachine& systemMachine() {
    static SystemMachine machine;
    return machine;
}

} // namespace engine
