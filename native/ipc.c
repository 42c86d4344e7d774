// Objects of System V live as long as their namespace, not as long as a process: without this a command could leave
// data for the next one in a warm sandbox. Every command inside runs as the user of pid 1, so pid 1 is the creator of
// each object as far as the kernel compares, whatever owner or mode the command gave it, and may remove it.
// Absent on purpose: POSIX message queues. They cannot be listed without a mount; the seccomp filter refuses to open one.
#include "ipc.h"

#include <errno.h>
#include <stddef.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

// Headers of older C libraries do not have them. Unlike the others they ask for no right to read the object.
enum { memory_stat_any = 15, semaphores_stat_any = 20, messages_stat_any = 13 };

// More slots than this go with the whole sandbox.
enum { slots_max = 65536, slots_between_questions = 1024 };

// The C library does not define it.
union semaphore_argument {
  int value;
  struct semid_ds *facts;
  unsigned short *values;
  struct seminfo *info;
};

struct summary {
  int last;   // the highest slot in use, 0 also where there is none
  int count;  // objects
};

// Each returns -1 with errno. `stat` takes a slot and gives the identifier of the object in it.
struct kind {
  int (*summary)(struct summary *);
  int (*stat)(int slot);
  int (*remove)(int identifier);
};

static int memory_summary(struct summary *summary) {
  struct shm_info info;
  summary->last = shmctl(0, SHM_INFO, (struct shmid_ds *)(void *)&info);
  summary->count = summary->last < 0 ? 0 : info.used_ids;
  return summary->last < 0 ? -1 : 0;
}

static int memory_stat(int slot) {
  struct shmid_ds facts;
  return shmctl(slot, memory_stat_any, &facts);
}

static int memory_remove(int identifier) {
  return shmctl(identifier, IPC_RMID, NULL);
}

static int semaphores_summary(struct summary *summary) {
  struct seminfo info;
  summary->last = semctl(0, 0, SEM_INFO, (union semaphore_argument){.info = &info});
  summary->count = summary->last < 0 ? 0 : info.semusz;
  return summary->last < 0 ? -1 : 0;
}

static int semaphores_stat(int slot) {
  struct semid_ds facts;
  return semctl(slot, 0, semaphores_stat_any, (union semaphore_argument){.facts = &facts});
}

static int semaphores_remove(int identifier) {
  return semctl(identifier, 0, IPC_RMID);
}

static int messages_summary(struct summary *summary) {
  struct msginfo info;
  summary->last = msgctl(0, MSG_INFO, (struct msqid_ds *)(void *)&info);
  summary->count = summary->last < 0 ? 0 : info.msgpool;
  return summary->last < 0 ? -1 : 0;
}

static int messages_stat(int slot) {
  struct msqid_ds facts;
  return msgctl(slot, messages_stat_any, &facts);
}

static int messages_remove(int identifier) {
  return msgctl(identifier, IPC_RMID, NULL);
}

static const struct kind kinds[] = {
    {memory_summary, memory_stat, memory_remove},
    {semaphores_summary, semaphores_stat, semaphores_remove},
    {messages_summary, messages_stat, messages_remove},
};
enum { kinds_count = sizeof kinds / sizeof kinds[0] };

// A kernel without System V objects has none to remove.
static bool is_empty(const struct kind *kind) {
  struct summary summary;
  return kind->summary(&summary) != 0 ? errno == ENOSYS : summary.count == 0;
}

static bool clear(const struct kind *kind, bool (*interrupted)(void *), void *about) {
  struct summary summary;
  if (kind->summary(&summary) != 0) return errno == ENOSYS;
  if (summary.count == 0) return true;
  if (summary.last >= slots_max) return false;
  for (int slot = 0; slot <= summary.last; slot++) {
    if (slot % slots_between_questions == 0 && interrupted(about)) return false;
    const int identifier = kind->stat(slot);
    if (identifier >= 0 && kind->remove(identifier) != 0) return false;
    // An empty slot. Anything else, an old kernel's ignorance too, shows in what is counted below.
  }
  return is_empty(kind);
}

bool ipc_is_empty(void) {
  for (size_t at = 0; at < kinds_count; at++)
    if (!is_empty(&kinds[at])) return false;
  return true;
}

bool ipc_clear(bool (*interrupted)(void *), void *about) {
  for (size_t at = 0; at < kinds_count; at++)
    if (!clear(&kinds[at], interrupted, about)) return false;
  return true;
}
