// The process that a hostile tool forks: reads a file and tells of it.
process.send(require("node:fs").readFileSync(process.argv[2], "utf8"));
