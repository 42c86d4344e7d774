// What a sealed draft would change: the upper layer against the root, name by name.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "files.h"
#include "land.h"

enum { entry_bytes_max = 2 * land_path_bytes_max + 256, kind_unlandable = 4 };
enum reason { name_not_text = 0, target_not_text = 1, special_file = 2, base_unreadable = 3, other_file_system = 4 };

struct scan {
  const struct lander *lander;
  struct arena arena;
  struct path_map landed;  // names that this draft has landed already
  uint64_t root_device;
  uint32_t number, entries_left, changes, unlandable;
  size_t length;
  char path[land_path_bytes_max];
  char alarm[land_path_bytes_max + 512];
  struct writer out;
};

static int flush(struct scan *scan) {
  if (scan->out.length == 4) return 0;
  if (frame_send(scan->lander->control, 'c', scan->out.bytes, scan->out.length) != 0) return -1;
  scan->out.length = 4;
  return 0;
}

// Room for one more entry; what is there goes out first where there is none.
static int begin(struct scan *scan, uint8_t kind) {
  if (scan->out.capacity - scan->out.length < entry_bytes_max && flush(scan) != 0) return -1;
  write_u8(&scan->out, kind);
  write_text(&scan->out, scan->path);
  scan->changes++;
  return 0;
}

static int cannot_land(struct scan *scan, enum reason reason) {
  if (begin(scan, kind_unlandable) != 0) return -1;
  write_u8(&scan->out, (uint8_t)reason);
  scan->changes--;
  scan->unlandable++;
  return 0;
}

static const struct identity nothing = {.kind = kind_none};

static int say_file(struct scan *scan, const struct stat *facts, const struct identity *base) {
  if (begin(scan, step_file) != 0) return -1;
  write_u64(&scan->out, (uint64_t)facts->st_size);
  write_u8(&scan->out, (facts->st_mode & 0100) != 0);
  identity_write(&scan->out, base);
  return 0;
}

static int alarm_of(struct scan *scan, const char *mark) {
  if (scan->alarm[0] != 0) return 0;
  const char *where = scan->length == 0 ? "the top" : scan->path;
  snprintf(scan->alarm, sizeof scan->alarm, "%.255s on %.4095s", mark, where);
  return 0;
}

