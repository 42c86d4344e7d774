// Reading a part of a plain file, and the facts of anything.
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

bool files_read(struct files_request *request, struct writer *answer) {
  const uint64_t offset = read_u64(&request->rest);
  const uint32_t wanted = read_u32(&request->rest);
  const bool single = read_u8(&request->rest) != 0;
  if (!read_done(&request->rest)) return false;
  if (offset > INT64_MAX - frame_payload_bytes_max) {
    files_refuse(answer, request, EINVAL, "the offset is beyond the maximum file size");
    return true;
  }
  const char *why = "";
  struct stat facts;
  const int file = files_open_plain(request->tree->descriptor, request->path, O_RDONLY, &facts, &why);
  if (file < 0) {
    files_failed(answer, request, why);
    return true;
  }
  if (single && facts.st_nlink > 1) {
    files_close(file);
    files_refuse(answer, request, EMLINK, "several hard links");
    return true;
  }
  files_done(answer, request);
  write_u64(answer, (uint64_t)facts.st_size);
  size_t room = answer->capacity - answer->length;
  if (room > wanted) room = wanted;
  // Where it ends is found by reading: it may grow or shrink meanwhile, and files of /proc say they have no size.
  size_t count = 0;
  while (count < room) {
    const ssize_t got = pread(file, answer->bytes + answer->length + count, room - count, (off_t)(offset + count));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      files_close(file);
      files_refuse(answer, request, errno, "");
      return true;
    }
    count += (size_t)got;
    if (got == 0 || offset + count == (uint64_t)facts.st_size) break;
  }
  answer->length += count;
  files_close(file);
  return true;
}

bool files_stat(struct files_request *request, struct writer *answer) {
  if (!read_done(&request->rest)) return false;
  // The link itself, where the last name is one.
  const int place = files_open(request->tree->descriptor, request->path, O_PATH | O_NOFOLLOW, 0);
  struct stat facts;
  if (place < 0) {
    files_failed(answer, request, "");
    return true;
  }
  const int told = fstat(place, &facts);
  files_close(place);
  if (told != 0) {
    files_refuse(answer, request, errno, "");
    return true;
  }
  const int64_t modified = (int64_t)facts.st_mtim.tv_sec * 1000 + facts.st_mtim.tv_nsec / 1000000;
  files_done(answer, request);
  write_u8(answer, files_kind(facts.st_mode));
  write_u64(answer, (uint64_t)facts.st_size);
  write_u64(answer, modified < 0 ? 0 : (uint64_t)modified);
  write_u32(answer, facts.st_mode & 07777);
  write_u32(answer, facts.st_nlink > UINT32_MAX ? UINT32_MAX : (uint32_t)facts.st_nlink);
  return true;
}
