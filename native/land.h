// The lander: carries a sealed draft into its root. What its parts share.
//
// Words used here. A *draft* is a folder `<drafts>/<id>` with `upper` (the upper layer of an overlay that is gone),
// `bin` (originals of what was replaced and deleted) and `journal` (one file for each landing). A *step* changes one
// name of the root. Each step has a *slot*, a second name on the root's file system: the new file waits there before
// the step and the original is there after it. Where root and drafts are one mount, slots are names in `bin`, and a file
// gets there by rename from `upper`; otherwise they are temporary names inside the root, and files are copied.
#ifndef AMBIT_LAND_H
#define AMBIT_LAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "frame.h"
#include "restrictions.h"

enum {
  land_path_bytes_max = 4096,
  land_steps_max = 262144,
  land_entries_max = 1000000,
  land_depth_max = 256,
  land_landings_max = 1024,
  land_id_bytes_max = 64,
  land_slot_bytes = 64,
  // More files or folders than this are flushed with their whole file system.
  flushed_one_by_one_max = 64,
};

// Memory of one request, given back as a whole.
struct arena {
  struct arena_block *first;
  size_t used;
};
void *arena_take(struct arena *arena, size_t count);  // NULL without memory
char *arena_text(struct arena *arena, const char *text, size_t length);
void arena_free(struct arena *arena);

// What is at a name: enough to recognise it later. `kind` is that of files_kind; 0xff for nothing.
enum { kind_file = 0, kind_folder = 1, kind_link = 2, kind_other = 3, kind_none = 0xff };
struct identity {
  uint8_t kind;
  uint64_t device, inode, bytes, modified, changed;
  uint32_t mode, owner, group;
  uint64_t links;
};
struct identity identity_of(const struct stat *facts);
// 0, or -1 with errno; nothing at the name is kind_none and no failure.
int identity_at(int folder, const char *name, struct identity *into);
// The same file with the same content: its ctime may differ, since a rename changes it. Of a folder the inode alone.
bool identity_same(const struct identity *left, const struct identity *right);
void identity_write(struct writer *writer, const struct identity *identity);
struct identity identity_read(struct reader *reader);

// One open folder below a base, so that many names in one folder open it once.
struct folder_cache {
  int base, descriptor;
  size_t length;
  char path[land_path_bytes_max];
};
// The folder that the first `length` bytes of a path name. -1 with errno. Owned by the cache, valid until the next call.
int folder_open(struct folder_cache *cache, const char *path, size_t length);
void folder_close(struct folder_cache *cache);
// Bytes of the path before its last name, without the slash.
size_t parent_length(const char *path);
const char *last_name(const char *path);

enum step_kind { step_file = 0, step_folder = 1, step_link = 2, step_delete = 3 };
enum step_action {
  action_none = 0,     // the root already has it
  action_create = 1,   // slot -> name
  action_replace = 2,  // slot <-> name
  action_take = 3,     // name -> slot: a deleted file or link
  action_rmdir = 4,
};
struct step {
  const char *path;
  uint8_t kind, action;
  uint8_t base_kind;  // what the scan saw in the root; kind_none for nothing
  bool set_group_id;  // its folder hands its group down
  uint32_t group;     // of a new file or folder
  // Bytes of the path that name the folder of the slot, where slots lie in the root.
  uint16_t slot_folder;
  // What the root had, what it is to have, and what it has at the end of a landing, a rollback or an undo.
  struct identity before, after, landed;
};

// Path to number, for at most `land_entries_max` paths. The paths are the caller's.
struct path_map {
  struct path_entry *entries;
  size_t capacity, count;
};
bool path_map_put(struct path_map *map, const char *path, size_t length, uint32_t value);  // false without memory
// False where it is not in there.
bool path_map_get(const struct path_map *map, const char *path, size_t length, uint32_t *value);
void path_map_free(struct path_map *map);

// Originals that this draft put back in place itself, by a rollback or an undo: a rename gives a file a new ctime, and
// that is no edit of a person's.
struct history {
  struct path_map paths;
  struct identity *restored;
  uint32_t count, capacity;
};

struct lander {
  int control, root, drafts;
  // Root and drafts are one mount: files land by rename.
  bool renames;
  struct restrictions restrictions;
};

// One landing of one draft, while a request works on it.
struct landing {
  const struct lander *lander;
  struct arena arena;
  int draft, upper, bin, journals, journal;
  uint32_t number;
  bool renames, journal_is_new;
  uint64_t tag;  // in the temporary names of this landing
  struct step *steps;
  uint32_t count;
  struct history history;
  struct folder_cache root_folder, slot_folder, upper_folder;
};
// Opens the folders of a draft; `bin` and `journal` are made where they are missing. 0, or -1 with errno.
int landing_open(struct landing *landing, const struct lander *lander, const char *id);
void landing_close(struct landing *landing);
void slot_name(const struct landing *landing, uint32_t step, char name[land_slot_bytes]);
// The folder of a step's slot. -1 with errno.
int slot_folder(struct landing *landing, uint32_t step);
// Where the original of a step is kept: a name in `bin`.
void bin_name(const struct landing *landing, uint32_t step, char name[land_slot_bytes]);

