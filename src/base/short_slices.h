// SPDX-License-Identifier: MIT
//
// Asks the kernel to let the calling thread run soon after it wakes: for a thread that has little
// to do, and that on time. It gets no more of the processor than others, only in smaller portions.
// Kernels before 6.12 have no such wish and do as always.

#pragma once

namespace belfry {

void take_short_slices();

}  // namespace belfry
