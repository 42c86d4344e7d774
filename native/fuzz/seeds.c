// One good payload, at least, for every kind of frame the program reads.
#include "seeds.h"

#define SEED(kind, text) {kind, text, sizeof(text) - 1}

const struct seed seeds[] = {
    SEED('T', "/proc\0"),
    SEED('T', "/\0"),
    SEED('P', "\x01sys\0"),
    SEED('P', "\x02kcore\0"),
    SEED('V', "\x01/home/someone/project\0"),
    SEED('V', "\x02/work\0"),
    SEED('M', ".env\0"),
    SEED('M', "a/b/secret\0"),
    SEED('H', "\xff\xff\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0"),
    SEED('L', "\x0d\0\0\0\0\0\0\0/usr\0"),
    SEED('S', "\x20\0\0\0\x04\0\0\0\x06\0\0\0\0\0\xff\x7f"),
    SEED('U', "\x07\0\0\0\0\x04\0\0\0\0\0\0"),
    SEED('D', "\0\0\0\x04/tmp\0"),
    SEED('N', "\x01\x02\0\x01\0\xbb\x01\x50\0\x38\x15"),
    SEED('Q', "/tmp\0\x20\0\0\0\x04\0\0\0\x06\0\0\0\0\0\xff\x7f"),
    SEED('Y', "\x40\0\0\0"),
    SEED('G', ""),
    SEED('X', "\x10\x27\0\0\0\0\x10\0\0\0\0\0\x01/work\0\x03\0\0\0sh\0-c\0true\0\x02\0\0\0PATH=/usr/bin\0HOME=/tmp\0"),
    SEED('X', "\0\0\0\0\0\0\0\0\0\0\0\0\0/\0\x01\0\0\0true\0\0\0\0\0"),
    SEED('X', "\0\0\0\0\0\0\0\0\0\0\0\0\x02\x50\0\x18\0/\0\x01\0\0\0sh\0\0\0\0\0"),
    SEED('I', "some input\n"),
    SEED('J', ""),
    SEED('K', ""),
    // Of the file worker: a number, a tree, a path, and what the operation takes.
    SEED('r', "\x01\0\0\0\0\0\0\0src/main.c\0\0\0\0\0\0\0\0\0\0\0\x01\0\x01"),
    SEED('w', "\x02\0\0\0\0\0\0\0out.txt\0\xa4\x01\0\0hello"),
    SEED('a', "\x03\0\0\0\0\0\0\0log.txt\0\xa4\x01\0\0line\n"),
    SEED('d', "\x04\0\0\0\0\0\0\0old.txt\0"),
    SEED('l', "\x05\0\0\0\0\0\0\0\0\x64\0\0\0"),
    SEED('s', "\x06\0\0\0\0\0\0\0a/b/c\0"),
    SEED('k', "\x07\0\0\0\0\0\0\0\0\x64\0\0\0\x08\0\0\0"),
    SEED('f', "\x08\0\0\0\0\0\0\0src\0\x64\0\0\0\0\0\x01\0needle\0"),
    // Of the lander: steps (kind, base, path), and the steps of a journal.
    SEED('p', "\x00\xff" "src/new.c\0" "\x01\xff" "src\0" "\x03\x00" "old.c\0" "\x02\x02" "link\0"),
    SEED('j', "\x01\x01\x02\x03\x04\x05\x06\x07\x08\x02\0\0\0"
              "\x00\x01\xff\x03\0src/a\0\xff\xff\xff"
              "\x03\x03\x00\0\0old\0\xff\xff\xff"),
    // Of git and the broker: lines.
    SEED('c', "protocol=https\nhost=example.com\npath=a/b.git\n\n"),
    SEED('c', "username=x\npassword=y\n"),
};

const size_t seed_count = sizeof seeds / sizeof seeds[0];
