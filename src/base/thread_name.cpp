// SPDX-License-Identifier: MIT

#include "base/thread_name.h"

#include <pthread.h>

#include "base/assert.h"

namespace belfry {

void name_thread(const char* name) {
  ASSERT(pthread_setname_np(pthread_self(), name) == 0);
}

}  // namespace belfry