static int push(struct scan *scan, const char *name, size_t *before) {
  const size_t size = strlen(name);
  *before = scan->length;
  if (scan->length + 1 + size >= sizeof scan->path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  if (scan->length > 0) scan->path[scan->length++] = '/';
  memcpy(scan->path + scan->length, name, size + 1);
  scan->length += size;
  return 0;
}

static void pop(struct scan *scan, size_t before) {
  scan->length = before;
  scan->path[before] = 0;
}

// A folder of the root. -1 with errno; where it cannot land, says so and returns -1 with errno 0.
static int open_base(struct scan *scan, int parent, const char *name) {
  const int folder = files_open_here(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (folder >= 0) return folder;
  if (errno != EXDEV && errno != EACCES) return -1;
  if (cannot_land(scan, errno == EXDEV ? other_file_system : base_unreadable) != 0) return -1;
  errno = 0;
  return -1;
}

// Everything at a name of the root goes, what is inside first. 1 done, 0 something in it cannot go, -1 with errno.
static int say_deleted(struct scan *scan, int parent, const char *name, const struct identity *base, uint32_t depth) {
  if (base->device != scan->root_device) return cannot_land(scan, other_file_system);
  if (base->kind == kind_other) return cannot_land(scan, special_file);
  if (base->kind == kind_folder) {
    if (depth == 0) {
      errno = ELOOP;
      return -1;
    }
    const int folder = open_base(scan, parent, name);
    if (folder < 0) return errno == 0 ? 0 : -1;
    uint32_t count;
    const char *entry = folder_names(folder, &scan->arena, &count, &scan->entries_left);
    int result = entry == NULL ? -1 : 1;
    for (uint32_t at = 0; result >= 0 && at < count; at++, entry += strlen(entry) + 1) {
      struct identity inside;
      size_t before;
      int gone = -1;
      if (push(scan, entry, &before) != 0) return files_close(folder);
      if (!is_text(entry, strlen(entry))) gone = cannot_land(scan, name_not_text);
      else if (identity_at(folder, entry, &inside) == 0)
        gone = inside.kind == kind_none ? 1 : say_deleted(scan, folder, entry, &inside, depth - 1);
      pop(scan, before);
      if (gone < result) result = gone;
    }
    files_close(folder);
    if (result < 1) return result;
  }
  if (begin(scan, step_delete) != 0) return -1;
  identity_write(&scan->out, base);
  return 1;
}

// Another kind of file takes the place of the base: that goes first. 1 the name is free, 0 it cannot be, -1 with errno.
static int free_name(struct scan *scan, int parent, const char *name, const struct identity *base, uint32_t depth) {
  return base->kind == kind_none ? 1 : say_deleted(scan, parent, name, base, depth);
}

static int scan_folder(struct scan *scan, int upper, int base, int marks, uint32_t depth);

static int scan_link(struct scan *scan, int upper, int base, const char *name, const struct identity *was, uint32_t depth) {
  char target[land_path_bytes_max];
  const ssize_t length = readlinkat(upper, name, target, sizeof target - 1);
  if (length < 0) return -1;
  target[length] = 0;
  if (!is_text(target, (size_t)length)) return cannot_land(scan, target_not_text);
  const bool replaces = was->kind == kind_link;
  if (replaces) {
    const int same = same_target(upper, name, base, name);
    if (same != 0) return same < 0 ? -1 : 0;
  } else {
    const int freed = free_name(scan, base, name, was, depth);
    if (freed < 1) return freed;
  }
  if (begin(scan, step_link) != 0) return -1;
  write_text(&scan->out, target);
  identity_write(&scan->out, replaces ? was : &nothing);
  return 0;
}

static int scan_file(struct scan *scan, int upper, int base, const char *name, const struct stat *facts,
                     const struct identity *was, int parent_marks, uint32_t depth) {
  char unknown[256] = "user.overlay.whiteout";
  const int file = open_draft_file(upper, name);
  if (file < 0) return -1;
  const int marks = overlay_marks(file, false, unknown);
  files_close(file);
  if (marks < 0) return -1;
  if (marks == mark_whiteout && (parent_marks & mark_opaque_whiteouts) != 0 && facts->st_size == 0)
    return was->kind == kind_none || say_deleted(scan, base, name, was, depth) >= 0 ? 0 : -1;
  if (marks != mark_none) return alarm_of(scan, unknown);
  if (was->kind != kind_file) {
    const int freed = free_name(scan, base, name, was, depth);
    return freed < 1 ? freed : say_file(scan, facts, &nothing);
  }
  if ((facts->st_mode & 0100) == (was->mode & 0100)) {
    const int same = same_content(upper, name, base, name);
    if (same < 0 && errno == EACCES) return cannot_land(scan, base_unreadable);
    if (same != 0) return same < 0 ? -1 : 0;
  }
  return say_file(scan, facts, was);
}

static int scan_subfolder(struct scan *scan, int upper, int base, const char *name, const struct identity *was,
                          int parent_marks, uint32_t depth) {
  char unknown[256] = "user.overlay.whiteout";
  if (depth == 0) {
    errno = ELOOP;
    return -1;
  }
  const int folder = open_draft_folder(upper, name);
  if (folder < 0) return -1;
  int marks = overlay_marks(folder, false, unknown), below = -1;
  if (marks < 0) return files_close(folder);
  if ((marks & (mark_unknown | mark_whiteout)) != 0) {
    files_close(folder);
    return alarm_of(scan, unknown);
  }
  // Below an opaque folder nothing of the root was visible.
  marks |= parent_marks & mark_opaque;
  int result = 1;
  if (was->kind == kind_folder) {
    below = open_base(scan, base, name);
    if (below < 0) result = errno == 0 ? 0 : -1;
  } else {
    result = free_name(scan, base, name, was, depth);
    if (result == 1) {
      if (begin(scan, step_folder) != 0) return files_close(folder);
      identity_write(&scan->out, &nothing);
    }
  }
  if (result == 1) result = scan_folder(scan, folder, below, marks, depth - 1);
  if (below >= 0) files_close(below);
  files_close(folder);
  return result < 0 ? -1 : 0;
}

static int scan_entry(struct scan *scan, int upper, int base, const char *name, int marks, uint32_t depth) {
  struct stat facts;
  struct identity was = nothing;
  if (!is_text(name, strlen(name))) return cannot_land(scan, name_not_text);
  if (fstatat(upper, name, &facts, AT_SYMLINK_NOFOLLOW) != 0) return -1;
  if (base >= 0 && identity_at(base, name, &was) != 0) return -1;
  if (was.kind != kind_none && was.device != scan->root_device) return cannot_land(scan, other_file_system);
  if (S_ISCHR(facts.st_mode) && facts.st_rdev == makedev(0, 0))
    return was.kind == kind_none || say_deleted(scan, base, name, &was, depth) >= 0 ? 0 : -1;
  if (S_ISREG(facts.st_mode)) return scan_file(scan, upper, base, name, &facts, &was, marks, depth);
  if (S_ISDIR(facts.st_mode)) return scan_subfolder(scan, upper, base, name, &was, marks, depth);
  if (S_ISLNK(facts.st_mode)) return scan_link(scan, upper, base, name, &was, depth);
  return cannot_land(scan, special_file);
}

// An opaque folder hides the one in the root: what the draft does not have is deleted.
static int scan_hidden(struct scan *scan, int upper, int base, uint32_t depth) {
  uint32_t count, ignored;
  int result = 0;
  const char *name = folder_names(base, &scan->arena, &count, &scan->entries_left);
  if (name == NULL) return -1;
  for (uint32_t at = 0; result >= 0 && at < count; at++, name += strlen(name) + 1) {
    struct stat facts;
    struct identity was;
    size_t before;
    if (fstatat(upper, name, &facts, AT_SYMLINK_NOFOLLOW) == 0) continue;
    if (errno != ENOENT || push(scan, name, &before) != 0) return -1;
    if (!is_text(name, strlen(name))) result = cannot_land(scan, name_not_text);
    else if (path_map_get(&scan->landed, scan->path, scan->length, &ignored)) result = 0;
    else if (identity_at(base, name, &was) != 0) result = -1;
    else if (was.kind != kind_none) result = say_deleted(scan, base, name, &was, depth);
    pop(scan, before);
  }
  return result < 0 ? -1 : 0;
}

static int scan_folder(struct scan *scan, int upper, int base, int marks, uint32_t depth) {
  uint32_t count;
  const char *name = folder_names(upper, &scan->arena, &count, &scan->entries_left);
  if (name == NULL) return -1;
  for (uint32_t at = 0; at < count; at++, name += strlen(name) + 1) {
    size_t before;
    if (push(scan, name, &before) != 0) return -1;
    const int result = scan_entry(scan, upper, base, name, marks, depth);
    if (result < 0) return -1;
    pop(scan, before);
  }
  return base >= 0 && (marks & mark_opaque) != 0 ? scan_hidden(scan, upper, base, depth) : 0;
}

// Names that landed from this draft stay, although the draft does not have them any more.
static int load_landed(struct scan *scan, struct landing *landing) {
  uint32_t numbers[land_landings_max];
  const int count = journal_numbers(landing->journals, numbers);
  for (int at = 0; at < count; at++) {
    enum journal_state state;
    landing->number = numbers[at];
    if (journal_load(landing, &state) != 0) return -1;
    close(landing->journal);
    landing->journal = -1;
    if (state == journal_begun || state == journal_staged || state == journal_undoing) {
      errno = EBUSY;
      return -1;
    }
    for (uint32_t step = 0; state == journal_done && step < landing->count; step++) {
      const char *path = landing->steps[step].path;
      if (landing->steps[step].kind != step_delete && !path_map_put(&scan->landed, path, strlen(path), 1)) return -1;
    }
  }
  return count < 0 ? -1 : 0;
}

static const char *explain(int error) {
  switch (error) {
    case E2BIG:
      return "the draft has more than 1,000,000 entries";
    case ELOOP:
      return "the draft has more than 256 folders inside each other";
    case ENAMETOOLONG:
      return "a path of the draft is longer than 4,095 bytes";
    case EBUSY:
      return "an earlier landing of this draft was interrupted: recover it first";
    default:
      return "the draft cannot be read";
  }
}

static int scan_all(struct scan *scan, struct landing *landing) {
  struct stat root;
  char unknown[256] = "user.overlay.whiteout";
  if (fstat(scan->lander->root, &root) != 0 || load_landed(scan, landing) != 0) return -1;
  scan->root_device = root.st_dev;
  const int marks = overlay_marks(landing->upper, true, unknown);
  if (marks < 0) return -1;
  if ((marks & (mark_unknown | mark_whiteout)) != 0) return alarm_of(scan, unknown);
  return scan_folder(scan, landing->upper, scan->lander->root, marks, land_depth_max);
}

bool land_scan(const struct lander *lander, struct reader *reader) {
  static uint8_t bytes[frame_payload_bytes_max];
  static struct scan scan;
  static struct landing landing;
  scan = (struct scan){.lander = lander, .number = read_u32(reader), .entries_left = land_entries_max};
  const char *id = read_text(reader);
  if (!read_done(reader) || !is_draft_id(id)) return false;
  scan.out = (struct writer){bytes, sizeof bytes, 0, false};
  write_u32(&scan.out, scan.number);
  int result = landing_open(&landing, lander, id);
  if (result == 0) result = scan_all(&scan, &landing);
  int error = errno;
  landing_close(&landing);
  path_map_free(&scan.landed);
  arena_free(&scan.arena);
  if (result != 0) return send_failure(lander, scan.number, error, explain(error));
  if (flush(&scan) != 0) return false;
  write_u8(&scan.out, 0);
  write_u32(&scan.out, scan.changes);
  write_u32(&scan.out, scan.unlandable);
  write_text(&scan.out, scan.alarm);
  return !scan.out.failed && frame_send(lander->control, 'A', scan.out.bytes, scan.out.length) == 0;
}