// Journals: records behind each other, each with all steps; the last whole one counts. A torn record was not waited for,
// so nothing that it announces was begun.
enum journal_state {
  journal_empty = 0,
  journal_begun = 'I',     // slots in the root may have been made, and nothing else
  journal_staged = 'S',    // every slot is made; the root may have been changed
  journal_done = 'D',
  journal_failed = 'B',    // rolled back: the root is as before
  journal_undoing = 'U',
  journal_undone = 'E',
};
// Parses the steps of one record; false where they do not parse to the last byte. The paths stay where they are.
bool journal_parse(struct landing *landing, struct reader *reader);
int journal_create(struct landing *landing);
// Adds a record with what is known of the steps and waits for the disk. 0, or -1 with errno.
int journal_add(struct landing *landing, enum journal_state state);
// Reads the journal of landing->number and opens it for more. -1 with errno (EBADMSG: not one of ours).
int journal_load(struct landing *landing, enum journal_state *state);
// Numbers of the landings a draft has: count, or -1 with errno.
int journal_numbers(int journals, uint32_t numbers[land_landings_max]);

// A list of paths with a reason each, as answers carry it; it stops growing when a frame is full.
struct report {
  uint8_t *bytes;
  struct writer writer;
  uint32_t count;
};
enum report_reason {
  report_changed = 1,      // the root has something else there than the program saw
  report_gone = 2,         // what the program saw there is gone
  report_parent = 3,       // its folder is gone, is a link, or lies on another file system
  report_kind = 4,         // another kind of file
  report_not_empty = 5,    // the folder has entries that do not go with it
  report_kept = 6,         // content that came between is kept in the slot
  report_io = 7,           // the system refused; the errno is beside it
};
void report_add(struct report *report, const char *path, enum report_reason reason, int error);

// Compares every base with the root and chooses the action of every step. 0, or -1 with errno; conflicts are reported.
int land_check(struct landing *landing, uint64_t start, struct report *conflicts);
// Open files whose content is on its way to the disk.
struct flushing {
  uint32_t count;
  int files[flushed_one_by_one_max];
};
// Makes the slots. 0, or -1 with errno and the step that failed. The files are waited for once the journal names them: the
// disk then writes both at once.
int land_stage(struct landing *landing, uint32_t *failed, struct flushing *flushing);
int land_wait_for_files(struct flushing *flushing);
// Changes the root, step by step; stops at the first that cannot be done and reports it. False then.
bool land_execute(struct landing *landing, struct report *conflicts);
// Takes back every step that was done, last first, and gives the files back to the draft. What cannot be taken back is reported.
// False where something was.
bool land_roll_back(struct landing *landing, struct report *stuck);
// Waits until the folders that were changed are on disk. 0, or -1 with errno.
int land_flush_folders(struct landing *landing);
// Removes slots that lie in the root and hold nothing but an original of which `bin` has a copy.
void land_clean_slots(struct landing *landing);
// Slots for an undo where originals were copied. 0, or -1 with errno and the step.
int land_stage_undo(struct landing *landing, uint32_t *failed);

// Copies a plain file: content, and mode, owner and times of `like` where it is given. -1 with errno.
int copy_file(int from_folder, const char *from_name, int to_folder, const char *to_name, const struct identity *like);
int copy_link(int from_folder, const char *from_name, int to_folder, const char *to_name);
// 1 the same bytes, 0 others, -1 with errno.
int same_content(int left_folder, const char *left_name, int right_folder, const char *right_name);
int same_target(int left_folder, const char *left_name, int right_folder, const char *right_name);
// Opens a plain file of a draft; where its mode keeps us out, gives ourselves the right to read it.
int open_draft_file(int folder, const char *name);
// Opens a folder of a draft for listing and for moving files out of it, whatever its mode.
int open_draft_folder(int folder, const char *name);
// Marks of the overlay file system on an open file of the upper layer.
enum overlay_mark { mark_none = 0, mark_opaque = 1, mark_opaque_whiteouts = 2, mark_whiteout = 4, mark_unknown = 8 };
int overlay_marks(int file, bool is_upper_root, char unknown[256]);
bool is_text(const char *bytes, size_t length);
// Names of an open folder, one behind the other in memory of the arena; NULL with errno. E2BIG beyond `entries_left`.
char *folder_names(int folder, struct arena *arena, uint32_t *count, uint32_t *entries_left);

// Requests. Each answers by itself; false for a request that does not parse or an owner that is gone.
bool land_scan(const struct lander *lander, struct reader *reader);
// `steps` are the payloads of the `p` frames before it, behind each other.
bool land_land(const struct lander *lander, struct reader *reader, struct reader *steps);
// Parses a list of steps; false where it is not one. The paths stay where they are.
bool land_parse_steps(struct landing *landing, struct reader *steps);
bool land_undo(const struct lander *lander, struct reader *reader);
bool land_recover(const struct lander *lander, struct reader *reader);
bool land_read(const struct lander *lander, struct reader *reader);
bool land_flush(const struct lander *lander, struct reader *reader);
bool is_draft_id(const char *id);

// What the requests of a draft share.
enum { answer_done = 0, answer_refused = 1, answer_conflict = 2, answer_stuck = 3 };
void close_if_open(int descriptor);
bool send_failure(const struct lander *lander, uint32_t number, int error, const char *what);
bool send_done(const struct lander *lander, uint32_t number, const uint32_t *values, size_t count);
bool send_reports(const struct lander *lander, uint32_t number, uint32_t landing, struct report *conflicts,
                  struct report *stuck);
bool landing_is_at_rest(struct landing *landing);
int landing_roll_back(struct landing *landing, enum journal_state state, struct report *stuck);
int landing_finish(struct landing *landing);
void landing_remove_slots(struct landing *landing);

int land_main(int control);

#endif
